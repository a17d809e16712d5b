//! The append-only audit log. Every entry's hash covers the one before and is keyed, which reveals altered and forged
//! entries; the anchor on the chain reveals a missing end.
//!
//! The key is in the keystore, not in the database. Entries that commands append before the first server have
//! hashes without a key: they count up to the first entry that is keyed, which is [`KEYED`] or [`RESTORED`]. A command that does not know the key leaves
//! its entries for a server to take over ([`TakeOverEntries`]).

use aws_lc_rs::digest::{SHA256, digest};
use portico_domain::Timestamp;

use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::page::as_limit;
use crate::engine::page::{Cursor, Page};
use crate::engine::sql::{
    Columns, FromRow, Op, Param, Row, Sql, Tx, Weight, params, row, select, select_dialects, sql, statements,
};
use crate::engine::word::Word;

pub use crate::engine::audit_key::AuditKey;

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

/// The action of the entry from which on a log is keyed.
pub const KEYED: &str = "audit.keyed";
/// How the detail of a [`KEYED`] entry begins if the entries before it were keyed by a key that is lost.
pub const KEY_LOST: &str = "the key of earlier entries is lost";
/// The action of the entry with which a restored database supersedes later entries.
pub const RESTORED: &str = "database.restored";
/// The actor of entries that no caller caused.
pub const SERVICE: &str = "the service itself";

/// The detail of a [`RESTORED`] entry: it names the ends of the log that is given up. Any of them may be anchored.
pub fn superseding(heads: &[Word]) -> String {
    let heads: Vec<String> = heads.iter().map(hex::encode).collect();
    format!("supersedes {}", heads.join(" "))
}

/// Whether the detail of a [`RESTORED`] entry names this end of a log.
pub fn supersedes(detail: &str, head: &Word) -> bool {
    detail.to_ascii_lowercase().contains(&hex::encode(head))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The log's key on the chain, as the database says. [`AuditKey::log`] is the one that counts.
    pub log: Word,
    /// The last entry's number; 0: the log is empty.
    pub seq: i64,
    pub hash: Word,
    /// Whether the log was keyed.
    pub keyed: bool,
}

impl LoggedEntry {
    /// What its hash covers: the previous entry's hash and all of this one.
    fn message(&self, previous: &Word) -> Vec<u8> {
        let mut message = previous.to_vec();
        message.extend(self.seq.to_be_bytes());
        message.extend(self.at.micros().to_be_bytes());
        for text in [&self.actor, &self.action, &self.subject, &self.detail] {
            message.extend((text.len() as u64).to_be_bytes());
            message.extend(text.as_bytes());
        }
        message
    }

    fn hash_after(&self, previous: &Word, key: Option<&AuditKey>) -> Word {
        let message = self.message(previous);
        let mut hash = Word::default();
        match key {
            Some(key) => hash.copy_from_slice(key.sign(&message).as_ref()),
            None => hash.copy_from_slice(digest(&SHA256, &message).as_ref()),
        }
        hash
    }

    /// Whether it follows the entry with this hash; with a key, whether somebody who knows the key appended it.
    pub fn follows(&self, previous: &Word, key: Option<&AuditKey>) -> bool {
        match key {
            Some(key) => key.verify(&self.message(previous), &self.hash),
            None => self.hash_after(previous, None) == self.hash,
        }
    }
}

/// Appends are serialized by this row lock.
static HEAD: Sql = select_dialects::<Head>(
    "SELECT {columns} FROM audit_head WHERE id = 1",
    "SELECT {columns} FROM audit_head WHERE id = 1 FOR UPDATE",
);
static INSERT: Sql = sql(
    "INSERT INTO audit (seq, at, actor, action, subject, detail, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
);
static MOVE: Sql = sql("UPDATE audit_head SET seq = ?1, hash = ?2, keyed = ?3 WHERE id = 1");
static WAIT: Sql = sql(
    "INSERT INTO audit_waiting (seq, at, actor, action, subject, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
);

/// Appends an entry in the transaction that makes the change. Without the key of a keyed log, it waits for a server.
pub(crate) async fn append<T: Tx>(tx: &mut T, entry: &Entry) -> Result<()> {
    let head: Head = tx.one(&HEAD, &[]).await?.ok_or_else(missing_head)?;
    if !head.keyed || tx.context().audit_key().is_some() {
        return append_after(tx, &head, entry).await;
    }
    let params = params![
        tx.context().seq(),
        entry.at,
        entry.actor.as_str(),
        entry.action,
        entry.subject.as_str(),
        entry.detail.as_str()
    ];
    tx.exec(&WAIT, &params).await.map(drop)
}

