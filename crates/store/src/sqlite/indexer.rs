//! The search index of `SQLite`: everything by which listings are found but their id, in a file of its own, filled
//! by a thread of its own.
//!
//! Storing a listing does not wait for its index entries. The index knows up to which listing it reaches (the
//! watermark); a search takes what the index offers up to there and reads the few newer listings one by one.
//! Every candidate is checked against the whole question, so that answers are exact at every moment, and the
//! file can be deleted at any time: it is built again.
//!
//! An owner's listings are here as they are shown, beside each other. Those that were deleted are dropped with the
//! next batch; until then their numbers in the database keep them out.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use portico_domain::listings::Listing;
use portico_domain::search::{SearchTerm, document};
use portico_domain::text::fold;
use portico_domain::{Money, UserId};
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::oneshot;

use super::newest::{Newest, Whereabouts};
use super::reader::Commits;
use super::writer::spawn;
use super::{connect, exec, rows};
use crate::listings::{self, digest, entry, unpacked};
use crate::page::as_limit;
use crate::sql::{Columns, FromRow, Row};
use crate::{Error, Result};

/// Listings per transaction of the index.
const BATCH: usize = 8192;
const CACHE_KIB: u32 = 32 * 1024;
/// Pages kept by each thread that reads: what leads to the others, and some of those.
const READER_CACHE_KIB: u32 = 6 * 1024;
/// How long to gather listings before the next batch, so that batches are worth their commit.
const GATHER: Duration = Duration::from_millis(100);
/// Likewise while many come. A batch is a segment of the text index, and segments are merged again and again:
/// few large ones cost less.
const GATHER_MANY: Duration = Duration::from_millis(500);
/// So many in a batch are many.
const MANY: usize = 512;

/// What the engine knows of its indexer.
#[derive(Debug, Clone)]
pub(super) struct Indexer(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    watermark: AtomicI64,
    newest: Newest,
    commits: Arc<Commits>,
    dirty: AtomicBool,
    thread: Mutex<Option<Thread>>,
    /// Who waits for the index to catch up.
    waiting: Mutex<Vec<oneshot::Sender<()>>>,
}

impl Indexer {
    pub(super) fn start(path: &Path, commits: Arc<Commits>) -> Result<Self> {
        let index = Index::open(path)?;
        let (watermark, newest) = (index.watermark()?, Newest::default());
        newest.indexed(watermark);
        let shared = Arc::new(Shared {
            watermark: AtomicI64::new(watermark),
            newest,
            commits,
            dirty: AtomicBool::new(true),
            thread: Mutex::new(None),
            waiting: Mutex::new(Vec::new()),
        });
        // The thread ends when the engine is gone.
        let weak = Arc::downgrade(&shared);
        spawn("portico-search", move || {
            let mut gather = GATHER;
            while let Some(shared) = weak.upgrade() {
                shared
                    .thread
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert_with(std::thread::current);
                if shared.dirty.swap(false, Ordering::AcqRel) {
                    gather = if index.catch_up(&shared) < MANY { GATHER } else { GATHER_MANY };
                }
                drop(shared);
                std::thread::park_timeout(Duration::from_secs(1));
                std::thread::park_timeout(gather);
            }
        })?;
        Ok(Self(shared))
    }

    /// Tells that there is something new.
    pub(super) fn wake(&self) {
        if !self.0.dirty.swap(true, Ordering::AcqRel)
            && let Some(thread) = &*self.0.thread.lock().unwrap_or_else(PoisonError::into_inner)
        {
            thread.unpark();
        }
    }

    /// The last listing that the index holds.
    pub(super) fn watermark(&self) -> i64 {
        self.0.watermark.load(Ordering::Acquire)
    }

    /// Notes listings that were committed, and whose they are.
    pub(super) fn note(&self, added: Vec<(UserId, i64)>) {
        self.0.newest.note(added);
    }

    pub(super) fn whereabouts(&self, user: &UserId) -> Whereabouts {
        self.0.newest.of(user)
    }

    /// Waits until the index holds everything committed before the call.
    pub(super) async fn settle(&self) -> Result<()> {
        let (done, caught_up) = oneshot::channel();
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(done);
        self.0.dirty.store(false, Ordering::Release);
        self.wake();
        caught_up.await.map_err(|_| Error::Unavailable("the indexer has stopped".into()))
    }
}

fn file(path: &Path) -> PathBuf {
    path.with_extension("search.db")
}

/// Lets a reading connection search.
pub(super) fn attach(connection: &Connection, path: &Path) -> Result<()> {
    connection.execute("ATTACH ?1 AS search", [file(path).to_string_lossy()])?;
    connection.execute_batch(&format!("PRAGMA search.cache_size = -{READER_CACHE_KIB}"))?;
    connection
        .execute_batch("CREATE VIRTUAL TABLE temp.trigrams USING fts5vocab (search, documents, instance)")?;
    Ok(())
}

