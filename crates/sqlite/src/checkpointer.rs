//! Copies the write-ahead log back into the database while the writer goes on.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::hooks::Wal;
use rusqlite::{Connection, Result};

use crate::{connect, spawn_supervised};

const CACHE_KIB: u32 = 2 * 1024;

/// A thread does the long part while writes go on. The writer then copies the little that has come since, so
/// that the log starts again at its beginning instead of growing for ever. Dropping it ends the thread.
#[derive(Debug)]
pub struct Checkpointer {
    max_wal_pages: i32,
    wal_pages: Arc<AtomicI32>,
    nearly_done: Arc<AtomicBool>,
    /// Both are `None` if there is no thread.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// A longer log merges more changes of a page into one copy, but after a crash all of it is read first.
    pub fn start(path: &Path, writer: &mut Connection, max_wal_pages: i32) -> Result<Self> {
        let wal_pages = Arc::new(AtomicI32::new(0));
        let pages = wal_pages.clone();
        writer.wal_hook(Some(move |_: &mut Wal, now| {
            pages.store(now, Ordering::Relaxed);
            Ok(())
        }))?;
        let connection = connect(path, CACHE_KIB)?;
        let nearly_done = Arc::new(AtomicBool::new(false));
        let flag = nearly_done.clone();
        let (wake, woken) = sync_channel::<()>(1);
        let thread = spawn_supervised("portico-wal", move || {
            while woken.recv().is_ok() {
                if checkpoint(&connection) {
                    flag.store(true, Ordering::Release);
                }
            }
        })
        .inspect_err(|error| tracing::warn!(%error, "no thread to copy the write-ahead log"))
        .ok();
        Ok(Self { max_wal_pages, wal_pages, nearly_done, wake: thread.is_some().then_some(wake), thread })
    }

    pub fn after_commit(&self, writer: &Connection) {
        if self.nearly_done.swap(false, Ordering::Acquire) {
            checkpoint(writer);
        } else if self.wal_pages.load(Ordering::Relaxed) > self.max_wal_pages {
            match &self.wake {
                // Full means that it is at work already.
                Some(wake) => drop(wake.try_send(())),
                None => drop(checkpoint(writer)),
            }
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn checkpoint(connection: &Connection) -> bool {
    connection
        .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
        .inspect_err(|error| tracing::warn!(%error, "the write-ahead log could not be copied back"))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_starts_again_instead_of_growing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let mut writer = connect(&path, 2048).unwrap();
        writer.execute_batch("CREATE TABLE t (data BLOB)").unwrap();
        let checkpointer = Checkpointer::start(&path, &mut writer, 50).unwrap();
        for _ in 0..2000 {
            writer.execute("INSERT INTO t VALUES (zeroblob(4000))", []).unwrap();
            checkpointer.after_commit(&writer);
        }
        drop(checkpointer);
        let wal = std::fs::metadata(folder.path().join("test.db-wal")).unwrap().len();
        // Without checkpoints it holds all 8 MB, and each page again.
        assert!(wal < 8_000_000, "{wal} bytes");
    }
}