async fn append_after<T: Tx>(tx: &mut T, head: &Head, entry: &Entry) -> Result<()> {
    let logged = LoggedEntry {
        seq: head.seq + 1,
        at: entry.at,
        actor: entry.actor.clone(),
        action: entry.action.into(),
        subject: entry.subject.clone(),
        detail: entry.detail.clone(),
        hash: Word::default(),
    };
    append_logged(tx, head, logged).await
}

async fn append_logged<T: Tx>(tx: &mut T, head: &Head, mut logged: LoggedEntry) -> Result<()> {
    logged.hash = logged.hash_after(&head.hash, tx.context().audit_key());
    let keyed = tx.context().audit_key().is_some();
    let params = params![
        logged.seq,
        logged.at,
        logged.actor.as_str(),
        logged.action.as_str(),
        logged.subject.as_str(),
        logged.detail.as_str(),
        logged.hash.as_slice()
    ];
    tx.exec(&INSERT, &params).await?;
    tx.exec(&MOVE, &[logged.seq.into(), logged.hash.as_slice().into(), keyed.into()]).await.map(drop)
}

pub(crate) fn missing_head() -> Error {
    Error::Bug("the audit log has no head".into())
}

static NAME: Sql = sql("UPDATE audit_head SET log = ?1, keyed = 1 WHERE id = 1");

/// Begins to key the log, with an entry that covers everything before it.
#[derive(Debug)]
pub struct KeyLog {
    /// Whether earlier entries were keyed by a key that is lost.
    pub key_lost: bool,
    pub at: Timestamp,
}

impl Op for KeyLog {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let Some(log) = tx.context().audit_key().map(AuditKey::log) else {
            return Err(Error::Bug("the key of the audit log is not known".into()));
        };
        let head: Head = tx.one(&HEAD, &[]).await?.ok_or_else(missing_head)?;
        tx.exec(&NAME, &[log.as_slice().into()]).await?;
        if head.seq == 0 {
            return Ok(());
        }
        let before = format!("entries up to {} are as they were", head.seq);
        let entry = Entry {
            at: self.at,
            actor: SERVICE.into(),
            action: KEYED,
            subject: "the audit log".into(),
            detail: if self.key_lost { format!("{KEY_LOST}; {before}") } else { before },
        };
        append_after(tx, &head, &entry).await
    }
}

/// What the detail of an entry says that a command has left without the key.
const UNPROVEN: &str = "left by a command without the key";
const MAX_TAKEN_OVER_ENTRIES: i64 = 100;
static WAITING: Sql =
    sql("SELECT seq, at, actor, action, subject, detail FROM audit_waiting ORDER BY seq LIMIT ?1");
static NO_LONGER_WAITING: Sql = sql("DELETE FROM audit_waiting WHERE seq = ?1");

struct WaitingEntry {
    seq: i64,
    logged: LoggedEntry,
}

impl FromRow for WaitingEntry {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let seq = c.get()?;
        let (at, actor, action, subject, detail) = (c.get()?, c.get()?, c.get()?, c.get()?, c.get()?);
        let hash = Word::default();
        Ok(Self { seq, logged: LoggedEntry { seq: 0, at, actor, action, subject, detail, hash } })
    }
}

/// Appends entries that commands have left without the key, and marks them so; returns how many.
#[derive(Debug)]
pub struct TakeOverEntries;

impl Op for TakeOverEntries {
    type Out = u64;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<u64> {
        if tx.context().audit_key().is_none() {
            return Ok(0);
        }
        // Locks the log before it reads what waits, so that two servers do not take over the same.
        let mut head: Head = tx.one(&HEAD, &[]).await?.ok_or_else(missing_head)?;
        let waiting: Vec<WaitingEntry> = tx.rows(&WAITING, &[MAX_TAKEN_OVER_ENTRIES.into()]).await?;
        let taken = waiting.len() as u64;
        for WaitingEntry { seq, mut logged } in waiting {
            logged.seq = head.seq + 1;
            logged.detail = match logged.detail.as_str() {
                "" => UNPROVEN.into(),
                detail => format!("{UNPROVEN}; {detail}"),
            };
            append_logged(tx, &head, logged).await?;
            tx.exec(&NO_LONGER_WAITING, &[seq.into()]).await?;
            head = tx.one(&HEAD, &[]).await?.ok_or_else(missing_head)?;
        }
        Ok(taken)
    }
}

