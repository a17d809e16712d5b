//! Batches: one contract call at one nonce, from the first signature to the last confirmation.

use std::collections::BTreeMap;

use portico_domain::Timestamp;

use portico_records::ItemKind;

use super::items::{ItemVersion, note_rejection};
use super::signers::Lease;
use super::signing::SignedTransaction;
use crate::engine::error::{Error, Result};
use crate::engine::sql::{FromColumn, Op, Row, Sql, Tx, sql, statements};
use crate::engine::word::{Word, word};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchStatus {
    /// Not in a block yet.
    Signed,
    /// In a block that may still be reorganised.
    Mined,
    /// In a block with enough confirmations.
    Final,
    /// The call reverted; its items are queued again.
    Reverted,
    /// Another transaction used the nonce; its items are queued again.
    Foreign,
}

impl BatchStatus {
    pub(super) fn from_state(state: i64) -> Self {
        match state {
            1 => Self::Mined,
            2 => Self::Final,
            3 => Self::Reverted,
            4 => Self::Foreign,
            _ => Self::Signed,
        }
    }

    fn state(self) -> i64 {
        match self {
            Self::Signed => 0,
            Self::Mined => 1,
            Self::Final => 2,
            Self::Reverted => 3,
            Self::Foreign => 4,
        }
    }

    pub fn is_over(self) -> bool {
        matches!(self, Self::Final | Self::Reverted | Self::Foreign)
    }
}

impl FromColumn for BatchStatus {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        Ok(row.int(column)?.map(Self::from_state))
    }
}

/// Whose listings a batch carries, and how many of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Payers(BTreeMap<Word, i64>);

/// A digest and a number.
const PAYER_BYTES: usize = 40;

impl Payers {
    pub fn of(&self, payer: Option<Word>) -> i64 {
        payer.and_then(|payer| self.0.get(&payer).copied()).unwrap_or(0)
    }

    pub fn add(&mut self, payer: Option<Word>) {
        if let Some(payer) = payer {
            *self.0.entry(payer).or_default() += 1;
        }
    }

    pub fn extend(&mut self, other: &Self) {
        for (payer, count) in &other.0 {
            *self.0.entry(*payer).or_default() += count;
        }
    }

    fn to_bytes(&self) -> Option<Vec<u8>> {
        let pairs = self.0.iter().flat_map(|(payer, count)| payer.iter().copied().chain(count.to_be_bytes()));
        (!self.0.is_empty()).then(|| pairs.collect())
    }

