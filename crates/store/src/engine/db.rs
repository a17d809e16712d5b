//! A database on either engine.

use super::audit_key::AuditKeyCell;
use super::error::Result;
use super::location::{Location, Role};
use super::migrate::{Migration, MigrationStatus};
use super::postgres::{database::Postgres, migrations as postgres_migrations};
use super::sql::{FromRow, Op, Param, Sql, Weight, sql, statements};
use super::sqlite::{database::Sqlite, migrations as sqlite_migrations};

impl Location {
    /// The steps of a database on this engine.
    pub fn migrations(&self) -> &'static [Migration] {
        match self {
            Self::Sqlite(_) => sqlite_migrations::MIGRATIONS,
            Self::Postgres(_) => postgres_migrations::MIGRATIONS,
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

/// Runs the steps that a database lacks.
pub async fn migrate(location: &Location, steps: &[Migration]) -> Result<()> {
    match location {
        Location::Sqlite(path) => Sqlite::migrate(path, steps),
        Location::Postgres(url) => Postgres::migrate(url, steps).await,
    }
}

static MIGRATED: Sql = sql("SELECT max(version) FROM portico_migrations");

/// Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Db(pub(crate) Engine);

#[derive(Debug, Clone)]
pub(crate) enum Engine {
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
    pub(crate) async fn has_keystore(location: &Location) -> Result<bool> {
        match location {
            Location::Sqlite(path) => Ok(path.exists()),
            Location::Postgres(url) => Postgres::has_keystore(url).await,
        }
    }

    /// Opens and migrates a keystore.
    pub(crate) async fn open_keystore(location: &Location) -> Result<Self> {
        Ok(Self(match location {
            Location::Sqlite(path) => Engine::Sqlite(Sqlite::open_keystore(path)?),
            Location::Postgres(url) => Engine::Postgres(Postgres::open_keystore(url).await?),
        }))
    }

    /// Removes a keystore's files, or its schema.
    pub(crate) async fn remove_keystore(location: &Location) -> Result<()> {
        match location {
            Location::Sqlite(path) => Sqlite::remove_keystore(path),
            Location::Postgres(url) => Postgres::remove_keystore(url).await,
        }
    }

    /// Read-only.
    pub async fn status(location: &Location) -> Result<MigrationStatus> {
        match location {
            Location::Sqlite(path) => Sqlite::status(path),
            Location::Postgres(url) => Postgres::status(url).await,
        }
    }

    pub async fn ping(&self) -> Result<()> {
        self.read::<(i64,)>(&MIGRATED, &[], Weight::Point).await.map(drop)
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

    pub(crate) fn audit_key_cell(&self) -> &AuditKeyCell {
        match &self.0 {
            Engine::Sqlite(sqlite) => sqlite.audit_key_cell(),
            Engine::Postgres(postgres) => postgres.audit_key_cell(),
        }
    }

    /// Waits until derived data includes everything written so far.
    pub async fn wait_for_index(&self) -> Result<()> {
        match &self.0 {
            Engine::Sqlite(sqlite) => sqlite.wait_for_index().await,
            Engine::Postgres(_) => Ok(()),
        }
    }

    pub(crate) async fn read<R: FromRow>(
        &self,
        sql: &'static Sql,
        params: &[Param<'_>],
        weight: Weight,
    ) -> Result<Vec<R>> {
        match &self.0 {
            Engine::Sqlite(sqlite) => sqlite.read(sql, params, weight).await,
            Engine::Postgres(postgres) => Box::pin(postgres.read(sql, params, weight)).await,
        }
    }

    pub(crate) async fn one<R: FromRow>(&self, sql: &'static Sql, params: &[Param<'_>]) -> Result<Option<R>> {
        Ok(self.read(sql, params, Weight::Point).await?.into_iter().next())
    }
}

statements! { MIGRATED }
