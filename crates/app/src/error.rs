//! The one way in which a use case is refused or fails. HTTP is none of its business.

use portico_domain::{ErrorCode, ValidationError};

/// Why a use case did not happen.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value is wrong in a way that only the stored data can tell.
    #[error("invalid: {fault}")]
    Invalid {
        /// JSON pointer of the value in the request's body.
        pointer: &'static str,
        fault: ValidationError,
    },
    /// Several values are wrong, in a way that only the stored data can tell. Each with its JSON pointer.
    #[error("{} values are invalid", .0.len())]
    Faults(Vec<(String, ValidationError)>),
    /// Some of the listings that were named do not exist: their places in the list.
    #[error("{} of the listings do not exist", .0.len())]
    UnknownListings(Vec<usize>),
    /// No check of a verification can run: what each of them needs, in words.
    #[error("no check can run")]
    NothingToCheck(String),
    /// A parameter is wrong in a way that only the use case can tell.
    #[error("invalid: {name} {fault}")]
    Parameter { name: &'static str, fault: ValidationError },
    /// The credential is missing or not valid.
    #[error("unauthenticated: {0}")]
    Unauthenticated(&'static str),
    /// The caller is known but may not do this.
    #[error("forbidden: {0}")]
    Forbidden(&'static str),
    /// It does not exist.
    #[error("not found: {0}")]
    NotFound(ErrorCode),
    /// It contradicts what is there.
    #[error("conflict: {0}")]
    Conflict(ErrorCode),
    /// An idempotency key was used before, with another request.
    #[error("the idempotency key was used with another request")]
    KeyReused,
    /// It is there, but not yet where it is asked for.
    #[error("pending: {0}")]
    Pending(ErrorCode),
    /// Too often.
    #[error("too often: {code}")]
    TooMany {
        code: ErrorCode,
        /// When to come back.
        retry_after: u64,
    },
    /// Another rotation of the keystore's keys began after this one and replaces it.
    #[error("another rotation replaces this one")]
    RotationSuperseded,
    /// A bureau gave no finding. The text is for the log.
    #[error("a bureau gave no finding: {why}")]
    Bureau {
        /// When to come back, in seconds.
        retry_after: u64,
        /// Which check, and what happened.
        why: String,
    },
    /// Not now; the text is for the log.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// Something that must not happen; the text is for the log, never for a client.
    #[error("internal: {0}")]
    Bug(String),
}

/// What use cases answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<portico_store::Error> for Error {
    fn from(error: portico_store::Error) -> Self {
        use portico_store::Error as Store;
        match error {
            Store::Conflict(code) => Self::Conflict(code),
            Store::Missing(code) => Self::NotFound(code),
            Store::UnknownListings(places) => Self::UnknownListings(places),
            Store::KeyReused => Self::KeyReused,
            Store::LeaseLost => Self::Unavailable(error.to_string()),
            Store::Busy => Self::Unavailable("too much work is waiting".into()),
            Store::Unavailable(why) | Store::Again(why) => Self::Unavailable(why),
            Store::Bug(why) => Self::Bug(why),
        }
    }
}
