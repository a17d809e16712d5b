//! People: their keys and secrets, who may do what, what it costs them, and their erasure.

pub mod access;
pub mod budgets;
pub(crate) mod erasure;
pub mod keys;
pub mod keystore;
pub(crate) mod limits;
pub(crate) mod parts;
pub mod tokens;
pub mod vault;

pub use erasure::UserOverview;
