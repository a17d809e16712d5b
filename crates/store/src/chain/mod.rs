//! What is wanted on the chain, who may sign for it, and how far every signed transaction has come.
//!
//! The chain's own words (calldata, hashes, receipts) are bytes here: `portico-chain` gives them their
//! meaning. An item is the wanted state of one key, with a version that only grows; a batch is one contract
//! call at one nonce of one signer; an attempt is one signed transaction for a batch.

mod batches;
mod items;
mod record;
mod signers;

use std::sync::Arc;

pub use batches::{BatchStatus, FILLER, FillNonce, ReplaceAttempt, Requeue, SettleBatches, Settled};
pub use items::{DesiredItem, FailItems, ItemVersion, Refer, Want, WantAgain};
pub(crate) use items::{retire, want};
pub use record::{
    Accepted, NewRecord, RecordLater, RecordListings, Recorded, Refusal, SealWaiting, SignedBatch,
};
pub use signers::{
    AdoptChain, ChainIdentity, Heartbeat, Lease, RaiseNonce, ReleaseLease, SignerRow, TakeLease,
};

use portico_domain::{Timestamp, UserId};

use crate::sql::{Columns, FromColumn, FromRow, Row, Sql, Weight, sql};
use crate::{Db, Error, Result};

/// A hash, a key, a digest.
pub type Word = [u8; 32];
/// An account on the chain.
pub type Address = [u8; 20];

/// One item as it goes into a contract call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    pub key: Word,
    pub version: i64,
    pub payload: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    pub hash: Word,
    pub raw: Vec<u8>,
    /// The highest fee per gas, in wei.
    pub max_fee: i64,
    /// The tip per gas within that, in wei.
    pub tip: i64,
}

/// Signs a contract call inside the transaction that takes its nonce. The same nonce and items always give
/// the same bytes, so that a unit of work can be run again.
pub trait Sign: Send + Sync + std::fmt::Debug + 'static {
    /// Signs one call for items of a kind.
    fn sign(&self, nonce: i64, kind: i64, items: &[Versioned]) -> Result<Signed>;
}

/// How far an item has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemStatus {
    /// It waits for a nonce.
    Waiting,
    /// It is signed, and not yet seen in a block.
    Signed,
    /// It is in a block.
    Mined,
    /// The chain refused it for good.
    Failed,
}

impl ItemStatus {
    /// Of an item that was refused or not, by the state of the batch that carries it.
    fn of(failed: bool, state: Option<i64>) -> Self {
        match state.map(BatchStatus::from_state) {
            _ if failed => Self::Failed,
            None | Some(BatchStatus::Reverted | BatchStatus::Foreign) => Self::Waiting,
            Some(BatchStatus::Signed) => Self::Signed,
            Some(BatchStatus::Mined | BatchStatus::Final) => Self::Mined,
        }
    }
}

/// An item and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredItem {
    pub version: i64,
    pub payload: Vec<u8>,
    /// Whether it is to be gone from the chain.
    pub gone: bool,
    /// The salt of its digest.
    pub salt: Option<Word>,
    /// How far it has come.
    pub standing: ItemStatus,
    /// The transaction that carries it: the one that was mined, else the newest signed one.
    pub hash: Option<Word>,
    /// The block it is in.
    pub block: Option<i64>,
}

pub(crate) fn word<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| Error::Bug(format!("{N} bytes were expected")))
}

impl FromColumn for Option<Word> {
    fn from_column(row: &impl Row, column: usize) -> Result<Self> {
        row.bytes(column)?.map(word).transpose()
    }
}

impl FromRow for StoredItem {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let (version, payload, gone) = (c.get()?, c.get()?, c.get()?);
        let salt = c.get()?;
        let (failed, state): (bool, Option<i64>) = (c.get()?, c.get()?);
        let block = c.get()?;
        let (mined, newest): (Option<Word>, Option<Word>) = (c.get()?, c.get()?);
        let standing = ItemStatus::of(failed, state);
        Ok(Self { version, payload, gone, salt, standing, hash: mined.or(newest), block })
    }
}

