//! Errors of the store.

use portico_domain::ErrorCode;

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The name is taken.
    #[error("conflict: {0}")]
    Conflict(ErrorCode),
    #[error("missing: {0}")]
    Missing(ErrorCode),
    /// Indices of the listings that do not exist.
    #[error("{} of the listings do not exist", .0.len())]
    UnknownListings(Vec<usize>),
    #[error("the idempotency key was used with another request")]
    KeyReused,
    /// The row has another version than the caller expects.
    #[error("the row was changed meanwhile")]
    Outdated,
    #[error("another process signs with this key now")]
    LeaseLost,
    #[error("too much work is waiting")]
    Busy,
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// Run the work again from its beginning. Never leaves this crate.
    #[error("to be run again: {0}")]
    Again(String),
    /// A bug. The text is for the log, never for a client.
    #[error("internal: {0}")]
    Bug(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
