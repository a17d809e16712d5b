//! Errors of the store.

use portico_domain::chain::Preferred;
use portico_domain::{ErrorCode, Quota, ValidationError};

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
    /// Indices of the devices that are registered on their network already, or named before in the same request.
    #[error("{} of the devices are registered already", .0.len())]
    DevicesTaken(Vec<usize>),
    /// A change of a listing's terms contradicts those that stay.
    #[error("{} of the terms contradict each other", .0.len())]
    TermsContradict(Vec<(Preferred, ValidationError)>),
    #[error("the idempotency key was used with another request")]
    KeyReused,
    /// The person was erased after this work began.
    #[error("the person was erased meanwhile")]
    Erased,
    /// The row has another version than the caller expects.
    #[error("the row was changed meanwhile")]
    Outdated,
    #[error("another process signs with this key now")]
    LeaseLost,
    #[error("{} is used up", .0.name)]
    OverQuota(Quota),
    /// The caller's share of something is full.
    #[error("too many: {0}")]
    TooMany(ErrorCode),
    #[error("too much work is waiting")]
    Busy,
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// Run the work again from its beginning. Never leaves this crate.
    #[error("to be run again: {0}")]
    Again(String),
    /// A row with these values exists: another transaction has just written it, or this is a bug. Never leaves this
    /// crate.
    #[error("a duplicate: {0}")]
    Duplicate(String),
    /// A bug. The text is for the log, never for a client.
    #[error("internal: {0}")]
    Bug(String),
}

impl From<portico_records::DecodeError> for Error {
    fn from(error: portico_records::DecodeError) -> Self {
        Self::Bug(error.to_string())
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
