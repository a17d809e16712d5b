//! A bureau that does what a test says, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use portico_domain::Income;
use portico_screening::{Answer, Bureau, BureauError, Check, Finding, Request, Score};
use tokio::time::{Instant, sleep};

/// What the bureau does when it is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Answers well, at once.
    Finds,
    /// Answers well, after a time.
    FindsAfter(Duration),
    /// Fails at once.
    Fails(BureauError),
    /// Never answers.
    Hangs,
    /// Answers what was not asked.
    FindsSomethingElse,
    /// Has a fault.
    Panics,
}

/// The bureau.
pub(crate) struct Scripted {
    name: &'static str,
    most_at_once: usize,
    script: Mutex<VecDeque<Step>>,
    otherwise: Step,
    calls: Mutex<Vec<(String, Duration)>>,
    begun: Instant,
    now: AtomicUsize,
    peak: AtomicUsize,
}

impl Scripted {
    /// A bureau that takes these steps one after the other, then the last one for ever.
    pub(crate) fn new(name: &'static str, steps: &[Step]) -> Self {
        let (last, first) = steps.split_last().unwrap();
        Self {
            name,
            most_at_once: 1000,
            script: Mutex::new(first.iter().copied().collect()),
            otherwise: *last,
            calls: Mutex::default(),
            begun: Instant::now(),
            now: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
        }
    }

    /// The same, asked so much at once.
    pub(crate) fn at_once(mut self, most: usize) -> Self {
        self.most_at_once = most;
        self
    }

    /// When it was asked, in milliseconds since it began.
    pub(crate) fn times(&self) -> Vec<u128> {
        self.calls.lock().unwrap().iter().map(|(_, at)| at.as_millis()).collect()
    }

    /// Under which references it was asked.
    pub(crate) fn references(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|(reference, _)| reference.clone()).collect()
    }

    /// How many requests wait for it now.
    pub(crate) fn asked_now(&self) -> usize {
        self.now.load(Ordering::SeqCst)
    }

    /// How many requests have waited for it at once.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::SeqCst)
    }
}

/// A good finding.
pub(crate) fn good(check: Check) -> Finding {
    match check {
        Check::Eviction => Finding::Eviction { found: false },
        Check::Income => Finding::Income { yearly: Income::from_units(8_500_000) },
        Check::SoftCredit => Finding::SoftCredit { score: Score::clamped(720) },
        Check::CriminalBackground => Finding::CriminalBackground { found: false },
    }
}

struct Present<'a>(&'a AtomicUsize);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Bureau for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn check<'a>(&'a self, request: Request<'a>) -> Answer<'a> {
        Box::pin(async move {
            self.calls.lock().unwrap().push((request.reference.to_string(), self.begun.elapsed()));
            let present = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.peak.fetch_max(present, Ordering::SeqCst);
            let _present = Present(&self.now);
            let step = self.script.lock().unwrap().pop_front().unwrap_or(self.otherwise);
            match step {
                Step::Finds => Ok(good(request.check)),
                Step::FindsAfter(time) => {
                    sleep(time).await;
                    Ok(good(request.check))
                }
                Step::Fails(error) => Err(error),
                Step::Hangs => std::future::pending().await,
                Step::FindsSomethingElse => Ok(match request.check {
                    Check::Eviction => good(Check::CriminalBackground),
                    _ => good(Check::Eviction),
                }),
                Step::Panics => panic!("a scripted fault"),
            }
        })
    }

    fn most_at_once(&self) -> usize {
        self.most_at_once
    }
}
