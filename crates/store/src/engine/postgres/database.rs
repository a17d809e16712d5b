//! A `PostgreSQL` database: its connections, and the units of work that run again.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use deadpool_postgres::Pool;
use tracing::Instrument as _;

use super::connection::{batch, prepare, prepare_cached, query};
use super::migrations::{KEYSTORE_MIGRATIONS, MIGRATIONS};
use super::pool::{PooledConnection, SharedClient};
use super::transaction::PgTx;
use super::{connection, migrate, restore_mark};
use crate::engine::audit_key::AuditKeyCell;
use crate::engine::context::random_below;
use crate::engine::error::{Error, Result};
use crate::engine::migrate::{Migration, MigrationStatus, Migrations};
use crate::engine::sql::{FromRow, Op, Param, Sql, Weight};

/// A separate schema, so that a backup can leave it out.
pub(crate) const KEYSTORE_SCHEMA: &str = "portico_keys";

const WRITE_POOL_SIZE: usize = 16;
const READ_POOL_SIZE: usize = 4;
/// Attempts of a unit of work that conflicts with others.
const MAX_ATTEMPTS: u32 = 10;
/// Attempts of a unit of work that writes what exists already.
const MAX_DUPLICATES: u32 = 3;

/// Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Postgres(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    point_reads: SharedClient,
    reads: Pool,
    writes: Pool,
    /// The creation number up to which no further row can appear.
    pub(super) stable_up_to: AtomicI64,
    audit_key: AuditKeyCell,
}

impl Postgres {
    pub(crate) async fn open(url: &str) -> Result<Self> {
        restore_mark::check_not_interrupted(url).await?;
        Self::start(url, None, MIGRATIONS).await
    }

    /// Also while its restore is not complete.
    pub(crate) async fn open_restored(url: &str) -> Result<Self> {
        Self::start(url, None, MIGRATIONS).await
    }

    pub(crate) async fn open_keystore(url: &str) -> Result<Self> {
        let schema = format!("CREATE SCHEMA IF NOT EXISTS {KEYSTORE_SCHEMA}");
        let connection = connection::pool(url, None, 1)?.get().await?;
        // `IF NOT EXISTS` is not atomic: one of two concurrent creators may fail.
        if batch(&connection, &schema).await.is_err() {
            batch(&connection, &schema).await?;
        }
        Self::start(url, Some(KEYSTORE_SCHEMA), KEYSTORE_MIGRATIONS).await
    }

    pub(crate) async fn has_keystore(url: &str) -> Result<bool> {
        let connection = connection::pool(url, Some(KEYSTORE_SCHEMA), 1)?.get().await?;
        Ok(migrate::read_status(&connection, KEYSTORE_MIGRATIONS).await?.current > 0)
    }

    pub(crate) async fn remove_keystore(url: &str) -> Result<()> {
        let connection = connection::pool(url, None, 1)?.get().await?;
        batch(&connection, &format!("DROP SCHEMA IF EXISTS {KEYSTORE_SCHEMA} CASCADE")).await
    }

    /// The cluster's `system_identifier`. A standby has its primary's.
    pub(crate) async fn cluster(url: &str) -> Result<i64> {
        let connection = connection::pool(url, None, 1)?.get().await?;
        let row = connection.query_one("SELECT system_identifier FROM pg_control_system()", &[]).await?;
        Ok(row.get(0))
    }

    async fn start(url: &str, schema: Option<&'static str>, migrations: Migrations) -> Result<Self> {
        let writes = connection::pool(url, schema, WRITE_POOL_SIZE)?;
        migrate::run(&mut *writes.get().await?, migrations).await?;
        Ok(Self(Arc::new(Inner {
            point_reads: SharedClient::new(connection::pool(url, schema, 1)?),
            reads: connection::pool(url, schema, READ_POOL_SIZE)?,
            writes,
            stable_up_to: AtomicI64::new(i64::MIN),
            audit_key: AuditKeyCell::default(),
        })))
    }

    pub(crate) async fn migrate(url: &str, steps: &[Migration]) -> Result<()> {
        migrate::run(&mut *connection::pool(url, None, 1)?.get().await?, steps).await
    }

