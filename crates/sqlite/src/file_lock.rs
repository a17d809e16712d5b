//! Locks that keep other processes away.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::mem::ManuallyDrop;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Held until it is dropped or the process ends.
///
/// Lock a file next to the database, never the database: closing a second handle of that would release
/// SQLite's own locks. For the database there is [`DatabaseLock`].
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "held, never read")] File);

impl FileLock {
    /// Creates the file if it is missing. Returns `None` while another process holds the lock.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        Ok(is_locked_now(&file)?.then_some(Self(file)))
    }
}

/// False: another process holds the lock.
fn is_locked_now(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// A lock of the database file itself, by whatever path or link a process reaches it. It is `flock`'s, which SQLite's own
/// locks do not notice, and is held until the process ends: closing the file would release SQLite's locks.
#[derive(Debug)]
pub struct DatabaseLock(#[expect(dead_code, reason = "held, never read")] ManuallyDrop<File>);

impl DatabaseLock {
    /// Creates an empty database if there is none. Returns `None` while another process holds the lock. To be called
    /// before this process opens the database.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).read(true).write(true).mode(0o600).open(path)?;
        Ok(is_locked_now(&file)?.then(|| Self(ManuallyDrop::new(file))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_locked_by_every_name_and_stays_usable() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["portico.db", "linked.db", "hard.db"].map(|name| folder.path().join(name));
        let lock = DatabaseLock::try_acquire(&names[0]).unwrap();
        assert!(lock.is_some());
        std::os::unix::fs::symlink(&names[0], &names[1]).unwrap();
        std::fs::hard_link(&names[0], &names[2]).unwrap();
        for name in &names {
            assert!(DatabaseLock::try_acquire(name).unwrap().is_none(), "{}", name.display());
        }
        let first = crate::connect(&names[0], 1024).unwrap();
        let second = crate::connect(&names[0], 1024).unwrap();
        first.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
        second.execute_batch("INSERT INTO t VALUES (2)").unwrap();
        let rows: i64 = first.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 2);
    }
}
