//! The one way in which storing fails.

/// Why something was not stored or read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Something of that name is there already. The word is a stable code, such as `listing_exists`.
    #[error("conflict: {0}")]
    Conflict(&'static str),
    /// What the work is about does not exist. The word is a stable code, such as `listing_not_found`.
    #[error("missing: {0}")]
    Missing(&'static str),
    /// Some of the listings that were named do not exist: their places in the list.
    #[error("{} of the listings do not exist", .0.len())]
    UnknownListings(Vec<usize>),
    /// An idempotency key was used before, with another request.
    #[error("the idempotency key was used with another request")]
    KeyReused,
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
