//! The `PostgreSQL` engine: one shared, pipelined client for point reads, connection pools for scans and
//! transactions.
//!
//! A lost server is `Unavailable` immediately and reconnects by itself; serialization failures are retried.

pub(crate) mod backup;
mod connection;
mod creation_numbers;
mod listing_index;
mod pool;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Pool};
use futures_util::future::{join, try_join, try_join_all};

use crate::audit::{AuditKey, AuditKeyCell};
use crate::counters::{COUNT, EVENT};
use crate::migrate::{self, Migrations, Status};
use crate::sql::{Count, FromRow, Op, OwnedValue, Row, Sql, Tx, Val, Weight};
use crate::{Error, Result};
use connection::{batch, exec, prepare, prepare_cached, query};
use pool::{PooledConnection, SharedClient};

pub(crate) const MIGRATIONS: Migrations = &[
    ("initial", include_str!("../../migrations/postgres/0001_initial.sql")),
    ("chain", include_str!("../../migrations/postgres/0002_chain.sql")),
    ("screening", include_str!("../../migrations/postgres/0003_screening.sql")),
    ("deployment", include_str!("../../migrations/postgres/0004_deployment.sql")),
    ("listing documents", include_str!("../../migrations/postgres/0005_listing_documents.sql")),
    ("sandbox clock", include_str!("../../migrations/postgres/0006_sandbox_clock.sql")),
    ("listing versions", include_str!("../../migrations/postgres/0007_listing_versions.sql")),
    ("wallet claims", include_str!("../../migrations/postgres/0008_wallet_claims.sql")),
    ("applications", include_str!("../../migrations/postgres/0009_applications.sql")),
    ("audit key", include_str!("../../migrations/postgres/0010_audit_key.sql")),
    ("concurrency", include_str!("../../migrations/postgres/0011_concurrency.sql")),
    ("budgets", include_str!("../../migrations/postgres/0012_budgets.sql")),
    ("key expiry", include_str!("../../migrations/postgres/0013_key_expiry.sql")),
    ("tenants", include_str!("../../migrations/postgres/0014_tenants.sql")),
    ("clusters", include_str!("../../migrations/postgres/0015_clusters.sql")),
    ("sorting", include_str!("../../migrations/postgres/0016_sorting.sql")),
    ("portfolio history", include_str!("../../migrations/postgres/0017_portfolio_history.sql")),
];
const KEYSTORE: Migrations = &[
    ("keys", include_str!("../../migrations/postgres-keys/0001_keys.sql")),
    ("identity", include_str!("../../migrations/postgres-keys/0002_identity.sql")),
    ("key ids", include_str!("../../migrations/postgres-keys/0003_key_ids.sql")),
    ("moving", include_str!("../../migrations/postgres-keys/0004_moving.sql")),
];
/// A separate schema, so that a backup can leave it out.
const KEYSTORE_SCHEMA: &str = "portico_keys";

const WRITE_POOL_SIZE: usize = 16;
const READ_POOL_SIZE: usize = 4;
/// Attempts of a unit of work that conflicts with others.
const MAX_ATTEMPTS: u32 = 10;
/// Attempts of a unit of work that writes what exists already.
const MAX_DUPLICATES: u32 = 3;
/// Rows per hot counter.
const COUNTER_SHARDS: i64 = 16;

/// Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Postgres(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    point_reads: SharedClient,
    reads: Pool,
    writes: Pool,
    last_seq: Arc<AtomicI64>,
    /// Up to here every row is visible that ever will be.
    settled: AtomicI64,
    audit_key: AuditKeyCell,
}

impl Postgres {
    pub(crate) async fn open(url: &str) -> Result<Self> {
        backup::check_not_interrupted(url).await?;
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
        Self::start(url, Some(KEYSTORE_SCHEMA), KEYSTORE).await
    }

