//! The engine's state, and helpers that its steps share.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alloy_primitives::{Address, B256, hex};
use portico_domain::Timestamp;
use portico_store::Db;
use portico_store::chain::{
    BatchStatus, BatchUpdate, Lease, OpenBatch, Payers, SignedBatch, SignedTransaction,
};
use portico_store::sql::{Op, Tx};

use super::{Failpoint, FailpointHook, WriterSettings};
use crate::contracts::Contracts;
use crate::node::{Block, Fees, Node};
use crate::signer::{CallSigner, Key, Price};
use crate::{Error, Result};

/// Consecutive reverts after which signing stops, until the contracts accept a call again.
pub(super) const MAX_CONSECUTIVE_REVERTS: u32 = 3;

/// The writer's steps and their shared state.
#[derive(Debug)]
pub struct Engine<N> {
    pub(super) node: Arc<N>,
    pub(super) db: Db,
    pub(super) keys: Vec<Key>,
    pub(super) chain_id: u64,
    pub(super) contracts: Contracts,
    pub(super) settings: WriterSettings,
    pub(super) failpoints: Arc<dyn FailpointHook>,
    pub(super) state: Mutex<EngineState>,
    pub(super) reverts: AtomicU32,
    pub(super) caught_up: AtomicBool,
    /// Batches that were sent to a node for the first time.
    pub(super) first_sends: AtomicU64,
    /// Whether items were left waiting when the window was full.
    pub(super) has_waiting: AtomicBool,
    pub(super) released: AtomicBool,
    /// Signers without a holder: their batches are followed to the end, and nothing new is signed for them.
    pub(super) orphaned_signers: Mutex<Vec<Arc<Self>>>,
}

/// A copy of the database's state of our signer, and the last observed state of the chain.
#[derive(Debug)]
pub(super) struct EngineState {
    pub(super) held: Option<HeldLease>,
    pub(super) fees: Fees,
    pub(super) head: Option<Block>,
    /// Other holders' observed epoch and beat, and since when they have not changed.
    pub(super) others: HashMap<Address, ((i64, i64), Timestamp)>,
}

impl EngineState {
    fn new() -> Self {
        Self {
            held: None,
            // Until the node reports fees: a gwei each, raised if that is too little.
            fees: Fees { base: 1_000_000_000, tip: 1_000_000_000 },
            head: None,
            others: HashMap::new(),
        }
    }

    pub(super) fn under(&mut self, lease: Lease) -> Option<&mut HeldLease> {
        self.held.as_mut().filter(|held| held.lease == lease)
    }
}

/// A lease and the batches signed under it.
#[derive(Debug, Clone)]
pub(super) struct HeldLease {
    pub(super) lease: Lease,
    pub(super) key: Key,
    pub(super) next_nonce: i64,
    pub(super) open: BTreeMap<i64, TrackedBatch>,
    /// A block known to be on the chain, after all blocks that contain our batches.
    pub(super) compared: Option<(u64, B256)>,
    /// Since when the chain expects a nonce that nobody signed.
    pub(super) gap_since: Option<Timestamp>,
    pub(super) beat_at: Timestamp,
}

#[derive(Debug, Clone)]
pub(super) struct TrackedBatch {
    pub(super) batch: OpenBatch,
    /// When its newest attempt was last sent.
    pub(super) sent: Option<Timestamp>,
    /// Since when, and since which block, it is the signer's next transaction and the node has it.
    pub(super) next_since: Option<(Timestamp, u64)>,
    pub(super) underpriced: bool,
    /// The block at which an unknown transaction was first seen to use its nonce.
    pub(super) missing_since: Option<(u64, B256)>,
    /// A block contains it as reverted.
    pub(super) reverted: bool,
    /// Its block was reorganised away, so the node knew it before.
    pub(super) was_mined: bool,
}

impl From<OpenBatch> for TrackedBatch {
    fn from(batch: OpenBatch) -> Self {
        Self {
            batch,
            sent: None,
            next_since: None,
            underpriced: false,
            missing_since: None,
            reverted: false,
            was_mined: false,
        }
    }
}

impl From<SignedBatch> for TrackedBatch {
    fn from(signed: SignedBatch) -> Self {
        let items = i64::try_from(signed.items).unwrap_or(i64::MAX);
        Self::from(OpenBatch {
            nonce: signed.nonce,
            kind: signed.kind,
            items,
            payers: signed.payers,
            status: BatchStatus::Signed,
            block: None,
            mined: None,
            attempts: vec![signed.signed],
        })
    }
}

