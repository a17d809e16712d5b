//! Homes: listings, their records on the chain, saved listings, and requirements.

pub(crate) mod listing_records;
pub mod listings;
mod requirements;
mod saved;