    pub(crate) async fn has_keystore(url: &str) -> Result<bool> {
        let connection = connection::pool(url, Some(KEYSTORE_SCHEMA), 1)?.get().await?;
        Ok(migrate::postgres_status(&connection, KEYSTORE).await?.current > 0)
    }

    pub(crate) async fn remove_keystore(url: &str) -> Result<()> {
        let connection = connection::pool(url, None, 1)?.get().await?;
        batch(&connection, &format!("DROP SCHEMA IF EXISTS {KEYSTORE_SCHEMA} CASCADE")).await
    }

    /// Tells clusters apart, each of which has files of its own. A standby has its primary's.
    pub(crate) async fn cluster(url: &str) -> Result<i64> {
        let connection = connection::pool(url, None, 1)?.get().await?;
        let row = connection.query_one("SELECT system_identifier FROM pg_control_system()", &[]).await?;
        Ok(row.get(0))
    }

    async fn start(url: &str, schema: Option<&'static str>, migrations: Migrations) -> Result<Self> {
        let writes = connection::pool(url, schema, WRITE_POOL_SIZE)?;
        migrate::postgres(&mut *writes.get().await?, migrations).await?;
        Ok(Self(Arc::new(Inner {
            point_reads: SharedClient::new(connection::pool(url, schema, 1)?),
            reads: connection::pool(url, schema, READ_POOL_SIZE)?,
            writes,
            last_seq: Arc::default(),
            settled: AtomicI64::new(i64::MIN),
            audit_key: AuditKeyCell::default(),
        })))
    }

    pub(crate) fn audit_key_cell(&self) -> &AuditKeyCell {
        &self.0.audit_key
    }

    pub(crate) async fn status(url: &str) -> Result<Status> {
        let connection = connection::pool(url, None, 1)?.get().await?;
        migrate::postgres_status(&connection, MIGRATIONS).await
    }

