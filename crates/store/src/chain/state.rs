//! Items and batches as they stand.

use portico_domain::Timestamp;
use portico_records::ItemKind;

use super::batches::{BatchStatus, Payers};
use super::signing::{Address, SignedTransaction, VersionedItem};
use crate::engine::db::Db;
use crate::engine::error::Result;
use crate::engine::sql::{Columns, FromRow, Row, Sql, Weight, row, select, sql, statements};
use crate::engine::word::Word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemStatus {
    /// Waits for a nonce.
    Waiting,
    /// Not in a block yet.
    Signed,
    Mined,
    /// Rejected by the chain for good.
    Rejected,
}

impl ItemStatus {
    /// From the state of the item's batch.
    fn of(is_rejected: bool, state: Option<i64>) -> Self {
        match state.map(BatchStatus::from_state) {
            _ if is_rejected => Self::Rejected,
            None | Some(BatchStatus::Reverted | BatchStatus::Foreign) => Self::Waiting,
            Some(BatchStatus::Signed) => Self::Signed,
            Some(BatchStatus::Mined | BatchStatus::Final) => Self::Mined,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredItem {
    pub version: i64,
    pub payload: Vec<u8>,
    pub deleted: bool,
    pub salt: Option<Word>,
    pub status: ItemStatus,
    /// The mined transaction, else the newest attempt.
    pub hash: Option<Word>,
    pub block: Option<i64>,
}

impl FromRow for StoredItem {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let (version, payload, deleted) = (c.get()?, c.get()?, c.get()?);
        let salt = c.get()?;
        let (is_rejected, state): (bool, Option<i64>) = (c.get()?, c.get()?);
        let block = c.get()?;
        let (mined, newest): (Option<Word>, Option<Word>) = (c.get()?, c.get()?);
        let status = ItemStatus::of(is_rejected, state);
        Ok(Self { version, payload, deleted, salt, status, hash: mined.or(newest), block })
    }
}

/// A batch that is not final, with all attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenBatch {
    pub nonce: i64,
    /// `None`: it only fills the nonce.
    pub kind: Option<ItemKind>,
    pub items: i64,
    pub payers: Payers,
    pub status: BatchStatus,
    /// Number and hash.
    pub block: Option<(i64, Word)>,
    /// The attempt that was mined.
    pub mined: Option<Word>,
    /// Oldest first.
    pub attempts: Vec<SignedTransaction>,
}

struct BatchRow {
    batch: OpenBatch,
    attempt: Option<SignedTransaction>,
}

impl FromRow for BatchRow {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let (nonce, kind, items) = (c.get()?, c.get()?, c.get()?);
        let payers: Option<Vec<u8>> = c.get()?;
        let payers = Payers::from_bytes(payers.as_deref())?;
        let status = c.get()?;
        let (block, block_hash): (Option<i64>, Option<Word>) = (c.get()?, c.get()?);
        let block = block.zip(block_hash);
        let mined = c.get()?;
        let (hash, raw): (Option<Word>, Option<Vec<u8>>) = (c.get()?, c.get()?);
        let (max_fee, tip): (Option<i64>, Option<i64>) = (c.get()?, c.get()?);
        let attempt = match (hash, raw, max_fee, tip) {
            (Some(hash), Some(raw), Some(max_fee), Some(tip)) => {
                Some(SignedTransaction { hash, raw, max_fee, tip })
            }
            _ => None,
        };
        let batch = OpenBatch { nonce, kind, items, payers, status, block, mined, attempts: Vec::new() };
        Ok(Self { batch, attempt })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAttempt {
    pub signer: Address,
    pub nonce: i64,
    /// `None`: it only fills the nonce.
    pub kind: Option<ItemKind>,
    pub items: i64,
    pub status: BatchStatus,
    /// The transaction that was mined at this nonce.
    pub mined: Option<Word>,
    /// The newest attempt at this nonce.
    pub newest: Word,
    pub block: Option<i64>,
    /// When it was signed.
    pub at: Timestamp,
}

row!(StoredAttempt {
    signer = "s.address",
    nonce = "a.nonce",
    kind = "b.kind",
    items = "b.items",
    status = "b.state",
    mined = "b.mined",
    newest = "(SELECT n.hash FROM chain_attempts n WHERE n.signer = a.signer AND n.nonce = a.nonce \
              ORDER BY n.max_fee DESC LIMIT 1)",
    block = "b.block",
    at = "a.at",
});

/// Numbers of unfinished items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Waiting for a nonce.
    pub waiting: i64,
    /// In batches that are signed and not mined.
    pub signed: i64,
    /// Rejected by the chain, until they are wanted again.
    pub rejected: i64,
}

row!(Backlog {
    waiting = "(SELECT count(*) FROM chain_items WHERE signer IS NULL AND rejected = 0)",
    signed = "(SELECT CAST(coalesce(sum(items), 0) AS BIGINT) FROM chain_batches WHERE state = 0)",
    rejected = "(SELECT count(*) FROM chain_items WHERE rejected = 1)",
});

/// For the comparison with the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedItem {
    pub kind: ItemKind,
    pub item: VersionedItem,
    pub deleted: bool,
    pub status: ItemStatus,
}

