//! Runs an applicant's checks concurrently, each with its own deadline, retries and circuit breaker.
//!
//! Outcomes are returned as soon as they are there, so that each can be stored before the others end. Each check runs
//! in its own task and continues while the caller stores another outcome.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use portico_domain::Country;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep, timeout_at};
use tracing::Instrument as _;

pub use self::failure::{Failure, FailureReason};
use self::routes::BureauRoute;
pub use self::routes::{Health, LastFailure, Latency};
use crate::backoff::{Backoff, Jitter, SystemJitter};
use crate::breaker::BreakerConfig;
use crate::bureau::{BureauError, Reference, Request};
use crate::{Applicant, Check, Finding, Routing};

mod failure;
mod routes;

/// A bureau that got less than a quarter of the check's time does not count as slow.
const FAIR_TIME_DIVISOR: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Per check with all tries, from the moment when the bureau has capacity.
    pub check_timeout: Duration,
    /// For the whole run, waiting for capacity included.
    pub total_timeout: Duration,
    pub max_tries: u32,
    pub backoff: Backoff,
    pub breaker: BreakerConfig,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            check_timeout: Duration::from_secs(10),
            total_timeout: Duration::from_secs(15),
            max_tries: 4,
            backoff: Backoff::default(),
            breaker: BreakerConfig::default(),
        }
    }
}

/// The checks to run for an applicant.
#[derive(Debug, Clone)]
pub struct CheckRun {
    pub applicant: Arc<Applicant>,
    /// The country whose rules apply.
    pub country: Country,
    /// Each with the reference that all its tries use, also in later runs.
    pub checks: Vec<(Check, Reference)>,
}

#[derive(Debug, Clone)]
pub struct Outcome {
    pub check: Check,
    pub bureau: String,
    pub result: Result<Finding, Failure>,
    pub tries: u32,
    pub took: Duration,
}

/// Clones share circuit breakers and concurrency limits.
#[derive(Clone)]
pub struct Runner(Arc<Shared>);

struct Shared {
    policy: Policy,
    jitter: Box<dyn Jitter>,
    routes: [BureauRoute; 4],
}

/// Dropping it cancels unfinished checks.
#[derive(Debug)]
pub struct Running {
    tasks: JoinSet<Outcome>,
    names: HashMap<Id, (Check, String)>,
    started: Instant,
}

impl Runner {
    pub fn new(routing: &Routing, policy: Policy) -> Self {
        Self::with_jitter(routing, policy, SystemJitter)
    }

    /// With deterministic waits, for tests.
    pub fn with_jitter(routing: &Routing, policy: Policy, jitter: impl Jitter + 'static) -> Self {
        let routes = routes::of(routing, policy.breaker);
        Self(Arc::new(Shared { policy, jitter: Box::new(jitter), routes }))
    }

    /// Must be called within a tokio runtime.
    pub fn start(&self, run: &CheckRun) -> Running {
        let started = Instant::now();
        let mut tasks = JoinSet::new();
        let mut names = HashMap::new();
        for (check, reference) in &run.checks {
            let job = Job {
                shared: Arc::clone(&self.0),
                check: *check,
                reference: reference.clone(),
                applicant: Arc::clone(&run.applicant),
                country: run.country.clone(),
                started,
            };
            let bureau = job.route().bureau.name().to_owned();
            let task = tasks.spawn(job.run().in_current_span());
            names.insert(task.id(), (*check, bureau));
        }
        Running { tasks, names, started }
    }

    pub async fn run(&self, run: &CheckRun) -> Vec<Outcome> {
        let mut running = self.start(run);
        let mut outcomes = Vec::with_capacity(run.checks.len());
        while let Some(outcome) = running.next().await {
            outcomes.push(outcome);
        }
        outcomes
    }

    /// For metrics and health checks.
    pub fn health(&self) -> [Health; 4] {
        self.0.routes.each_ref().map(BureauRoute::health)
    }
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.health()).finish()
    }
}

