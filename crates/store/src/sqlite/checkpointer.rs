//! Copies the write-ahead log back into the database, beside the writer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::background_thread::spawn;
use super::connect;
use crate::Result;

/// The write-ahead log is copied back once it has so many pages (of 4 KiB). The more it has, the more changes of a
/// page are copied as one; but after a crash all of it is read before anything else.
const CHECKPOINT_PAGES: i32 = 32_000;

/// The long part runs on a thread of its own while writes go on; the writer then copies the little that has
/// come since, so that the log starts again from its beginning instead of growing for ever.
pub(super) struct Checkpointer {
    wal_pages: Arc<AtomicI32>,
    nearly_done: Arc<AtomicBool>,
    wake: SyncSender<()>,
}

impl Checkpointer {
    pub(super) fn start(path: &Path, writer: &mut Connection) -> Result<Self> {
        let wal_pages = Arc::new(AtomicI32::new(0));
        let pages = wal_pages.clone();
        writer.wal_hook(Some(move |_: &mut Wal, now| {
            pages.store(now, Ordering::Relaxed);
            Ok(())
        }))?;
        let connection = connect(path, 2 * 1024)?;
        let nearly_done = Arc::new(AtomicBool::new(false));
        let (wake, woken) = sync_channel::<()>(1);
        let flag = nearly_done.clone();
        spawn("portico-checkpoint", move || {
            while woken.recv().is_ok() {
                match checkpoint(&connection) {
                    Ok(()) => flag.store(true, Ordering::Release),
                    Err(error) => tracing::warn!(%error, "the write-ahead log could not be copied back"),
                }
            }
        })?;
        Ok(Self { wal_pages, nearly_done, wake })
    }

    pub(super) fn after_commit(&self, writer: &Connection) {
        if self.nearly_done.swap(false, Ordering::Acquire) {
            if let Err(error) = checkpoint(writer) {
                tracing::warn!(%error, "the write-ahead log could not be copied back");
            }
        } else if self.wal_pages.load(Ordering::Relaxed) > CHECKPOINT_PAGES {
            // Full means: it is at work already.
            let _ = self.wake.try_send(());
        }
    }
}

fn checkpoint(connection: &Connection) -> Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).map_err(Into::into)
}
