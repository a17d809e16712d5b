//! The one way in which the chain side fails.

/// Why something did not happen on the chain.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The node cannot be reached, or did not answer in time; nobody knows whether it did what it was asked.
    #[error("the node does not answer: {0}")]
    Unreachable(String),
    /// The node answered that it will not.
    #[error("the node refused: {0}")]
    Refused(String),
    /// A call was undone by the contract, which left these bytes as the reason.
    #[error("the contract refused the call")]
    Reverted(alloy_primitives::Bytes),
    /// Signing has stopped, or nobody here may sign.
    #[error("nothing can be signed at the moment: {0}")]
    Stopped(&'static str),
    /// Too much is waiting for the chain.
    #[error("too much is waiting for the chain")]
    Busy,
    /// The configuration or the chain is not what it must be; the text says what to do.
    #[error("{0}")]
    Setup(String),
    #[error(transparent)]
    Store(#[from] portico_store::Error),
    /// Something that must not happen; the text is for the log.
    #[error("internal: {0}")]
    Bug(String),
}

/// What this crate's functions answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;
