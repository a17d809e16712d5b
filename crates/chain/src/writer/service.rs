//! The tasks that run the engine's steps, and the queue in front of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use portico_domain::Timestamp;
use portico_store::chain::{Accepted, NewRecord, Refusal, Settled};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::engine::{Engine, Status};
use crate::node::Node;
use crate::{Error, Result};

/// Requests that may wait for their group.
const MAX_QUEUED_REQUESTS: usize = 4096;
/// Groups that may wait for the chain. With one of them waiting, the next is not committed yet but grows.
const PIPELINE: usize = 1;
/// How often everything open is looked at, if nothing else happens.
const TICK: Duration = Duration::from_millis(500);
/// How soon, if the node has just taken what was sent and more is to come.
const SOON: Duration = Duration::from_millis(20);
/// How long what was delivered waits for a commit that it can be written down with.
const QUIET: Duration = Duration::from_millis(20);
/// How long requests are gathered while the chain does not keep up; longer, the more calls wait for it.
const GATHER: Duration = Duration::from_millis(100);
/// How many times that at most.
const GATHER_MOST: usize = 10;

/// How long those who have just been answered are waited for: under load most of them come back at once, and a
/// large group costs little more than a small one.
const RETURN: Duration = Duration::from_millis(2);

struct Job {
    record: NewRecord,
    answer: oneshot::Sender<Result<Accepted>>,
}

type Answers = Vec<(oneshot::Sender<Result<Accepted>>, Result<Accepted, Refusal>)>;

struct Group {
    answers: Answers,
    nonce: Option<i64>,
}

/// What was mined at once and is not written down yet. It is written with the next group, whose commit waits for
/// the disk anyway; or by itself, if none comes.
#[derive(Debug, Default)]
struct Delivered(Mutex<Vec<Settled>>);

impl Delivered {
    fn add(&self, settled: Settled) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(settled);
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    async fn note<N: Node>(&self, engine: &Engine<N>, wake: &Notify) {
        let settled = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if let Err(error) = engine.note_delivered(settled).await {
            tracing::warn!(%error, "what was mined could not be written down; it is found again");
            wake.notify_one();
        }
    }
}

pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Takes listings, groups them, and sees them onto the chain.
pub struct Writer<N> {
    engine: Arc<Engine<N>>,
    jobs: mpsc::Sender<Job>,
    wake: Arc<Notify>,
    tasks: Vec<JoinHandle<()>>,
    ended: Arc<Notify>,
}

/// Tells that a task has ended, also if it panicked.
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
    pub fn start(engine: Engine<N>, now: Now) -> Self {
        let (engine, wake) = (Arc::new(engine), Arc::new(Notify::new()));
        let (jobs, inbox) = mpsc::channel(MAX_QUEUED_REQUESTS);
        let (groups, committed) = mpsc::channel(PIPELINE);
        let common = Arc::new(Common {
            engine: engine.clone(),
            wake: wake.clone(),
            now: now.clone(),
            delivered: Delivered::default(),
            told: AtomicUsize::new(0),
        });
        let ended = Arc::new(Notify::new());
        let tasks = vec![
            spawn_watched(&ended, commit_groups(common.clone(), inbox, groups)),
            spawn_watched(&ended, deliver_groups(common, committed)),
            spawn_watched(&ended, follow(engine.clone(), wake.clone(), now)),
        ];
        Self { engine, jobs, wake, tasks, ended }
    }

    /// Waits until one of the tasks has ended, which none does by itself: without it nothing reaches the chain.
    pub async fn ended(&self) {
        self.ended.notified().await;
    }

    /// The engine, for reading.
    pub fn engine(&self) -> &Engine<N> {
        &self.engine
    }

    /// How the writer stands.
    pub fn status(&self) -> Status {
        self.engine.status()
    }

    /// Stores a listing and sees it signed; on a chain that mines at once, mined.
    pub async fn record(&self, record: NewRecord) -> Result<Accepted> {
        let (answer, answered) = oneshot::channel();
        self.jobs.try_send(Job { record, answer }).map_err(|_| Error::Busy)?;
        answered.await.map_err(|_| Error::Stopped("the writer has stopped"))?
    }

    /// Something waits for the chain: it is looked at now.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Lets another process sign at once.
    pub async fn release(&self) {
        if let Err(error) = self.engine.release().await {
            tracing::warn!(%error, "the signer could not be given back");
        }
    }
}

/// What committing and delivering share.
struct Common<N> {
    engine: Arc<Engine<N>>,
    wake: Arc<Notify>,
    now: Now,
    delivered: Delivered,
    /// How many were answered last.
    told: AtomicUsize,
}