/// A batch that is not final yet, with everything that was signed for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenBatch {
    pub nonce: i64,
    /// What kind of items it carries.
    pub kind: i64,
    pub items: i64,
    /// How far it has come.
    pub fate: BatchStatus,
    /// The block it was seen in, and that block's hash.
    pub block: Option<(i64, Word)>,
    /// Which attempt was seen there.
    pub mined: Option<Word>,
    /// Everything that was signed for it, oldest first.
    pub attempts: Vec<Signed>,
}

struct BatchRow {
    batch: OpenBatch,
    attempt: Option<Signed>,
}

impl FromRow for BatchRow {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let (nonce, kind, items) = (c.get()?, c.get()?, c.get()?);
        let fate = BatchStatus::from_state(c.get()?);
        let (block, block_hash): (Option<i64>, Option<Word>) = (c.get()?, c.get()?);
        let block = block.zip(block_hash);
        let mined = c.get()?;
        let (hash, raw): (Option<Word>, Option<Vec<u8>>) = (c.get()?, c.get()?);
        let (max_fee, tip): (Option<i64>, Option<i64>) = (c.get()?, c.get()?);
        let attempt = match (hash, raw, max_fee, tip) {
            (Some(hash), Some(raw), Some(max_fee), Some(tip)) => Some(Signed { hash, raw, max_fee, tip }),
            _ => None,
        };
        let batch = OpenBatch { nonce, kind, items, fate, block, mined, attempts: Vec::new() };
        Ok(Self { batch, attempt })
    }
}

/// A transaction of this database, by its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAttempt {
    pub signer: Address,
    pub nonce: i64,
    /// What kind of items it carries.
    pub kind: i64,
    pub items: i64,
    /// How far its batch has come.
    pub fate: BatchStatus,
    /// The transaction that was mined at this nonce.
    pub mined: Option<Word>,
    /// The newest transaction that was signed for this nonce.
    pub newest: Word,
    pub block: Option<i64>,
    /// When it was signed.
    pub at: Timestamp,
}

impl FromRow for StoredAttempt {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self {
            signer: word(&c.get::<Vec<u8>>()?)?,
            nonce: c.get()?,
            kind: c.get()?,
            items: c.get()?,
            fate: BatchStatus::from_state(c.get()?),
            mined: c.get()?,
            newest: word(&c.get::<Vec<u8>>()?)?,
            block: c.get()?,
            at: c.get()?,
        })
    }
}

/// What is still to be done, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Items that wait for a nonce.
    pub waiting: i64,
    /// Items in batches that are signed and not yet mined.
    pub signed: i64,
    /// Items that the chain refused for good.
    pub failed: i64,
}

impl FromRow for Backlog {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { waiting: c.get()?, signed: c.get()?, failed: c.get()? })
    }
}

/// An item for the comparison with the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedItem {
    pub kind: i64,
    /// Which one, its version and what it says.
    pub item: Versioned,
    /// Whether it is to be gone.
    pub gone: bool,
    /// How far it has come.
    pub standing: ItemStatus,
}

impl FromRow for ListedItem {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let kind = c.get()?;
        let item = Versioned { key: word(&c.get::<Vec<u8>>()?)?, version: c.get()?, payload: c.get()? };
        let (gone, failed, state): (bool, bool, Option<i64>) = (c.get()?, c.get()?, c.get()?);
        Ok(Self { kind, item, gone, standing: ItemStatus::of(failed, state) })
    }
}

// Of several attempts the one that pays most is the newest, whatever the clocks of their signers say.
static WANTED: Sql = sql("SELECT version, gone, failed FROM chain_items WHERE kind = ?1 AND key = ?2");
static ITEM: Sql = sql("SELECT i.version, i.payload, i.gone, i.salt, i.failed, b.state, b.block, b.mined, \
     (SELECT hash FROM chain_attempts a WHERE a.signer = i.signer AND a.nonce = i.nonce \
      ORDER BY a.max_fee DESC LIMIT 1) \
     FROM chain_items i LEFT JOIN chain_batches b ON b.signer = i.signer AND b.nonce = i.nonce \
     WHERE i.kind = ?1 AND i.key = ?2");
