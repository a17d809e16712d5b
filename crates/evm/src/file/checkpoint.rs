//! Copies the write-ahead log back into the database, beside the writer.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::{configure, connect};

/// The log is copied back once it has so many pages.
const CHECKPOINT_PAGES: i32 = 16_000;
const CACHE_KIB: u32 = 2 * 1024;

/// The long part runs on a thread of its own while blocks are written; the writer then copies the little that
/// has come since, so that the log starts again from its beginning instead of growing for ever.
#[derive(Debug)]
pub(super) struct Checkpointer {
    wal_pages: Arc<AtomicI32>,
    nearly_done: Arc<AtomicBool>,
    /// Both are there until it is dropped.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    pub(super) fn start(path: &Path, writer: &mut Connection) -> rusqlite::Result<Self> {
        let wal_pages = Arc::new(AtomicI32::new(0));
        let pages = wal_pages.clone();
        writer.wal_hook(Some(move |_: &mut Wal, now| {
            pages.store(now, Ordering::Relaxed);
            Ok(())
        }))?;
        let connection = connect(path)?;
        configure(&connection, CACHE_KIB)?;
        let nearly_done = Arc::new(AtomicBool::new(false));
        let flag = nearly_done.clone();
        let (wake, woken) = sync_channel::<()>(1);
        let body = move || {
            let mut copy_back = || {
                while woken.recv().is_ok() {
                    if checkpoint(&connection) {
                        flag.store(true, Ordering::Release);
                    }
                }
            };
            while std::panic::catch_unwind(AssertUnwindSafe(&mut copy_back)).is_err() {
                tracing::error!("the thread that copies the write-ahead log panicked and begins again");
            }
        };
        let thread = std::thread::Builder::new().name("portico-evm-wal".into()).spawn(body);
        let thread =
            thread.inspect_err(|error| tracing::warn!(%error, "no thread to copy the write-ahead log")).ok();
        Ok(Self { wal_pages, nearly_done, wake: thread.is_some().then_some(wake), thread })
    }

    pub(super) fn after_commit(&self, writer: &Connection) {
        if self.nearly_done.swap(false, Ordering::Acquire) {
            checkpoint(writer);
        } else if self.wal_pages.load(Ordering::Relaxed) > CHECKPOINT_PAGES {
            match &self.wake {
                // Full means: it is at work already.
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
            // It only ever fails if it panicked, and then its work is left to the next start.
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
