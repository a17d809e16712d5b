//! The chain's file: a SQLite database with one writing connection and a pool of reading ones.

pub(crate) mod reads;
pub(crate) mod snapshot;
mod writes;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use alloy_primitives::keccak256;
use portico_sqlite::FileLock;
use rusqlite::Connection;

use crate::error::{ChainError, OpenError};

pub(crate) use reads::{StoredTransaction, TransactionSummary, TxLocation};
pub(crate) use writes::{NewTransaction, Writer, create};

/// "ptev": marks the file as ours.
const APPLICATION_ID: i64 = 0x7074_6576;
const SCHEMA: &str = include_str!("schema.sql");
/// SQLite scans the whole cache at every commit.
const WRITER_CACHE_KIB: u32 = 4 * 1024;
const READER_CACHE_KIB: u32 = 4 * 1024;
/// More connections are opened when more threads read at once, and closed afterwards.
const MAX_IDLE_READERS: usize = 16;

/// Marks the file's format: 31 bits of the digest of the schema's text.
fn format_marker() -> i64 {
    let digest = keccak256(SCHEMA);
    i64::from(u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]) >> 1)
}

/// Locks out other processes. SQLite's own exclusive lock would lock out our readers too.
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
pub(crate) struct ReaderPool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

/// Returned to the pool on drop.
#[derive(Debug)]
pub(crate) struct PooledReader<'r> {
    readers: &'r ReaderPool,
    connection: Option<Connection>,
}

impl ReaderPool {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), idle: Mutex::default() }
    }

    pub(crate) fn acquire(&self) -> Result<PooledReader<'_>, ChainError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let connection = portico_sqlite::connect(&self.path, READER_CACHE_KIB)?;
                connection.execute_batch("PRAGMA query_only = ON")?;
                connection
            }
        };
        Ok(PooledReader { readers: self, connection: Some(connection) })
    }
}

impl Deref for PooledReader<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().unwrap_or_else(|| unreachable!("the connection is present until drop"))
    }
}

impl Drop for PooledReader<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        let mut idle = self.readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE_READERS && connection.is_autocommit() {
            idle.push(connection);
        }
    }
}

/// Opens the file for writing. Also returns whether it is new and has no tables yet.
pub(crate) fn open(path: &Path) -> Result<(Connection, bool), OpenError> {
    let connection = portico_sqlite::open(path).map_err(ChainError::from)?;
    let ask = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let tables =
        ask("SELECT count(*) FROM sqlite_schema").map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => OpenError::NotAChain { path: path.to_owned() },
            _ => ChainError::from(error).into(),
        })?;
    if tables > 0 {
        if ask("PRAGMA application_id").map_err(ChainError::from)? != APPLICATION_ID {
            return Err(OpenError::NotAChain { path: path.to_owned() });
        }
        let found = ask("PRAGMA user_version").map_err(ChainError::from)?;
        if found != format_marker() {
            return Err(OpenError::OtherFormat { path: path.to_owned() });
        }
    }
    portico_sqlite::configure(&connection, WRITER_CACHE_KIB).map_err(ChainError::from)?;
    Ok((connection, tables == 0))
}
