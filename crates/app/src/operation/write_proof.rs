//! Proves by writing that the database accepts writes.

use std::time::{Duration, Instant};

use portico_domain::Timestamp;
use portico_store::{Db, ProbeWrite};
use tokio::sync::Mutex;

/// Bounds the writes that anonymous probes cause.
const PROOF_LIFETIME: Duration = Duration::from_secs(1);
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// Time and result of the last write.
#[derive(Debug, Default)]
pub(crate) struct WriteProof(Mutex<Option<(Instant, bool)>>);

impl WriteProof {
    /// Writes unless a recent write says it.
    pub(super) async fn accepts_writes(&self, db: &Db, now: Timestamp) -> bool {
        let mut proof = self.0.lock().await;
        match *proof {
            Some((at, works)) if at.elapsed() < PROOF_LIFETIME => works,
            _ => {
                let write = tokio::time::timeout(WRITE_TIMEOUT, db.write(ProbeWrite(now))).await;
                let works = matches!(write, Ok(Ok(())));
                *proof = Some((Instant::now(), works));
                works
            }
        }
    }
}
