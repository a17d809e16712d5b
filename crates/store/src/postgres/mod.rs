//! The `PostgreSQL` engine: shared, pipelined clients for reads, a pool of connections for transactions.
//!
//! A lost server is `Unavailable` at once and comes back by itself; a serialization failure is run again.

mod connection;
mod listing_index;
mod pool;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::future::{join, try_join, try_join_all};

use crate::counters::{COUNT, Count, EVENT};
use crate::migrate::{self, Migrations, Status};
use crate::sql::{Columns, FromRow, Op, OwnedValue, Row, Sql, Tx, Val, Weight};
use crate::{Error, Result};
use connection::{Connection, Connector};
use pool::{Pool, SharedClient};

pub(crate) const MIGRATIONS: Migrations = &[
    ("initial", include_str!("../../migrations/postgres/0001_initial.sql")),
    ("chain", include_str!("../../migrations/postgres/0002_chain.sql")),
    ("screening", include_str!("../../migrations/postgres/0003_screening.sql")),
    ("deployment", include_str!("../../migrations/postgres/0004_deployment.sql")),
    ("listing documents", include_str!("../../migrations/postgres/0005_listing_documents.sql")),
];
const KEYSTORE: Migrations = &[
    ("keys", include_str!("../../migrations/postgres-keys/0001_keys.sql")),
    ("identity", include_str!("../../migrations/postgres-keys/0002_identity.sql")),
];
/// Where a keystore is, so that a backup can leave it out.
const KEYSTORE_SCHEMA: &str = "portico_keys";

/// Shared clients for reads. Each pipelines what arrives at the same time over one connection.
const SHARED_CLIENTS: usize = 2;
const POOL_SIZE: usize = 16;
/// How often a unit of work that collides with others is run.
const MAX_ATTEMPTS: u32 = 10;
/// A hot counter is spread over so many rows.
const COUNTER_SHARDS: i64 = 16;

/// The engine. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Postgres(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    shared_clients: Vec<SharedClient>,
    next_client: AtomicI64,
    /// For queries whose plan depends on their parameters.
    search: SharedClient,
    pool: Pool,
    last_seq: Arc<AtomicI64>,
}

impl Postgres {
    pub(crate) async fn open(url: &str) -> Result<Self> {
        Self::start(Connector::new(url)?, MIGRATIONS).await
    }

    /// Connects to a keystore, and migrates it.
    pub(crate) async fn open_keystore(url: &str) -> Result<Self> {
        let schema = format!("CREATE SCHEMA IF NOT EXISTS {KEYSTORE_SCHEMA}");
        let connection = Connector::new(url)?.connect().await?;
        // `IF NOT EXISTS` is not atomic: of two who create it at once, one is told that it exists.
        if connection.batch(&schema).await.is_err() {
            connection.batch(&schema).await?;
        }
        Self::start(Connector::new(url)?.within(KEYSTORE_SCHEMA), KEYSTORE).await
    }

    /// Whether there is a keystore.
    pub(crate) async fn has_keystore(url: &str) -> Result<bool> {
        let connection = Connector::new(url)?.within(KEYSTORE_SCHEMA).connect().await?;
        Ok(migrate::postgres_status(connection.client(), KEYSTORE).await?.current > 0)
    }

    async fn start(connector: Connector, migrations: Migrations) -> Result<Self> {
        let connector = Arc::new(connector);
        let mut connection = connector.connect().await?;
        migrate::postgres(connection.client_mut(), migrations).await?;
        Ok(Self(Arc::new(Inner {
            shared_clients: (0..SHARED_CLIENTS).map(|_| SharedClient::new(connector.clone(), "")).collect(),
            search: SharedClient::new(connector.clone(), "SET plan_cache_mode = force_custom_plan"),
            next_client: AtomicI64::new(0),
            pool: Pool::new(connector, POOL_SIZE),
            last_seq: Arc::default(),
        })))
    }

    pub(crate) async fn status(url: &str) -> Result<Status> {
        migrate::postgres_status(Connector::new(url)?.connect().await?.client(), MIGRATIONS).await
    }

