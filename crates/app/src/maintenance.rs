//! What the service does by itself: before it answers, from time to time, and when it stops. Nobody calls this.

use std::sync::Arc;

use portico_store::{AdoptDeployment, Forget};

use crate::{Core, Error, Profile, Result};

/// Work of the service itself.
#[derive(Debug)]
pub struct Maintenance {
    pub(crate) core: Arc<Core>,
}

impl Maintenance {
    /// Records in the database which keystore it belongs to, and which profile, unless that is recorded. Tells
    /// whether what is recorded is what was asked for.
    pub async fn adopt_deployment(&self, profile: Option<Profile>) -> Result<bool> {
        let (profile, keystore) = (profile.map(Profile::name), self.core.keystore()?.id().await?);
        let recorded = self.core.db.write(AdoptDeployment { profile, keystore: keystore.clone() }).await?;
        let same_profile = profile.is_none_or(|wanted| recorded.profile.as_deref() == Some(wanted));
        Ok(same_profile && recorded.keystore == Some(keystore))
    }

    /// Whether the root secret opens the keystore.
    pub async fn verify_root_key(&self) -> Result<bool> {
        self.core.keystore()?.fits().await
    }

    /// Empties the keystore's log, so that no destroyed key is left in it. Fails while somebody else reads it.
    pub async fn scrub_keystore(&self) -> Result<()> {
        self.core.keystore()?.scrub().await
    }

    /// Applies erasures that the keystore knows and the database does not; tells how many.
    pub async fn apply_erasures(&self) -> Result<u64> {
        self.core.apply_erasures().await
    }

    /// Ends applications to listings that do not exist; tells how many listings that concerned.
    pub async fn end_orphaned_applications(&self) -> Result<usize> {
        self.core.end_orphaned_applications().await
    }

    /// Attests flags that wait for it; tells how many.
    pub async fn attest(&self) -> Result<u64> {
        self.core.attest(None).await
    }

    /// Removes what is no longer kept, and anchors the audit log. Meant to be called every few minutes.
    pub async fn tidy(&self) -> Result<()> {
        let core = &self.core;
        while core.db.write(Forget { at: core.clock.now() }).await? > 0 {}
        core.forget_inputs().await?;
        core.apply_erasures().await?;
        core.anchor_audit().await?;
        core.keystore()?.scrub().await
    }

    /// Returns when the chain's writer has ended, which it must not.
    pub async fn chain_ended(&self) {
        match &self.core.chain {
            Some(chain) => chain.ended().await,
            None => std::future::pending().await,
        }
    }

    /// Lets another process sign, and closes the database.
    pub async fn close(&self) -> Result<()> {
        if let Some(chain) = &self.core.chain {
            chain.release().await;
        }
        if let Err(error) = self.scrub_keystore().await {
            tracing::warn!(%error, "the keystore's log could not be emptied");
        }
        self.core.db.close().map_err(Error::from)
    }
}
