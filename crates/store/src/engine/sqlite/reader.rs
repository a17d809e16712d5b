//! Each thread has its own read connection per database.

use std::cell::RefCell;

use rusqlite::Connection;

use crate::engine::error::Result;

thread_local! {
    /// With the database's id.
    static READERS: RefCell<Vec<(u64, Connection)>> = const { RefCell::new(Vec::new()) };
}

/// Opens the connection on first use.
pub(super) fn with<T>(
    database: u64,
    open: impl FnOnce() -> Result<Connection>,
    read: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    READERS.with_borrow_mut(|readers| {
        let at = match readers.iter().position(|(id, _)| *id == database) {
            Some(at) => at,
            None => {
                readers.push((database, open()?));
                readers.len() - 1
            }
        };
        read(&readers[at].1)
    })
}
