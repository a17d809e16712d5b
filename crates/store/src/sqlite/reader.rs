//! Each thread has its own read connections.
//!
//! To begin and end a read transaction costs SQLite two file locks, more than many a read itself. A worker therefore reuses
//! one read transaction until it parks or another commit arrives. Reads always see what this process has acknowledged;
//! commits of another process (the command line) are seen after [`MAX_SNAPSHOT_AGE`] at the latest.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::exec;
use crate::Result;

/// How long a read transaction is reused at most.
const MAX_SNAPSHOT_AGE: Duration = Duration::from_millis(2);

/// Counts the commits of this process to a database and to its search index.
#[derive(Debug, Default)]
pub(super) struct Commits(AtomicU64);

impl Commits {
    /// To be called after each commit, before it is acknowledged.
    pub(super) fn committed(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
    /// A read that begins now sees everything that was acknowledged before.
    pub(super) fn now(&self) -> Moment {
        Moment { commits: self.0.load(Ordering::Acquire), at: Instant::now() }
    }
}

/// When something was read, and how many commits there were by then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    commits: u64,
    at: Instant,
}

impl Moment {
    /// Whether what was read `then` is still current.
    pub(super) fn is_still(self, then: Self) -> bool {
        self.commits == then.commits && self.at - then.at < MAX_SNAPSHOT_AGE
    }
}

struct Reader {
    /// The id of its database.
    of: u64,
    connection: Connection,
    /// When its open read transaction began.
    snapshot: Option<Moment>,
}

thread_local! {
    static READERS: RefCell<Vec<Reader>> = const { RefCell::new(Vec::new()) };
    /// Whether this thread calls [`release_snapshots`] when it parks.
    static REUSE_ENABLED: Cell<bool> = const { Cell::new(false) };
}

/// Reads on this thread's connection to a database, which is opened on first use. With `commits`, reads may reuse a read
/// transaction.
pub(super) fn with<T>(
    of: u64,
    commits: Option<&Commits>,
    open: impl FnOnce() -> Result<Connection>,
    read: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    READERS.with_borrow_mut(|readers| {
        let at = match readers.iter().position(|reader| reader.of == of) {
            Some(at) => at,
            None => {
                readers.push(Reader { of, connection: open()?, snapshot: None });
                readers.len() - 1
            }
        };
        let reader = &mut readers[at];
        let Some(commits) = commits.filter(|_| REUSE_ENABLED.get()) else { return read(&reader.connection) };
        reader.refresh(commits)?;
        let outcome = read(&reader.connection);
        if outcome.is_err() {
            reader.release()?;
        }
        outcome
    })
}

/// Ends the read transactions of this thread. A thread that calls this must do so whenever it parks.
pub fn release_snapshots() {
    REUSE_ENABLED.set(true);
    READERS.with_borrow_mut(|readers| readers.retain_mut(|reader| reader.release().is_ok()));
}

impl Reader {
    /// Begins a new read transaction unless the open one is still current.
    fn refresh(&mut self, commits: &Commits) -> Result<()> {
        let now = commits.now();
        if self.snapshot.is_some_and(|since| now.is_still(since)) {
            return Ok(());
        }
        self.release()?;
        exec(&self.connection, "BEGIN", &[])?;
        self.snapshot = Some(now);
        Ok(())
    }

    fn release(&mut self) -> Result<()> {
        // Some errors have ended the transaction already.
        if self.snapshot.take().is_some() && !self.connection.is_autocommit() {
            exec(&self.connection, "COMMIT", &[])?;
        }
        Ok(())
    }
}
