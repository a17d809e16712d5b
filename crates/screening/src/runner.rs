//! Runs the checks of one applicant side by side, each with its own deadline, retries and circuit breaker.
//!
//! Every outcome is handed over as soon as it is there, so that it can be stored before the others end. Each
//! check runs in a task of its own and goes on while the caller stores another one's outcome.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use portico_domain::Country;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep, timeout_at};
use tracing::Instrument as _;

pub use self::failure::{Failure, Why};
use self::lanes::BureauRoute;
pub use self::lanes::Health;
use crate::backoff::{Backoff, Jitter, SystemJitter};
use crate::breaker::BreakerConfig;
use crate::bureau::{BureauError, Reference, Request};
use crate::{Applicant, Check, Finding, Routing};

mod failure;
mod lanes;

/// A bureau that was given less than this part of a check's time may not be blamed for being slow.
const FAIR_SHARE: u32 = 4;

/// How long and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// How long one check may take with all its tries, from the moment when the bureau has room for it.
    pub check: Duration,
    /// How long an order may take in all, waiting for room included.
    pub whole: Duration,
    /// How often a check is tried at most.
    pub tries: u32,
    /// How long to wait between two tries.
    pub backoff: Backoff,
    /// When a bureau is left alone.
    pub patience: BreakerConfig,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            check: Duration::from_secs(10),
            whole: Duration::from_secs(15),
            tries: 4,
            backoff: Backoff::default(),
            patience: BreakerConfig::default(),
        }
    }
}

/// What is to be found out about whom.
#[derive(Debug, Clone)]
pub struct Order {
    pub applicant: Arc<Applicant>,
    /// By which country's rules.
    pub country: Country,
    /// The checks, each with the reference that it keeps when it is tried again, also in a later order.
    pub checks: Vec<(Check, Reference)>,
}

/// How one check ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub check: Check,
    /// The name of the bureau that served it.
    pub bureau: String,
    /// What it found, or why it found nothing.
    pub result: Result<Finding, Failure>,
    /// How often the bureau was asked.
    pub tries: u32,
    /// How long it took.
    pub took: Duration,
}

/// Runs checks. Clones share their circuit breakers and bounds.
#[derive(Clone)]
pub struct Runner(Arc<Shared>);

struct Shared {
    policy: Policy,
    dice: Box<dyn Jitter>,
    lanes: [BureauRoute; 4],
}

/// An order under way. Dropping it gives up what is not finished.
#[derive(Debug)]
pub struct Running {
    tasks: JoinSet<Outcome>,
    names: HashMap<Id, (Check, String)>,
    started: Instant,
}

impl Runner {
    /// Runs checks as routed.
    pub fn new(routing: &Routing, policy: Policy) -> Self {
        Self::with_dice(routing, policy, SystemJitter)
    }

    /// The same, with waits that depend on these dice.
    pub fn with_dice(routing: &Routing, policy: Policy, dice: impl Jitter + 'static) -> Self {
        let lanes = lanes::of(routing, policy.patience);
        Self(Arc::new(Shared { policy, dice: Box::new(dice), lanes }))
    }

    /// Starts all checks of an order. Must be called within a tokio runtime.
    pub fn start(&self, order: &Order) -> Running {
        let started = Instant::now();
        let mut tasks = JoinSet::new();
        let mut names = HashMap::new();
        for (check, reference) in &order.checks {
            let job = Job {
                shared: Arc::clone(&self.0),
                check: *check,
                reference: reference.clone(),
                applicant: Arc::clone(&order.applicant),
                country: order.country.clone(),
                started,
            };
            let bureau = job.lane().bureau.name().to_owned();
            let task = tasks.spawn(job.run().in_current_span());
            names.insert(task.id(), (*check, bureau));
        }
        Running { tasks, names, started }
    }

    /// Runs all checks of an order to their end.
    pub async fn run(&self, order: &Order) -> Vec<Outcome> {
        let mut running = self.start(order);
        let mut outcomes = Vec::with_capacity(order.checks.len());
        while let Some(outcome) = running.next().await {
            outcomes.push(outcome);
        }
        outcomes
    }

