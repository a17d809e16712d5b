//! A route per check: its bureau, its circuit breaker, and the concurrency limit that all checks of a bureau share.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

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
    pub last_failure: Option<LastFailure>,
    /// Of the last valid responses to this check.
    pub latency: Option<Latency>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastFailure {
    /// The error's kind, never the bureau's text.
    pub kind: &'static str,
    pub ago: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    pub median: Duration,
    pub slowest: Duration,
}

/// Responses whose latency is kept.
const MAX_KEPT_LATENCIES: usize = 100;

#[derive(Debug, Default)]
struct RecentRequests {
    latencies: VecDeque<Duration>,
    last_failure: Option<(&'static str, Instant)>,
}

impl RecentRequests {
    fn add(&mut self, latency: Duration) {
        if self.latencies.len() == MAX_KEPT_LATENCIES {
            self.latencies.pop_front();
        }
        self.latencies.push_back(latency);
    }

    fn latency(&self) -> Option<Latency> {
        let mut sorted: Vec<Duration> = self.latencies.iter().copied().collect();
        sorted.sort_unstable();
        Some(Latency { median: *sorted.get(sorted.len() / 2)?, slowest: *sorted.last()? })
    }
}

pub(super) struct BureauRoute {
    check: Check,
    pub(super) bureau: Arc<dyn Bureau>,
    pub(super) permits: Arc<Semaphore>,
    max_concurrency: usize,
    breaker: Option<Breaker>,
    answered: AtomicU64,
    failed: AtomicU64,
    recent: Mutex<RecentRequests>,
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
            recent: Mutex::default(),
        }
    })
}

impl BureauRoute {
    /// A permit for one request, or how long to wait.
    pub(super) fn admit(&self) -> Result<Option<Pass<'_>>, Duration> {
        self.breaker.as_ref().map(Breaker::admit).transpose()
    }

    /// Reports the outcome. Rejections and `Retry-After` come from a healthy bureau.
    pub(super) fn note(&self, pass: Option<Pass<'_>>, error: Option<BureauError>, took: Duration) {
        let failed = error.is_some_and(BureauError::counts_as_failure);
        {
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            match error {
                Some(error) if failed => recent.last_failure = Some((error.kind(), Instant::now())),
                Some(_) => {}
                None => recent.add(took),
            }
        }
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
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let last_failure = recent.last_failure.map(|(kind, at)| LastFailure { kind, ago: at.elapsed() });
        Health {
            check: self.check,
            bureau: self.bureau.name().to_owned(),
            circuit: self.breaker.as_ref().map_or(State::Closed, Breaker::state),
            opened: self.breaker.as_ref().map_or(0, Breaker::opened),
            answered: self.answered.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            in_flight: self.max_concurrency.saturating_sub(self.permits.available_permits()),
            last_failure,
            latency: recent.latency(),
        }
    }
}
