//! Whether the service can work. A proof that the database takes writes is made by writing.

use std::time::{Duration, Instant};

use portico_store::ProbeWrite;
use tokio::sync::Mutex;

use crate::{Error, Maintenance, Result};

/// How long a proof counts, so that a stranger who asks often causes few writes.
const PROOF_LIFETIME: Duration = Duration::from_secs(1);
/// A write that takes longer does not work.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// When a write was last tried, and whether it worked.
#[derive(Debug, Default)]
pub struct WriteProof(Mutex<Option<(Instant, bool)>>);

impl Maintenance {
    /// Whether a request that writes would be served now.
    pub async fn check_readiness(&self) -> Result<()> {
        if !self.core.chain_is_ready() {
            return Err(Error::Unavailable("the chain has not caught up yet".into()));
        }
        self.core.db.ping().await?;
        let mut proof = self.core.write_proof.0.lock().await;
        let works = match *proof {
            Some((at, works)) if at.elapsed() < PROOF_LIFETIME => works,
            _ => {
                let write = self.core.db.write(ProbeWrite(self.core.clock.now()));
                let works = matches!(tokio::time::timeout(WRITE_TIMEOUT, write).await, Ok(Ok(())));
                *proof = Some((Instant::now(), works));
                works
            }
        };
        if works { Ok(()) } else { Err(Error::Unavailable("the database cannot be written".into())) }
    }
}
