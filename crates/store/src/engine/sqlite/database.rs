//! A `SQLite` database: where its reads and writes run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use portico_sqlite::connect;
use rusqlite::Connection;
use tokio::sync::Semaphore;
use tracing::Span;

use crate::engine::audit_key::AuditKeyCell;
use crate::engine::error::{Error, Result};
use crate::engine::location::Role;
use crate::engine::migrate::{Migration, MigrationStatus};
use crate::engine::param::OwnedParam;
use crate::engine::sql::{FromRow, Op, Param, Sql, Weight};

use super::migrations::{KEYSTORE_MIGRATIONS, MIGRATIONS};
use super::search_index::{self, SearchIndex};
use super::statement::rows;
use super::writer::Writer;
use super::{migrate, reader};

/// Scans that may run at once; more wait for their turn.
const MAX_CONCURRENT_SCANS: usize = 4;
/// Pages kept by all asynchronous threads together, of which there are as many as cores.
const POINT_CACHE_KIB: u32 = 80 * 1024;
/// Pages kept by each of them at least, on machines with many cores.
const MIN_POINT_CACHE_KIB: u32 = 8 * 1024;
/// Pages kept by each thread that scans.
const SCAN_CACHE_KIB: u32 = 2 * 1024;
/// Pages kept by the writer. After each commit `SQLite` walks over all of them, so that more is not better.
const WRITER_CACHE_KIB: u32 = 8 * 1024;

/// What a database is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The service's data, with a search index in a second file.
    Data,
    /// Keys of people.
    Keys,
}

/// The engine. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Sqlite(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Distinguishes this database's connections from those of others on the same thread.
    id: u64,
    path: PathBuf,
    writer: Writer,
    search_index: Option<SearchIndex>,
    purpose: Purpose,
    scans: Arc<Semaphore>,
}

impl Sqlite {
    /// Opens and migrates the database. Only the server that owns the data folder fills the search index.
    pub(crate) fn open(path: &Path, role: Role) -> Result<Self> {
        let mut connection = connect(path, WRITER_CACHE_KIB)?;
        migrate::run(&mut connection, MIGRATIONS)?;
        let search_index = match role {
            Role::Server => Some(SearchIndex::start(path)?),
            Role::Tool => None,
        };
        Self::start(path, connection, search_index, Purpose::Data)
    }

    /// Opens and migrates a keystore. What is deleted from it is overwritten.
    pub(crate) fn open_keystore(path: &Path) -> Result<Self> {
        let mut connection = connect(path, SCAN_CACHE_KIB)?;
        connection.execute_batch("PRAGMA secure_delete = ON")?;
        migrate::run(&mut connection, KEYSTORE_MIGRATIONS)?;
        Self::start(path, connection, None, Purpose::Keys)
    }