impl TrackedBatch {
    pub(super) fn newest(&self) -> Option<&SignedTransaction> {
        self.batch.attempts.last()
    }
}

/// A unit of work with a failpoint before its commit.
struct WithFailpoint<O> {
    op: O,
    failpoints: Arc<dyn FailpointHook>,
}

impl<O: Op> Op for WithFailpoint<O> {
    type Out = O::Out;
    async fn run<T: Tx>(&self, tx: &mut T) -> portico_store::Result<O::Out> {
        let out = self.op.run(tx).await?;
        let failed = |error: Error| portico_store::Error::Unavailable(error.to_string());
        self.failpoints.at(Failpoint::Committing).map_err(failed)?;
        Ok(out)
    }
}

#[derive(Debug, Clone)]
pub struct Status {
    pub head: Option<Block>,
    pub signer: Option<Address>,
    pub next_nonce: Option<i64>,
    pub unmined: usize,
    /// Signing has stopped because every call reverts.
    pub stopped: bool,
}

impl<N: Node> Engine<N> {
    pub fn new(
        node: N,
        db: Db,
        keys: Vec<Key>,
        (chain_id, contracts): (u64, Contracts),
        settings: WriterSettings,
        failpoints: Arc<dyn FailpointHook>,
    ) -> Self {
        Self {
            node: Arc::new(node),
            db,
            keys,
            chain_id,
            contracts,
            settings,
            failpoints,
            state: Mutex::new(EngineState::new()),
            reverts: AtomicU32::new(0),
            caught_up: AtomicBool::new(false),
            first_sends: AtomicU64::new(0),
            has_waiting: AtomicBool::new(false),
            released: AtomicBool::new(false),
            orphaned_signers: Mutex::default(),
        }
    }

    /// An engine for the batches that a former holder of this key left behind.
    pub(super) fn orphaned(&self, key: Key) -> Self {
        Self {
            node: self.node.clone(),
            db: self.db.clone(),
            keys: vec![key],
            state: Mutex::new(EngineState::new()),
            failpoints: self.failpoints.clone(),
            reverts: AtomicU32::new(0),
            caught_up: AtomicBool::new(false),
            first_sends: AtomicU64::new(0),
            has_waiting: AtomicBool::new(false),
            released: AtomicBool::new(false),
            orphaned_signers: Mutex::default(),
            ..*self
        }
    }

    pub fn node(&self) -> &N {
        &self.node
    }

    pub fn contracts(&self) -> Contracts {
        self.contracts
    }

    pub fn chain_id(&self) -> u64 {
        self.chain_id
    }

    /// Whether everything that was accepted before this process started is on the chain.
    pub fn caught_up(&self) -> bool {
        self.caught_up.load(Ordering::Acquire)
    }

    pub fn status(&self) -> Status {
        let state = self.state();
        let held = state.held.as_ref();
        let unmined = |held: &HeldLease| {
            held.open.values().filter(|open| open.batch.status == BatchStatus::Signed).count()
        };
        Status {
            head: state.head.clone(),
            signer: held.map(|held| held.key.address()),
            next_nonce: held.map(|held| held.next_nonce),
            unmined: held.map_or(0, unmined),
            stopped: self.is_stopped(),
        }
    }

    /// Batches that no node has received yet.
    pub(super) fn unsent_batches(&self) -> usize {
        let state = self.state();
        let signed = state.held.iter().flat_map(|held| held.open.values());
        signed.filter(|open| open.batch.status == BatchStatus::Signed && open.sent.is_none()).count()
    }

    /// Items that are signed and not mined.
    pub(super) fn unmined_items(&self) -> i64 {
        let state = self.state();
        let signed = state.held.iter().flat_map(|held| held.open.values());
        signed.filter(|open| open.batch.status == BatchStatus::Signed).map(|open| open.batch.items).sum()
    }

    /// How many of them each payer has.
    pub(super) fn unmined_by_payer(&self) -> Payers {
        let state = self.state();
        let mut payers = Payers::default();
        for open in state.held.iter().flat_map(|held| held.open.values()) {
            if open.batch.status == BatchStatus::Signed {
                payers.extend(&open.batch.payers);
            }
        }
        payers
    }

