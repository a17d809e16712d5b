//! Connections and their settings.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Result};

/// SQLite polls a locked database this often; a command must get through to the database of a busy server.
const BUSY_POLL_INTERVAL: Duration = Duration::from_micros(200);
/// Ten seconds of polling.
const MAX_BUSY_POLLS: i32 = 50_000;
/// SQLite refuses some of the connections that turn a new file to WAL at the same moment, without polling.
const MAX_CONNECT_ATTEMPTS: u32 = 200;
const CONNECT_RETRY_DELAY: Duration = Duration::from_millis(5);
const STATEMENT_CACHE_CAPACITY: usize = 128;

/// How long `truncate_wal` tries.
const WAL_TRUNCATE_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens or creates a database and applies the settings that all of ours share.
pub fn connect(path: &Path, cache_kib: u32) -> Result<Connection> {
    let mut attempts = 1;
    loop {
        match open(path).and_then(|connection| configure(&connection, cache_kib).map(|()| connection)) {
            Err(error) if attempts < MAX_CONNECT_ATTEMPTS && is_unavailable(&error) => {
                attempts += 1;
                std::thread::park_timeout(CONNECT_RETRY_DELAY);
            }
            outcome => return outcome,
        }
    }
}

/// Opens or creates a file without writing to it, so that the caller can refuse a foreign database.
pub fn open(path: &Path) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    set_busy_handler(&mut connection)?;
    Ok(connection)
}

pub(crate) fn set_busy_handler(connection: &mut Connection) -> Result<()> {
    connection.busy_handler(Some(|polls| {
        std::thread::park_timeout(BUSY_POLL_INTERVAL);
        polls < MAX_BUSY_POLLS
    }))
}

/// Applies the shared settings. WAL mode stays with the file.
pub fn configure(connection: &Connection, cache_kib: u32) -> Result<()> {
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; \
         PRAGMA cache_size = -{cache_kib}; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON; \
         PRAGMA trusted_schema = OFF"
    ))?;
    // Without it SQLite plans a statement with a range bound to a parameter anew at each execution.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    Ok(())
}

/// Checkpoints and truncates the write-ahead log, so that the database is one file again. Returns false if
/// readers held on to it until the timeout.
pub fn truncate_wal(connection: &Connection) -> Result<bool> {
    let began = Instant::now();
    loop {
        let busy =
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))?;
        if !busy || began.elapsed() > WAL_TRUNCATE_TIMEOUT {
            return Ok(!busy);
        }
        // Another checkpoint at the same time refuses this one without polling.
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Whether the file or the machine is at fault rather than the statement, so that trying later can help.
pub fn is_unavailable(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, ReadOnly, SystemIoFailure,
    };
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked | DiskFull | ReadOnly | SystemIoFailure | CannotOpen)
    )
}
