//! A transaction on a pooled connection, with few round trips.

use deadpool_postgres::ClientWrapper;
use futures_util::future::{join, try_join, try_join_all};

use super::connection::{batch, exec, prepare_cached, query};
use crate::engine::audit_key::AuditKeyCell;
use crate::engine::context::{Context, random_below};
use crate::engine::counters::{COUNT, EVENT};
use crate::engine::error::Result;
use crate::engine::param::OwnedParam;
use crate::engine::sql::{FromRow, Param, Sql, Tx};

/// Rows per hot counter.
const COUNTER_SHARDS: i64 = 16;
pub(crate) struct PgTx<'c> {
    connection: &'c ClientWrapper,
    pub(crate) begun: bool,
    /// A statement failed, so the server will roll back.
    pub(crate) failed: bool,
    context: Context,
}

impl<'c> PgTx<'c> {
    pub(crate) fn new(connection: &'c ClientWrapper, audit_key: AuditKeyCell) -> Self {
        Self { connection, begun: false, failed: false, context: Context::postgres(audit_key) }
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
        let (events, totals) =
            (std::mem::take(&mut self.context.events), std::mem::take(&mut self.context.totals));
        let connection = self.connection;
        if events.is_empty() && totals.is_empty() {
            return if self.begun { batch(connection, "COMMIT").await } else { Ok(()) };
        }
        let (insert, upsert) =
            (prepare_cached(connection, &EVENT).await?, prepare_cached(connection, &COUNT).await?);
        let events: Vec<[Param<'_>; 5]> =
            events.iter().map(|event| event.each_ref().map(OwnedParam::borrow)).collect();
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

    async fn rows<R: FromRow>(&mut self, sql: &'static Sql, params: &[Param<'_>]) -> Result<Vec<R>> {
        let connection = self.connection;
        let statement = prepare_cached(connection, sql).await?;
        self.begin(query(connection, &statement, params)).await
    }

    fn context(&mut self) -> &mut Context {
        &mut self.context
    }
}
