//! A scripted bureau that records its requests.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use portico_domain::Income;
use portico_screening::{Bureau, BureauError, Check, CheckFuture, Finding, Request, Score};
use tokio::time::{Instant, sleep};

#[derive(Debug, Clone, Copy)]
pub(crate) enum ScriptStep {
    Finds,
    FindsAfter(Duration),
    Fails(BureauError),
    Hangs,
    /// Returns the finding of another check.
    FindsSomethingElse,
    Panics,
}

pub(crate) struct Scripted {
    name: &'static str,
    max_concurrency: usize,
    script: Mutex<VecDeque<ScriptStep>>,
    otherwise: ScriptStep,
    calls: Mutex<Vec<(String, Duration)>>,
    begun: Instant,
    now: AtomicUsize,
    peak: AtomicUsize,
}

impl Scripted {
    /// Runs the script; the last step repeats forever.
    pub(crate) fn new(name: &'static str, steps: &[ScriptStep]) -> Self {
        let (last, first) = steps.split_last().unwrap();
        Self {
            name,
            max_concurrency: 1000,
            script: Mutex::new(first.iter().copied().collect()),
            otherwise: *last,
            calls: Mutex::default(),
            begun: Instant::now(),
            now: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
        }
    }

    pub(crate) fn with_max_concurrency(mut self, most: usize) -> Self {
        self.max_concurrency = most;
        self
    }

    /// Times of requests, in milliseconds since the start.
    pub(crate) fn times(&self) -> Vec<u128> {
        self.calls.lock().unwrap().iter().map(|(_, at)| at.as_millis()).collect()
    }

    pub(crate) fn references(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|(reference, _)| reference.clone()).collect()
    }

    /// Requests in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.now.load(Ordering::SeqCst)
    }

    /// The highest number of concurrent requests.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::SeqCst)
    }
}

/// A finding that passes.
pub(crate) fn good(check: Check) -> Finding {
    match check {
        Check::Eviction => Finding::Eviction { found: false },
        Check::Income => Finding::Income { yearly: Income::from_units(8_500_000) },
        Check::SoftCredit => {
            Finding::SoftCredit { score: Score::clamped(720), range: None, factors: Vec::new() }
        }
        Check::CriminalBackground => Finding::CriminalBackground { found: false },
    }
}

struct InFlight<'a>(&'a AtomicUsize);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Bureau for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn check<'a>(&'a self, request: Request<'a>) -> CheckFuture<'a> {
        Box::pin(async move {
            self.calls.lock().unwrap().push((request.reference.to_string(), self.begun.elapsed()));
            let present = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.peak.fetch_max(present, Ordering::SeqCst);
            let _present = InFlight(&self.now);
            let step = self.script.lock().unwrap().pop_front().unwrap_or(self.otherwise);
            match step {
                ScriptStep::Finds => Ok(good(request.check)),
                ScriptStep::FindsAfter(time) => {
                    sleep(time).await;
                    Ok(good(request.check))
                }
                ScriptStep::Fails(error) => Err(error),
                ScriptStep::Hangs => std::future::pending().await,
                ScriptStep::FindsSomethingElse => Ok(match request.check {
                    Check::Eviction => good(Check::CriminalBackground),
                    _ => good(Check::Eviction),
                }),
                ScriptStep::Panics => panic!("a scripted fault"),
            }
        })
    }

    fn max_concurrency(&self) -> usize {
        self.max_concurrency
    }
}
