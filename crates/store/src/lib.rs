//! Storage for the domain: one set of queries, two engines.
//!
//! An area (listings, devices, …) is one file with its statements, its reads as methods of [`Db`] and its writes as
//! units of work ([`Op`]). To add one: write the statements once in the common dialect; where the engines differ, use
//! [`sql::dialects`]. The conformance suite runs every area on both engines.

mod applications;
pub mod audit;
mod audit_key;
pub mod backup;
mod budgets;
pub mod chain;
mod counters;
mod database_facts;
mod deployment;
mod devices;
mod error;
mod idempotency;
mod keys;
pub mod keystore;
mod listings;
mod migrate;
mod page;
mod pipelines;
mod portfolios;
mod postgres;
mod requirements;
mod saved;
pub mod screening;
pub mod sql;
mod sqlite;
mod templates;
mod users;
mod word;

use std::path::PathBuf;

pub use applications::{
    ChangeApplication, DeleteOrphanedApplications, Disclosure, ExpireFlags, ListingSubmission,
    NewApplication, SettleFlags, Settlement, StoredApplication, SubmitApplications,
};
pub use budgets::{Budget, Charge, ForgetBudgets, Paid};
pub use counters::ChangeContext;
pub use deployment::{AdoptDeployment, AdvanceClock, Deployment, ProbeWrite, ReplaceKeystore};
pub use devices::{DeleteDevice, RegisterDevice, RegisterDevices};
pub use error::{Error, Result};
pub use idempotency::{Answering, ForgetReplies, IdempotencyKey, Idempotent, Seal, StoredReply};
pub use keys::{CreateKey, JoinTenant, NoteKeyUse, Revocation, RevokeAgain, RevokeKey, StoredKey};
pub use listings::{
    CreateListing, DeleteListing, EditListing, ListingClusters, ListingCodec, ListingItem, ListingVersion,
    StoredListing,
};
pub use migrate::{Migration, Status, migrate};
pub use page::{Cursor, Page};
pub use pipelines::PutPipeline;
pub use portfolios::{ChangePortfolio, CopyTemplate, CreatePortfolio, DeletePortfolio};
pub use requirements::PutRequirements;
pub use saved::{SaveListing, UnsaveListing};
pub use templates::{ChangeTemplate, CreateTemplate};
pub use users::UserCounts;

use postgres::Postgres;
use sql::{FromRow, Op, Sql, Val, Weight};
use sqlite::Sqlite;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    Sqlite(PathBuf),
    /// A connection URL.
    Postgres(String),
}

impl Location {
    /// Parses `sqlite:PATH` or `postgres://…`.
    pub fn parse(url: &str) -> Result<Self, String> {
        if let Some(path) = url.strip_prefix("sqlite:").filter(|path| !path.is_empty()) {
            Ok(Self::Sqlite(path.trim_start_matches("//").into()))
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Ok(Self::Postgres(url.into()))
        } else {
            Err("must be sqlite:PATH or postgres://…".into())
        }
    }

    /// Whether both are in files of the same `PostgreSQL` cluster.
    pub async fn shares_cluster(&self, other: &Self) -> Result<bool> {
        match (self, other) {
            (Self::Postgres(one), Self::Postgres(other)) => {
                Ok(one == other || Postgres::cluster(one).await? == Postgres::cluster(other).await?)
            }
            _ => Ok(false),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Maintains derived data (the search index of `SQLite`).
    Server,
    /// A command that runs next to the server.
    Tool,
}

/// Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Db(Engine);

#[derive(Debug, Clone)]
enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Db {
    /// Opens and migrates the database.
    pub async fn open(location: &Location, role: Role) -> Result<Self> {
        Ok(Self(match location {
            Location::Sqlite(path) => Engine::Sqlite(Sqlite::open(path, role)?),
            Location::Postgres(url) => Engine::Postgres(Postgres::open(url).await?),
        }))
    }

    /// Opens and migrates a database whose restore is not complete.
    pub async fn open_restored(location: &Location) -> Result<Self> {
        Ok(Self(match location {
            Location::Sqlite(path) => Engine::Sqlite(Sqlite::open(path, Role::Tool)?),
            Location::Postgres(url) => Engine::Postgres(Postgres::open_restored(url).await?),
        }))
    }

    /// Does not create one.
    async fn has_keystore(location: &Location) -> Result<bool> {
        match location {
            Location::Sqlite(path) => Ok(path.exists()),
            Location::Postgres(url) => Postgres::has_keystore(url).await,
        }
    }

    /// Opens and migrates a keystore.
    async fn open_keystore(location: &Location) -> Result<Self> {
        Ok(Self(match location {
            Location::Sqlite(path) => Engine::Sqlite(Sqlite::open_keystore(path)?),
            Location::Postgres(url) => Engine::Postgres(Postgres::open_keystore(url).await?),
        }))
    }

    /// Removes a keystore's files, or its schema.
    async fn remove_keystore(location: &Location) -> Result<()> {
        match location {
            Location::Sqlite(path) => Sqlite::remove_keystore(path),
            Location::Postgres(url) => Postgres::remove_keystore(url).await,
        }
    }

    /// Read-only.
    pub async fn status(location: &Location) -> Result<Status> {
        match location {
            Location::Sqlite(path) => Sqlite::status(path),
            Location::Postgres(url) => Postgres::status(url).await,
        }
    }

    pub async fn ping(&self) -> Result<()> {
        static ONE: Sql = sql::sql("SELECT max(version) FROM portico_migrations");
        self.read::<(i64,)>(&ONE, &[], Weight::Point).await.map(drop)
    }

    /// Returns once the work is durable.
    pub async fn write<O: Op>(&self, op: O) -> Result<O::Out> {
        match &self.0 {
            Engine::Sqlite(sqlite) => sqlite.write(op).await,
            // Boxed: it is large, and would enlarge the future of SQLite writes too.
            Engine::Postgres(postgres) => Box::pin(postgres.write(op)).await,
        }
    }

    /// Call before the process ends.
    pub fn close(&self) -> Result<()> {
        match &self.0 {
            Engine::Sqlite(sqlite) => sqlite.empty_log().map(drop),
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// Removes overwritten data from the database's log.
    pub(crate) async fn forget(&self) -> Result<()> {
        match &self.0 {
            Engine::Sqlite(sqlite) => sqlite.forget().await,
            Engine::Postgres(_) => Ok(()),
        }
    }

    fn audit_key_cell(&self) -> &audit_key::AuditKeyCell {
        match &self.0 {
            Engine::Sqlite(sqlite) => sqlite.audit_key_cell(),
            Engine::Postgres(postgres) => postgres.audit_key_cell(),
        }
    }

    /// Waits until derived data includes everything written so far.
    pub async fn settle(&self) -> Result<()> {
        match &self.0 {
            Engine::Sqlite(sqlite) => sqlite.settle().await,
            Engine::Postgres(_) => Ok(()),
        }
    }

    async fn read<R: FromRow>(
        &self,
        sql: &'static Sql,
        params: &[Val<'_>],
        weight: Weight,
    ) -> Result<Vec<R>> {
        match &self.0 {
            Engine::Sqlite(sqlite) => sqlite.read(sql, params, weight).await,
            Engine::Postgres(postgres) => Box::pin(postgres.read(sql, params, weight)).await,
        }
    }

    async fn one<R: FromRow>(&self, sql: &'static Sql, params: &[Val<'_>]) -> Result<Option<R>> {
        Ok(self.read(sql, params, Weight::Point).await?.into_iter().next())
    }
}
