//! The audit log: who did what to whose data. It only grows, and every entry's hash covers the one before, so
//! that an altered byte is seen; that its end is still there is seen by its anchor on the chain.

use aws_lc_rs::digest::{Context, SHA256};
use portico_domain::Timestamp;

use crate::chain::{Word, word};
use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, dialects, sql};
use crate::{Db, Error, Result};

/// Something that is put on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub at: Timestamp,
    pub actor: String,
    /// What was done, such as `verification.read`.
    pub action: &'static str,
    /// To what: an id, never a personal value.
    pub subject: String,
    /// More about it; nothing personal either.
    pub detail: String,
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Its place, from 1 on without a gap.
    pub seq: i64,
    pub at: Timestamp,
    pub actor: String,
    pub action: String,
    pub subject: String,
    pub detail: String,
    /// Covers everything above, and the hash of the entry before.
    pub hash: Word,
}

/// The end of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The log's name on the chain.
    pub log: Word,
    /// The last entry's place; 0: there is none yet.
    pub seq: i64,
    /// The last entry's hash.
    pub hash: Word,
}

impl Logged {
    /// What its hash must be, after the entry whose hash is given.
    pub fn hash_after(&self, previous: &Word) -> Word {
        let mut context = Context::new(&SHA256);
        context.update(previous);
        context.update(&self.seq.to_be_bytes());
        context.update(&self.at.micros().to_be_bytes());
        for text in [&self.actor, &self.action, &self.subject, &self.detail] {
            context.update(&(text.len() as u64).to_be_bytes());
            context.update(text.as_bytes());
        }
        let mut hash = Word::default();
        hash.copy_from_slice(context.finish().as_ref());
        hash
    }
}

/// Whoever appends next waits here for the one before.
static HEAD: Sql = dialects(
    "SELECT log, seq, hash FROM audit_head WHERE id = 1",
    "SELECT log, seq, hash FROM audit_head WHERE id = 1 FOR UPDATE",
);
static INSERT: Sql = sql(
    "INSERT INTO audit (seq, at, actor, action, subject, detail, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
);
static MOVE: Sql = sql("UPDATE audit_head SET seq = ?1, hash = ?2 WHERE id = 1");

/// Appends an entry within the transaction that does what it tells.
pub(crate) async fn append<T: Tx>(tx: &mut T, entry: &Entry) -> Result<()> {
    let head: Head = tx.one(&HEAD, &[]).await?.ok_or_else(missing_head)?;
    let mut logged = Logged {
        seq: head.seq + 1,
        at: entry.at,
        actor: entry.actor.clone(),
        action: entry.action.into(),
        subject: entry.subject.clone(),
        detail: entry.detail.clone(),
        hash: Word::default(),
    };
    logged.hash = logged.hash_after(&head.hash);
    let params = [
        logged.seq.into(),
        logged.at.into(),
        logged.actor.as_str().into(),
        logged.action.as_str().into(),
        logged.subject.as_str().into(),
        logged.detail.as_str().into(),
        logged.hash.as_slice().into(),
    ];
    tx.exec(&INSERT, &params).await?;
    tx.exec(&MOVE, &[logged.seq.into(), logged.hash.as_slice().into()]).await.map(drop)
}

fn missing_head() -> Error {
    Error::Bug("the audit log has no head".into())
}

/// Appends an entry about something that changes nothing, such as a read.
#[derive(Debug)]
pub struct Append(pub Entry);

impl Op for Append {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        append(tx, &self.0).await
    }
}

impl FromRow for Logged {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self {
            seq: c.get()?,
            at: c.get()?,
            actor: c.get()?,
            action: c.get()?,
            subject: c.get()?,
            detail: c.get()?,
            hash: word(&c.get::<Vec<u8>>()?)?,
        })
    }
}

impl FromRow for Head {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { log: word(&c.get::<Vec<u8>>()?)?, seq: c.get()?, hash: word(&c.get::<Vec<u8>>()?)? })
    }
}

static END: Sql = sql("SELECT log, seq, hash FROM audit_head WHERE id = 1");
static AFTER: Sql = sql(
    "SELECT seq, at, actor, action, subject, detail, hash FROM audit WHERE seq > ?1 ORDER BY seq LIMIT ?2",
);

// From the end on: whoever asks, asks for one of the last.
static PLACE: Sql = sql("SELECT seq FROM audit WHERE hash = ?1 ORDER BY seq DESC LIMIT 1");

impl Db {
    /// The place of the entry with this hash, if it is there.
    pub async fn audit_place(&self, hash: &Word) -> Result<Option<i64>> {
        let found: Vec<(i64,)> = self.read(&PLACE, &[hash.as_slice().into()], Weight::Scan).await?;
        Ok(found.first().map(|(place,)| *place))
    }

    /// The end of the audit log.
    pub async fn audit_head(&self) -> Result<Head> {
        self.one(&END, &[]).await?.ok_or_else(missing_head)
    }

    /// Entries of the audit log after a place.
    pub async fn audit_after(&self, seq: i64, limit: i64) -> Result<Vec<Logged>> {
        self.read(&AFTER, &[seq.into(), limit.into()], Weight::Scan).await
    }
}
