//! The one way in which storing fails.

use portico_domain::ErrorCode;

/// Why something was not stored or read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Something of that name is there already.
    #[error("conflict: {0}")]
    Conflict(ErrorCode),
    /// What the work is about does not exist.
    #[error("missing: {0}")]
    Missing(ErrorCode),
    /// Some of the listings that were named do not exist: their places in the list.
    #[error("{} of the listings do not exist", .0.len())]
    UnknownListings(Vec<usize>),
    /// An idempotency key was used before, with another request.
    #[error("the idempotency key was used with another request")]
    KeyReused,
    /// Another process signs with this key now.
    #[error("another process signs with this key now")]
    LeaseLost,
    /// Too much work is waiting.
    #[error("too much work is waiting")]
    Busy,
    /// The database cannot be reached, or not written to, at the moment.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// The work should be run again from its beginning (engines only; it never leaves this crate).
    #[error("to be run again: {0}")]
    Again(String),
    /// Something that must not happen. The text is for the log, never for a client.
    #[error("internal: {0}")]
    Bug(String),
}

/// What this crate's functions answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;
