//! Consistent copies of a database that others write to.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, Result};

use crate::connection::set_busy_handler;

/// Pages copied between two reports of progress.
const PAGES_PER_STEP: i32 = 4096;
const LOCKED_RETRY_DELAY: Duration = Duration::from_millis(5);
/// Faults that an integrity check reports before it stops.
const MAX_FAULTS: u32 = 10;

/// A read transaction on an existing database. What others commit meanwhile is not part of it, so that copying takes
/// as long as the file is large, however busy the database is. Until it is dropped the write-ahead log cannot start
/// again at its beginning, and grows.
#[derive(Debug)]
pub struct Snapshot(Connection);

impl Snapshot {
    /// Opens the database and fixes the state that is read.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)?;
        set_busy_handler(&mut connection)?;
        connection.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF")?;
        let mut snapshot = Self(connection);
        snapshot.renew()?;
        Ok(snapshot)
    }

    /// Moves on to the present state.
    pub fn renew(&mut self) -> Result<()> {
        if !self.0.is_autocommit() {
            self.0.execute_batch("ROLLBACK")?;
        }
        // The first read fixes the state.
        self.0.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")
    }

    pub fn connection(&mut self) -> &mut Connection {
        &mut self.0
    }

    /// Copies the state into a new file, which is durable when this returns. `progress` gets the pages copied so far
    /// and all pages.
    pub fn copy_to(&self, path: &Path, mut progress: impl FnMut(u64, u64)) -> Result<()> {
        create_private(path)?;
        let mut target = Connection::open(path)?;
        // A copy that was cut off is thrown away, and the file is synced at the end.
        target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        {
            let backup = Backup::new(&self.0, &mut target)?;
            loop {
                let step = backup.step(PAGES_PER_STEP)?;
                let at = backup.progress();
                let pages = |count: i32| u64::try_from(count).unwrap_or(0);
                progress(pages(at.pagecount - at.remaining), pages(at.pagecount));
                match step {
                    StepResult::Done => break,
                    StepResult::More => {}
                    _ => std::thread::park_timeout(LOCKED_RETRY_DELAY),
                }
            }
        }
        target.close().map_err(|(_, error)| error)?;
        File::open(path).and_then(|file| file.sync_all()).map_err(|error| io_error(&error))
    }
}

/// Only its owner may read it.
fn create_private(path: &Path) -> Result<()> {
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    created.map(drop).map_err(|error| io_error(&error))
}

fn io_error(error: &std::io::Error) -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR);
    rusqlite::Error::SqliteFailure(code, Some(error.to_string()))
}

/// Opens a file that nobody writes, without creating anything next to it.
pub fn open_immutable(path: &Path) -> Result<Connection> {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            other => {
                // Writing to memory cannot fail.
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri.push_str("?immutable=1");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.execute_batch("PRAGMA trusted_schema = OFF")?;
    Ok(connection)
}

/// What is wrong with the pages, tables and indexes of a database. Empty: nothing.
pub fn integrity_faults(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MAX_FAULTS})"))?;
    let faults = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>>>()?;
    Ok(faults.into_iter().filter(|fault| fault != "ok").collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect;

    fn rows(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn copy_is_the_state_at_the_beginning_although_writes_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("busy.db");
        let writer = connect(&path, 1024).unwrap();
        writer.execute_batch("CREATE TABLE t (data BLOB)").unwrap();
        let add = |count: usize| {
            for _ in 0..count {
                writer.execute("INSERT INTO t VALUES (zeroblob(200000))", []).unwrap();
            }
        };
        add(200);
        let snapshot = Snapshot::open(&path).unwrap();
        add(5);
        let copy = folder.path().join("a copy?.db");
        let mut steps = 0;
        snapshot
            .copy_to(&copy, |_, _| {
                steps += 1;
                add(1);
            })
            .unwrap();
        assert!(steps > 1, "{steps}");
        let copied = open_immutable(&copy).unwrap();
        assert_eq!((rows(&copied), rows(&writer)), (200, 205 + steps));
        assert_eq!(integrity_faults(&copied).unwrap(), [""; 0]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left next to the copy");
    }

    #[test]
    fn damage_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let writer = connect(&path, 1024).unwrap();
        writer.execute_batch("CREATE TABLE t (data TEXT); CREATE INDEX i ON t (data)").unwrap();
        for number in 0..2000 {
            writer.execute("INSERT INTO t VALUES (?1)", [format!("row {number}")]).unwrap();
        }
        let copy = folder.path().join("copy.db");
        Snapshot::open(&path).unwrap().copy_to(&copy, |_, _| {}).unwrap();
        assert!(Snapshot::open(&path).unwrap().copy_to(&copy, |_, _| {}).is_err(), "the file exists");
        let mut bytes = std::fs::read(&copy).unwrap();
        let at = bytes.windows(8).position(|window| window == b"row 1234").unwrap();
        bytes[at + 4] = b'9';
        std::fs::write(&copy, bytes).unwrap();
        assert_ne!(integrity_faults(&open_immutable(&copy).unwrap()).unwrap(), [""; 0]);
    }
}
