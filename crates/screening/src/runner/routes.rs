//! A route per check: its bureau, its circuit breaker, and the concurrency limit that all checks of a bureau share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::breaker::{Breaker, BreakerConfig, Pass, State};
use crate::{Bureau, BureauError, Check, Routing};

/// The state of a check's bureau.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub check: Check,
    pub bureau: String,
    pub circuit: State,
    pub opened: u64,
    /// Valid responses to this check, rejections included.
    pub answered: u64,
    /// Failed requests of this check.
    pub failed: u64,
    /// Concurrent requests for any check.
    pub in_flight: usize,
}

pub(super) struct BureauRoute {
    check: Check,
    pub(super) bureau: Arc<dyn Bureau>,
    pub(super) permits: Arc<Semaphore>,
    max_concurrency: usize,
    breaker: Option<Breaker>,
    answered: AtomicU64,
    failed: AtomicU64,
}

/// In the order of [`Check::ALL`].
pub(super) fn of(routing: &Routing, breaker: BreakerConfig) -> [BureauRoute; 4] {
    let mut permits_by_bureau: HashMap<&str, Arc<Semaphore>> = HashMap::new();
    Check::ALL.map(|check| {
        let bureau = routing.bureau(check);
        let max_concurrency = bureau.max_concurrency().clamp(1, Semaphore::MAX_PERMITS);
        let permits = permits_by_bureau
            .entry(bureau.name())
            .or_insert_with(|| Arc::new(Semaphore::new(max_concurrency)));
        BureauRoute {
            check,
            bureau: Arc::clone(bureau),
            permits: Arc::clone(permits),
            max_concurrency,
            breaker: bureau.uses_circuit_breaker().then(|| Breaker::new(breaker)),
            answered: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    })
}

impl BureauRoute {
    /// A permit for one request, or how long to wait.
    pub(super) fn admit(&self) -> Result<Option<Pass<'_>>, Duration> {
        self.breaker.as_ref().map(Breaker::admit).transpose()
    }

    /// Reports the outcome. Rejections and `Retry-After` come from a healthy bureau.
    pub(super) fn note(&self, pass: Option<Pass<'_>>, error: Option<BureauError>) {
        let failed = error.is_some_and(BureauError::counts_as_failure);
        let tally = if failed { &self.failed } else { &self.answered };
        tally.fetch_add(1, Ordering::Relaxed);
        let Some(pass) = pass else { return };
        let (check, bureau) = (self.check, self.bureau.name());
        if failed {
            if pass.failed() {
                tracing::warn!(%check, bureau, "a bureau has failed several times: its circuit breaker is open");
            }
        } else if pass.succeeded() {
            tracing::info!(%check, bureau, "a bureau works again: its circuit breaker is closed");
        }
    }

    pub(super) fn health(&self) -> Health {
        Health {
            check: self.check,
            bureau: self.bureau.name().to_owned(),
            circuit: self.breaker.as_ref().map_or(State::Closed, Breaker::state),
            opened: self.breaker.as_ref().map_or(0, Breaker::opened),
            answered: self.answered.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            in_flight: self.max_concurrency.saturating_sub(self.permits.available_permits()),
        }
    }
}
