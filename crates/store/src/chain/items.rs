//! Items: desired state on the chain, each with an increasing version.

use hex::encode_prefixed;
use portico_domain::Timestamp;
use portico_records::{DesiredItem, ItemKind};

use crate::audit::{Entry, append};
use crate::engine::counters::{ChangeContext, record};
use crate::engine::error::Result;
use crate::engine::sql::{FromColumn, Op, Param, Row, Sql, Tx, sql, statements};
use crate::engine::word::Word;

impl From<ItemKind> for Param<'_> {
    fn from(kind: ItemKind) -> Self {
        Self::Int(kind as i64)
    }
}

impl FromColumn for ItemKind {
    /// A batch that only fills a nonce has none.
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        Ok(row.int(column)?.and_then(Self::from_number))
    }
}

/// No earlier revert limits the batch.
pub(super) const NO_BATCH_LIMIT: i64 = i64::MAX;

static INSERT_ITEM: Sql = sql("INSERT INTO chain_items \
     (kind, key, version, payload, deleted, salt, signer, nonce, max_batch, reverts, rejected, wanted_at, due_at) \
     VALUES (?1, ?2, ?10, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, ?9, ?11) ON CONFLICT (kind, key) DO NOTHING");
static UPDATE_ITEM: Sql = sql(
    "UPDATE chain_items SET version = CASE WHEN version >= ?10 THEN version + 1 ELSE ?10 END, \
     payload = ?3, deleted = ?4, salt = coalesce(?5, salt), signer = ?6, nonce = ?7, max_batch = ?8, reverts = 0, \
     rejected = 0, wanted_at = ?9, due_at = ?11 WHERE kind = ?1 AND key = ?2 RETURNING version",
);

/// Writes the next version of an item, optionally as part of a batch. Returns the version.
pub(crate) async fn put_item<T: Tx>(
    tx: &mut T,
    desired: &DesiredItem,
    batch: Option<(i64, i64)>,
) -> Result<i64> {
    // Most items are new, and `SQLite` materializes a table for `RETURNING`.
    let version = if insert_item(tx, desired, batch).await? {
        desired.above + 1
    } else {
        let version: Option<(i64,)> = tx.one(&UPDATE_ITEM, &item_params(desired, batch)).await?;
        version.map_or(0, |(version,)| version)
    };
    tracing::debug!(
        kind = desired.kind.contract(),
        key = encode_prefixed(desired.key),
        version,
        "a chain item is written"
    );
    Ok(version)
}

/// False: it exists.
async fn insert_item<T: Tx>(tx: &mut T, desired: &DesiredItem, batch: Option<(i64, i64)>) -> Result<bool> {
    Ok(tx.exec(&INSERT_ITEM, &item_params(desired, batch)).await? > 0)
}

fn item_params(desired: &DesiredItem, batch: Option<(i64, i64)>) -> [Param<'_>; 11] {
    [
        desired.kind.into(),
        desired.key.as_slice().into(),
        desired.payload.as_slice().into(),
        desired.deleted.into(),
        desired.salt.as_ref().map(Word::as_slice).into(),
        batch.map(|(signer, _)| signer).into(),
        batch.map(|(_, nonce)| nonce).into(),
        NO_BATCH_LIMIT.into(),
        desired.at.into(),
        (desired.above + 1).into(),
        due_at(desired).into(),
    ]
}

fn due_at(desired: &DesiredItem) -> Timestamp {
    desired.due_at.unwrap_or(Timestamp::from_micros(0))
}

static RETIRE: Sql =
    sql("UPDATE chain_items SET version = version + 1, payload = ?3, deleted = 1, salt = NULL, \
     signer = NULL, nonce = NULL, max_batch = ?4, reverts = 0, rejected = 0, wanted_at = ?5, due_at = ?6 \
     WHERE kind = ?1 AND key = ?2 AND deleted = 0");

/// Deletes an item if it exists; returns whether it did.
pub(crate) async fn retire<T: Tx>(tx: &mut T, desired: &DesiredItem) -> Result<bool> {
    let params = [
        desired.kind.into(),
        desired.key.as_slice().into(),
        desired.payload.as_slice().into(),
        NO_BATCH_LIMIT.into(),
        desired.at.into(),
        due_at(desired).into(),
    ];
    let is_retired = tx.exec(&RETIRE, &params).await? > 0;
    if is_retired {
        tracing::debug!(
            kind = desired.kind.contract(),
            key = encode_prefixed(desired.key),
            "a chain item is retired"
        );
    }
    Ok(is_retired)
}

/// Deletes items; those that do not exist are left alone.
#[derive(Debug)]
pub struct RetireItems(pub Vec<DesiredItem>);

impl Op for RetireItems {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for desired in &self.0 {
            retire(tx, desired).await?;
        }
        Ok(())
    }
}

/// Writes items that belong to no other row.
#[derive(Debug)]
pub struct PutItems(pub Vec<DesiredItem>);

impl Op for PutItems {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for desired in &self.0 {
            put_item(tx, desired, None).await?;
        }
        Ok(())
    }
}

static AGAIN: Sql =
    sql("UPDATE chain_items SET version = CASE WHEN version > ?4 THEN version ELSE ?4 END + 1, \
     signer = NULL, nonce = NULL, max_batch = ?5, reverts = 0, rejected = 0, wanted_at = ?6 \
     WHERE kind = ?1 AND key = ?2 AND version = ?3");

