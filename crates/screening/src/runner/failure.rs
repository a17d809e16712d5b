//! Why a check found nothing, and whether to come back.

use std::time::Duration;

use crate::BureauError;

/// When to come back if nobody says when.
const SOON: Duration = Duration::from_secs(5);
/// When to come back to a bureau that answers nonsense: somebody has to mend it first.
const LATER: Duration = Duration::from_secs(30);

/// Why a check found nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The bureau gave no finding, the last time it was asked.
    #[error(transparent)]
    Bureau(BureauError),
    /// The bureau has failed too often of late, and is left alone.
    #[error("the bureau has failed several times and is left alone")]
    CircuitOpen { left: Duration },
    /// Inputs that the check needs are missing, so the bureau was not asked.
    #[error("inputs of the check are missing")]
    Incomplete,
    /// Too many others wait for the bureau.
    #[error("too many checks wait for the bureau")]
    Crowded,
    /// A fault in this service.
    #[error("the check broke off")]
    BrokenOff,
}

/// Why a check found nothing, and whether to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Failure {
    pub why: Why,
    /// When a retry makes sense; `None`: never, with these inputs.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// The failure that follows from the reason.
    pub fn new(why: Why) -> Self {
        let retry_after = match why {
            Why::Bureau(BureauError::Refused) | Why::Incomplete => None,
            Why::Bureau(BureauError::Broken(_)) => Some(LATER),
            Why::Bureau(error) => Some(error.retry_after().unwrap_or(SOON)),
            Why::CircuitOpen { left } => Some(left),
            Why::Crowded | Why::BrokenOff => Some(SOON),
        };
        Self { why, retry_after }
    }

    /// Whether a retry makes sense, and then after how many whole seconds, at least one: a `Retry-After`.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after.map(|wait| (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1))
    }

    /// One word for metrics and logs.
    pub const fn kind(&self) -> &'static str {
        match self.why {
            Why::Bureau(error) => error.kind(),
            Why::CircuitOpen { .. } => "circuit_open",
            Why::Incomplete => "incomplete",
            Why::Crowded => "crowded",
            Why::BrokenOff => "broken_off",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_whether_and_when_to_come_back() {
        let unavailable =
            |millis| BureauError::Unavailable { retry_after: Some(Duration::from_millis(millis)) };
        for (why, seconds) in [
            (Why::Bureau(BureauError::Refused), None),
            (Why::Bureau(BureauError::Broken("")), Some(30)),
            (Why::Bureau(BureauError::TooSlow), Some(5)),
            (Why::Bureau(unavailable(12_001)), Some(13)),
            (Why::Bureau(unavailable(0)), Some(1)),
            (Why::Bureau(BureauError::Busy { retry_after: None }), Some(5)),
            (Why::CircuitOpen { left: Duration::from_millis(29_500) }, Some(30)),
            (Why::Incomplete, None),
            (Why::Crowded, Some(5)),
            (Why::BrokenOff, Some(5)),
        ] {
            assert_eq!(Failure::new(why).retry_after_seconds(), seconds, "{why:?}");
        }
    }
}
