//! A lane per check: its bureau, the circuit breaker between them, and the bound that all checks of a bureau share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::breaker::{Breaker, BreakerConfig, Pass, State};
use crate::{Bureau, BureauError, Check, Routing};

/// How a check's bureau does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub check: Check,
    /// The bureau that serves it.
    pub bureau: String,
    /// How the circuit stands.
    pub circuit: State,
    /// How often the circuit has opened.
    pub opened: u64,
    /// How often the bureau was asked this check and answered as it should, a refusal included.
    pub answered: u64,
    /// How often it was asked this check and did not.
    pub failed: u64,
    /// How many checks of any kind the bureau is asked right now.
    pub in_flight: usize,
}

pub(super) struct BureauRoute {
    check: Check,
    pub(super) bureau: Arc<dyn Bureau>,
    pub(super) gate: Arc<Semaphore>,
    most_at_once: usize,
    breaker: Option<Breaker>,
    answered: AtomicU64,
    failed: AtomicU64,
}

/// The lanes in the order of [`Check::ALL`].
pub(super) fn of(routing: &Routing, patience: BreakerConfig) -> [BureauRoute; 4] {
    let mut gates: HashMap<&str, Arc<Semaphore>> = HashMap::new();
    Check::ALL.map(|check| {
        let bureau = routing.bureau(check);
        let most_at_once = bureau.most_at_once().clamp(1, Semaphore::MAX_PERMITS);
        let gate = gates.entry(bureau.name()).or_insert_with(|| Arc::new(Semaphore::new(most_at_once)));
        BureauRoute {
            check,
            bureau: Arc::clone(bureau),
            gate: Arc::clone(gate),
            most_at_once,
            breaker: bureau.fails_as_a_whole().then(|| Breaker::new(patience)),
            answered: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    })
}

impl BureauRoute {
    /// The right to ask the bureau, or how long to leave it alone.
    pub(super) fn admit(&self) -> Result<Option<Pass<'_>>, Duration> {
        self.breaker.as_ref().map(Breaker::admit).transpose()
    }

    /// Notes how the bureau did. A refusal, or a plea for patience, comes from a bureau that is well.
    pub(super) fn note(&self, pass: Option<Pass<'_>>, error: Option<BureauError>) {
        let failed = error.is_some_and(BureauError::is_the_bureaus_fault);
        let tally = if failed { &self.failed } else { &self.answered };
        tally.fetch_add(1, Ordering::Relaxed);
        let Some(pass) = pass else { return };
        let (check, bureau) = (self.check, self.bureau.name());
        if failed {
            if pass.failed() {
                tracing::warn!(%check, bureau, "a bureau has failed several times and is left alone");
            }
        } else if pass.succeeded() {
            tracing::info!(%check, bureau, "a bureau is well again");
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
            in_flight: self.most_at_once.saturating_sub(self.gate.available_permits()),
        }
    }
}