    pub(crate) fn remove_keystore(path: &Path) -> Result<()> {
        for end in ["-wal", "-shm", ""] {
            match std::fs::remove_file(format!("{}{end}", path.display())) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    fn start(
        path: &Path,
        connection: Connection,
        search_index: Option<SearchIndex>,
        purpose: Purpose,
    ) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Ok(Self(Arc::new(Inner {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            path: path.to_owned(),
            writer: Writer::start(connection, path, search_index.clone())?,
            search_index,
            purpose,
            scans: Arc::new(Semaphore::new(MAX_CONCURRENT_SCANS)),
        })))
    }

    pub(crate) fn migrate(path: &Path, steps: &[Migration]) -> Result<()> {
        migrate::run(&mut connect(path, SCAN_CACHE_KIB)?, steps)
    }

    pub(crate) fn status(path: &Path) -> Result<MigrationStatus> {
        if !path.exists() {
            return Ok(MigrationStatus { current: 0, latest: MIGRATIONS.len() });
        }
        migrate::read_status(&connect(path, SCAN_CACHE_KIB)?, MIGRATIONS)
    }

    pub(crate) async fn read<R: FromRow>(
        &self,
        sql: &'static Sql,
        params: &[Param<'_>],
        weight: Weight,
    ) -> Result<Vec<R>> {
        match weight {
            Weight::Point => self.point(sql, params),
            Weight::Scan | Weight::Search => {
                let params: Vec<_> = params.iter().map(OwnedParam::from).collect();
                self.scan(move |connection| {
                    let params: Vec<_> = params.iter().map(OwnedParam::borrow).collect();
                    rows(connection, sql.sqlite(), &params)
                })
                .await
            }
        }
    }

    /// Reads a few rows on the caller's own thread.
    fn point<R: FromRow>(&self, sql: &'static Sql, params: &[Param<'_>]) -> Result<Vec<R>> {
        self.with_reader(point_cache_kib, |connection| rows(connection, sql.sqlite(), params))
    }

    pub(crate) async fn write<O: Op>(&self, op: O) -> Result<O::Out> {
        self.0.writer.run(op).await
    }

    pub(crate) fn audit_key_cell(&self) -> &AuditKeyCell {
        &self.0.writer.audit_key
    }

    /// Checkpoints and truncates the write-ahead log, so that the database is one file. False: a reader held on to it
    /// for too long.
    pub(crate) fn empty_log(&self) -> Result<bool> {
        Ok(portico_sqlite::truncate_wal(&connect(&self.0.path, SCAN_CACHE_KIB)?)?)
    }

    /// Truncates the log; fails if a reader prevents it.
    pub(crate) async fn forget(&self) -> Result<()> {
        let (this, span) = (self.clone(), Span::current());
        let emptied = tokio::task::spawn_blocking(move || span.in_scope(|| this.empty_log())).await;
        if emptied.map_err(|error| Error::Bug(error.to_string()))?? {
            Ok(())
        } else {
            Err(Error::Unavailable("the log could not be emptied: it is being read".into()))
        }
    }

    /// Waits until the search index holds everything committed so far.
    pub(crate) async fn wait_for_index(&self) -> Result<()> {
        match &self.0.search_index {
            Some(search_index) => search_index.wait_for_index().await,
            None => Ok(()),
        }
    }

    /// The newest revision in the search index; 0: it is empty.
    pub(crate) fn search_revision(&self) -> i64 {
        self.0.search_index.as_ref().map_or(0, SearchIndex::revision)
    }

    pub(crate) fn index_epoch(&self) -> u64 {
        self.0.search_index.as_ref().map_or(0, SearchIndex::epoch)
    }

    pub(crate) fn report_damaged_index(&self, why: &str) {
        if let Some(search_index) = &self.0.search_index {
            search_index.report_damage(why);
        }
    }

    /// Reads on a thread where that may take its time.
    pub(crate) async fn scan<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.0.scans.clone().acquire_owned().await.map_err(|_| Error::Busy)?;
        let (this, span) = (self.clone(), Span::current());
        // The permit belongs to the work, which goes on when the caller does not wait any more.
        let work = move || {
            let _permit = permit;
            span.in_scope(|| this.with_reader(|| SCAN_CACHE_KIB, read))
        };
        tokio::task::spawn_blocking(work).await.map_err(|panic| Error::Bug(panic.to_string()))?
    }

    /// Reads on this thread's own connection.
    fn with_reader<T>(
        &self,
        cache_kib: fn() -> u32,
        read: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        reader::with(self.0.id, || self.reader(cache_kib()), read)
    }

    fn reader(&self, cache_kib: u32) -> Result<Connection> {
        let connection = connect(&self.0.path, cache_kib)?;
        if self.0.purpose == Purpose::Data {
            match search_index::attach(&connection, &self.0.path) {
                // Everything else can be read without it.
                Err(Error::Bug(why)) => self.report_damaged_index(&why),
                attached => attached?,
            }
        }
        connection.execute_batch("PRAGMA query_only = ON")?;
        Ok(connection)
    }
}

fn point_cache_kib() -> u32 {
    let threads =
        std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
    (POINT_CACHE_KIB / threads).max(MIN_POINT_CACHE_KIB)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use futures_util::FutureExt as _;

    use super::*;

    /// Regression: clients that broke off their requests could have any number of scans running.
    #[tokio::test]
    async fn a_scan_that_nobody_waits_for_keeps_its_permit() {
        let folder = tempfile::tempdir().unwrap();
        let sqlite = Sqlite::open(&folder.path().join("portico.db"), Role::Tool).unwrap();
        let (finish, finished) = channel::<()>();
        let scan = sqlite.scan(move |_| {
            let _ = finished.recv();
            Ok(())
        });
        assert!(scan.now_or_never().is_none(), "it runs, and its caller is gone");
        assert_eq!(sqlite.0.scans.available_permits(), MAX_CONCURRENT_SCANS - 1);
        finish.send(()).unwrap();
        let all = u32::try_from(MAX_CONCURRENT_SCANS).unwrap();
        drop(sqlite.0.scans.acquire_many(all).await.unwrap());
    }
}
