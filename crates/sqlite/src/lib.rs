//! What every SQLite file of the service shares: connection settings, checkpoints, file locks and supervised
//! threads. The database, the keystore and the embedded chain build on it; tables are theirs.

mod background_thread;
mod checkpointer;
mod connection;
mod file_lock;
mod snapshot;

pub use background_thread::spawn_supervised;
pub use checkpointer::Checkpointer;
pub use connection::{configure, connect, is_unavailable, open, truncate_wal};
pub use file_lock::{DatabaseLock, FileLock};
pub use snapshot::{Snapshot, integrity_faults, open_immutable};
