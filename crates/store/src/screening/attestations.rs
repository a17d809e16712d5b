//! Intents to compute flags. An intent is stored with its cause (a result, an application, new terms) and removed
//! when the flags are queued for the chain, so that a crash in between loses nothing.

use portico_domain::{ListingId, UserId};

use crate::audit::{Entry, append};
use crate::chain::{DesiredItem, Word, put_item};
use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, dialects, sql};
use crate::{Db, Result};

/// A request to compute an application's flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub user: UserId,
    pub listing: ListingId,
    /// Increases with every cause.
    pub generation: i64,
}

impl FromRow for Intent {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { user: c.get()?, listing: c.get()?, generation: c.get()? })
    }
}

macro_rules! again {
    ($from:literal) => {
        concat!(
            "INSERT INTO attestations (user_id, listing_id, generation) ",
            $from,
            " ON CONFLICT (user_id, listing_id) DO UPDATE SET generation = attestations.generation + 1"
        )
    };
}
static ONE: Sql = sql(again!("VALUES (?1, ?2, 0)"));
// `WHERE` keeps SQLite from parsing `ON CONFLICT` as part of a join.
static OF_USER: Sql = sql(again!("SELECT user_id, listing_id, 0 FROM applications WHERE user_id = ?1"));

static OF_LISTING: Sql = sql(again!("SELECT user_id, listing_id, 0 FROM applications WHERE listing_id = ?1"));

/// After new terms of the listing.
pub(crate) async fn add_intents_of_listing<T: Tx>(tx: &mut T, listing: &ListingId) -> Result<()> {
    tx.exec(&OF_LISTING, &[listing.into()]).await.map(drop)
}

pub(crate) async fn add_intent<T: Tx>(tx: &mut T, user: &UserId, listing: &ListingId) -> Result<()> {
    tx.exec(&ONE, &[user.into(), listing.into()]).await.map(drop)
}

/// After a new result of the user.
pub(super) async fn add_intents_of_user<T: Tx>(tx: &mut T, user: &UserId) -> Result<()> {
    tx.exec(&OF_USER, &[user.into()]).await.map(drop)
}

static SETTLE: Sql =
    sql("DELETE FROM attestations WHERE user_id = ?1 AND listing_id = ?2 AND generation = ?3");
// Locks the application until this transaction ends: ending it clears the flags that are queued here.
static LOCK_APPLICATION: Sql = dialects(
    "SELECT seq FROM applications WHERE user_id = ?1 AND listing_id = ?2",
    "SELECT seq FROM applications WHERE user_id = ?1 AND listing_id = ?2 FOR SHARE",
);
static TERMS: Sql = sql("SELECT version FROM chain_items WHERE kind = ?1 AND key = ?2");
static KNOWN_BY: Sql = sql("SELECT user_id FROM chain_references WHERE user_id = ?1 AND reference = ?2");
static SAME: Sql = sql("SELECT version FROM chain_items \
     WHERE kind = ?1 AND key = ?2 AND payload = ?3 AND gone = 0 AND failed = 0");

/// Settles an intent: queues the flags for the chain, or nothing if there is nothing to attest.
#[derive(Debug)]
pub struct Attest {
    pub intent: Intent,
    pub flags: Option<Flags>,
    /// Only written if there are flags: computing them opens personal values.
    pub entry: Entry,
}

/// Flags and their inputs.
#[derive(Debug)]
pub struct Flags {
    pub desired: DesiredItem,
    pub applicant: Word,
    /// The listing's terms: kind, key and version of the item.
    pub terms: (i64, Word, i64),
}

impl Op for Attest {
    /// False: something changed, and the flags must be computed again.
    type Out = bool;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool> {
        let Intent { user, listing, generation } = &self.intent;
        let applied: Option<(i64,)> = tx.one(&LOCK_APPLICATION, &[user.into(), listing.into()]).await?;
        let flags = self.flags.as_ref().filter(|_| applied.is_some());
        if let Some(Flags { desired, applicant, terms: (kind, key, version) }) = flags {
            let now: Option<(i64,)> = tx.one(&TERMS, &[(*kind).into(), key[..].into()]).await?;
            let known: Option<(UserId,)> = tx.one(&KNOWN_BY, &[user.into(), applicant[..].into()]).await?;
            if now != Some((*version,)) || known.is_none() {
                return Ok(false);
            }
            let item = [desired.kind.into(), desired.key[..].into(), desired.payload[..].into()];
            if tx.one::<(i64,)>(&SAME, &item).await?.is_none() {
                put_item(tx, desired, None).await?;
            }
        }
        let settled = tx.exec(&SETTLE, &[user.into(), listing.into(), (*generation).into()]).await? > 0;
        if flags.is_some() {
            append(tx, &self.entry).await?;
        }
        Ok(settled)
    }
}

static SOME: Sql =
    sql("SELECT user_id, listing_id, generation FROM attestations ORDER BY user_id, listing_id LIMIT ?1");
static SOME_OF: Sql = sql(
    "SELECT user_id, listing_id, generation FROM attestations WHERE user_id = ?1 ORDER BY listing_id LIMIT ?2",
);

impl Db {
    /// Pending intents of one user or of all.
    pub async fn intents(&self, of: Option<&UserId>, limit: i64) -> Result<Vec<Intent>> {
        match of {
            Some(user) => self.read(&SOME_OF, &[user.into(), limit.into()], Weight::Scan).await,
            None => self.read(&SOME, &[limit.into()], Weight::Scan).await,
        }
    }
}
