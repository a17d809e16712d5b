//! Readiness: proves by writing that the database accepts writes.

use std::time::{Duration, Instant};

use portico_store::ProbeWrite;
use tokio::sync::Mutex;

use crate::error::{Error, Result};
use crate::operation::maintenance::Maintenance;

/// Bounds the writes that anonymous probes cause.
const PROOF_LIFETIME: Duration = Duration::from_secs(1);
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// Time and result of the last write.
#[derive(Debug, Default)]
pub struct WriteProof(Mutex<Option<(Instant, bool)>>);

impl Maintenance {
    /// Whether a write request would succeed now.
    pub async fn check_readiness(&self) -> Result<()> {
        if !self.core.chain_is_ready() {
            return Err(Error::Unavailable("the chain has not caught up yet".into()));
        }
        if !self.core.tokens.are_ready() {
            return Err(Error::Unavailable("the issuer's keys have not been read yet".into()));
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
