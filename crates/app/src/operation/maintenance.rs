//! Background work: at startup, periodically and at shutdown. No request calls this.

use std::sync::Arc;

use portico_domain::Timestamp;
use portico_store::{AdoptDeployment, ForgetBudgets, ForgetReplies};

use crate::core::Core;
use crate::error::{Error, Result};
use crate::profile::Profile;

/// How long an erasure is left to the request that began it.
const ERASURE_GRACE_SECONDS: i64 = 60;

#[derive(Debug)]
pub struct Maintenance {
    pub(crate) core: Arc<Core>,
}

impl Maintenance {
    /// Records the database's keystore and profile if they are not recorded yet. Returns whether the recorded ones
    /// match.
    pub async fn adopt_deployment(&self, profile: Option<Profile>) -> Result<bool> {
        let (profile, keystore) = (profile.map(Profile::name), self.core.keystore()?.id().await?);
        let recorded = self.core.db.write(AdoptDeployment { profile, keystore: keystore.clone() }).await?;
        let same_profile = profile.is_none_or(|wanted| recorded.profile.as_deref() == Some(wanted));
        Ok(same_profile && recorded.keystore == Some(keystore))
    }

    /// Keys the audit log with the keystore's key, and appends what commands have left.
    pub async fn key_audit_log(&self) -> Result<()> {
        self.core.key_audit_log(false).await
    }

    /// Truncates the keystore's log, so that it contains no destroyed key. Fails while somebody reads it.
    pub async fn scrub_keystore(&self) -> Result<()> {
        self.core.keystore()?.scrub().await
    }

    /// Applies erasures that the keystore knows and the database does not; returns how many.
    pub async fn apply_erasures(&self) -> Result<u64> {
        self.core.apply_erasures(Timestamp::from_micros(i64::MAX)).await
    }

    /// Deletes the applications of people whose key no longer exists; returns how many people.
    pub async fn delete_orphaned_applications(&self) -> Result<u64> {
        self.core.delete_orphaned_applications().await
    }

    /// Records flags that are due; returns how many.
    pub async fn record_flags(&self) -> Result<u64> {
        self.core.record_flags(None).await
    }

    /// Reads the keys of an issuer that is discovered; returns once that has succeeded.
    pub async fn discover_issuer(&self) {
        self.core.people.tokens.discover().await;
    }

    /// Removes expired data and anchors the audit log. Call it every few minutes.
    pub async fn tidy(&self) -> Result<()> {
        let core = &self.core;
        // Another server may have moved the sandbox's clock.
        core.clock.set_ahead(core.db.clock_ahead().await?);
        // First, and whatever becomes of the rest: how long an entry can be without an anchor is bounded.
        let anchored = core.anchor_audit().await;
        anchored.and(self.forget_expired().await)
    }

    async fn forget_expired(&self) -> Result<()> {
        let core = &self.core;
        while core.db.write(ForgetReplies { at: core.clock.now() }).await? > 0 {}
        core.forget_inputs().await?;
        core.db.write(ForgetBudgets { at: core.clock.now() }).await?;
        core.apply_erasures(core.clock.now().minus_seconds(ERASURE_GRACE_SECONDS)).await?;
        core.keystore()?.scrub().await
    }

    /// Returns when the chain writer stops, which is a bug.
    pub async fn chain_ended(&self) {
        match &self.core.chain.writer {
            Some(writer) => writer.ended().await,
            None => std::future::pending().await,
        }
    }

    /// Releases the signing lease and closes the database.
    pub async fn close(&self) -> Result<()> {
        if let Err(error) = self.core.anchor_audit_at_the_end().await {
            tracing::warn!(%error, "the end of the audit log could not be anchored; the next start anchors it");
        }
        if let Some(writer) = &self.core.chain.writer {
            writer.release().await;
        }
        if let Err(error) = self.scrub_keystore().await {
            tracing::warn!(%error, "the keystore's log could not be emptied");
        }
        self.core.db.close().map_err(Error::from)
    }
}
