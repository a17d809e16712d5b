//! Readiness: the chain has caught up, people can sign in, and the database can be written.

use crate::error::{Error, Result};
use crate::operation::maintenance::Maintenance;

impl Maintenance {
    /// Whether a write request would succeed now.
    pub async fn check_readiness(&self) -> Result<()> {
        let core = &self.core;
        if !core.chain.is_ready() {
            return Err(Error::Unavailable("the chain has not caught up yet".into()));
        }
        if !core.people.tokens.are_ready() {
            return Err(Error::Unavailable("the issuer's keys have not been read yet".into()));
        }
        core.db.ping().await?;
        if core.operation.write_proof.accepts_writes(&core.db, core.clock.now()).await {
            Ok(())
        } else {
            Err(Error::Unavailable("the database cannot be written".into()))
        }
    }
}
