//! An instance's database for an operator: for commands, and for a server before there is an application.

use std::fmt::Display;

use portico_store::audit::{Append, Entry};
use portico_store::{Db, Location, MigrationStatus, Role};

use crate::caller::{CallContext, require_operator};
use crate::clock::{Clock as _, SystemClock};
use crate::error::{Error, Result};
use crate::profile::Profile;

/// Only an operator opens it, so its methods need no caller unless they are audited.
#[derive(Debug, Clone)]
pub struct Database(pub(crate) Db);

impl From<Database> for Db {
    fn from(database: Database) -> Self {
        database.0
    }
}

/// Names what failed.
pub(crate) fn failed<E: Display>(what: &'static str) -> impl FnOnce(E) -> Error {
    move |error| Error::Setup(format!("{what}: {error}"))
}

impl Database {
    /// Migrates it, too.
    pub async fn open(call: &CallContext, location: &Location, role: Role) -> Result<Self> {
        require_operator(&call.actor)?;
        let opened = Db::open(location, role).await;
        opened.map(Self).map_err(failed("the database cannot be opened"))
    }

    /// Opens one whose restore is not complete.
    pub async fn open_restored(call: &CallContext, location: &Location) -> Result<Self> {
        require_operator(&call.actor)?;
        let opened = Db::open_restored(location).await;
        opened.map(Self).map_err(failed("the restored database cannot be opened"))
    }

    /// Migrates nothing.
    pub async fn status(call: &CallContext, location: &Location) -> Result<MigrationStatus> {
        require_operator(&call.actor)?;
        Db::status(location).await.map_err(failed("the database could not be read"))
    }

    pub fn close(&self) -> Result<()> {
        self.0.close().map_err(failed("the database cannot be closed"))
    }

    /// The profile that its first server recorded.
    pub async fn profile(&self) -> Result<Option<Profile>> {
        let recorded = self.0.deployment().await?.profile;
        let mut profiles = [Profile::Sandbox, Profile::Live].into_iter();
        Ok(profiles.find(|profile| recorded.as_deref() == Some(profile.name())))
    }

    /// Fails if the database belongs to another profile, so that a forgotten flag does not open a live database as a
    /// sandbox.
    pub async fn check_profile(&self, requested: Option<Profile>) -> Result<Profile> {
        match (self.profile().await?, requested) {
            (None, requested) => Ok(requested.unwrap_or(Profile::Sandbox)),
            (Some(recorded), requested) if requested.is_none_or(|asked| asked == recorded) => Ok(recorded),
            (Some(Profile::Live), _) => Err(Error::Setup(
                "this database belongs to a live instance: add --profile live (or PORTICO_PROFILE=live)".into(),
            )),
            (Some(Profile::Sandbox), _) => Err(Error::Setup(
                "this database belongs to a sandbox, where anybody can act as anybody: a live instance needs a \
                 database of its own (--database, or another --data)"
                    .into(),
            )),
        }
    }

    /// Whether data is sealed with the keys of a keystore.
    pub async fn has_keystore(&self) -> Result<bool> {
        Ok(self.0.deployment().await?.keystore.is_some())
    }

    /// Whether it is bound to a chain.
    pub async fn has_chain(&self) -> Result<bool> {
        Ok(self.0.chain_identity().await?.is_some())
    }

    /// Whether the audit log is keyed, and its key is not known here.
    pub async fn lacks_audit_key(&self) -> Result<bool> {
        Ok(self.0.audit_key().is_none() && self.0.audit_head().await?.keyed)
    }

    /// How far calendar time is ahead of the machine's clock, in microseconds.
    pub async fn clock_ahead(&self) -> Result<i64> {
        Ok(self.0.clock_ahead().await?)
    }

    pub(crate) async fn append(
        &self,
        call: &CallContext,
        action: &'static str,
        subject: &str,
        detail: String,
    ) -> Result<()> {
        let (at, actor) = (SystemClock.now(), call.actor.audit_name());
        let entry = Entry { at, actor, action, subject: subject.into(), detail };
        self.0.write(Append(entry)).await.map_err(failed("this could not be put on record"))
    }
}