static OPEN: Sql = sql("SELECT b.nonce, b.kind, b.items, b.state, b.block, b.block_hash, b.mined, \
     a.hash, a.raw, a.max_fee, a.tip \
     FROM chain_batches b LEFT JOIN chain_attempts a ON a.signer = b.signer AND a.nonce = b.nonce \
     WHERE b.signer = ?1 AND b.state < 2 ORDER BY b.nonce, a.max_fee");
static ATTEMPT: Sql = sql("SELECT s.address, a.nonce, b.kind, b.items, b.state, b.mined, \
     (SELECT n.hash FROM chain_attempts n WHERE n.signer = a.signer AND n.nonce = a.nonce \
      ORDER BY n.max_fee DESC LIMIT 1), b.block, a.at \
     FROM chain_attempts a JOIN chain_batches b ON b.signer = a.signer AND b.nonce = a.nonce \
     JOIN chain_signers s ON s.id = a.signer WHERE a.hash = ?1");
static BACKLOG: Sql = sql("SELECT \
     (SELECT count(*) FROM chain_items WHERE signer IS NULL AND failed = 0), \
     (SELECT CAST(coalesce(sum(items), 0) AS BIGINT) FROM chain_batches WHERE state = 0), \
     (SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM counters WHERE scope = 'chain' AND name = 'failed')");
static ITEMS_AFTER: Sql = sql("SELECT i.kind, i.key, i.version, i.payload, i.gone, i.failed, b.state \
     FROM chain_items i LEFT JOIN chain_batches b ON b.signer = i.signer AND b.nonce = i.nonce \
     WHERE i.kind = ?1 AND i.key > ?2 ORDER BY i.key LIMIT ?3");
static LAST_FINAL: Sql = sql("SELECT nonce FROM chain_batches WHERE signer = ?1 AND state = 2 \
     ORDER BY nonce DESC LIMIT 1");
static REFERENCE: Sql = sql("SELECT reference FROM chain_references WHERE user_id = ?1");

impl Db {
    /// What is wanted of an item: its version, whether it is to be gone, and whether the chain refused it.
    pub async fn chain_wanted(&self, kind: i64, key: &Word) -> Result<Option<(i64, bool, bool)>> {
        self.one(&WANTED, &[kind.into(), key.as_slice().into()]).await
    }

    pub async fn chain_item(&self, kind: i64, key: &Word) -> Result<Option<StoredItem>> {
        self.one(&ITEM, &[kind.into(), key.as_slice().into()]).await
    }

    /// A signer's batches that are not final yet, by nonce.
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

    /// The newest of a signer's nonces that are final.
    pub async fn last_final_nonce(&self, signer: i64) -> Result<Option<i64>> {
        Ok(self.one::<(i64,)>(&LAST_FINAL, &[signer.into()]).await?.map(|(nonce,)| nonce))
    }

    /// A transaction that was signed here.
    pub async fn chain_attempt(&self, hash: &Word) -> Result<Option<StoredAttempt>> {
        self.one(&ATTEMPT, &[hash.as_slice().into()]).await
    }

    /// What is still to be done.
    pub async fn chain_backlog(&self) -> Result<Backlog> {
        Ok(self.one(&BACKLOG, &[]).await?.unwrap_or_default())
    }

    /// Items of a kind in the order of their keys, for comparing all of them with the chain.
    pub async fn chain_items_after(&self, kind: i64, after: &[u8], limit: i64) -> Result<Vec<ListedItem>> {
        self.read(&ITEMS_AFTER, &[kind.into(), after.into(), limit.into()], Weight::Scan).await
    }

    /// By what the chain knows an applicant, if it does.
    pub async fn chain_reference(&self, user: &UserId) -> Result<Option<Word>> {
        let row: Option<(Vec<u8>,)> = self.one(&REFERENCE, &[user.into()]).await?;
        row.map(|(reference,)| word(&reference)).transpose()
    }
}

pub type Signer = Arc<dyn Sign>;