    pub(super) fn from_bytes(bytes: Option<&[u8]>) -> Result<Self> {
        let mut payers = Self::default();
        for pair in bytes.unwrap_or_default().chunks(PAYER_BYTES) {
            let (payer, count) = pair
                .split_at_checked(PAYER_BYTES - size_of::<i64>())
                .ok_or_else(|| Error::Bug("the payers of a batch are cut".into()))?;
            payers.0.insert(word(payer)?, i64::from_be_bytes(word(count)?));
        }
        Ok(payers)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedBatch {
    pub nonce: i64,
    /// `None`: it only fills the nonce.
    pub kind: Option<ItemKind>,
    pub items: usize,
    pub payers: Payers,
    pub signed: SignedTransaction,
}

static INSERT_BATCH: Sql = sql("INSERT INTO chain_batches (signer, nonce, kind, items, state, payers) \
     VALUES (?1, ?2, ?3, ?4, 0, ?5)");
static INSERT_FILLER: Sql = sql("INSERT INTO chain_batches (signer, nonce, kind, items, state) \
     VALUES (?1, ?2, ?3, 0, 0) ON CONFLICT (signer, nonce) DO UPDATE SET state = 0 \
     WHERE chain_batches.kind = excluded.kind AND chain_batches.state = 0");
static INSERT_ATTEMPT: Sql = sql("INSERT INTO chain_attempts (hash, signer, nonce, raw, max_fee, tip, at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (hash) DO NOTHING");

pub(super) async fn insert_batch<T: Tx>(
    tx: &mut T,
    signer: i64,
    batch: &SignedBatch,
    at: Timestamp,
) -> Result<()> {
    let items = i64::try_from(batch.items).unwrap_or(i64::MAX);
    let payers = batch.payers.to_bytes();
    let kind = batch.kind.map_or(FILLER, |kind| kind as i64);
    let params = [signer.into(), batch.nonce.into(), kind.into(), items.into(), payers.as_deref().into()];
    tx.exec(&INSERT_BATCH, &params).await?;
    insert_attempt(tx, (signer, batch.nonce), &batch.signed, at).await
}

async fn insert_attempt<T: Tx>(
    tx: &mut T,
    (signer, nonce): (i64, i64),
    attempt: &SignedTransaction,
    at: Timestamp,
) -> Result<()> {
    let params = [
        attempt.hash.as_slice().into(),
        signer.into(),
        nonce.into(),
        attempt.raw.as_slice().into(),
        attempt.max_fee.into(),
        attempt.tip.into(),
        at.into(),
    ];
    tx.exec(&INSERT_ATTEMPT, &params).await.map(drop)
}

/// Stores a replacement before it is sent.
#[derive(Debug)]
pub struct ReplaceAttempt {
    pub lease: Lease,
    pub nonce: i64,
    pub signed: SignedTransaction,
    pub at: Timestamp,
}

impl Op for ReplaceAttempt {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        self.lease.check(tx).await?;
        insert_attempt(tx, (self.lease.signer, self.nonce), &self.signed, self.at).await
    }
}

/// The kind of a batch without items that only fills a nonce.
const FILLER: i64 = -1;

/// Fills a nonce that the chain expects and nobody signed; returns whether it did. A node that lags far behind may
/// ask for a nonce that was used long ago.
#[derive(Debug)]
pub struct FillNonce {
    pub lease: Lease,
    pub nonce: i64,
    pub signed: SignedTransaction,
    pub at: Timestamp,
}

impl Op for FillNonce {
    type Out = bool;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool> {
        self.lease.check(tx).await?;
        let params = [self.lease.signer.into(), self.nonce.into(), FILLER.into()];
        let was_free = tx.exec(&INSERT_FILLER, &params).await? > 0;
        if was_free {
            insert_attempt(tx, (self.lease.signer, self.nonce), &self.signed, self.at).await?;
        }
        Ok(was_free)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchUpdate {
    /// Only the holder of the lease may close it.
    pub lease: Lease,
    pub nonce: i64,
    pub status: BatchStatus,
    /// Number and hash.
    pub block: Option<(i64, Word)>,
    /// The attempt that was mined.
    pub mined: Option<Word>,
}

static CLOSE: Sql = sql("UPDATE chain_batches SET state = ?3, block = ?4, block_hash = ?5, mined = ?6, \
     payers = CASE WHEN CAST(?3 AS BIGINT) < 2 THEN payers END WHERE signer = ?1 AND nonce = ?2 AND state < 2");
static FORGET_RAW: Sql = sql("UPDATE chain_attempts SET raw = NULL WHERE signer = ?1 AND nonce = ?2");

/// A replaced holder may not know every attempt, so it must not close the batch.
async fn close<T: Tx>(tx: &mut T, update: &BatchUpdate) -> Result<bool> {
    update.lease.check(tx).await?;
    let block_hash = update.block.as_ref().map(|(_, hash)| hash.as_slice());
    let params = [
        update.lease.signer.into(),
        update.nonce.into(),
        update.status.state().into(),
        update.block.map(|(number, _)| number).into(),
        block_hash.into(),
        update.mined.as_ref().map(Word::as_slice).into(),
    ];
    let moved = tx.exec(&CLOSE, &params).await? > 0;
    if moved && update.status.is_over() {
        tx.exec(&FORGET_RAW, &[update.lease.signer.into(), update.nonce.into()]).await?;
    }
    Ok(moved)
}

#[derive(Debug)]
pub struct CloseBatches(pub Vec<BatchUpdate>);

impl Op for CloseBatches {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for update in &self.0 {
            close(tx, update).await?;
        }
        Ok(())
    }
}

/// Reverts of a batch with a single item before that item is rejected.
const MAX_SINGLE_ITEM_REVERTS: i64 = 2;

static REQUEUE: Sql =
    sql("UPDATE chain_items SET signer = NULL, nonce = NULL, max_batch = ?6, reverts = reverts + ?7, \
     rejected = CASE WHEN reverts + ?7 >= ?8 THEN 1 ELSE 0 END \
     WHERE kind = ?1 AND key = ?2 AND version = ?3 AND signer = ?4 AND nonce = ?5 RETURNING rejected");

/// Queues the items of a batch without effect again: in halves if it reverted; an item that reverts alone twice
/// is rejected. Items with a newer version are skipped.
#[derive(Debug)]
pub struct Requeue {
    /// Its status is reverted or foreign.
    pub batch: BatchUpdate,
    pub items: Vec<ItemVersion>,
    pub at: Timestamp,
}

impl Op for Requeue {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        if !close(tx, &self.batch).await? {
            return Ok(());
        }
        let reverted = self.batch.status == BatchStatus::Reverted;
        let max_batch = match i64::try_from(self.items.len()) {
            Ok(n) if reverted => (n + 1) / 2,
            _ => super::items::NO_BATCH_LIMIT,
        };
        let alone = i64::from(reverted && self.items.len() == 1);
        for item in &self.items {
            let params = [
                item.kind.into(),
                item.key.as_slice().into(),
                item.version.into(),
                self.batch.lease.signer.into(),
                self.batch.nonce.into(),
                max_batch.into(),
                alone.into(),
                MAX_SINGLE_ITEM_REVERTS.into(),
            ];
            if tx.one::<(bool,)>(&REQUEUE, &params).await? == Some((true,)) {
                note_rejection(tx, item, self.at).await?;
            }
        }
        Ok(())
    }
}

statements! { INSERT_BATCH, INSERT_FILLER, INSERT_ATTEMPT, CLOSE, FORGET_RAW, REQUEUE }
