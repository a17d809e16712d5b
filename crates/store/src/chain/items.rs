//! Items: what is wanted on the chain, each with a version that only grows.

use portico_domain::{Timestamp, UserId};

use super::Word;
use crate::Result;
use crate::counters::{ChangeContext, record};
use crate::sql::{Op, Sql, Tx, sql};

/// What is wanted of one key.
#[derive(Debug, Clone)]
pub struct DesiredItem {
    /// What kind of item it is.
    pub kind: i64,
    pub key: Word,
    pub payload: Vec<u8>,
    /// Whether it is to be gone from the chain.
    pub gone: bool,
    /// The salt of its digest.
    pub salt: Option<Word>,
    /// The version is above this one, whatever the database remembers.
    pub above: i64,
    pub at: Timestamp,
}

/// A batch may be as large as the writer likes.
pub(super) const ANY_SHARE: i64 = i64::MAX;

static WANT_FIRST: Sql = sql("INSERT INTO chain_items \
     (kind, key, version, payload, gone, salt, signer, nonce, share, reverts, failed, wanted_at) \
     VALUES (?1, ?2, ?10, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, ?9) ON CONFLICT (kind, key) DO NOTHING");
static WANT_NEXT: Sql =
    sql("UPDATE chain_items SET version = CASE WHEN version >= ?10 THEN version + 1 ELSE ?10 END, \
     payload = ?3, gone = ?4, salt = coalesce(?5, salt), signer = ?6, nonce = ?7, share = ?8, reverts = 0, \
     failed = 0, wanted_at = ?9 WHERE kind = ?1 AND key = ?2 RETURNING version");

/// Writes the next version of an item; if a batch is given, as carried by it. Answers with the version.
pub(crate) async fn want<T: Tx>(tx: &mut T, wanted: &DesiredItem, batch: Option<(i64, i64)>) -> Result<i64> {
    let params = [
        wanted.kind.into(),
        wanted.key.as_slice().into(),
        wanted.payload.as_slice().into(),
        wanted.gone.into(),
        wanted.salt.as_ref().map(Word::as_slice).into(),
        batch.map(|(signer, _)| signer).into(),
        batch.map(|(_, nonce)| nonce).into(),
        ANY_SHARE.into(),
        wanted.at.into(),
        (wanted.above + 1).into(),
    ];
    // Most items are wanted for the first time, and `SQLite` keeps a table in memory for a statement that answers.
    if tx.exec(&WANT_FIRST, &params).await? > 0 {
        return Ok(wanted.above + 1);
    }
    let version: Option<(i64,)> = tx.one(&WANT_NEXT, &params).await?;
    Ok(version.map_or(0, |(version,)| version))
}

static RETIRE: Sql =
    sql("UPDATE chain_items SET version = version + 1, payload = ?3, gone = 1, salt = NULL, \
     signer = NULL, nonce = NULL, share = ?4, reverts = 0, failed = 0, wanted_at = ?5 \
     WHERE kind = ?1 AND key = ?2 AND gone = 0");

/// Wants an item to be gone, if it was ever wanted; tells whether it was.
pub(crate) async fn retire<T: Tx>(tx: &mut T, wanted: &DesiredItem) -> Result<bool> {
    let params = [
        wanted.kind.into(),
        wanted.key.as_slice().into(),
        wanted.payload.as_slice().into(),
        ANY_SHARE.into(),
        wanted.at.into(),
    ];
    Ok(tx.exec(&RETIRE, &params).await? > 0)
}

static REFER: Sql =
    sql("INSERT INTO chain_references (user_id, reference) VALUES (?1, ?2) ON CONFLICT (user_id) DO NOTHING");

/// Gives an applicant the reference by which the chain knows them; whoever has one keeps it.
#[derive(Debug)]
pub struct Refer {
    pub user: UserId,
    pub reference: Word,
}

impl Op for Refer {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&REFER, &[(&self.user).into(), self.reference.as_slice().into()]).await.map(drop)
    }
}

/// Wants items on the chain that come with no row of their own.
#[derive(Debug)]
pub struct Want(pub Vec<DesiredItem>);

impl Op for Want {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for wanted in &self.0 {
            want(tx, wanted, None).await?;
        }
        Ok(())
    }
}

static AGAIN: Sql =
    sql("UPDATE chain_items SET version = CASE WHEN version > ?4 THEN version ELSE ?4 END + 1, \
     signer = NULL, nonce = NULL, share = ?5, reverts = 0, failed = 0, wanted_at = ?6 \
     WHERE kind = ?1 AND key = ?2 AND version = ?3");

/// Wants items again as they are, each as its next version, unless they have changed since they were looked at.
#[derive(Debug)]
pub struct WantAgain {
    /// The items as they were seen, each with the version that it must be above.
    pub items: Vec<(ItemVersion, i64)>,
    pub at: Timestamp,
}

impl Op for WantAgain {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for (seen, above) in &self.items {
            let params = [
                seen.kind.into(),
                seen.key.as_slice().into(),
                seen.version.into(),
                (*above).into(),
                ANY_SHARE.into(),
                self.at.into(),
            ];
            tx.exec(&AGAIN, &params).await?;
        }
        Ok(())
    }
}

/// An item as a batch carried it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemVersion {
    /// What kind of item it is.
    pub kind: i64,
    pub key: Word,
    /// The version that was carried.
    pub version: i64,
}

static FAIL: Sql =
    sql("UPDATE chain_items SET failed = 1 WHERE kind = ?1 AND key = ?2 AND version = ?3 AND failed = 0");

/// The chain refused items for good.
#[derive(Debug)]
pub struct FailItems {
    pub items: Vec<ItemVersion>,
    pub at: Timestamp,
}

impl Op for FailItems {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for item in &self.items {
            let params = [item.kind.into(), item.key.as_slice().into(), item.version.into()];
            if tx.exec(&FAIL, &params).await? > 0 {
                failed(tx, item, self.at).await?;
            }
        }
        Ok(())
    }
}

/// The event of an item that the chain refused for good.
pub(super) async fn failed<T: Tx>(tx: &mut T, item: &ItemVersion, at: Timestamp) -> Result<()> {
    let subject = hex::encode_prefixed(item.key);
    record(tx, &ChangeContext { account: None, at }, "chain.item_failed", &subject, &[("chain", "failed", 1)])
        .await
}