impl FromRow for ListedItem {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let kind = c.get()?;
        let item = VersionedItem { key: c.get()?, version: c.get()?, payload: c.get()? };
        let (deleted, is_rejected, state): (bool, bool, Option<i64>) = (c.get()?, c.get()?, c.get()?);
        Ok(Self { kind, item, deleted, status: ItemStatus::of(is_rejected, state) })
    }
}

// The newest of several attempts is the one that pays most; the signers' clocks do not matter.
static ITEM_STATE: Sql =
    sql("SELECT version, deleted, rejected FROM chain_items WHERE kind = ?1 AND key = ?2");
static ITEM: Sql =
    sql("SELECT i.version, i.payload, i.deleted, i.salt, i.rejected, b.state, b.block, b.mined, \
     (SELECT hash FROM chain_attempts a WHERE a.signer = i.signer AND a.nonce = i.nonce \
      ORDER BY a.max_fee DESC LIMIT 1) \
     FROM chain_items i LEFT JOIN chain_batches b ON b.signer = i.signer AND b.nonce = i.nonce \
     WHERE i.kind = ?1 AND i.key = ?2");
static OPEN: Sql =
    sql("SELECT b.nonce, b.kind, b.items, b.payers, b.state, b.block, b.block_hash, b.mined, \
     a.hash, a.raw, a.max_fee, a.tip \
     FROM chain_batches b LEFT JOIN chain_attempts a ON a.signer = b.signer AND a.nonce = b.nonce \
     WHERE b.signer = ?1 AND b.state < 2 ORDER BY b.nonce, a.max_fee");
static ATTEMPT: Sql = select::<StoredAttempt>(
    "SELECT {columns} \
     FROM chain_attempts a JOIN chain_batches b ON b.signer = a.signer AND b.nonce = a.nonce \
     JOIN chain_signers s ON s.id = a.signer WHERE a.hash = ?1",
);
static BACKLOG: Sql = select::<Backlog>("SELECT {columns}");
static ITEMS_AFTER: Sql = sql("SELECT i.kind, i.key, i.version, i.payload, i.deleted, i.rejected, b.state \
     FROM chain_items i LEFT JOIN chain_batches b ON b.signer = i.signer AND b.nonce = i.nonce \
     WHERE i.kind = ?1 AND i.key > ?2 ORDER BY i.key LIMIT ?3");
static FIRST_BLOCK: Sql = sql("SELECT min(block) FROM chain_batches");
static LAST_FINAL: Sql = sql("SELECT nonce FROM chain_batches WHERE signer = ?1 AND state = 2 \
     ORDER BY nonce DESC LIMIT 1");

impl Db {
    /// Version, deleted, rejected.
    pub async fn chain_item_state(&self, kind: ItemKind, key: &Word) -> Result<Option<(i64, bool, bool)>> {
        self.one(&ITEM_STATE, &[kind.into(), key.as_slice().into()]).await
    }

    pub async fn chain_item(&self, kind: ItemKind, key: &Word) -> Result<Option<StoredItem>> {
        self.one(&ITEM, &[kind.into(), key.as_slice().into()]).await
    }

    /// By nonce.
    pub async fn open_batches(&self, signer: i64) -> Result<Vec<OpenBatch>> {
        let rows: Vec<BatchRow> = self.read(&OPEN, &[signer.into()], Weight::Scan).await?;
        let mut batches: Vec<OpenBatch> = Vec::new();
        for BatchRow { batch, attempt } in rows {
            if batches.last().is_none_or(|last| last.nonce != batch.nonce) {
                batches.push(batch);
            }
            if let (Some(last), Some(attempt)) = (batches.last_mut(), attempt) {
                last.attempts.push(attempt);
            }
        }
        Ok(batches)
    }

    pub async fn last_final_nonce(&self, signer: i64) -> Result<Option<i64>> {
        Ok(self.one::<(i64,)>(&LAST_FINAL, &[signer.into()]).await?.map(|(nonce,)| nonce))
    }

    /// The number of the first block with one of our batches.
    pub async fn first_chain_block(&self) -> Result<Option<i64>> {
        Ok(self.one::<(Option<i64>,)>(&FIRST_BLOCK, &[]).await?.and_then(|(number,)| number))
    }

    pub async fn chain_attempt(&self, hash: &Word) -> Result<Option<StoredAttempt>> {
        self.one(&ATTEMPT, &[hash.as_slice().into()]).await
    }

    pub async fn chain_backlog(&self) -> Result<Backlog> {
        Ok(self.one(&BACKLOG, &[]).await?.unwrap_or_default())
    }

    /// Items of a kind in key order.
    pub async fn chain_items_after(
        &self,
        kind: ItemKind,
        after: &[u8],
        limit: i64,
    ) -> Result<Vec<ListedItem>> {
        self.read(&ITEMS_AFTER, &[kind.into(), after.into(), limit.into()], Weight::Scan).await
    }
}

statements! { ITEM_STATE, ITEM, OPEN, ATTEMPT, BACKLOG, ITEMS_AFTER, FIRST_BLOCK, LAST_FINAL }