/// A match expression for what may contain the term: all of its trigrams, or, if it is shorter, any trigram
/// that begins with it. `None`: nothing in the index contains it.
pub(super) fn expression(connection: &Connection, term: &SearchTerm) -> Result<Option<String>> {
    let quoted = |gram: &str| format!("\"{}\"", gram.replace('"', "\"\""));
    let mut grams = term.trigrams();
    if !grams.is_empty() {
        grams.sort_unstable();
        grams.dedup();
        return Ok(Some(grams.into_iter().map(quoted).collect::<Vec<_>>().join(" AND ")));
    }
    // Seeking from one trigram to the next is quicker than a range, which would count every one's listings.
    let mut seek = connection.prepare_cached("SELECT term FROM trigrams WHERE term >= ?1 LIMIT 1")?;
    // As the tokenizer writes what is no character.
    let term = term.as_str().replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    let (mut from, mut any) = (term.clone(), Vec::new());
    while let Some(gram) = seek.query_row([&from], |row| row.get::<_, String>(0)).optional()? {
        if !gram.starts_with(&term) {
            break;
        }
        any.push(quoted(&gram));
        from = gram + "\0";
    }
    Ok((!any.is_empty()).then(|| any.join(" OR ")))
}

/// Raised whenever the entries of a listing change their meaning: an index of another version is built again.
const VERSION: i64 = 2;

