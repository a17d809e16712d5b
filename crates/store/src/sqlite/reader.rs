//! A thread's own reading connections.
//!
//! To begin and to end a read costs SQLite two locks on a file, which is more than many a read itself. So a
//! thread that tells when it rests shares one snapshot between its reads, as long as nothing was committed
//! since: what this process has acknowledged is always seen. Commits of another process (the command line)
//! are seen after [`AGE`] at the latest.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::exec;
use crate::Result;

/// How long what was read is taken for what a read would find, at most.
const MAX_SNAPSHOT_AGE: Duration = Duration::from_millis(2);

/// Counts what this process commits to a database and to what is derived from it.
#[derive(Debug, Default)]
pub(super) struct Commits(AtomicU64);

impl Commits {
    /// To be called after each commit, before anybody is told of it.
    pub(super) fn committed(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
    /// This moment. What is read from here on has everything that was acknowledged before.
    pub(super) fn now(&self) -> Moment {
        Moment { commits: self.0.load(Ordering::Acquire), at: Instant::now() }
    }
}

/// When something was read, and how much was committed by then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    commits: u64,
    at: Instant,
}

impl Moment {
    /// Whether what was read `then` still holds now.
    pub(super) fn is_still(self, then: Self) -> bool {
        self.commits == then.commits && self.at - then.at < MAX_SNAPSHOT_AGE
    }
}

struct Reader {
    /// The database that it reads.
    of: u64,
    connection: Connection,
    /// Since when it holds on to a snapshot, if it does.
    snapshot: Option<Moment>,
}

thread_local! {
    static READERS: RefCell<Vec<Reader>> = const { RefCell::new(Vec::new()) };
    /// Whether this thread tells when it rests.
    static REUSE_ENABLED: Cell<bool> = const { Cell::new(false) };
}

/// Reads on this thread's own connection to a database, which is opened if there is none yet. Where the commits
/// are given, reads may share a snapshot.
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

/// Tells that this thread rests: what its reads hold on to is let go. A thread that calls this must do so
/// whenever it begins to wait.
pub fn release_snapshots() {
    REUSE_ENABLED.set(true);
    READERS.with_borrow_mut(|readers| readers.retain_mut(|reader| reader.release().is_ok()));
}

impl Reader {
    /// Makes sure that the snapshot is as new as what was acknowledged.
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