    pub(super) fn state(&self) -> MutexGuard<'_, EngineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.reverts.load(Ordering::Acquire) >= MAX_CONSECUTIVE_REVERTS
    }

    /// The lease, and a signer at the current price.
    pub(super) fn signing(&self) -> Result<(Lease, CallSigner)> {
        if self.is_stopped() {
            return Err(Error::Stopped("the contracts revert every call"));
        }
        let state = self.state();
        let held = state.held.as_ref().ok_or(Error::Stopped("no signer is free"))?;
        Ok((held.lease, self.signer(held, self.price(state.fees))))
    }

    fn signer(&self, held: &HeldLease, price: Price) -> CallSigner {
        CallSigner { key: held.key.clone(), chain_id: self.chain_id, contracts: self.contracts, price }
    }

    /// Also while signing is stopped.
    pub(super) fn signer_under(&self, lease: Lease) -> Option<CallSigner> {
        let mut state = self.state();
        let price = self.price(state.fees);
        state.under(lease).map(|held| self.signer(held, price))
    }

    /// Twice the base fee, so that it may double before a replacement is needed; never above the cap.
    fn price(&self, fees: Fees) -> Price {
        let max_fee = fees.base.saturating_mul(2).saturating_add(fees.tip);
        Price { max_fee, tip: fees.tip }.capped(self.settings.fee_cap)
    }

    pub(super) async fn write<O: Op>(&self, op: O) -> Result<O::Out> {
        self.failpoints.at(Failpoint::Writing)?;
        let outcome = self.db.write(WithFailpoint { op, failpoints: self.failpoints.clone() }).await;
        self.failpoints.at(Failpoint::Written)?;
        Ok(outcome?)
    }

    /// Forgets all state if the lease is lost.
    pub(super) async fn write_under<O: Op>(&self, lease: Lease, op: O) -> Result<O::Out> {
        let outcome = self.write(op).await;
        if let Err(Error::Store(portico_store::Error::LeaseLost)) = outcome {
            self.forget(lease);
            return Err(Error::Stopped("another process signs now"));
        }
        outcome
    }

    pub(super) fn forget(&self, lease: Lease) {
        let mut state = self.state();
        if state.under(lease).is_some() {
            tracing::warn!("another process has taken the signer");
            state.held = None;
            // The new holder finds out whether the contracts accept calls.
            self.reverts.store(0, Ordering::Release);
        }
    }

    pub(super) fn with_open<T>(
        &self,
        lease: Lease,
        nonce: i64,
        change: impl FnOnce(&mut TrackedBatch) -> T,
    ) -> Option<T> {
        self.state().under(lease)?.open.get_mut(&nonce).map(change)
    }

    /// Batches below a nonce that were signed and never sent.
    pub(super) fn unsent_before(&self, lease: Lease, nonce: i64) -> Vec<i64> {
        let mut state = self.state();
        let Some(held) = state.under(lease) else { return Vec::new() };
        let unsent = |open: &TrackedBatch| open.batch.status == BatchStatus::Signed && open.sent.is_none();
        held.open.range(..nonce).filter(|(_, open)| unsent(open)).map(|(nonce, _)| *nonce).collect()
    }

    /// Remembers a signed batch, unless the lease is lost.
    pub(super) fn remember(&self, lease: Lease, batch: SignedBatch) {
        let SignedBatch { nonce, kind, items, ref signed, .. } = batch;
        tracing::debug!(nonce, transaction = %B256::from(signed.hash), kind = kind.map(portico_records::ItemKind::contract), items, "a transaction is signed");
        if let Some(held) = self.state().under(lease) {
            held.next_nonce = held.next_nonce.max(batch.nonce + 1);
            held.open.insert(batch.nonce, batch.into());
        }
    }

    /// Applies updates of batches to the state.
    pub(super) fn apply(&self, updates: &[BatchUpdate]) {
        let mut state = self.state();
        for update in updates {
            let BatchUpdate { nonce, status, .. } = update;
            let (transaction, block) = transaction_and_block(update);
            tracing::debug!(nonce, ?status, transaction, block, "a transaction is settled");
            let Some(held) = state.under(update.lease) else { continue };
            if update.status.is_over() {
                held.open.remove(&update.nonce);
            } else if let Some(open) = held.open.get_mut(&update.nonce) {
                open.batch.status = update.status;
                open.batch.block = update.block;
                open.batch.mined = update.mined;
            }
        }
    }
}

/// For log lines.
pub(super) fn transaction_and_block(update: &BatchUpdate) -> (Option<String>, Option<i64>) {
    (update.mined.map(hex::encode_prefixed), update.block.map(|(number, _)| number))
}

pub(super) fn micros(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

pub(super) fn since(then: Timestamp, now: Timestamp) -> i64 {
    now.micros().saturating_sub(then.micros())
}