/// What a listing is found by, besides its text: one sorted table, an entry per question it may answer.
const SCHEMA: &str = "
    CREATE VIRTUAL TABLE documents USING fts5 (
        text, content = '', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1');
    INSERT INTO documents (documents, rank) VALUES ('hashsize', 67108864), ('automerge', 8);
    CREATE TABLE entries (
        kind INTEGER NOT NULL, key INTEGER NOT NULL, sort INTEGER NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY (kind, key, sort, seq)) STRICT, WITHOUT ROWID;
    CREATE TABLE owned (
        user_id TEXT NOT NULL, seq INTEGER NOT NULL, listing TEXT NOT NULL,
        PRIMARY KEY (user_id, seq)) STRICT, WITHOUT ROWID;
    CREATE TABLE progress (
        watermark INTEGER NOT NULL, listing TEXT NOT NULL, gone INTEGER NOT NULL, instance TEXT NOT NULL) STRICT;
    INSERT INTO progress
        SELECT 0, '', (SELECT coalesce(max(n), 0) FROM store.listings_gone), id FROM store.instance;";

/// An entry: kind, key, sort, seq. The kinds are named in the statements of `listings.rs`.
type Entry = (i64, i64, i64, i64);

fn entries(listing: &Listing, seq: i64, to: &mut Vec<Entry>) {
    let rent = listing.rent.map_or(-1, Money::units);
    to.push((entry::CITY, digest(&fold(listing.city.as_str())), 0, seq));
    to.push((entry::POSTAL, digest(listing.postal.as_str()), 0, seq));
    to.extend(listing.rent.map(|rent| (entry::RENT, 0, rent.units(), seq)));
    to.extend(listing.bedrooms.map(|rooms| (entry::BEDROOMS, rooms.units(), rent, seq)));
    to.extend(listing.bathrooms.map(|rooms| (entry::BATHROOMS, rooms.units(), rent, seq)));
    to.extend(listing.place.map(|place| (entry::PLACE, 0, place.morton(), seq)));
}

/// The index file, open for writing.
struct Index {
    connection: Connection,
}

impl Index {
    /// Opens the index, or begins a new one if it is not of this version or not of this database.
    fn open(path: &Path) -> Result<Self> {
        let index = Self::connect(path)?;
        if index.fits()? {
            // What was dropped need not be remembered; the last one stays, so that numbers go on.
            exec(
                &index.connection,
                "DELETE FROM store.listings_gone WHERE n < (SELECT gone FROM progress)",
                &[],
            )?;
            return Ok(index);
        }
        drop(index);
        for suffix in ["", "-wal", "-shm"] {
            let mut name = file(path).into_os_string();
            name.push(suffix);
            match std::fs::remove_file(name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::Unavailable(format!("the search index cannot be replaced: {error}")));
                }
                _ => {}
            }
        }
        let index = Self::connect(path)?;
        index
            .connection
            .execute_batch(&format!("BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT"))?;
        Ok(index)
    }

    fn connect(path: &Path) -> Result<Self> {
        let connection = connect(&file(path), CACHE_KIB)?;
        // It can always be built again: its commits need not wait for the disk.
        connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000")?;
        connection.execute("ATTACH ?1 AS store", [path.to_string_lossy()])?;
        Ok(Self { connection })
    }

    /// Whether this is an index of this version, and the last listing it holds is still the same one.
    fn fits(&self) -> Result<bool> {
        let version: i64 = self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version != VERSION {
            return Ok(false);
        }
        let same = "SELECT watermark <= (SELECT coalesce(max(seq), 0) FROM store.sqlite_sequence WHERE name = 'listings') \
             AND NOT EXISTS (SELECT 1 FROM store.listings WHERE seq = watermark AND id <> listing) \
             AND gone <= (SELECT coalesce(max(n), 0) FROM store.listings_gone) \
             AND gone + 1 >= (SELECT coalesce(min(n), 0) FROM store.listings_gone) \
             AND instance = (SELECT id FROM store.instance) FROM progress";
        Ok(self.connection.query_row(same, [], |row| row.get(0))?)
    }

    fn watermark(&self) -> Result<i64> {
        Ok(self.connection.query_row("SELECT watermark FROM progress", [], |row| row.get(0))?)
    }

    /// Indexes what has come until now; tells how many of them the last batch had.
    fn catch_up(&self, shared: &Shared) -> usize {
        let waiting = std::mem::take(&mut *shared.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        let mut many = 0;
        loop {
            match self.batch(shared.watermark.load(Ordering::Acquire)) {
                Ok(None) => break,
                Ok(Some((watermark, changes))) => {
                    // Who sees the new watermark must see the new entries.
                    shared.commits.committed();
                    shared.watermark.store(watermark, Ordering::Release);
                    shared.newest.indexed(watermark);
                    many = changes;
                    // What came meanwhile is gathered first.
                    if changes < BATCH {
                        break;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the search index could not be brought up to date");
                    shared.dirty.store(true, Ordering::Release);
                    break;
                }
            }
        }
        for done in waiting {
            let _ = done.send(());
        }
        many
    }

    /// Indexes the next listings, and drops those that were deleted; answers the new watermark and how many they were,
    /// or `None` if there were none.
    fn batch(&self, watermark: i64) -> Result<Option<(i64, usize)>> {
        let mut next: Vec<ToIndex> =
            rows(&self.connection, listings::TO_INDEX, &[watermark.into(), as_limit(BATCH).into()])?;
        let gone: Vec<(i64, String, i64)> = rows(&self.connection, TO_DROP, &[as_limit(BATCH).into()])?;
        if next.is_empty() && gone.is_empty() {
            return Ok(None);
        }
        let tx = self.connection.unchecked_transaction()?;
        if let Some(ToIndex { listing, seq, .. }) = next.last() {
            let reached = [(*seq).into(), (&listing.id).into()];
            exec(&tx, "UPDATE progress SET watermark = ?1, listing = ?2", &reached)?;
        }
        let watermark = next.last().map_or(watermark, |last| last.seq);
        let mut all = Vec::with_capacity(next.len() * 6);
        let mut insert =
            self.connection.prepare_cached("INSERT INTO documents (rowid, text) VALUES (?1, ?2)")?;
        for ToIndex { listing, seq, .. } in &next {
            insert.execute((seq, document(listing)))?;
            entries(listing, *seq, &mut all);
        }
        // Sorted, so that neighbours in the table are written together.
        all.sort_unstable();
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO entries (kind, key, sort, seq) VALUES (?1, ?2, ?3, ?4)")?;
        for entry in all {
            insert.execute(entry)?;
        }
        next.sort_unstable_by(|a, b| (a.owner(), a.seq).cmp(&(b.owner(), b.seq)));
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO owned (user_id, seq, listing) VALUES (?1, ?2, ?3)")?;
        for new in &next {
            insert.execute((new.owner(), new.seq, &*new.text))?;
        }
        // Last, for one of those that came with this batch may be among them.
        let mut drop = self.connection.prepare_cached("DELETE FROM owned WHERE user_id = ?1 AND seq = ?2")?;
        for (_, owner, seq) in &gone {
            drop.execute((owner, seq))?;
        }
        if let Some((last, ..)) = gone.last() {
            exec(&tx, "UPDATE progress SET gone = ?1", &[(*last).into()])?;
        }
        tx.commit()?;
        Ok(Some((watermark, next.len().max(gone.len()))))
    }
}

/// A listing that is to be indexed.
struct ToIndex {
    /// As it is shown to those who ask for its owner's.
    text: Box<str>,
    listing: Listing,
    seq: i64,
}

impl ToIndex {
    fn owner(&self) -> &str {
        self.listing.user.as_str()
    }
}

impl FromRow for ToIndex {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let text: Box<str> = c.text()?.into();
        Ok(Self { listing: unpacked(&text)?, text, seq: c.get()? })
    }
}

/// What was deleted since the last batch that dropped any, at most `?1`.
const TO_DROP: &str = "SELECT n, user_id, seq FROM store.listings_gone \
    WHERE n > (SELECT gone FROM progress) ORDER BY n LIMIT ?1";
