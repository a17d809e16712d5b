//! The background tasks that run the engine's steps, and the queue in front of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::B256;
use portico_domain::Timestamp;
use portico_store::chain::{AcceptedListing, BatchUpdate, NewRecord, Refusal};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::{Instrument as _, Span};

use super::commit::CommittedGroup;
use super::engine::{Engine, Status, transaction_and_block};
use crate::node::Node;
use crate::{Error, Result};

const MAX_QUEUED_REQUESTS: usize = 4096;
/// Groups that wait for delivery. While one waits, the next is not committed yet but grows.
const MAX_WAITING_GROUPS: usize = 1;
/// Interval of the follower if nothing wakes it.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(500);
/// The interval while the node accepts transactions and more are waiting.
const BUSY_FOLLOW_INTERVAL: Duration = Duration::from_millis(20);
/// How long delivered batches wait for a commit to be stored with.
const STORE_DELAY: Duration = Duration::from_millis(20);
/// How long requests are collected while the chain does not keep up; multiplied by the number of waiting calls.
const GATHER_STEP: Duration = Duration::from_millis(100);
const MAX_GATHER_STEPS: usize = 10;

/// Linger: clients that were just answered can join the next batch. Under load most of them return immediately, and a
/// large group costs little more than a small one.
const LINGER: Duration = Duration::from_millis(2);

struct Job {
    record: NewRecord,
    waiter: Waiter,
}

/// A request whose listing is being recorded.
struct Waiter {
    /// Of the chain item.
    key: B256,
    /// The request's own span: a group runs in a task of the writer.
    span: Span,
    answer: oneshot::Sender<Result<AcceptedListing>>,
}

type Answers = Vec<(Waiter, Result<AcceptedListing, Refusal>)>;

struct Group {
    answers: Answers,
    nonce: Option<i64>,
    span: Span,
}

impl Group {
    /// Each line is in the span of its request.
    fn log_committed(&self) {
        for (Waiter { key, span, .. }, answer) in &self.answers {
            span.in_scope(|| match answer {
                Ok(accepted) => {
                    tracing::debug!(%key, transaction = %B256::from(accepted.hash), "a listing is signed");
                }
                Err(refusal) => tracing::debug!(%key, ?refusal, "a listing is rejected"),
            });
        }
    }

    fn log_mined(&self, update: &BatchUpdate) {
        let (transaction, block) = transaction_and_block(update);
        for (Waiter { key, span, .. }, _) in self.answers.iter().filter(|(_, answer)| answer.is_ok()) {
            span.in_scope(|| tracing::debug!(%key, transaction, block, "a listing is mined"));
        }
    }
}

/// The span of a group's work: that of its only request, else one of its own.
fn group_span(waiters: &[Waiter]) -> Span {
    match waiters {
        [only] => only.span.clone(),
        several => tracing::error_span!("group", requests = several.len()),
    }
}

/// Mined batches that are not stored yet. They are stored with the next group, whose commit waits for the disk
/// anyway, or alone if there is none.
#[derive(Debug, Default)]
struct UnstoredUpdates(Mutex<Vec<BatchUpdate>>);

impl UnstoredUpdates {
    fn add(&self, update: BatchUpdate) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(update);
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    async fn note<N: Node>(&self, engine: &Engine<N>, wake: &Notify) {
        let updates = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if let Err(error) = engine.note_delivered(updates).await {
            tracing::warn!(%error, "mined batches could not be stored; they are found again");
            wake.notify_one();
        }
    }
}

pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A clock that starts at `begin` and then follows the monotonic clock, so that setting the system clock affects
/// neither leases nor resend timers.
fn steady(begin: Timestamp) -> Now {
    let began = tokio::time::Instant::now();
    Arc::new(move || {
        let elapsed = i64::try_from(began.elapsed().as_micros()).unwrap_or(i64::MAX);
        Timestamp::from_micros(begin.micros().saturating_add(elapsed))
    })
}

/// Groups listings, stores them and delivers them to the chain.
pub struct Writer<N> {
    engine: Arc<Engine<N>>,
    jobs: mpsc::Sender<Job>,
    wake: Arc<Notify>,
    tasks: Vec<JoinHandle<()>>,
    ended: Arc<Notify>,
}