impl Running {
    /// `None`: all outcomes were returned.
    pub async fn next(&mut self) -> Option<Outcome> {
        let error = match self.tasks.join_next_with_id().await? {
            Ok((_, outcome)) => return Some(outcome),
            Err(error) => error,
        };
        // The task panicked, which is a bug in a bureau. The panic message may contain anything, so it is not logged.
        let (check, bureau) = self.names.remove(&error.id())?;
        tracing::error!(%check, bureau, "a check panicked");
        let result = Err(Failure::new(FailureReason::Panicked));
        Some(Outcome { check, bureau, result, tries: 1, took: self.started.elapsed() })
    }
}

struct Job {
    shared: Arc<Shared>,
    check: Check,
    reference: Reference,
    applicant: Arc<Applicant>,
    country: Country,
    started: Instant,
}

impl Job {
    fn route(&self) -> &BureauRoute {
        &self.shared.routes[self.check as usize]
    }

    async fn run(self) -> Outcome {
        let mut tries = 0;
        let result = self.find(&mut tries).await;
        let (check, took) = (self.check, self.started.elapsed());
        let bureau = self.route().bureau.name().to_owned();
        let outcome = result.as_ref().map_or_else(Failure::kind, |_| "found");
        let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(%check, bureau, reference = %self.reference, outcome, tries, milliseconds, "a check ended");
        Outcome { check, bureau, result, tries, took }
    }

    async fn find(&self, tries: &mut u32) -> Result<Finding, Failure> {
        if !self.check.missing(&self.applicant).is_empty() {
            return Err(Failure::new(FailureReason::Incomplete));
        }
        let policy = &self.shared.policy;
        let mut deadline = self.started + policy.total_timeout;
        let mut last = None;
        loop {
            // The permit is held during a request, not during the backoff.
            let Ok(Ok(permit)) = timeout_at(deadline, self.route().permits.acquire()).await else {
                return Err(Failure::new(last.map_or(FailureReason::NoCapacity, FailureReason::Bureau)));
            };
            if *tries == 0 {
                deadline = deadline.min(Instant::now() + policy.check_timeout);
            }
            let asked = self.ask(deadline).await;
            drop(permit);
            let error = match asked {
                Ok(Ok(finding)) => {
                    *tries += 1;
                    return Ok(finding);
                }
                Ok(Err(error)) => error,
                Err(left) => return Err(Failure::new(FailureReason::CircuitOpen { left })),
            };
            *tries += 1;
            let (check, bureau) = (self.check, self.route().bureau.name());
            let reference = &self.reference;
            tracing::warn!(%check, bureau, %reference, tries, %error, "a bureau gave no finding");
            let wait = policy.backoff.after(*tries, &*self.shared.jitter);
            let wait = wait.max(error.retry_after().unwrap_or_default());
            if !error.is_transient() || *tries >= policy.max_tries || Instant::now() + wait >= deadline {
                return Err(Failure::new(FailureReason::Bureau(error)));
            }
            last = Some(error);
            sleep(wait).await;
        }
    }

    /// Sends one request if the circuit breaker admits it. `Err`: how long to wait.
    async fn ask(&self, deadline: Instant) -> Result<Result<Finding, BureauError>, Duration> {
        let route = self.route();
        let pass = route.admit()?;
        let fair = deadline.saturating_duration_since(Instant::now())
            >= self.shared.policy.check_timeout / FAIR_TIME_DIVISOR;
        let request = Request {
            check: self.check,
            applicant: &self.applicant,
            reference: &self.reference,
            country: &self.country,
            deadline,
        };
        let asked_at = Instant::now();
        let answer = timeout_at(deadline, route.bureau.check(request)).await;
        let answer = match answer.unwrap_or(Err(BureauError::TooSlow)) {
            Ok(finding) if finding.check() != self.check => {
                Err(BureauError::Broken("it is about another check"))
            }
            answer => answer,
        };
        // A check that waited long for capacity cannot blame the bureau for being slow.
        if fair || answer != Err(BureauError::TooSlow) {
            route.note(pass, answer.as_ref().err().copied(), asked_at.elapsed());
        }
        Ok(answer)
    }
}
