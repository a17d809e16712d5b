//! The search index of `SQLite`: a separate file, filled by a background thread after the commit.
//!
//! Storing a listing does not wait for the index. The index knows its newest revision; a search takes candidates up
//! to there from the index and reads the few newer listings from the table. Every candidate is checked against the
//! whole filter, so results are always exact, and the file can be deleted at any time: it is rebuilt. An edited
//! listing gets new entries; its old ones stay and are recognised as stale.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use portico_domain::Money;
use portico_domain::listings::{Listing, searchable_text};
use portico_domain::search::SearchTerm;
use portico_domain::text::fold;
use portico_sqlite::spawn_supervised;
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::oneshot;

use super::{exec, rows};
use crate::page::{Cursor, Keyed, as_limit};
use crate::{Error, Result};

/// Listings per transaction of the index.
const BATCH: usize = 8192;
const CACHE_KIB: u32 = 32 * 1024;
const READER_CACHE_KIB: u32 = 6 * 1024;
/// Collects listings for a batch, so that it is worth its commit.
const BATCH_DELAY: Duration = Duration::from_millis(100);
/// Under load. Each batch is a segment of the text index, and segments are merged: few large ones cost less.
const BUSY_BATCH_DELAY: Duration = Duration::from_millis(500);
/// A batch of this size means load.
const BUSY_BATCH: usize = 512;

#[derive(Debug, Clone)]
pub(super) struct SearchIndex(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The newest indexed revision.
    revision: AtomicI64,
    dirty: AtomicBool,
    thread: Mutex<Option<Thread>>,
    /// Callers that wait for the index to catch up.
    waiting: Mutex<Vec<oneshot::Sender<()>>>,
}

impl SearchIndex {
    pub(super) fn start(path: &Path) -> Result<Self> {
        let index = Index::open(path)?;
        let shared = Arc::new(Shared {
            revision: AtomicI64::new(index.revision()?),
            dirty: AtomicBool::new(true),
            thread: Mutex::new(None),
            waiting: Mutex::new(Vec::new()),
        });
        // The thread ends when the engine is dropped.
        let weak = Arc::downgrade(&shared);
        spawn_supervised("portico-search", move || {
            let mut delay = BATCH_DELAY;
            while let Some(shared) = weak.upgrade() {
                shared
                    .thread
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert_with(std::thread::current);
                if shared.dirty.swap(false, Ordering::AcqRel) {
                    delay = if index.catch_up(&shared) < BUSY_BATCH { BATCH_DELAY } else { BUSY_BATCH_DELAY };
                }
                drop(shared);
                std::thread::park_timeout(Duration::from_secs(1));
                std::thread::park_timeout(delay);
            }
        })?;
        Ok(Self(shared))
    }

    pub(super) fn wake(&self) {
        if !self.0.dirty.swap(true, Ordering::AcqRel)
            && let Some(thread) = &*self.0.thread.lock().unwrap_or_else(PoisonError::into_inner)
        {
            thread.unpark();
        }
    }

    pub(super) fn revision(&self) -> i64 {
        self.0.revision.load(Ordering::Acquire)
    }