/// Notifies when a task ends, even by a panic.
struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn spawn_watched(ended: &Arc<Notify>, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    let guard = NotifyOnDrop(ended.clone());
    tokio::spawn(async move {
        let _guard = guard;
        task.await;
    })
}

impl<N> std::fmt::Debug for Writer<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

impl<N> Drop for Writer<N> {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl<N: Node> Writer<N> {
    pub fn start(engine: Engine<N>, now: Timestamp) -> Self {
        let now = steady(now);
        let (engine, wake) = (Arc::new(engine), Arc::new(Notify::new()));
        let (jobs, inbox) = mpsc::channel(MAX_QUEUED_REQUESTS);
        let (groups, committed) = mpsc::channel(MAX_WAITING_GROUPS);
        let common = Arc::new(SharedWriter {
            engine: engine.clone(),
            wake: wake.clone(),
            now: now.clone(),
            delivered: UnstoredUpdates::default(),
            just_answered: AtomicUsize::new(0),
        });
        let ended = Arc::new(Notify::new());
        let tasks = vec![
            spawn_watched(&ended, commit_groups(common.clone(), inbox, groups)),
            spawn_watched(&ended, deliver_groups(common, committed)),
            spawn_watched(&ended, follow(engine.clone(), wake.clone(), now)),
        ];
        Self { engine, jobs, wake, tasks, ended }
    }

    /// Returns when a background task ends, which is a bug: without it nothing reaches the chain.
    pub async fn ended(&self) {
        self.ended.notified().await;
    }

    pub fn engine(&self) -> &Engine<N> {
        &self.engine
    }

    pub fn status(&self) -> Status {
        self.engine.status()
    }

    /// Stores a listing and signs it; on a chain that mines immediately, returns when it is mined.
    pub async fn record(&self, record: NewRecord) -> Result<AcceptedListing> {
        let (answer, answered) = oneshot::channel();
        let waiter = Waiter { key: record.desired.key.into(), span: Span::current(), answer };
        tracing::debug!(key = %waiter.key, "a listing is queued for the chain");
        self.jobs.try_send(Job { record, waiter }).map_err(|_| Error::Busy)?;
        answered.await.map_err(|_| Error::Stopped("the writer has stopped"))?
    }

    /// Runs the follower now.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    pub async fn release(&self) {
        if let Err(error) = self.engine.release().await {
            tracing::warn!(%error, "the lease could not be released");
        }
    }
}

struct SharedWriter<N> {
    engine: Arc<Engine<N>>,
    wake: Arc<Notify>,
    now: Now,
    delivered: UnstoredUpdates,
    /// How many clients were just answered.
    just_answered: AtomicUsize,
}

/// Commits everything that has arrived as one group, and continues while the group is delivered.
async fn commit_groups<N: Node>(
    common: Arc<SharedWriter<N>>,
    mut inbox: mpsc::Receiver<Job>,
    groups: mpsc::Sender<Group>,
) {
    let SharedWriter { engine, wake, now, delivered, just_answered } = &*common;
    let limit = engine.settings.batch;
    let mut jobs = Vec::with_capacity(limit);
    while let Ok(place) = groups.reserve().await
        && inbox.recv_many(&mut jobs, limit).await > 0
    {
        // Half a batch is worth a commit; the other half may be in delivery meanwhile.
        let back = just_answered.swap(0, Ordering::Relaxed).min(limit / 2);
        let (enough, wait) = match gather_time(engine.status().unmined, engine.settings.window) {
            Some(wait) => (limit, wait),
            None => (back, LINGER),
        };
        let end = tokio::time::Instant::now() + wait;
        while jobs.len() < enough {
            let room = limit - jobs.len();
            let more = inbox.recv_many(&mut jobs, room);
            if !matches!(tokio::time::timeout_at(end, more).await, Ok(1..)) {
                break;
            }
        }
        let (records, waiters): (Vec<NewRecord>, Vec<Waiter>) =
            jobs.drain(..).map(|job| (job.record, job.waiter)).unzip();
        let span = group_span(&waiters);
        let commit = engine.commit(records.into(), now()).instrument(span.clone());
        let (committed, ()) = tokio::join!(commit, delivered.note(engine, wake));
        match committed {
            Ok(CommittedGroup { answers, nonce }) => {
                let group = Group { answers: waiters.into_iter().zip(answers).collect(), nonce, span };
                group.log_committed();
                place.send(group);
            }
            Err(error) => span.in_scope(|| refuse(waiters, &error)),
        }
    }
}

