//! A lock file that keeps other processes away.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Held until it is dropped or the process ends.
///
/// Lock a file next to the database, never the database: closing a second handle of that would release
/// SQLite's own locks.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "held, never read")] File);

impl FileLock {
    /// Creates the file if it is missing. Returns `None` while another process holds the lock.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
