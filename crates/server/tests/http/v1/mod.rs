//! The surface under `/v1`.

mod chain;
mod devices;
mod keys;
mod listings;
mod portfolios;
mod sandbox;
mod screening;
mod statistics;
mod templates;
