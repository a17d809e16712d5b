//! The model as a node behind an unreliable network, and the failpoints of a process.
//!
//! Every call may stop before or after it takes effect, so that anything can happen in between: blocks,
//! reorganisations, other tasks of the same process, another replica, the end of the process.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use alloy_primitives::{Address, B256, Bytes, U256};
use portico_chain::node::{Block, BlockId, Fees, LoggedEvent, Node, NodeTransaction, Receipt, Sent};
use portico_chain::writer::{Failpoint, FailpointHook};
use portico_chain::{Error, Result};

use super::ledger::{Ledger, Tx};
use super::rng::Rng;

/// Probabilities per thousand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    pub(crate) pause: u64,
    pub(crate) lost_request: u64,
    pub(crate) lost_reply: u64,
    /// A transaction that seemed lost, or was delivered, arrives (again) later.
    pub(crate) echo: u64,
    pub(crate) crash: u64,
    pub(crate) lost_commit: u64,
    pub(crate) no_database: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) lost_requests: u64,
    pub(crate) lost_replies: u64,
    pub(crate) lost_commits: u64,
    pub(crate) crashes: u64,
    pub(crate) echoes: u64,
}

/// Everything outside the processes.
pub(crate) struct World {
    pub(crate) rng: Rng,
    pub(crate) ledger: Ledger,
    pub(crate) faults: Faults,
    pub(crate) counts: Counts,
    /// In microseconds.
    pub(crate) clock: i64,
    pub(crate) lines: Vec<Network>,
    /// Everything that one of our processes ever sent.
    pub(crate) seen: BTreeMap<B256, Arc<Tx>>,
    /// Foreign transactions.
    pub(crate) foreign: BTreeSet<B256>,
    pub(crate) echoes: Vec<Arc<Tx>>,
    pub(crate) trace: Option<Vec<String>>,
    paused: bool,
}

/// The network between a replica and the node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Network {
    /// No request gets through until then.
    pub(crate) down_until: i64,
    /// The node lags by this many blocks.
    pub(crate) behind: u64,
}

impl World {
    pub(crate) fn new(rng: Rng, ledger: Ledger, faults: Faults, replicas: usize, traced: bool) -> Self {
        Self {
            rng,
            ledger,
            faults,
            counts: Counts::default(),
            clock: 1_760_000_000_000_000,
            lines: vec![Network::default(); replicas],
            seen: BTreeMap::new(),
            foreign: BTreeSet::new(),
            echoes: Vec::new(),
            trace: traced.then(Vec::new),
            paused: false,
        }
    }

    pub(crate) fn note(&mut self, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            let seconds = self.clock / 1_000 % 1_000_000_000;
            trace.push(format!("{:>4} {seconds:>9} {}", trace.len(), what()));
        }
    }

    /// Whether the future that was just polled has stopped at a call.
    pub(crate) fn take_pause(&mut self) -> bool {
        std::mem::take(&mut self.paused)
    }

    fn may_stop(&mut self) -> bool {
        self.rng.chance(self.faults.pause)
    }
}

pub(crate) type Shared = Arc<Mutex<World>>;

/// Pending once; the scheduler polls it again.
struct Stop<'w>(&'w Shared, bool);

impl Future for Stop<'_> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.1, true) {
            return Poll::Ready(());
        }
        self.0.lock().unwrap().paused = true;
        // Buffered calls are polled again only after their waker was called.
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[derive(Clone)]
pub(crate) struct SimNode {
    pub(crate) world: Shared,
    pub(crate) replica: usize,
    pub(crate) confirmations: u64,
}

impl SimNode {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    async fn may_stop(&self) {
        let stops = self.world().may_stop();
        if stops {
            Stop(&self.world, false).await;
        }
    }

    /// One call over the network. `act` gets the height that this replica's node has seen.
    async fn call_over_network<T>(
        &self,
        what: &str,
        act: impl FnOnce(&mut World, usize) -> T + Send,
    ) -> Result<T> {
        let unreachable = |why: &str| Error::Unreachable(format!("{what}: {why}"));
        self.may_stop().await;
        {
            let mut world = self.world();
            let line = world.lines[self.replica];
            let odds = world.faults.lost_request;
            if line.down_until > world.clock || world.rng.chance(odds) {
                world.counts.lost_requests += 1;
                world.note(|| format!("r{} {what}: request lost", self.replica));
                return Err(unreachable("the request was lost"));
            }
        }
        let (answer, lost) = {
            let mut world = self.world();
            let behind = usize::try_from(world.lines[self.replica].behind).unwrap();
            let height = world.ledger.height().saturating_sub(behind);
            let answer = act(&mut world, height);
            let odds = world.faults.lost_reply;
            let lost = world.rng.chance(odds);
            if lost {
                world.counts.lost_replies += 1;
                world.note(|| format!("r{} {what}: reply lost", self.replica));
            }
            (answer, lost)
        };
        self.may_stop().await;
        if lost { Err(unreachable("the reply was lost")) } else { Ok(answer) }
    }
}

