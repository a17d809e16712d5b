//! Listings. A listing is stored as one JSON document; the other columns are those that an index needs.

pub(crate) mod clusters;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod find;
pub(crate) mod postgres_index;
mod row;
mod search;
pub(crate) mod sqlite_index;

pub use clusters::ListingClusters;
pub use create::CreateListing;
pub use delete::DeleteListing;
pub use edit::{EditListing, ListingItem, ListingVersion, StoredListing};
