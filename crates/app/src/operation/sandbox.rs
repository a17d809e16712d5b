//! What only a sandbox offers: a clock that can be moved ahead.

use std::sync::Arc;

use portico_domain::{ErrorCode, FaultCode, Timestamp, ValidationError};
use portico_store::AdvanceClock;

use crate::caller::CallContext;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::operation::maintenance::Maintenance;
use crate::profile::Profile;

/// 100 years.
const MAX_AHEAD_SECONDS: i64 = 3_155_760_000;

#[derive(Debug)]
pub struct Sandbox {
    pub(crate) core: Arc<Core>,
}

/// The sandbox's clock after it was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedClock {
    pub now: Timestamp,
    pub ahead_seconds: i64,
}

impl Sandbox {
    /// Moves calendar time ahead, for good, and removes what has expired by then.
    pub async fn advance_clock(&self, call: &CallContext, seconds: i64) -> Result<MovedClock> {
        if self.core.profile != Profile::Sandbox {
            return Err(Error::NotFound(ErrorCode::NotFound));
        }
        let advance =
            AdvanceClock { micros: seconds * 1_000_000, max_ahead_micros: MAX_AHEAD_SECONDS * 1_000_000 };
        let Some(ahead) = self.core.write(call, advance).await? else {
            let fault =
                ValidationError::new(FaultCode::OutOfRange, "must not move the clock further than 100 years");
            return Err(Error::InvalidValues(vec![("/advanceSeconds".into(), fault)]));
        };
        self.core.clock.set_ahead(ahead);
        if let Err(error) = (Maintenance { core: self.core.clone() }).tidy().await {
            tracing::warn!(%error, "expired data is removed later");
        }
        Ok(MovedClock { now: self.core.clock.now(), ahead_seconds: ahead / 1_000_000 })
    }
}
