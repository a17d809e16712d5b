//! What is still to be done on the chain, for people who look after it.

use portico_domain::Timestamp;
use portico_records::ItemKind;

use crate::chain::batches::BatchStatus;
use crate::chain::items::ItemVersion;
use crate::chain::signing::Address;
use crate::engine::db::Db;
use crate::engine::error::Result;
use crate::engine::page::as_limit;
use crate::engine::sql::{Columns, FromRow, Row, Sql, Weight, row, select, sql, statements};
use crate::engine::word::Word;

/// The items of a kind that wait for a nonce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingItems {
    pub kind: ItemKind,
    pub items: i64,
    /// Since when the oldest of them waits.
    pub since: Timestamp,
}

row!(WaitingItems { kind, items = "count(*)", since = "min(wanted_at)" });

/// A batch that is not final.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedBatch {
    pub signer: Address,
    pub nonce: i64,
    /// `None`: it only fills the nonce.
    pub kind: Option<ItemKind>,
    pub items: i64,
    pub status: BatchStatus,
    pub block: Option<i64>,
    /// The mined transaction, else the newest attempt.
    pub hash: Option<Word>,
    pub attempts: i64,
    /// When it was first signed.
    pub since: Option<Timestamp>,
}

impl FromRow for QueuedBatch {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let signer = c.get()?;
        let (nonce, kind, items) = (c.get()?, c.get()?, c.get()?);
        let (status, block) = (c.get()?, c.get()?);
        let (mined, newest): (Option<Word>, Option<Word>) = (c.get()?, c.get()?);
        let (attempts, since) = (c.get()?, c.get()?);
        Ok(Self { signer, nonce, kind, items, status, block, hash: mined.or(newest), attempts, since })
    }
}

/// An item that the chain has rejected for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedItem {
    pub item: ItemVersion,
    pub payload: Vec<u8>,
    pub deleted: bool,
    /// When this version was requested.
    pub since: Timestamp,
}

impl FromRow for RejectedItem {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let (kind, key, version) = (c.get()?, c.get()?, c.get()?);
        let (payload, deleted, since) = (c.get()?, c.get()?, c.get()?);
        Ok(Self { item: ItemVersion { kind, key, version }, payload, deleted, since })
    }
}

static WAITING: Sql = select::<WaitingItems>(
    "SELECT {columns} FROM chain_items \
     WHERE signer IS NULL AND rejected = 0 GROUP BY kind ORDER BY kind",
);
static OPEN: Sql = sql("SELECT s.address, b.nonce, b.kind, b.items, b.state, b.block, b.mined, \
     (SELECT hash FROM chain_attempts a WHERE a.signer = b.signer AND a.nonce = b.nonce \
      ORDER BY a.max_fee DESC LIMIT 1), \
     (SELECT count(*) FROM chain_attempts a WHERE a.signer = b.signer AND a.nonce = b.nonce), \
     (SELECT min(at) FROM chain_attempts a WHERE a.signer = b.signer AND a.nonce = b.nonce) \
     FROM chain_batches b JOIN chain_signers s ON s.id = b.signer WHERE b.state < 2 \
     ORDER BY b.signer, b.nonce LIMIT ?1");
static REJECTED: Sql = sql("SELECT kind, key, version, payload, deleted, wanted_at FROM chain_items \
     WHERE rejected = 1 ORDER BY kind LIMIT ?1");

impl Db {
    pub async fn waiting_items(&self) -> Result<Vec<WaitingItems>> {
        self.read(&WAITING, &[], Weight::Scan).await
    }

    /// The oldest of each signer first.
    pub async fn queued_batches(&self, limit: usize) -> Result<Vec<QueuedBatch>> {
        self.read(&OPEN, &[as_limit(limit).into()], Weight::Scan).await
    }

    /// By kind.
    pub async fn rejected_items(&self, limit: usize) -> Result<Vec<RejectedItem>> {
        self.read(&REJECTED, &[as_limit(limit).into()], Weight::Scan).await
    }
}

statements! { WAITING, OPEN, REJECTED }
