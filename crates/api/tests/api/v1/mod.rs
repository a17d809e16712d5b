//! The surface under `/v1`.

mod applications;
mod chain;
mod consents;
mod devices;
mod identities;
mod keys;
mod listing_clusters;
mod listing_details;
mod listings;
mod operation;
mod portfolios;
mod sandbox;
mod screening;
mod statistics;
mod templates;