    pub(crate) async fn read<R: FromRow>(
        &self,
        sql: &'static Sql,
        params: &[Val<'_>],
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
        params: &[Val<'_>],
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
        tokio::spawn(async move { this.run(&op).await })
            .await
            .map_err(|panic| Error::Bug(format!("a write panicked: {panic}")))?
    }

    async fn run<O: Op>(&self, op: &O) -> Result<O::Out> {
        let (mut reason, mut duplicates) = (String::new(), 0);
        for attempt in 0..MAX_ATTEMPTS {
            let connection = PooledConnection::get(&self.0.writes).await?;
            let mut tx = PgTx::new(&connection, &self.0.last_seq, self.0.audit_key.get());
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
                // Whoever has just written the same is seen by the next attempts; a bug stays one.
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
            let wait = (u64::from(attempt) + 1) * 2 + jitter(8).unsigned_abs();
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
        tracing::warn!(reason, "a unit of work conflicted with others too often");
        Err(Error::Busy)
    }
}

/// Pseudo-random; not secret.
fn jitter(limit: i64) -> i64 {
    use std::hash::{BuildHasher, RandomState};
    let bits = RandomState::new().hash_one(0_u8);
    i64::try_from(bits % limit.unsigned_abs()).unwrap_or(0)
}

struct PgTx<'c> {
    connection: &'c ClientWrapper,
    begun: bool,
    /// A statement failed, so the server will roll back.
    failed: bool,
    /// Events and counter changes, written with the commit.
    events: Vec<Vec<OwnedValue>>,
    totals: BTreeMap<(&'static str, Box<str>), i64>,
    last_seq: &'c AtomicI64,
    creation_numbers: Range<i64>,
    audit_key: Option<&'c AuditKey>,
}

impl<'c> PgTx<'c> {
    fn new(connection: &'c ClientWrapper, last_seq: &'c AtomicI64, audit_key: Option<&'c AuditKey>) -> Self {
        let (events, totals) = (Vec::new(), BTreeMap::new());
        let creation_numbers = 0..0;
        Self {
            connection,
            begun: false,
            failed: false,
            events,
            totals,
            last_seq,
            creation_numbers,
            audit_key,
        }
    }

    /// Sends BEGIN with the first statement, in one round trip.
    async fn begin<T>(&mut self, statement: impl Future<Output = Result<T>>) -> Result<T> {
        let outcome = if self.begun {
            statement.await
        } else {
            self.begun = true;
            let (begun, outcome) = join(batch(self.connection, "BEGIN"), statement).await;
            begun.and(outcome)
        };
        self.failed |= outcome.is_err();
        outcome
    }

    /// Writes events and counters and commits in one round trip, so that counter rows are locked only briefly. A
    /// transaction uses one shard and one order, which prevents deadlocks. If a statement fails, the server rolls
    /// back instead of committing.
    async fn commit(mut self) -> Result<()> {
        let (events, totals) = (std::mem::take(&mut self.events), std::mem::take(&mut self.totals));
        let connection = self.connection;
        if events.is_empty() && totals.is_empty() {
            return if self.begun { batch(connection, "COMMIT").await } else { Ok(()) };
        }
        let (insert, upsert) =
            (prepare_cached(connection, &EVENT).await?, prepare_cached(connection, &COUNT).await?);
        let events: Vec<Vec<Val<'_>>> =
            events.iter().map(|event| event.iter().map(OwnedValue::borrow).collect()).collect();
        let shard = jitter(COUNTER_SHARDS);
        let totals: Vec<[Val<'_>; 4]> = totals
            .iter()
            .map(|((scope, name), by)| [(*scope).into(), (&**name).into(), shard.into(), (*by).into()])
            .collect();
        let booked = self.begin(async {
            let events = try_join_all(events.iter().map(|event| exec(connection, &insert, event)));
            let totals = try_join_all(totals.iter().map(|total| exec(connection, &upsert, total)));
            try_join(events, totals).await.map(drop)
        });
        let (booked, committed) = join(booked, batch(connection, "COMMIT")).await;
        booked.and(committed)
    }
}

impl Tx for PgTx<'_> {
    async fn exec(&mut self, sql: &'static Sql, params: &[Val<'_>]) -> Result<u64> {
        let connection = self.connection;
        let statement = prepare_cached(connection, sql).await?;
        self.begin(exec(connection, &statement, params)).await
    }

    async fn record_event(&mut self, event: &[Val<'_>], counts: &[Count<'_>]) -> Result<()> {
        self.events.push(event.iter().map(OwnedValue::from).collect());
        for &(scope, name, by) in counts.iter().filter(|(_, _, by)| *by != 0) {
            *self.totals.entry((scope, name.into())).or_insert(0) += by;
        }
        Ok(())
    }

    async fn rows<R: FromRow>(&mut self, sql: &'static Sql, params: &[Val<'_>]) -> Result<Vec<R>> {
        let connection = self.connection;
        let statement = prepare_cached(connection, sql).await?;
        self.begin(query(connection, &statement, params)).await
    }

    async fn creation_number(&mut self) -> Result<Val<'static>> {
        if self.creation_numbers.is_empty() {
            self.creation_numbers = creation_numbers::draw(self).await?;
        }
        self.creation_numbers.next().map(Val::Int).ok_or_else(|| Error::Bug("no creation number".into()))
    }

    /// Time-ordered and unique: microseconds, then random bits that tell replicas apart.
    fn seq(&mut self) -> Val<'static> {
        let micros = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_micros());
        let now = i64::try_from(micros).unwrap_or(i64::MAX >> 11) << 11 | jitter(1 << 11);
        let last = self.last_seq.fetch_max(now, Ordering::Relaxed);
        Val::Int(if now > last { now } else { self.last_seq.fetch_add(1, Ordering::Relaxed) + 1 })
    }

    fn audit_key(&self) -> Option<&AuditKey> {
        self.audit_key
    }
}

impl Row for tokio_postgres::Row {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.try_get(column).map_err(Into::into)
    }
    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.try_get(column).map_err(Into::into)
    }
    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        self.try_get(column).map_err(Into::into)
    }
}
