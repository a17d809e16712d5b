//! The search index of `SQLite`: a separate file, filled by a background thread after the commit.
//!
//! Storing a listing does not wait for the index. The index knows its newest revision; a search takes candidates up
//! to there from the index and reads the few newer listings from the table. Every candidate is checked against the
//! whole filter, so results are always exact, and the file can be deleted at any time: it is rebuilt. An edited
//! listing gets new entries; its old ones stay and are recognised as stale.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use portico_domain::geo::Point;
use portico_domain::listings::{Listing, searchable_text};
use portico_domain::text::fold;
use portico_domain::{Money, Whole};
use portico_sqlite::spawn_supervised;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::oneshot;

use super::index_entries::{NONCHARACTERS, entries, hash_key, quoted};
use super::statement::{exec, rows};
use crate::engine::error::{Error, Result};
use crate::engine::page::{Cursor, Keyed, as_limit};

/// Listings per transaction of the index.
const MAX_BATCH_LISTINGS: usize = 8192;
const CACHE_KIB: u32 = 32 * 1024;
const READER_CACHE_KIB: u32 = 6 * 1024;
/// Collects listings for a batch, so that it is worth its commit.
const BATCH_DELAY: Duration = Duration::from_millis(100);
/// Under load. Each batch is a segment of the text index, and segments are merged: few large ones cost less.
const BUSY_BATCH_DELAY: Duration = Duration::from_millis(500);
/// Between two attempts to rebuild a damaged index.
const REBUILD_INTERVAL: Duration = Duration::from_mins(1);
/// A batch of this size means load.
const BUSY_BATCH_LISTINGS: usize = 512;

#[derive(Debug, Clone)]
pub(super) struct SearchIndex(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The newest indexed revision; 0 while the index is damaged.
    revision: AtomicI64,
    /// It is to be rebuilt.
    damaged: AtomicBool,
    /// Increases when the index loses listings: what a search has read from it meanwhile may be incomplete.
    epoch: AtomicU64,
    dirty: AtomicBool,
    thread: Mutex<Option<Thread>>,
    /// Callers that wait for the index to catch up.
    waiting: Mutex<Vec<oneshot::Sender<()>>>,
}

impl Shared {
    fn report_damage(&self, why: &str) {
        self.revision.store(0, Ordering::Release);
        self.epoch.fetch_add(1, Ordering::AcqRel);
        if !self.damaged.swap(true, Ordering::AcqRel) {
            tracing::error!(
                why,
                "the search index is damaged: it is rebuilt, and searches read the table until then"
            );
        }
    }
}

