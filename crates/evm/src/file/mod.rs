//! The chain's file: a SQLite database with one writing connection and a few for reading. What the rows mean
//! to the virtual machine is not known here.

pub(crate) mod reads;
mod upgrade;
mod writes;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use portico_sqlite::FileLock;
use rusqlite::Connection;

use crate::error::{ChainError, OpenError};

pub(crate) use reads::{Outline, Place, StoredTransaction};
pub(crate) use writes::{NewTransaction, Writer, create};

/// "ptev": what tells our files from other databases.
const APPLICATION: i64 = 0x7074_6576;
/// Grows when the schema changes.
const FORMAT: i64 = 3;
/// Not more: SQLite looks through all of it at every commit.
const WRITER_CACHE_KIB: u32 = 4 * 1024;
const READER_CACHE_KIB: u32 = 4 * 1024;
/// Reading connections that are kept open. More are opened when more threads read at once.
const READERS_KEPT: usize = 16;

/// Keeps other processes away. SQLite's own locks would keep our readers out too.
pub(crate) fn lock(path: &Path) -> Result<FileLock, OpenError> {
    let mut lock_file = path.as_os_str().to_owned();
    lock_file.push("-lock");
    let lock_file = PathBuf::from(lock_file);
    match FileLock::try_acquire(&lock_file) {
        Ok(Some(lock)) => Ok(lock),
        Ok(None) => Err(OpenError::Locked { path: path.to_owned() }),
        Err(source) => Err(OpenError::Io { path: lock_file, source }),
    }
}

#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

/// A connection for reading, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Reader<'r> {
    readers: &'r Readers,
    connection: Option<Connection>,
}

impl Readers {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), idle: Mutex::default() }
    }

    pub(crate) fn take(&self) -> Result<Reader<'_>, ChainError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let connection = portico_sqlite::connect(&self.path, READER_CACHE_KIB)?;
                connection.execute_batch("PRAGMA query_only = ON")?;
                connection
            }
        };
        Ok(Reader { readers: self, connection: Some(connection) })
    }
}

impl Deref for Reader<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().unwrap_or_else(|| unreachable!("there until it is dropped"))
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        let mut idle = self.readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < READERS_KEPT && connection.is_autocommit() {
            idle.push(connection);
        }
    }
}

/// Opens the file for writing. Answers whether it is new, and so has no tables yet.
pub(crate) fn open(path: &Path) -> Result<(Connection, bool), OpenError> {
    let connection = portico_sqlite::open(path).map_err(ChainError::from)?;
    let ask = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let tables =
        ask("SELECT count(*) FROM sqlite_schema").map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => OpenError::NotAChain { path: path.to_owned() },
            _ => ChainError::from(error).into(),
        })?;
    if tables > 0 {
        if ask("PRAGMA application_id").map_err(ChainError::from)? != APPLICATION {
            return Err(OpenError::NotAChain { path: path.to_owned() });
        }
        let found = ask("PRAGMA user_version").map_err(ChainError::from)?;
        if found > FORMAT {
            return Err(OpenError::Newer { path: path.to_owned(), found });
        }
        if found < FORMAT {
            let step = connection.unchecked_transaction().map_err(ChainError::from)?;
            upgrade::from_format(&step, found)?;
            step.commit().map_err(ChainError::from)?;
        }
    }
    portico_sqlite::configure(&connection, WRITER_CACHE_KIB).map_err(ChainError::from)?;
    Ok((connection, tables == 0))
}
