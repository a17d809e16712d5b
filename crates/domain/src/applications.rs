//! Applications: which listings a user applied to. Ids are references: the listing need not exist.

use crate::{ListingId, Timestamp, UserId};

/// A user and the listings the user applied to, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationMapping {
    /// The applicant.
    pub user: UserId,
    /// The listings.
    pub listings: Vec<ListingId>,
}

/// One who applied to a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applicant {
    /// Who.
    pub user: UserId,
    /// Since when.
    pub applied_at: Timestamp,
}

/// One listing that a user applied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Which.
    pub listing: ListingId,
    /// Since when.
    pub applied_at: Timestamp,
}
