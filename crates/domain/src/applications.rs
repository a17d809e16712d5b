//! Applications: which listings a user applied to. Ids are references: the listing need not exist.

use crate::{ListingId, Timestamp, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationMapping {
    pub user: UserId,
    pub listings: Vec<ListingId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applicant {
    pub user: UserId,
    pub applied_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    pub listing: ListingId,
    pub applied_at: Timestamp,
}
