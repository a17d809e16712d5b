//! The append-only audit log. Every entry's hash covers the one before, which reveals altered entries; the anchor on
//! the chain reveals a missing end.

use aws_lc_rs::digest::{Context, SHA256};
use portico_domain::Timestamp;

use crate::chain::{Word, word};
use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, dialects, sql};
use crate::{Db, Error, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub at: Timestamp,
    pub actor: String,
    /// For example `verification.read`.
    pub action: &'static str,
    /// An id, never a personal value.
    pub subject: String,
    /// Nothing personal either.
    pub detail: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedEntry {
    /// From 1 on, without gaps.
    pub seq: i64,
    pub at: Timestamp,
    pub actor: String,
    pub action: String,
    pub subject: String,
    pub detail: String,
    /// Covers everything above and the previous entry's hash.
    pub hash: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The log's key on the chain.
    pub log: Word,
    /// The last entry's number; 0: the log is empty.
    pub seq: i64,
    pub hash: Word,
}

impl LoggedEntry {
    /// The expected hash, given the previous entry's.
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

/// Appends are serialized by this row lock.
static HEAD: Sql = dialects(
    "SELECT log, seq, hash FROM audit_head WHERE id = 1",
    "SELECT log, seq, hash FROM audit_head WHERE id = 1 FOR UPDATE",
);
static INSERT: Sql = sql(
    "INSERT INTO audit (seq, at, actor, action, subject, detail, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
);
static MOVE: Sql = sql("UPDATE audit_head SET seq = ?1, hash = ?2 WHERE id = 1");

/// Appends an entry in the transaction that makes the change.
pub(crate) async fn append<T: Tx>(tx: &mut T, entry: &Entry) -> Result<()> {
    let head: Head = tx.one(&HEAD, &[]).await?.ok_or_else(missing_head)?;
    let mut logged = LoggedEntry {
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

/// For events that change no other data, such as a read.
#[derive(Debug)]
pub struct Append(pub Entry);

impl Op for Append {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        append(tx, &self.0).await
    }
}

impl FromRow for LoggedEntry {
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

// Searched from the end: callers look for a recent entry.
static PLACE: Sql = sql("SELECT seq FROM audit WHERE hash = ?1 ORDER BY seq DESC LIMIT 1");

impl Db {
    /// The number of the entry with this hash.
    pub async fn audit_seq(&self, hash: &Word) -> Result<Option<i64>> {
        let found: Vec<(i64,)> = self.read(&PLACE, &[hash.as_slice().into()], Weight::Scan).await?;
        Ok(found.first().map(|(place,)| *place))
    }

    pub async fn audit_head(&self) -> Result<Head> {
        self.one(&END, &[]).await?.ok_or_else(missing_head)
    }

    pub async fn audit_after(&self, seq: i64, limit: i64) -> Result<Vec<LoggedEntry>> {
        self.read(&AFTER, &[seq.into(), limit.into()], Weight::Scan).await
    }
}
