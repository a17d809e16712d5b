//! Portfolios: those of users, the predefined ones, and infrastructure devices.

pub(crate) mod devices;
pub mod templates;
pub(crate) mod user_portfolios;

pub use user_portfolios::NewPortfolio;
