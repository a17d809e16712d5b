//! A transaction on a pooled connection, with few round trips.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicI64, Ordering};

use deadpool_postgres::ClientWrapper;
use futures_util::future::{join, try_join, try_join_all};

use super::connection::{batch, exec, prepare_cached, query};
use crate::engine::audit_key::AuditKey;
use crate::engine::counters::{COUNT, EVENT};
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Count, FromRow, OwnedParam, Param, Sql, Tx, sql};

/// Rows per hot counter.
const COUNTER_SHARDS: i64 = 16;
/// Creation numbers that a transaction draws at once: the increment of the sequence.
pub(crate) const CREATION_NUMBER_BLOCK: i64 = 1024;

// `OFFSET 0` keeps the subquery apart: the lock is taken before the number is drawn.
static DRAW_CREATION_NUMBERS: Sql = sql("SELECT nextval('creation_numbers') FROM \
     (SELECT pg_advisory_xact_lock_shared(last_value) FROM creation_numbers OFFSET 0) AS announced");

/// A pseudo-random number from 0 to below the limit; not secret.
pub(crate) fn random_below(limit: i64) -> i64 {
    use std::hash::{BuildHasher, RandomState};
    let bits = RandomState::new().hash_one(0_u8);
    i64::try_from(bits % limit.unsigned_abs()).unwrap_or(0)
}

pub(crate) struct PgTx<'c> {
    connection: &'c ClientWrapper,
    pub(crate) begun: bool,
    /// A statement failed, so the server will roll back.
    pub(crate) failed: bool,
    /// Events and counter changes, written with the commit.
    events: Vec<Vec<OwnedParam>>,
    totals: BTreeMap<(&'static str, Box<str>), i64>,
    last_seq: &'c AtomicI64,
    creation_numbers: Range<i64>,
    audit_key: Option<&'c AuditKey>,
}

impl<'c> PgTx<'c> {
    pub(crate) fn new(
        connection: &'c ClientWrapper,
        last_seq: &'c AtomicI64,
        audit_key: Option<&'c AuditKey>,
    ) -> Self {
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
    pub(crate) async fn commit(mut self) -> Result<()> {
        let (events, totals) = (std::mem::take(&mut self.events), std::mem::take(&mut self.totals));
        let connection = self.connection;
        if events.is_empty() && totals.is_empty() {
            return if self.begun { batch(connection, "COMMIT").await } else { Ok(()) };
        }
        let (insert, upsert) =
            (prepare_cached(connection, &EVENT).await?, prepare_cached(connection, &COUNT).await?);
        let events: Vec<Vec<Param<'_>>> =
            events.iter().map(|event| event.iter().map(OwnedParam::borrow).collect()).collect();
        let shard = random_below(COUNTER_SHARDS);
        let totals: Vec<[Param<'_>; 4]> = totals
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
    async fn exec(&mut self, sql: &'static Sql, params: &[Param<'_>]) -> Result<u64> {
        let connection = self.connection;
        let statement = prepare_cached(connection, sql).await?;
        self.begin(exec(connection, &statement, params)).await
    }

    async fn record_event(&mut self, event: &[Param<'_>], counts: &[Count<'_>]) -> Result<()> {
        self.events.push(event.iter().map(OwnedParam::from).collect());
        for &(scope, name, by) in counts.iter().filter(|(_, _, by)| *by != 0) {
            *self.totals.entry((scope, name.into())).or_insert(0) += by;
        }
        Ok(())
    }

    async fn rows<R: FromRow>(&mut self, sql: &'static Sql, params: &[Param<'_>]) -> Result<Vec<R>> {
        let connection = self.connection;
        let statement = prepare_cached(connection, sql).await?;
        self.begin(query(connection, &statement, params)).await
    }

    async fn creation_number(&mut self) -> Result<Param<'static>> {
        if self.creation_numbers.is_empty() {
            let first: Option<(i64,)> = self.one(&DRAW_CREATION_NUMBERS, &[]).await?;
            let (first,) =
                first.ok_or_else(|| Error::Bug("the sequence of creation numbers is empty".into()))?;
            self.creation_numbers = first..first + CREATION_NUMBER_BLOCK;
        }
        self.creation_numbers.next().map(Param::Int).ok_or_else(|| Error::Bug("no creation number".into()))
    }

    /// Time-ordered and unique: microseconds, then random bits that tell replicas apart.
    fn seq(&mut self) -> Param<'static> {
        let micros = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_micros());
        let now = i64::try_from(micros).unwrap_or(i64::MAX >> 11) << 11 | random_below(1 << 11);
        let last = self.last_seq.fetch_max(now, Ordering::Relaxed);
        Param::Int(if now > last { now } else { self.last_seq.fetch_add(1, Ordering::Relaxed) + 1 })
    }

    fn audit_key(&self) -> Option<&AuditKey> {
        self.audit_key
    }
}
