//! A circuit breaker: who has failed several times in a row is left alone for a while, then tried by one.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How patient a breaker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerConfig {
    /// So many failures in a row open the circuit.
    pub failures: u32,
    /// So long it stays open before one request may probe.
    pub rest: Duration,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self { failures: 5, rest: Duration::from_secs(30) }
    }
}

/// A circuit as metrics and health checks see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Closed,
    /// Requests are turned away.
    Open {
        left: Duration,
    },
    /// It was open long enough: one request probes, or the next one will.
    HalfOpen,
}

impl State {
    /// One word for metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open { .. } => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

#[derive(Debug)]
enum Circuit {
    Closed { failures: u32 },
    Open { until: Instant },
    Probing,
}

#[derive(Debug)]
struct Inner {
    circuit: Circuit,
    /// Grows with every opening and closing, so that whoever started before does not speak about what is now.
    era: u64,
    opened: u64,
}

#[derive(Debug)]
pub struct Breaker {
    patience: BreakerConfig,
    inner: Mutex<Inner>,
}

/// The right to ask once. It must be told how that went; dropped untold, it counts as never used.
#[derive(Debug)]
#[must_use]
pub struct Pass<'a> {
    breaker: &'a Breaker,
    era: u64,
    told: bool,
}

impl Breaker {
    pub fn new(patience: BreakerConfig) -> Self {
        let inner = Inner { circuit: Circuit::Closed { failures: 0 }, era: 0, opened: 0 };
        Self { patience, inner: Mutex::new(inner) }
    }

    /// The right to ask now, or how long to wait before trying again.
    pub fn admit(&self) -> Result<Pass<'_>, Duration> {
        let mut inner = self.lock();
        match inner.circuit {
            Circuit::Closed { .. } => {}
            Circuit::Open { until } => {
                let left = until.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    return Err(left);
                }
                inner.turn(Circuit::Probing);
            }
            // The probe decides soon.
            Circuit::Probing => return Err(Duration::from_secs(1)),
        }
        Ok(Pass { breaker: self, era: inner.era, told: false })
    }

    /// How the circuit stands.
    pub fn state(&self) -> State {
        match self.lock().circuit {
            Circuit::Closed { .. } => State::Closed,
            Circuit::Probing => State::HalfOpen,
            Circuit::Open { until } => {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() { State::HalfOpen } else { State::Open { left } }
            }
        }
    }

    /// How often it has opened.
    pub fn opened(&self) -> u64 {
        self.lock().opened
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn turn(&mut self, circuit: Circuit) {
        self.era += 1;
        self.opened += u64::from(matches!(circuit, Circuit::Open { .. }));
        self.circuit = circuit;
    }
}

impl Pass<'_> {
    /// The bureau is well. Whether that closed the circuit.
    pub fn succeeded(mut self) -> bool {
        self.tell(|inner, _| match &mut inner.circuit {
            Circuit::Closed { failures } => *failures = 0,
            Circuit::Probing => inner.turn(Circuit::Closed { failures: 0 }),
            Circuit::Open { .. } => {}
        })
    }

    /// The bureau is not well. Whether that opened the circuit.
    pub fn failed(mut self) -> bool {
        self.tell(|inner, patience| {
            let until = Instant::now() + patience.rest;
            match &mut inner.circuit {
                Circuit::Closed { failures } => {
                    *failures += 1;
                    if *failures >= patience.failures {
                        inner.turn(Circuit::Open { until });
                    }
                }
                Circuit::Probing => inner.turn(Circuit::Open { until }),
                Circuit::Open { .. } => {}
            }
        })
    }

    /// Whether the circuit turned by what was told.
    fn tell(&mut self, what: impl FnOnce(&mut Inner, BreakerConfig)) -> bool {
        self.told = true;
        let mut inner = self.breaker.lock();
        if inner.era != self.era {
            return false;
        }
        what(&mut inner, self.breaker.patience);
        inner.era != self.era
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if !self.told {
            // A probe that was given up proves nothing: the next request probes instead.
            self.tell(|inner, _| {
                if matches!(inner.circuit, Circuit::Probing) {
                    inner.era += 1;
                    inner.circuit = Circuit::Open { until: Instant::now() };
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    const REST: Duration = Duration::from_secs(30);

    fn fail(breaker: &Breaker, times: u32) {
        for _ in 0..times {
            let _ = breaker.admit().unwrap().failed();
        }
    }

    fn open() -> Breaker {
        let breaker = Breaker::new(BreakerConfig::default());
        fail(&breaker, 5);
        breaker
    }

    #[tokio::test(start_paused = true)]
    async fn five_failures_in_a_row_open_the_circuit_and_a_success_between_begins_anew() {
        let breaker = Breaker::new(BreakerConfig::default());
        fail(&breaker, 4);
        breaker.admit().unwrap().succeeded();
        fail(&breaker, 4);
        assert_eq!(breaker.state(), State::Closed);
        fail(&breaker, 1);
        assert_eq!(breaker.state(), State::Open { left: REST });
        assert_eq!(breaker.admit().unwrap_err(), REST);
        assert_eq!(breaker.opened(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn after_its_rest_one_probe_passes_and_its_success_closes_the_circuit() {
        let breaker = open();
        advance(Duration::from_millis(29_999)).await;
        assert_eq!(breaker.admit().unwrap_err(), Duration::from_millis(1));
        advance(Duration::from_millis(1)).await;
        assert_eq!(breaker.state(), State::HalfOpen);
        let probe = breaker.admit().unwrap();
        assert!(breaker.admit().is_err());
        assert_eq!(breaker.state(), State::HalfOpen);
        probe.succeeded();
        assert_eq!(breaker.state(), State::Closed);
        fail(&breaker, 4);
        assert_eq!(breaker.state(), State::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_fails_opens_the_circuit_again() {
        let breaker = open();
        advance(REST).await;
        let _ = breaker.admit().unwrap().failed();
        assert_eq!(breaker.state(), State::Open { left: REST });
        assert_eq!(breaker.opened(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_was_given_up_lets_the_next_one_probe() {
        let breaker = open();
        advance(REST).await;
        drop(breaker.admit().unwrap());
        assert_eq!(breaker.state(), State::HalfOpen);
        breaker.admit().unwrap().succeeded();
        assert_eq!(breaker.state(), State::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn who_started_before_the_circuit_opened_does_not_close_it() {
        let breaker = Breaker::new(BreakerConfig::default());
        let (early, late) = (breaker.admit().unwrap(), breaker.admit().unwrap());
        fail(&breaker, 5);
        early.succeeded();
        assert_eq!(breaker.state(), State::Open { left: REST });
        advance(REST).await;
        let probe = breaker.admit().unwrap();
        late.failed();
        assert_eq!(breaker.state(), State::HalfOpen);
        probe.succeeded();
        assert_eq!(breaker.state(), State::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_was_given_up_counts_neither_way() {
        let breaker = Breaker::new(BreakerConfig::default());
        fail(&breaker, 4);
        drop(breaker.admit().unwrap());
        assert_eq!(breaker.state(), State::Closed);
        fail(&breaker, 1);
        assert_eq!(breaker.state(), State::Open { left: REST });
    }
}