    /// How each check's bureau does, for metrics and health checks.
    pub fn health(&self) -> [Health; 4] {
        self.0.lanes.each_ref().map(BureauRoute::health)
    }
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.health()).finish()
    }
}

impl Running {
    /// The next outcome, as soon as there is one; `None` once all are handed over.
    pub async fn next(&mut self) -> Option<Outcome> {
        let error = match self.tasks.join_next_with_id().await? {
            Ok((_, outcome)) => return Some(outcome),
            Err(error) => error,
        };
        // Only a fault in a bureau's code gets here. The panic's own words may hold anything, so they stay out.
        let (check, bureau) = self.names.remove(&error.id())?;
        tracing::error!(%check, bureau, "a check broke off");
        let result = Err(Failure::new(Why::BrokenOff));
        Some(Outcome { check, bureau, result, tries: 1, took: self.started.elapsed() })
    }
}

/// One check of an order.
struct Job {
    shared: Arc<Shared>,
    check: Check,
    reference: Reference,
    applicant: Arc<Applicant>,
    country: Country,
    started: Instant,
}

impl Job {
    fn lane(&self) -> &BureauRoute {
        &self.shared.lanes[self.check as usize]
    }

    async fn run(self) -> Outcome {
        let mut tries = 0;
        let result = self.find(&mut tries).await;
        let bureau = self.lane().bureau.name().to_owned();
        Outcome { check: self.check, bureau, result, tries, took: self.started.elapsed() }
    }

    async fn find(&self, tries: &mut u32) -> Result<Finding, Failure> {
        if !self.check.missing(&self.applicant).is_empty() {
            return Err(Failure::new(Why::Incomplete));
        }
        let policy = &self.shared.policy;
        let mut deadline = self.started + policy.whole;
        let mut last = None;
        loop {
            // A place is held while the bureau is asked, not while this check waits to ask again.
            let Ok(Ok(place)) = timeout_at(deadline, self.lane().gate.acquire()).await else {
                return Err(Failure::new(last.map_or(Why::Crowded, Why::Bureau)));
            };
            if *tries == 0 {
                deadline = deadline.min(Instant::now() + policy.check);
            }
            let asked = self.ask(deadline).await;
            drop(place);
            let error = match asked {
                Ok(Ok(finding)) => {
                    *tries += 1;
                    return Ok(finding);
                }
                Ok(Err(error)) => error,
                Err(left) => return Err(Failure::new(Why::CircuitOpen { left })),
            };
            *tries += 1;
            let (check, bureau) = (self.check, self.lane().bureau.name());
            tracing::warn!(%check, bureau, tries, %error, "a bureau gave no finding");
            let wait = policy.backoff.after(*tries, &*self.shared.dice);
            let wait = wait.max(error.retry_after().unwrap_or_default());
            if !error.is_passing() || *tries >= policy.tries || Instant::now() + wait >= deadline {
                return Err(Failure::new(Why::Bureau(error)));
            }
            last = Some(error);
            sleep(wait).await;
        }
    }

    /// Asks the bureau once, if its circuit lets anybody pass. Otherwise: how long that will be so.
    async fn ask(&self, deadline: Instant) -> Result<Result<Finding, BureauError>, Duration> {
        let lane = self.lane();
        let pass = lane.admit()?;
        let fair =
            deadline.saturating_duration_since(Instant::now()) >= self.shared.policy.check / FAIR_SHARE;
        let request = Request {
            check: self.check,
            applicant: &self.applicant,
            reference: &self.reference,
            country: &self.country,
            deadline,
        };
        let answer = timeout_at(deadline, lane.bureau.check(request)).await;
        let answer = match answer.unwrap_or(Err(BureauError::TooSlow)) {
            Ok(finding) if finding.check() != self.check => {
                Err(BureauError::Broken("it is about another check"))
            }
            answer => answer,
        };
        // Who comes late, after a long wait for room, cannot blame the bureau for being slow.
        if fair || answer != Err(BureauError::TooSlow) {
            lane.note(pass, answer.err());
        }
        Ok(answer)
    }
}