/// Takes what has arrived, commits it as one group, and goes on with the next while that one is delivered.
async fn commit_groups<N: Node>(
    common: Arc<Common<N>>,
    mut inbox: mpsc::Receiver<Job>,
    groups: mpsc::Sender<Group>,
) {
    let Common { engine, wake, now, delivered, told } = &*common;
    let limit = engine.settings.batch;
    let mut jobs = Vec::with_capacity(limit);
    while let Ok(place) = groups.reserve().await
        && inbox.recv_many(&mut jobs, limit).await > 0
    {
        // Half a batch is worth its commit; the other half may be on its way to the chain meanwhile.
        let back = told.swap(0, Ordering::Relaxed).min(limit / 2);
        let (enough, patience) = match gathering(engine.status().unmined, engine.settings.window) {
            Some(patience) => (limit, patience),
            None => (back, RETURN),
        };
        let end = tokio::time::Instant::now() + patience;
        while jobs.len() < enough {
            let room = limit - jobs.len();
            let more = inbox.recv_many(&mut jobs, room);
            if !matches!(tokio::time::timeout_at(end, more).await, Ok(1..)) {
                break;
            }
        }
        let (records, answers): (Vec<NewRecord>, Vec<_>) =
            jobs.drain(..).map(|job| (job.record, job.answer)).unzip();
        let (committed, ()) =
            tokio::join!(engine.commit(records.into(), now()), delivered.note(engine, wake));
        match committed {
            Ok(committed) => {
                let group = Group {
                    answers: answers.into_iter().zip(committed.answers).collect(),
                    nonce: committed.nonce,
                };
                place.send(group);
            }
            Err(error) => refuse(answers, &error),
        }
    }
}

/// A chain that does not keep up, or is away, is better served with a few large calls than with many: it has
/// to take all of them one by one afterwards.
fn gathering(unmined: usize, window: usize) -> Option<Duration> {
    let times = (1 + unmined / (4 * window.max(1))).min(GATHER_MOST);
    (unmined >= window).then(|| GATHER * u32::try_from(times).unwrap_or(1))
}

/// Tells everybody of a group why it was not stored.
fn refuse(answers: Vec<oneshot::Sender<Result<Accepted>>>, error: &Error) {
    tracing::warn!(%error, requests = answers.len(), "a group of listings was not stored");
    for answer in answers {
        let _ = answer.send(Err(match error {
            Error::Busy => Error::Busy,
            Error::Stopped(why) => Error::Stopped(why),
            other => Error::Store(portico_store::Error::Unavailable(other.to_string())),
        }));
    }
}

fn tell(answers: Answers) {
    for (sender, answer) in answers {
        // Nobody listens any more if the client has gone; the work is done all the same.
        let _ = sender.send(answer.map_err(|refusal| Error::Store(refusal.into())));
    }
}

/// Sends groups in their order. Where the chain mines at once, a caller hears only then.
async fn deliver_groups<N: Node>(common: Arc<Common<N>>, mut groups: mpsc::Receiver<Group>) {
    let Common { engine, wake, now, delivered, told } = &*common;
    let at_once = engine.node().confirmations() == 0;
    loop {
        let mut next = if delivered.is_empty() {
            Ok(groups.recv().await)
        } else {
            tokio::time::timeout(QUIET, groups.recv()).await
        };
        if next.is_err() {
            delivered.note(engine, wake).await;
            next = Ok(groups.recv().await);
        }
        let Ok(Some(group)) = next else { return };
        if let (true, Some(nonce)) = (at_once, group.nonce) {
            match engine.deliver_now(nonce, now()).await {
                Ok(Some(settled)) => delivered.add(settled),
                Ok(None) => wake.notify_one(),
                Err(error) => {
                    tracing::error!(%error, nonce, "a batch was not mined at once; it is followed");
                    wake.notify_one();
                }
            }
        }
        told.store(group.answers.len(), Ordering::Relaxed);
        tell(group.answers);
        if !at_once {
            wake.notify_one();
        }
    }
}

async fn follow<N: Node>(engine: Arc<Engine<N>>, wake: Arc<Notify>, now: Now) {
    let mut down = false;
    loop {
        let given = engine.given.load(Ordering::Acquire);
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
        let gets_on = engine.given.load(Ordering::Acquire) > given && engine.not_given() > 0;
        let _ = tokio::time::timeout(if gets_on { SOON } else { TICK }, wake.notified()).await;
        if down {
            tokio::time::sleep(TICK / 2).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_is_noticed() {
        let ended = Arc::new(Notify::new());
        let task = spawn_watched(&ended, async { panic!("on purpose") });
        ended.notified().await;
        assert!(task.await.is_err());
    }
}