    pub(crate) fn audit_key_cell(&self) -> &AuditKeyCell {
        &self.0.audit_key
    }

    pub(crate) async fn status(url: &str) -> Result<MigrationStatus> {
        let connection = connection::pool(url, None, 1)?.get().await?;
        migrate::read_status(&connection, MIGRATIONS).await
    }

    pub(crate) async fn read<R: FromRow>(
        &self,
        sql: &'static Sql,
        params: &[Param<'_>],
        weight: Weight,
    ) -> Result<Vec<R>> {
        // A connection that died while idle costs one retry, not a failed request.
        match self.read_once(sql, params, weight).await? {
            Err(Error::Unavailable(_)) => self.read_once(sql, params, weight).await?,
            outcome => outcome,
        }
    }

    /// Outer error: no connection. Inner error: the query failed.
    async fn read_once<R: FromRow>(
        &self,
        sql: &'static Sql,
        params: &[Param<'_>],
        weight: Weight,
    ) -> Result<Result<Vec<R>>> {
        if weight == Weight::Point {
            let client = self.0.point_reads.get().await?;
            let outcome = async { query(&client, &prepare_cached(&client, sql).await?, params).await }.await;
            if let Err(Error::Unavailable(_)) = &outcome {
                self.0.point_reads.discard(&client);
            }
            return Ok(outcome);
        }
        let connection = PooledConnection::get(&self.0.reads).await?;
        let outcome = async {
            let statement = match weight {
                Weight::Search => prepare(&connection, sql).await?,
                Weight::Point | Weight::Scan => prepare_cached(&connection, sql).await?,
            };
            query(&connection, &statement, params).await
        };
        let outcome = outcome.await;
        if outcome.is_ok() {
            connection.release();
        }
        Ok(outcome)
    }

    /// Runs the work in a separate task, so that a disconnecting client does not cancel it half-way.
    pub(crate) async fn write<O: Op>(&self, op: O) -> Result<O::Out> {
        let this = self.clone();
        let work = async move {
            let outcome = this.run(&op).await;
            let is_done = outcome.is_ok();
            tracing::debug!(work = std::any::type_name::<O>(), is_done, "a unit of work ended");
            outcome
        };
        tokio::spawn(work.in_current_span())
            .await
            .map_err(|panic| Error::Bug(format!("a write panicked: {panic}")))?
    }

    async fn run<O: Op>(&self, op: &O) -> Result<O::Out> {
        let (mut reason, mut duplicates) = (String::new(), 0);
        for attempt in 0..MAX_ATTEMPTS {
            let connection = PooledConnection::get(&self.0.writes).await?;
            let mut tx = PgTx::new(&connection, self.0.audit_key.clone());
            let outcome = op.run(&mut tx).await;
            let outcome = match (outcome, tx.begun) {
                (Ok(_), _) if tx.failed => {
                    let undone = batch(&connection, "ROLLBACK").await;
                    undone.and(Err(Error::Bug("a failed statement was ignored".into())))
                }
                (Ok(out), _) => tx.commit().await.map(|()| out),
                (Err(error), true) => batch(&connection, "ROLLBACK").await.and(Err(error)),
                (Err(error), false) => Err(error),
            };
            match outcome {
                // The server's state is unknown: close the connection.
                Err(Error::Unavailable(why)) => return Err(Error::Unavailable(why)),
                Err(Error::Again(why)) => reason = why,
                // A row that a concurrent transaction wrote is seen by the next attempts; if they fail too, it is a
                // bug.
                Err(Error::Duplicate(why)) => {
                    duplicates += 1;
                    if duplicates == MAX_DUPLICATES {
                        connection.release();
                        return Err(Error::Bug(why));
                    }
                    reason = why;
                }
                outcome => {
                    connection.release();
                    return outcome;
                }
            }
            connection.release();
            // Jitter, so that the same two do not conflict again.
            let wait = (u64::from(attempt) + 1) * 2 + random_below(8).unsigned_abs();
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
        tracing::warn!(reason, "a unit of work conflicted with others too often");
        Err(Error::Busy)
    }
}
