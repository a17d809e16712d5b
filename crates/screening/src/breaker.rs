//! A circuit breaker: after several consecutive failures it rejects requests for a while, then lets one probe pass.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerConfig {
    /// Consecutive failures that open the circuit.
    pub failures: u32,
    /// How long the circuit stays open before a probe.
    pub open_for: Duration,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self { failures: 5, open_for: Duration::from_secs(30) }
    }
}

/// For metrics and health checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum State {
    Closed,
    /// Requests are rejected.
    Open {
        left: Duration,
    },
    /// The next request is, or will be, the probe.
    HalfOpen,
}

impl State {
    /// For metrics and logs.
    pub const fn name(self) -> &'static str {
        self.into_str()
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
    /// Increases with every opening and closing, so that requests from before do not affect the current state.
    generation: u64,
    opened: u64,
}

#[derive(Debug)]
pub struct Breaker {
    config: BreakerConfig,
    inner: Mutex<Inner>,
}

/// A permit for one request. Report its outcome; a dropped pass counts as unused.
#[derive(Debug)]
#[must_use]
pub struct Pass<'a> {
    breaker: &'a Breaker,
    generation: u64,
    reported: bool,
}

impl Breaker {
    pub fn new(config: BreakerConfig) -> Self {
        let inner = Inner { circuit: Circuit::Closed { failures: 0 }, generation: 0, opened: 0 };
        Self { config, inner: Mutex::new(inner) }
    }

    /// A permit, or how long to wait.
    pub fn admit(&self) -> Result<Pass<'_>, Duration> {
        let mut inner = self.lock();
        match inner.circuit {
            Circuit::Closed { .. } => {}
            Circuit::Open { until } => {
                let left = until.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    return Err(left);
                }
                inner.transition(Circuit::Probing);
            }
            // The probe ends soon.
            Circuit::Probing => return Err(Duration::from_secs(1)),
        }
        Ok(Pass { breaker: self, generation: inner.generation, reported: false })
    }

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

    pub fn opened(&self) -> u64 {
        self.lock().opened
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn transition(&mut self, circuit: Circuit) {
        self.generation += 1;
        self.opened += u64::from(matches!(circuit, Circuit::Open { .. }));
        self.circuit = circuit;
    }
}

impl Pass<'_> {
    /// Returns whether this closed the circuit.
    pub fn succeeded(mut self) -> bool {
        self.report(|inner, _| match &mut inner.circuit {
            Circuit::Closed { failures } => *failures = 0,
            Circuit::Probing => inner.transition(Circuit::Closed { failures: 0 }),
            Circuit::Open { .. } => {}
        })
    }

    /// Returns whether this opened the circuit.
    pub fn failed(mut self) -> bool {
        self.report(|inner, config| {
            let until = Instant::now() + config.open_for;
            match &mut inner.circuit {
                Circuit::Closed { failures } => {
                    *failures += 1;
                    if *failures >= config.failures {
                        inner.transition(Circuit::Open { until });
                    }
                }
                Circuit::Probing => inner.transition(Circuit::Open { until }),
                Circuit::Open { .. } => {}
            }
        })
    }

    /// Returns whether the circuit changed.
    fn report(&mut self, what: impl FnOnce(&mut Inner, BreakerConfig)) -> bool {
        self.reported = true;
        let mut inner = self.breaker.lock();
        if inner.generation != self.generation {
            return false;
        }
        what(&mut inner, self.breaker.config);
        inner.generation != self.generation
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if !self.reported {
            // An abandoned probe proves nothing: the next request probes instead.
            self.report(|inner, _| {
                if matches!(inner.circuit, Circuit::Probing) {
                    inner.generation += 1;
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

    const OPEN_FOR: Duration = Duration::from_secs(30);

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
    async fn five_consecutive_failures_open_the_circuit() {
        let breaker = Breaker::new(BreakerConfig::default());
        fail(&breaker, 4);
        breaker.admit().unwrap().succeeded();
        fail(&breaker, 4);
        assert_eq!(breaker.state(), State::Closed);
        fail(&breaker, 1);
        assert_eq!(breaker.state(), State::Open { left: OPEN_FOR });
        assert_eq!(breaker.admit().unwrap_err(), OPEN_FOR);
        assert_eq!(breaker.opened(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn one_successful_probe_closes_the_circuit() {
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
        advance(OPEN_FOR).await;
        let _ = breaker.admit().unwrap().failed();
        assert_eq!(breaker.state(), State::Open { left: OPEN_FOR });
        assert_eq!(breaker.opened(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn abandoned_probe_lets_the_next_request_probe() {
        let breaker = open();
        advance(OPEN_FOR).await;
        drop(breaker.admit().unwrap());
        assert_eq!(breaker.state(), State::HalfOpen);
        breaker.admit().unwrap().succeeded();
        assert_eq!(breaker.state(), State::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn request_from_before_the_opening_does_not_close_it() {
        let breaker = Breaker::new(BreakerConfig::default());
        let (early, late) = (breaker.admit().unwrap(), breaker.admit().unwrap());
        fail(&breaker, 5);
        early.succeeded();
        assert_eq!(breaker.state(), State::Open { left: OPEN_FOR });
        advance(OPEN_FOR).await;
        let probe = breaker.admit().unwrap();
        late.failed();
        assert_eq!(breaker.state(), State::HalfOpen);
        probe.succeeded();
        assert_eq!(breaker.state(), State::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn abandoned_request_counts_neither_way() {
        let breaker = Breaker::new(BreakerConfig::default());
        fail(&breaker, 4);
        drop(breaker.admit().unwrap());
        assert_eq!(breaker.state(), State::Closed);
        fail(&breaker, 1);
        assert_eq!(breaker.state(), State::Open { left: OPEN_FOR });
    }
}