    pub(crate) async fn read<R: FromRow>(
        &self,
        sql: &'static Sql,
        params: &[Val<'_>],
        weight: Weight,
    ) -> Result<Vec<R>> {
        let turn = self.0.next_client.fetch_add(1, Ordering::Relaxed).unsigned_abs();
        let client = match weight {
            Weight::Search => &self.0.search,
            Weight::Point | Weight::Scan => {
                &self.0.shared_clients[usize::try_from(turn).unwrap_or(0) % SHARED_CLIENTS]
            }
        };
        let connection = client.connection().await?;
        match connection.rows(sql, params).await {
            // A connection that died while it was idle costs one more try, not a failed request.
            Err(Error::Unavailable(_)) => {
                client.forget(&connection);
                client.connection().await?.rows(sql, params).await
            }
            answer => answer,
        }
    }

    /// Runs the work in a task of its own: a client that hangs up does not stop it half-way.
    pub(crate) async fn write<O: Op>(&self, op: O) -> Result<O::Out> {
        let this = self.clone();
        tokio::spawn(async move { this.run(&op).await })
            .await
            .map_err(|panic| Error::Bug(format!("a write panicked: {panic}")))?
    }

    async fn run<O: Op>(&self, op: &O) -> Result<O::Out> {
        let mut reason = String::new();
        for attempt in 0..MAX_ATTEMPTS {
            let connection = self.0.pool.take().await?;
            let mut tx = PgTx::new(&connection, &self.0.last_seq);
            let outcome = op.run(&mut tx).await;
            let outcome = match (outcome, tx.begun) {
                (Ok(_), _) if tx.failed => {
                    let undone = connection.batch("ROLLBACK").await;
                    undone.and(Err(Error::Bug("a failed statement was ignored".into())))
                }
                (Ok(out), _) => tx.commit().await.map(|()| out),
                (Err(error), true) => connection.batch("ROLLBACK").await.and(Err(error)),
                (Err(error), false) => Err(error),
            };
            match outcome {
                // Nobody knows what its server is doing: the connection is let go.
                Err(Error::Unavailable(why)) => return Err(Error::Unavailable(why)),
                Err(Error::Again(why)) => reason = why,
                outcome => {
                    connection.release();
                    return outcome;
                }
            }
            connection.release();
            // Apart from each other, so that the same two do not collide again.
            let wait = (u64::from(attempt) + 1) * 2 + noise(8).unsigned_abs();
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
        tracing::warn!(reason, "a unit of work collided with others too often");
        Err(Error::Busy)
    }
}

/// A number below `limit` that differs from thread to thread and moment to moment; nothing secret.
fn noise(limit: i64) -> i64 {
    use std::hash::{BuildHasher, RandomState};
    let bits = RandomState::new().hash_one(0_u8);
    i64::try_from(bits % limit.unsigned_abs()).unwrap_or(0)
}

struct PgTx<'c> {
    connection: &'c Connection,
    begun: bool,
    /// A statement failed, so that the server is going to undo everything.
    failed: bool,
    /// Events, and what totals move by: written together with the commit.
    events: Vec<Vec<OwnedValue>>,
    totals: BTreeMap<(&'static str, Box<str>), i64>,
    last_seq: &'c AtomicI64,
}

impl<'c> PgTx<'c> {
    fn new(connection: &'c Connection, last_seq: &'c AtomicI64) -> Self {
        let (events, totals) = (Vec::new(), BTreeMap::new());
        Self { connection, begun: false, failed: false, events, totals, last_seq }
    }

    /// Opens the transaction together with its first statement, in one round trip.
    async fn begin<T>(&mut self, statement: impl Future<Output = Result<T>>) -> Result<T> {
        let outcome = if self.begun {
            statement.await
        } else {
            self.begun = true;
            let (begun, outcome) = join(self.connection.batch("BEGIN"), statement).await;
            begun.and(outcome)
        };
        self.failed |= outcome.is_err();
        outcome
    }

    /// Writes what was booked and commits, in one round trip, so that nobody waits for a total for longer than
    /// that takes. Totals are spread over shards; one shard and one order for the whole transaction, so that no
    /// two wait for each other. If a statement fails, the server undoes everything instead of committing.
    async fn commit(mut self) -> Result<()> {
        let (events, totals) = (std::mem::take(&mut self.events), std::mem::take(&mut self.totals));
        let connection = self.connection;
        if events.is_empty() && totals.is_empty() {
            return if self.begun { connection.batch("COMMIT").await } else { Ok(()) };
        }
        let (insert, upsert) = (connection.prepared(&EVENT).await?, connection.prepared(&COUNT).await?);
        let events: Vec<Vec<Val<'_>>> =
            events.iter().map(|event| event.iter().map(OwnedValue::borrow).collect()).collect();
        let shard = noise(COUNTER_SHARDS);
        let totals: Vec<[Val<'_>; 4]> = totals
            .iter()
            .map(|((scope, name), by)| [(*scope).into(), (&**name).into(), shard.into(), (*by).into()])
            .collect();
        let booked = self.begin(async {
            let events = try_join_all(events.iter().map(|event| connection.exec(&insert, event)));
            let totals = try_join_all(totals.iter().map(|total| connection.exec(&upsert, total)));
            try_join(events, totals).await.map(drop)
        });
        let (booked, committed) = join(booked, connection.batch("COMMIT")).await;
        booked.and(committed)
    }
}

impl Tx for PgTx<'_> {
    async fn exec(&mut self, sql: &'static Sql, params: &[Val<'_>]) -> Result<u64> {
        let connection = self.connection;
        let statement = connection.prepared(sql).await?;
        self.begin(connection.exec(&statement, params)).await
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
        let statement = connection.prepared(sql).await?;
        self.begin(connection.query(&statement, params)).await
    }

    /// Time-ordered and unique: microseconds, then noise that tells replicas apart.
    fn seq(&mut self) -> Val<'static> {
        let micros = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_micros());
        let now = i64::try_from(micros).unwrap_or(i64::MAX >> 11) << 11 | noise(1 << 11);
        let last = self.last_seq.fetch_max(now, Ordering::Relaxed);
        Val::Int(if now > last { now } else { self.last_seq.fetch_add(1, Ordering::Relaxed) + 1 })
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

fn read_all<R: FromRow>(rows: &[tokio_postgres::Row]) -> Result<Vec<R>> {
    rows.iter().map(|row| R::from_row(&mut Columns::new(row))).collect()
}
