//! Joins a restored database with the present: what people have taken back since the backup, and the audit log.

use std::path::Path;

use portico_domain::KeyId;
use portico_store::audit::{Entry, RESTORED, superseding};
use portico_store::backup::{SqliteSnapshot, replaced_revocations};
use portico_store::chain::Word;
use portico_store::{ChangeContext, Revocation, RevokeAgain};

use crate::caller::CallContext;
use crate::clock::{Clock as _, SystemClock};
use crate::database::{Database, failed};
use crate::error::Result;

/// The keys that were revoked in the database that is replaced.
#[derive(Debug)]
pub enum Revocations {
    Known(Vec<Revocation>),
    /// It cannot be read.
    Unreadable,
    /// Nothing is replaced: the place is new.
    NothingReplaced,
    /// Another tool replaced it.
    InPlace,
}

impl Revocations {
    pub fn in_sqlite(replaced: &Path) -> Self {
        if !replaced.exists() {
            return Self::NothingReplaced;
        }
        let read = SqliteSnapshot::open(replaced).and_then(|mut replaced| replaced.revocations());
        read.inspect_err(log_unreadable).map_or(Self::Unreadable, Self::Known)
    }

    /// After the replaced tables were moved to a schema of their own.
    pub async fn in_postgres(url: &str) -> Self {
        match replaced_revocations(url).await.inspect_err(log_unreadable) {
            Ok(Some(revoked)) => Self::Known(revoked),
            Ok(None) => Self::NothingReplaced,
            Err(_) => Self::Unreadable,
        }
    }
}

fn log_unreadable(error: &portico_store::Error) {
    tracing::warn!(%error, "the revoked keys of the replaced database cannot be read");
}

impl Database {
    /// Appends a restore to the audit log, with the anchored end of the history that it supersedes.
    pub async fn record_restore(
        &self,
        call: &CallContext,
        source: &str,
        superseded: Option<(u64, Word)>,
    ) -> Result<()> {
        let detail = match superseded {
            Some((version, hash)) => format!("{source}, anchor {version}; {}", superseding(&[hash])),
            None => format!("{source}, nothing anchored"),
        };
        self.append(call, RESTORED, source, detail).await
    }

    /// Revokes the keys that were revoked since the backup; returns how many.
    pub async fn revoke_again(
        &self,
        call: &CallContext,
        source: &str,
        revoked: Vec<Revocation>,
    ) -> Result<u64> {
        let at = SystemClock.now();
        let entry = Entry {
            at,
            actor: call.actor.audit_name(),
            action: "key.revoked",
            subject: String::new(),
            detail: format!("again, after the restore of {source}"),
        };
        let revoke = RevokeAgain { revoked, entry, by: ChangeContext { account: None, at } };
        Ok(self.0.write(revoke).await.map_err(failed("keys could not be revoked again"))? as u64)
    }

    /// The API keys that are valid now.
    pub async fn valid_keys(&self) -> Result<Vec<KeyId>> {
        let keys = self.0.keys(None).await.map_err(failed("the keys cannot be read"))?;
        let now = SystemClock.now();
        Ok(keys.into_iter().filter(|key| key.is_valid(now)).map(|key| key.id).collect())
    }

    /// How many applications the owners of listings see.
    pub async fn count_shared_applications(&self) -> Result<i64> {
        Ok(self.0.count_shared_applications().await?)
    }
}
