//! Errors of the chain crate.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Unreachable or timed out; the request may have been executed.
    #[error("the node does not answer: {0}")]
    Unreachable(String),
    /// The node rejected the request.
    #[error("the node refused: {0}")]
    Refused(String),
    /// The contract reverted with this data.
    #[error("the contract refused the call")]
    Reverted(alloy_primitives::Bytes),
    #[error("nothing can be signed at the moment: {0}")]
    Stopped(&'static str),
    #[error("too much is waiting for the chain")]
    Busy,
    /// Configuration or chain is wrong; the text says what to do.
    #[error("{0}")]
    Setup(String),
    #[error(transparent)]
    Store(#[from] portico_store::Error),
    /// A bug; the text is for the log.
    #[error("internal: {0}")]
    Bug(String),
}

impl From<portico_records::DecodeError> for Error {
    fn from(error: portico_records::DecodeError) -> Self {
        Self::Bug(error.to_string())
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