impl SearchIndex {
    pub(super) fn start(path: &Path) -> Result<Self> {
        let index = Index::open(path)?;
        let shared = Arc::new(Shared {
            revision: AtomicI64::new(index.revision()?),
            damaged: AtomicBool::new(false),
            epoch: AtomicU64::new(0),
            dirty: AtomicBool::new(true),
            thread: Mutex::new(None),
            waiting: Mutex::new(Vec::new()),
        });
        // The thread ends when the engine is dropped.
        let weak = Arc::downgrade(&shared);
        spawn_supervised("portico-search", move || {
            let (mut delay, mut rebuilt, mut is_verified) = (BATCH_DELAY, None::<Instant>, false);
            while let Some(shared) = weak.upgrade() {
                shared
                    .thread
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert_with(std::thread::current);
                if shared.damaged.load(Ordering::Acquire)
                    && rebuilt.is_none_or(|at| at.elapsed() > REBUILD_INTERVAL)
                {
                    rebuilt = Some(Instant::now());
                    index.rebuild(&shared);
                }
                let is_damaged = shared.damaged.load(Ordering::Acquire);
                if !is_damaged && shared.dirty.swap(false, Ordering::AcqRel) {
                    delay = if index.catch_up(&shared) < BUSY_BATCH_LISTINGS {
                        BATCH_DELAY
                    } else {
                        BUSY_BATCH_DELAY
                    };
                }
                if !std::mem::replace(&mut is_verified, true)
                    && let Err(Error::Bug(why)) = index.verify()
                {
                    shared.report_damage(&why);
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

    /// What was read from the index is complete if this is the same before and after.
    pub(super) fn epoch(&self) -> u64 {
        self.0.epoch.load(Ordering::Acquire)
    }

    /// From here on searches read the table, until the index is rebuilt.
    pub(super) fn report_damage(&self, why: &str) {
        self.0.report_damage(why);
        self.wake();
    }

    /// Waits until the index includes everything committed before the call.
    pub(super) async fn wait_for_index(&self) -> Result<()> {
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

/// Increase it when entries change their meaning: an index of another version is rebuilt.
const VERSION: i64 = 5;

const SCHEMA: &str = "
    CREATE VIRTUAL TABLE documents USING fts5 (
        text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1');
    INSERT INTO documents (documents, rank) VALUES ('hashsize', 67108864), ('automerge', 8);
    CREATE TABLE entries (
        kind INTEGER NOT NULL, key INTEGER NOT NULL, sort INTEGER NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY (kind, key, sort, seq)) STRICT, WITHOUT ROWID;
    CREATE TABLE summaries (
        seq INTEGER PRIMARY KEY, morton INTEGER, rent INTEGER, bedrooms INTEGER, bathrooms INTEGER) STRICT;
    CREATE INDEX summaries_place ON summaries (morton, rent, bedrooms, bathrooms);
    CREATE TABLE progress (revision INTEGER NOT NULL, listing TEXT NOT NULL, instance TEXT NOT NULL) STRICT;
    INSERT INTO progress SELECT 0, '', id FROM store.instance;";

/// The index file, open for writing.
struct Index {
    connection: Connection,
}

impl Index {
    /// Replaces an index of another version or another database, or one that cannot be read.
    fn open(path: &Path) -> Result<Self> {
        match Self::connect(path).and_then(|index| Ok(index.is_current()?.then_some(index))) {
            Ok(Some(index)) => return Ok(index),
            Ok(None) => {}
            Err(error) => tracing::error!(%error, "the search index is damaged: it is rebuilt"),
        }
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
        index.create()?;
        Ok(index)
    }

    fn create(&self) -> Result<()> {
        self.connection.execute_batch(&format!("BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT"))?;
        Ok(())
    }

    /// In place, because readers have the file open.
    fn rebuild(&self, shared: &Shared) {
        let reset = || {
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
            let emptied = self.connection.execute_batch("VACUUM main");
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
            emptied?;
            self.create()
        };
        // Reset first: searches that begin now do not use the index.
        shared.revision.store(0, Ordering::Release);
        shared.epoch.fetch_add(1, Ordering::AcqRel);
        match reset() {
            Ok(()) => {
                shared.damaged.store(false, Ordering::Release);
                shared.dirty.store(true, Ordering::Release);
                tracing::info!("the search index is being rebuilt");
            }
            Err(error) => tracing::error!(%error, "the search index cannot be rebuilt while the server runs"),
        }
    }

    /// Reads all of it.
    fn verify(&self) -> Result<()> {
        let one = |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, String>(0));
        let found = one("PRAGMA main.quick_check(1)")?;
        if found != "ok" {
            return Err(Error::Bug(found));
        }
        exec(&self.connection, "INSERT INTO documents (documents) VALUES ('integrity-check')", &[])?;
        // A listing has one document, one summary, and an entry for its city at least.
        let complete = "SELECT CASE WHEN count(*) <= (SELECT count(*) FROM documents_docsize) \
             AND count(*) <= (SELECT count(*) FROM summaries) \
             AND count(*) <= (SELECT count(*) FROM entries WHERE kind = 1) THEN 'ok' ELSE 'listings are missing' END \
             FROM store.listings WHERE revision <= (SELECT revision FROM progress)";
        match one(complete)? {
            found if found == "ok" => Ok(()),
            found => Err(Error::Bug(found)),
        }
    }

    fn connect(path: &Path) -> Result<Self> {
        let connection = portico_sqlite::connect(&file(path), CACHE_KIB)?;
        // The index can be rebuilt, so commits need not wait for the disk.
        connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000")?;
        connection.execute("ATTACH ?1 AS store", [path.to_string_lossy()])?;
        Ok(Self { connection })
    }

    /// Whether the index has this version, and its last listing is still the same one.
    fn is_current(&self) -> Result<bool> {
        let version: i64 = self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version != VERSION {
            return Ok(false);
        }
        let same = "SELECT instance = (SELECT id FROM store.instance) \
             AND revision <= (SELECT coalesce(max(seq), 0) FROM store.sqlite_sequence WHERE name = 'listings') \
             AND NOT EXISTS (SELECT 1 FROM store.listings WHERE revision = progress.revision AND id <> listing) \
             FROM progress";
        if !self.connection.query_row(same, [], |row| row.get::<_, bool>(0))? {
            return Ok(false);
        }
        if self.finds_last()? { Ok(true) } else { Err(Error::Bug("it lacks what was indexed last".into())) }
    }

    /// Whether a search finds what was indexed last: a damaged table may just be empty. [`Self::verify`] reads the rest.
    fn finds_last(&self) -> Result<bool> {
        let last = "SELECT document, revision, seq FROM store.listings WHERE revision = (SELECT revision FROM progress)";
        let Some(Keyed { item, at }) = rows::<Keyed<Listing>>(&self.connection, last, &[])?.pop() else {
            return Ok(true);
        };
        let found = |sql: &str, key: &dyn rusqlite::ToSql| {
            self.connection.query_row(sql, (key, at.seq), |_| Ok(())).optional()
        };
        let city = hash_key(&fold(item.city.as_str()));
        let entry =
            found("SELECT 1 FROM entries WHERE kind = 1 AND key = ?1 AND sort = 0 AND seq = ?2", &city)?;
        let gram: String = searchable_text(&item).chars().take(3).collect();
        let gram = quoted(&gram.replace(NONCHARACTERS, "\u{fffd}"));
        let document = found("SELECT 1 FROM documents WHERE documents MATCH ?1 AND rowid = ?2", &gram)?;
        let summary = "SELECT 1 FROM summaries WHERE morton IS ?1 AND seq = ?2";
        let summary = found(summary, &item.place.map(Point::morton))?;
        Ok(entry.and(document).and(summary).is_some())
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
                    if listings < MAX_BATCH_LISTINGS {
                        break;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the search index could not be updated");
                    shared.dirty.store(true, Ordering::Release);
                    if let Error::Bug(why) = error {
                        shared.report_damage(&why);
                        // They wait for the new one.
                        shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).extend(waiting);
                        return 0;
                    }
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
            rows(&self.connection, CHANGED_AFTER, &[revision.into(), as_limit(MAX_BATCH_LISTINGS).into()])?;
        let Some(last) = next.last() else { return Ok(None) };
        let revision = last.at.key;
        let tx = self.connection.unchecked_transaction()?;
        exec(
            &tx,
            "UPDATE progress SET revision = ?1, listing = ?2",
            &[revision.into(), (&last.item.id).into()],
        )?;
        let mut all = Vec::with_capacity(next.len() * 7);
        let mut insert = self
            .connection
            .prepare_cached("INSERT OR REPLACE INTO documents (rowid, text) VALUES (?1, ?2)")?;
        let mut summarize = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO summaries (seq, morton, rent, bedrooms, bathrooms) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for Keyed { item, at: Cursor { seq, .. } } in &next {
            insert.execute((seq, searchable_text(item)))?;
            summarize.execute((
                seq,
                item.place.map(Point::morton),
                item.rent.map(Money::units),
                item.bedrooms.map(Whole::units),
                item.bathrooms.map(Whole::units),
            ))?;
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