/// Which entries a reader is looking for; the default is all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFilter {
    pub actor: Option<String>,
    /// How the action begins: `key.` for all of `key.created` and `key.revoked`.
    pub action: Option<String>,
    pub subject: Option<String>,
    pub from: Timestamp,
    /// Entries of this moment are not included.
    pub until: Timestamp,
}

impl Default for AuditFilter {
    fn default() -> Self {
        let (from, until) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        Self { actor: None, action: None, subject: None, from, until }
    }
}

/// How many entries one read looks through at most. A page of a rare filter may be empty and have a next one.
pub const ENTRIES_PER_SEARCH: i64 = 20_000;

fn wanted(text: Option<&str>) -> Param<'_> {
    Param::Text(text.unwrap_or_default())
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

row!(LoggedEntry { seq, at, actor, action, subject, detail, hash });

row!(Head { log, seq, hash, keyed });

pub(crate) static END: Sql = select::<Head>("SELECT {columns} FROM audit_head WHERE id = 1");
/// Newest first. An empty text and the ends of time are no filter.
static SEARCH: Sql = select::<LoggedEntry>(
    "SELECT {columns} FROM audit \
     WHERE seq < ?1 AND seq >= ?2 AND at >= ?3 AND at < ?4 \
     AND (CAST(?5 AS TEXT) = '' OR actor = ?5) AND (CAST(?6 AS TEXT) = '' OR subject = ?6) \
     AND substr(action, 1, length(CAST(?7 AS TEXT))) = CAST(?7 AS TEXT) ORDER BY seq DESC LIMIT ?8",
);
static WAITING_SINCE: Sql = sql("SELECT at FROM audit_waiting ORDER BY seq LIMIT 1");
pub(crate) static AFTER: Sql =
    select::<LoggedEntry>("SELECT {columns} FROM audit WHERE seq > ?1 ORDER BY seq LIMIT ?2");

// Searched from the end: callers look for a recent entry.
static PLACE: Sql = sql("SELECT seq FROM audit WHERE hash = ?1 ORDER BY seq DESC LIMIT 1");

impl Db {
    /// Keys the entries that are appended from now on. The first key stays.
    pub fn use_audit_key(&self, key: AuditKey) {
        let _ = self.audit_key_cell().set(key);
    }

    pub fn audit_key(&self) -> Option<&AuditKey> {
        self.audit_key_cell().get()
    }

    /// The time of the oldest entry that a command has left and no server has taken over.
    pub async fn audit_waiting_since(&self) -> Result<Option<Timestamp>> {
        Ok(self.one::<(Timestamp,)>(&WAITING_SINCE, &[]).await?.map(|(at,)| at))
    }

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

    /// Newest first.
    pub async fn audit_matching(
        &self,
        filter: &AuditFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<LoggedEntry>> {
        let end = self.audit_head().await?.seq + 1;
        let before = Cursor::before(after).seq.min(end);
        let least = before.saturating_sub(ENTRIES_PER_SEARCH).max(1);
        let params = params![
            before,
            least,
            filter.from,
            filter.until,
            wanted(filter.actor.as_deref()),
            wanted(filter.subject.as_deref()),
            wanted(filter.action.as_deref()),
            as_limit(limit) + 1
        ];
        let mut items: Vec<LoggedEntry> = self.read(&SEARCH, &params, Weight::Scan).await?;
        let is_cut = items.len() > limit;
        items.truncate(limit);
        let next = match items.last() {
            Some(last) if is_cut => Some(last.seq),
            _ => (least > 1).then_some(least),
        };
        Ok(Page { items, next: next.map(|seq| Cursor { key: -seq, seq: -seq }), stable_up_to: None })
    }
}

statements! {
    HEAD, INSERT, MOVE, WAIT, NAME, WAITING, NO_LONGER_WAITING, END, SEARCH, WAITING_SINCE, AFTER, PLACE
}
