//! Why a check has no finding, and when to retry.

use std::time::Duration;

use crate::BureauError;

/// If nothing else determines the wait.
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(5);
/// For a bureau with invalid responses: its operator has to fix it first.
const INVALID_RESPONSE_RETRY_AFTER: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FailureReason {
    /// The bureau's last error.
    #[error(transparent)]
    Bureau(BureauError),
    /// The circuit breaker is open.
    #[error("the circuit breaker of the bureau is open")]
    CircuitOpen { left: Duration },
    /// Required inputs are missing; no request was sent.
    #[error("inputs of the check are missing")]
    Incomplete,
    /// The bureau's concurrency limit is exhausted.
    #[error("too many checks wait for the bureau")]
    NoCapacity,
    /// A bug in this service.
    #[error("the check panicked")]
    Panicked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    pub reason: FailureReason,
    /// `None`: these inputs will never succeed.
    pub retry_after: Option<Duration>,
}

impl Failure {
    pub fn new(reason: FailureReason) -> Self {
        let retry_after = match reason {
            FailureReason::Bureau(BureauError::Refused) | FailureReason::Incomplete => None,
            FailureReason::Bureau(BureauError::Broken(_)) => Some(INVALID_RESPONSE_RETRY_AFTER),
            FailureReason::Bureau(error) => Some(error.retry_after().unwrap_or(DEFAULT_RETRY_AFTER)),
            FailureReason::CircuitOpen { left } => Some(left),
            FailureReason::NoCapacity | FailureReason::Panicked => Some(DEFAULT_RETRY_AFTER),
        };
        Self { reason, retry_after }
    }

    /// For `Retry-After`: whole seconds, at least one.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after.map(|wait| (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1))
    }

    /// For metrics and logs.
    pub const fn kind(&self) -> &'static str {
        match self.reason {
            FailureReason::Bureau(error) => error.kind(),
            FailureReason::CircuitOpen { .. } => "circuit_open",
            FailureReason::Incomplete => "incomplete",
            FailureReason::NoCapacity => "crowded",
            FailureReason::Panicked => "broken_off",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_says_when_to_retry() {
        let unavailable =
            |millis| BureauError::Unavailable { retry_after: Some(Duration::from_millis(millis)) };
        for (reason, seconds) in [
            (FailureReason::Bureau(BureauError::Refused), None),
            (FailureReason::Bureau(BureauError::Broken("")), Some(30)),
            (FailureReason::Bureau(BureauError::TooSlow), Some(5)),
            (FailureReason::Bureau(unavailable(12_001)), Some(13)),
            (FailureReason::Bureau(unavailable(0)), Some(1)),
            (FailureReason::Bureau(BureauError::Busy { retry_after: None }), Some(5)),
            (FailureReason::CircuitOpen { left: Duration::from_millis(29_500) }, Some(30)),
            (FailureReason::Incomplete, None),
            (FailureReason::NoCapacity, Some(5)),
            (FailureReason::Panicked, Some(5)),
        ] {
            assert_eq!(Failure::new(reason).retry_after_seconds(), seconds, "{reason:?}");
        }
    }
}
