//! Errors of use cases, independent of HTTP.

use std::borrow::Cow;

use portico_domain::{ErrorCode, Quota, ValidationError};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value is invalid according to stored data.
    #[error("invalid: {fault}")]
    Invalid {
        /// JSON pointer into the request body.
        pointer: &'static str,
        fault: ValidationError,
    },
    /// Several values are invalid according to stored data, each with its JSON pointer.
    #[error("{} values are invalid", .0.len())]
    InvalidValues(Vec<(String, ValidationError)>),
    /// Indices of the listings that do not exist.
    #[error("{} of the listings do not exist", .0.len())]
    UnknownListings(Vec<usize>),
    /// Indices of the listings whose conditions are not those that the applicant has seen.
    #[error("the conditions of {} listings have changed", .0.len())]
    ConditionsChanged(Vec<usize>),
    /// Indices of the devices that are registered already, or named before in the same request.
    #[error("{} of the devices are registered already", .0.len())]
    DevicesTaken(Vec<usize>),
    /// No check of a verification can run; the text says what each check needs.
    #[error("no check can run")]
    NothingToCheck(String),
    /// A parameter is invalid according to stored data.
    #[error("invalid: {name} {fault}")]
    Parameter { name: &'static str, fault: ValidationError },
    #[error("unauthenticated: {0}")]
    Unauthenticated(Cow<'static, str>),
    #[error("forbidden: {0}")]
    Forbidden(&'static str),
    #[error("not found: {0}")]
    NotFound(ErrorCode),
    /// A proof does not hold.
    #[error("refused: {0}")]
    Refused(ErrorCode),
    /// It contradicts stored data.
    #[error("conflict: {0}")]
    Conflict(ErrorCode),
    #[error("the idempotency key was used with another request")]
    KeyReused,
    /// It has another version than the caller expects.
    #[error("it was changed meanwhile")]
    Outdated,
    /// It exists, but not on the chain yet.
    #[error("pending: {0}")]
    Pending(ErrorCode),
    #[error("too often: {code}")]
    TooMany {
        code: ErrorCode,
        /// Seconds.
        retry_after: u64,
    },
    /// A limit of the caller is reached.
    #[error("{} is used up", quota.name)]
    OverQuota { code: ErrorCode, quota: Quota },
    /// A later keystore rotation replaces this one.
    #[error(
        "another rotation began after this one and goes on in its place. No key is lost; run this again when that one \
         has ended"
    )]
    RotationSuperseded,
    /// A bureau returned no finding. The text is for the log.
    #[error("a bureau gave no finding: {why}")]
    Bureau {
        /// Seconds.
        retry_after: u64,
        /// Which check failed, and how.
        why: String,
    },
    /// Configuration, database, keystore and chain do not fit; the text tells the operator what to do.
    #[error("{0}")]
    Setup(String),
    /// Temporarily unavailable; the text is for the log.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// A bug; the text is for the log, never for a client.
    #[error("internal: {0}")]
    Bug(String),
}

/// A chain takes about as long for the next blocks.
const SHARE_RETRY_SECONDS: u64 = 30;

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<portico_records::DecodeError> for Error {
    fn from(error: portico_records::DecodeError) -> Self {
        Self::Bug(error.to_string())
    }
}

impl From<portico_store::Error> for Error {
    fn from(error: portico_store::Error) -> Self {
        use portico_store::Error as Store;
        match error {
            Store::Conflict(code) => Self::Conflict(code),
            Store::Missing(code) => Self::NotFound(code),
            Store::UnknownListings(places) => Self::UnknownListings(places),
            // The token that the work was for is revoked.
            Store::Erased => Self::Conflict(ErrorCode::IdentityRevoked),
            Store::DevicesTaken(places) => Self::DevicesTaken(places),
            Store::TermsContradict(faults) => {
                let faults = faults.into_iter();
                Self::InvalidValues(
                    faults.map(|(which, fault)| (format!("/terms/{}", which.name()), fault)).collect(),
                )
            }
            Store::KeyReused => Self::KeyReused,
            Store::Outdated => Self::Outdated,
            Store::OverQuota(quota) => Self::OverQuota { code: ErrorCode::QuotaExhausted, quota },
            Store::TooMany(code) => Self::TooMany { code, retry_after: SHARE_RETRY_SECONDS },
            Store::LeaseLost => Self::Unavailable(error.to_string()),
            Store::Busy => Self::Unavailable("too much work is waiting".into()),
            Store::Unavailable(why) | Store::Again(why) => Self::Unavailable(why),
            Store::Duplicate(why) | Store::Bug(why) => Self::Bug(why),
        }
    }
}
