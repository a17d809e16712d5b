//! Applications: which listings a user applied to. Ids are references: the listing need not exist.

use crate::{ListingId, Timestamp, UserId};

/// A user and the listings the user applied to, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationMapping {
    pub user: UserId,
    pub listings: Vec<ListingId>,
}

/// One who applied to a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applicant {
    pub user: UserId,
    pub applied_at: Timestamp,
}

/// One listing that a user applied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    pub listing: ListingId,
    pub applied_at: Timestamp,
}