/// Writes items again unchanged, each as its next version, unless they changed since they were read.
#[derive(Debug)]
pub struct PutItemsAgain {
    /// Each with the version that the new one must exceed.
    pub items: Vec<(ItemVersion, i64)>,
    pub at: Timestamp,
}

impl Op for PutItemsAgain {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for (seen, above) in &self.items {
            let params = [
                seen.kind.into(),
                seen.key.as_slice().into(),
                seen.version.into(),
                (*above).into(),
                NO_BATCH_LIMIT.into(),
                self.at.into(),
            ];
            tx.exec(&AGAIN, &params).await?;
        }
        Ok(())
    }
}

static RETRY: Sql =
    sql("UPDATE chain_items SET version = CASE WHEN version > ?4 THEN version ELSE ?4 END + 1, \
     signer = NULL, nonce = NULL, reverts = 0, rejected = 0, wanted_at = ?5 \
     WHERE kind = ?1 AND key = ?2 AND version = ?3 AND rejected = 1");

/// Queues items again that the chain has rejected, each as its next version, unless they changed since they were read.
/// Returns how many. The audit entry is written if there is one.
#[derive(Debug)]
pub struct RetryItems {
    /// Each with the version that the new one must exceed.
    pub items: Vec<(ItemVersion, i64)>,
    pub entry: Entry,
}

impl Op for RetryItems {
    type Out = u64;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<u64> {
        let mut queued = 0;
        for (seen, above) in &self.items {
            let params = [
                seen.kind.into(),
                seen.key.as_slice().into(),
                seen.version.into(),
                (*above).into(),
                self.entry.at.into(),
            ];
            queued += tx.exec(&RETRY, &params).await?;
        }
        if queued > 0 {
            append(tx, &Entry { detail: format!("{queued} items"), ..self.entry.clone() }).await?;
        }
        Ok(queued)
    }
}

static RAISE_VERSION: Sql =
    sql("UPDATE chain_items SET version = ?4 WHERE kind = ?1 AND key = ?2 AND version = ?3");

/// Takes over the chain's versions of items whose content need not be written, unless they changed since they were
/// read.
#[derive(Debug)]
pub struct RaiseVersions(pub Vec<(ItemVersion, i64)>);

impl Op for RaiseVersions {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for (seen, to) in &self.0 {
            let params = [seen.kind.into(), seen.key.as_slice().into(), seen.version.into(), (*to).into()];
            tx.exec(&RAISE_VERSION, &params).await?;
        }
        Ok(())
    }
}

// Where it was written does not matter: if it waits, it is sent once more, and the contract has it already.
static ADOPT_END: Sql =
    sql("UPDATE chain_items SET version = ?4, payload = ?5, deleted = 1, salt = NULL, rejected = 0 \
     WHERE kind = ?1 AND key = ?2 AND version = ?3");
static ADOPT_REVOCATION: Sql =
    sql("UPDATE cases SET revoked_at = ?2 WHERE token = ?1 AND revoked_at IS NULL");

/// An item that the chain has as deleted, and the database not.
#[derive(Debug, Clone)]
pub struct EndedItem {
    pub seen: ItemVersion,
    /// The version on the chain.
    pub version: i64,
    pub payload: Vec<u8>,
}

/// Takes over ends that the chain has and a restored database lacks, unless the items changed since they were read.
#[derive(Debug)]
pub struct AdoptEnds {
    pub items: Vec<EndedItem>,
    pub at: Timestamp,
}

impl Op for AdoptEnds {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for EndedItem { seen, version, payload } in &self.items {
            let params = [
                seen.kind.into(),
                seen.key.as_slice().into(),
                seen.version.into(),
                (*version).into(),
                payload.as_slice().into(),
            ];
            if tx.exec(&ADOPT_END, &params).await? > 0
                && let Some(token) = seen.kind.token_of(&seen.key)
            {
                tx.exec(&ADOPT_REVOCATION, &[token[..].into(), self.at.into()]).await?;
            }
        }
        Ok(())
    }
}

/// Deletes items of the chain that the database does not know; those that it knows meanwhile stay.
#[derive(Debug)]
pub struct EndUnknownItems(pub Vec<DesiredItem>);

impl Op for EndUnknownItems {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for desired in &self.0 {
            insert_item(tx, desired, None).await?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemVersion {
    pub kind: ItemKind,
    pub key: Word,
    pub version: i64,
}

static REJECT: Sql =
    sql("UPDATE chain_items SET rejected = 1 WHERE kind = ?1 AND key = ?2 AND version = ?3 AND rejected = 0");

/// The chain rejected these items for good.
#[derive(Debug)]
pub struct RejectItems {
    pub items: Vec<ItemVersion>,
    pub at: Timestamp,
}

impl Op for RejectItems {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for item in &self.items {
            let params = [item.kind.into(), item.key.as_slice().into(), item.version.into()];
            if tx.exec(&REJECT, &params).await? > 0 {
                note_rejection(tx, item, self.at).await?;
            }
        }
        Ok(())
    }
}

pub(super) async fn note_rejection<T: Tx>(tx: &mut T, item: &ItemVersion, at: Timestamp) -> Result<()> {
    let subject = hex::encode_prefixed(item.key);
    record(tx, &ChangeContext { account: None, at }, "chain.item_failed", &subject, &[]).await
}

statements! {
    INSERT_ITEM, UPDATE_ITEM, RETIRE, AGAIN, RETRY, RAISE_VERSION, ADOPT_END, ADOPT_REVOCATION, REJECT
}