    /// Waits until the index includes everything committed before the call.
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

pub(super) fn attach(connection: &Connection, path: &Path) -> Result<()> {
    connection.execute("ATTACH ?1 AS search", [file(path).to_string_lossy()])?;
    connection.execute_batch(&format!("PRAGMA search.cache_size = -{READER_CACHE_KIB}"))?;
    connection
        .execute_batch("CREATE VIRTUAL TABLE temp.trigrams USING fts5vocab (search, documents, instance)")?;
    Ok(())
}

/// An FTS5 expression for texts that may contain the term: all of its trigrams, or, for a shorter term, any trigram
/// that begins with it. `None`: no indexed text contains it.
pub(super) fn match_expression(connection: &Connection, term: &SearchTerm) -> Result<Option<String>> {
    let quoted = |gram: &str| format!("\"{}\"", gram.replace('"', "\"\""));
    let mut grams = term.trigrams();
    if !grams.is_empty() {
        grams.sort_unstable();
        grams.dedup();
        return Ok(Some(grams.into_iter().map(quoted).collect::<Vec<_>>().join(" AND ")));
    }
    // Seeking from trigram to trigram is faster than a range, which would count each one's listings.
    let mut seek = connection.prepare_cached("SELECT term FROM trigrams WHERE term >= ?1 LIMIT 1")?;
    // The tokenizer replaces noncharacters.
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

/// Increase it when entries change their meaning: an index of another version is rebuilt.
const VERSION: i64 = 3;

const SCHEMA: &str = "
    CREATE VIRTUAL TABLE documents USING fts5 (
        text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1');
    INSERT INTO documents (documents, rank) VALUES ('hashsize', 67108864), ('automerge', 8);
    CREATE TABLE entries (
        kind INTEGER NOT NULL, key INTEGER NOT NULL, sort INTEGER NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY (kind, key, sort, seq)) STRICT, WITHOUT ROWID;
    CREATE TABLE progress (revision INTEGER NOT NULL, listing TEXT NOT NULL, instance TEXT NOT NULL) STRICT;
    INSERT INTO progress SELECT 0, '', id FROM store.instance;";

#[derive(Debug, Clone, Copy)]
pub(super) enum EntryKind {
    City = 1,
    Postal = 2,
    Rent = 3,
    Bedrooms = 4,
    Bathrooms = 5,
    Place = 6,
}

/// Kind, key, sort, seq.
type Entry = (i64, i64, i64, i64);

fn entries(listing: &Listing, seq: i64, to: &mut Vec<Entry>) {
    let rent = listing.rent.map_or(-1, Money::units);
    let mut add = |kind: EntryKind, key, sort| to.push((kind as i64, key, sort, seq));
    add(EntryKind::City, hash_key(&fold(listing.city.as_str())), 0);
    add(EntryKind::Postal, hash_key(listing.postal.as_str()), 0);
    if let Some(rent) = listing.rent {
        add(EntryKind::Rent, 0, rent.units());
    }
    if let Some(bedrooms) = listing.bedrooms {
        add(EntryKind::Bedrooms, bedrooms.units(), rent);
    }
    if let Some(bathrooms) = listing.bathrooms {
        add(EntryKind::Bathrooms, bathrooms.units(), rent);
    }
    if let Some(place) = listing.place {
        add(EntryKind::Place, 0, place.morton());
    }
}

/// FNV-1a. Collisions are harmless, because every candidate is checked.
pub(super) fn hash_key(text: &str) -> i64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.cast_signed()
}

/// The index file, open for writing.
struct Index {
    connection: Connection,
}

impl Index {
    /// Replaces an index of another version or another database.
    fn open(path: &Path) -> Result<Self> {
        let index = Self::connect(path)?;
        if index.fits()? {
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
        let connection = portico_sqlite::connect(&file(path), CACHE_KIB)?;
        // The index can be rebuilt, so commits need not wait for the disk.
        connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000")?;
        connection.execute("ATTACH ?1 AS store", [path.to_string_lossy()])?;
        Ok(Self { connection })
    }

    /// Whether the index has this version, and its last listing is still the same one.
    fn fits(&self) -> Result<bool> {
        let version: i64 = self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version != VERSION {
            return Ok(false);
        }
        let same = "SELECT instance = (SELECT id FROM store.instance) \
             AND revision <= (SELECT coalesce(max(seq), 0) FROM store.sqlite_sequence WHERE name = 'listings') \
             AND NOT EXISTS (SELECT 1 FROM store.listings WHERE revision = progress.revision AND id <> listing) \
             FROM progress";
        Ok(self.connection.query_row(same, [], |row| row.get(0))?)
    }

    fn revision(&self) -> Result<i64> {
        Ok(self.connection.query_row("SELECT revision FROM progress", [], |row| row.get(0))?)
    }

    /// Indexes everything committed so far; returns the size of the last batch.
    fn catch_up(&self, shared: &Shared) -> usize {
        let waiting = std::mem::take(&mut *shared.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        let mut many = 0;
        loop {
            match self.batch(shared.revision.load(Ordering::Acquire)) {
                Ok(None) => break,
                Ok(Some((revision, listings))) => {
                    shared.revision.store(revision, Ordering::Release);
                    many = listings;
                    if listings < BATCH {
                        break;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the search index could not be updated");
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

    /// Returns the new revision and the batch size; `None`: nothing to index.
    fn batch(&self, revision: i64) -> Result<Option<(i64, usize)>> {
        let next: Vec<Keyed<Listing>> =
            rows(&self.connection, CHANGED_AFTER, &[revision.into(), as_limit(BATCH).into()])?;
        let Some(last) = next.last() else { return Ok(None) };
        let revision = last.at.key;
        let tx = self.connection.unchecked_transaction()?;
        exec(
            &tx,
            "UPDATE progress SET revision = ?1, listing = ?2",
            &[revision.into(), (&last.item.id).into()],
        )?;
        let mut all = Vec::with_capacity(next.len() * 6);
        let mut insert = self
            .connection
            .prepare_cached("INSERT OR REPLACE INTO documents (rowid, text) VALUES (?1, ?2)")?;
        for Keyed { item, at: Cursor { seq, .. } } in &next {
            insert.execute((seq, searchable_text(item)))?;
            entries(item, *seq, &mut all);
        }
        // Sorted, so that neighbours in the table are written together.
        all.sort_unstable();
        let mut insert = self
            .connection
            .prepare_cached("INSERT OR IGNORE INTO entries (kind, key, sort, seq) VALUES (?1, ?2, ?3, ?4)")?;
        for entry in all {
            insert.execute(entry)?;
        }
        tx.commit()?;
        Ok(Some((revision, next.len())))
    }
}

/// In revision order: after (`?1`), limit (`?2`).
const CHANGED_AFTER: &str =
    "SELECT document, revision, seq FROM store.listings WHERE revision > ?1 ORDER BY revision LIMIT ?2";