impl Node for SimNode {
    async fn chain_id(&self) -> Result<u64> {
        Ok(super::run::CHAIN_ID)
    }

    async fn head(&self) -> Result<Block> {
        self.call_over_network("head", |world, height| world.ledger.block(height).unwrap()).await
    }

    async fn block(&self, at: BlockId) -> Result<Option<Block>> {
        self.call_over_network("block", |world, height| {
            let number = match at {
                BlockId::Number(number) => usize::try_from(number).ok(),
                BlockId::Hash(hash) => world.ledger.number_of(hash),
            };
            number.filter(|number| *number <= height).and_then(|number| world.ledger.block(number))
        })
        .await
    }

    async fn nonce(&self, account: Address) -> Result<u64> {
        self.call_over_network("nonce", |world, height| world.ledger.nonce(account, height)).await
    }

    async fn balance(&self, _: Address) -> Result<U256> {
        Ok(U256::MAX)
    }

    async fn code(&self, _: Address) -> Result<Bytes> {
        Ok(Bytes::new())
    }

    async fn call(&self, _: Address, to: Address, data: Bytes) -> Result<Bytes> {
        let (read, granted) = self
            .call_over_network("call", |world, height| {
                (world.ledger.read(to, &data, height), world.ledger.granted)
            })
            .await?;
        match read {
            Some(answer) => Ok(answer),
            None if granted => Ok(Bytes::new()),
            None => Err(Error::Reverted(Bytes::new())),
        }
    }

    /// The writer does not ask for them.
    async fn logs(&self, _: &[Address], _: u64, _: u64) -> Result<Vec<LoggedEvent>> {
        Err(Error::Bug("the writer reads no events".into()))
    }

    async fn call_with_gas(&self, to: Address, data: Bytes, _: u64) -> Result<Bytes> {
        self.call(Address::ZERO, to, data).await
    }

    async fn fees(&self) -> Result<Fees> {
        let base = self.call_over_network("fees", |world, _| world.ledger.base_fee).await?;
        Ok(Fees { base, tip: 1_000_000_000 })
    }

    async fn send(&self, raw: &[u8]) -> Result<Sent> {
        let tx = Arc::new(Tx::read(raw));
        {
            let mut world = self.world();
            world.seen.insert(tx.hash, tx.clone());
            let odds = world.faults.echo;
            if world.rng.chance(odds) {
                world.echoes.push(tx.clone());
            }
        }
        self.call_over_network("send", |world, _| {
            let World { ledger, rng, .. } = world;
            let sent = ledger.submit(&tx, rng);
            world.note(|| {
                format!("r{} sends {} #{} {:.4}: {sent:?}", self.replica, tx.from, tx.nonce, tx.hash)
            });
            sent
        })
        .await
    }

    async fn receipt(&self, hash: B256) -> Result<Option<Receipt>> {
        self.call_over_network("receipt", |world, height| {
            world.ledger.receipt(hash).filter(|receipt| receipt.block <= height as u64)
        })
        .await
    }

    async fn transaction(&self, hash: B256) -> Result<Option<NodeTransaction>> {
        self.call_over_network("transaction", |world, height| {
            let place = world.ledger.place(hash).filter(|place| *place <= height)?;
            let tx = world.seen.get(&hash)?;
            let (block, input) = (Some(place as u64), tx.input.clone());
            Some(NodeTransaction { from: tx.from, to: tx.to, nonce: tx.nonce, block, input })
        })
        .await
    }

    fn confirmations(&self) -> u64 {
        self.confirmations
    }
}

/// The failpoints of one process. An error ends it, unless it is a lost reply of the database.
pub(crate) struct ProcessFailpoints {
    pub(crate) world: Shared,
    pub(crate) replica: usize,
    pub(crate) crashed: AtomicBool,
}

impl std::fmt::Debug for ProcessFailpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Steps({})", self.replica)
    }
}

impl FailpointHook for ProcessFailpoints {
    fn at(&self, failpoint: Failpoint) -> Result<()> {
        let mut world = self.world.lock().unwrap();
        let Faults { crash, lost_commit, no_database, .. } = world.faults;
        if world.rng.chance(crash) {
            world.counts.crashes += 1;
            world.note(|| format!("r{} dies at {failpoint:?}", self.replica));
            self.crashed.store(true, Ordering::Relaxed);
            return Err(Error::Bug("crash".into()));
        }
        let lost = match failpoint {
            Failpoint::Writing | Failpoint::Committing => no_database,
            Failpoint::Written => lost_commit,
            Failpoint::Sending | Failpoint::Sent => 0,
        };
        if world.rng.chance(lost) {
            world.counts.lost_commits += 1;
            world.note(|| format!("r{} hears nothing at {failpoint:?}", self.replica));
            return Err(Error::Unreachable("the database does not answer".into()));
        }
        Ok(())
    }
}