/// A chain that is slow or down gets a few large calls instead of many small ones, which it would have to process one
/// by one later.
fn gather_time(unmined: usize, window: usize) -> Option<Duration> {
    let times = (1 + unmined / (4 * window.max(1))).min(MAX_GATHER_STEPS);
    (unmined >= window).then(|| GATHER_STEP * u32::try_from(times).unwrap_or(1))
}

fn refuse(waiters: Vec<Waiter>, error: &Error) {
    tracing::warn!(%error, requests = waiters.len(), "a group of listings was not stored");
    for waiter in waiters {
        let _ = waiter.answer.send(Err(match error {
            Error::Busy => Error::Busy,
            Error::Stopped(why) => Error::Stopped(why),
            other => Error::Store(portico_store::Error::Unavailable(other.to_string())),
        }));
    }
}

fn send_answers(answers: Answers) {
    for (waiter, answer) in answers {
        // The client may have disconnected; the work is done all the same.
        let _ = waiter.answer.send(answer.map_err(|refusal| Error::Store(refusal.into())));
    }
}

/// Sends groups in order. If the chain mines immediately, callers are answered after that.
async fn deliver_groups<N: Node>(common: Arc<SharedWriter<N>>, mut groups: mpsc::Receiver<Group>) {
    let SharedWriter { engine, wake, now, delivered, just_answered } = &*common;
    let at_once = engine.node().confirmations() == 0;
    loop {
        let mut next = if delivered.is_empty() {
            Ok(groups.recv().await)
        } else {
            tokio::time::timeout(STORE_DELAY, groups.recv()).await
        };
        if next.is_err() {
            delivered.note(engine, wake).await;
            next = Ok(groups.recv().await);
        }
        let Ok(Some(group)) = next else { return };
        if let (true, Some(nonce)) = (at_once, group.nonce) {
            match engine.deliver_now(nonce, now()).instrument(group.span.clone()).await {
                Ok(Some(update)) => {
                    group.log_mined(&update);
                    delivered.add(update);
                }
                Ok(None) => wake.notify_one(),
                Err(error) => {
                    tracing::error!(%error, nonce, "a batch was not mined immediately; the follower takes over");
                    wake.notify_one();
                }
            }
        }
        just_answered.store(group.answers.len(), Ordering::Relaxed);
        send_answers(group.answers);
        if !at_once {
            wake.notify_one();
        }
    }
}

async fn follow<N: Node>(engine: Arc<Engine<N>>, wake: Arc<Notify>, now: Now) {
    let mut down = false;
    loop {
        let first_sends = engine.first_sends.load(Ordering::Acquire);
        match engine.follow(now()).await {
            Ok(()) => {
                if std::mem::take(&mut down) {
                    tracing::info!("the chain can be written again");
                }
            }
            Err(error) => {
                if !std::mem::replace(&mut down, true) {
                    tracing::warn!(%error, "the chain cannot be written at the moment");
                }
            }
        }
        let has_more = engine.unsent_batches() > 0 || engine.has_waiting.load(Ordering::Acquire);
        let is_progressing = engine.first_sends.load(Ordering::Acquire) > first_sends && has_more;
        let _ = tokio::time::timeout(
            if is_progressing { BUSY_FOLLOW_INTERVAL } else { FOLLOW_INTERVAL },
            wake.notified(),
        )
        .await;
        if down {
            tokio::time::sleep(FOLLOW_INTERVAL / 2).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn clock_ignores_system_clock_changes() {
        let now = steady(Timestamp::from_micros(7_200_000_000));
        assert_eq!(now().micros(), 7_200_000_000);
        // Nothing reads the machine's clock any more, so setting it has no effect.
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!(now().micros(), 7_203_000_000);
    }

    #[tokio::test]
    async fn panicking_task_is_noticed() {
        let ended = Arc::new(Notify::new());
        let task = spawn_watched(&ended, async { panic!("on purpose") });
        ended.notified().await;
        assert!(task.await.is_err());
    }
}
