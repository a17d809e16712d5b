//! Event rows and counters, written in the transaction of the change.

use portico_domain::{Tenant, Timestamp};

use crate::engine::error::Result;
use crate::engine::sql::{Count, Param, Sql, Tx, sql};

#[derive(Debug, Clone)]
pub struct ChangeContext {
    pub account: Option<Tenant>,
    pub at: Timestamp,
}

pub(crate) static EVENT: Sql =
    sql("INSERT INTO events (seq, kind, subject, account, at) VALUES (?1, ?2, ?3, ?4, ?5)");
pub(crate) static COUNT: Sql = sql("INSERT INTO counters (scope, name, shard, n) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (scope, name, shard) DO UPDATE SET n = counters.n + excluded.n");
/// With a single shard, a counter of 0 can be deleted.
pub(crate) static UNCOUNT: Sql = sql("DELETE FROM counters WHERE scope = ?1 AND name = ?2 AND n = 0");

pub(crate) async fn record<T: Tx>(
    tx: &mut T,
    by: &ChangeContext,
    kind: &'static str,
    subject: &str,
    counts: &[Count<'_>],
) -> Result<()> {
    let account = by.account.as_ref().map(Tenant::stored);
    let account = account.as_deref().map_or(Param::Null, Param::Text);
    let event = [tx.seq(), kind.into(), subject.into(), account, by.at.into()];
    tx.record_event(&event, counts).await
}
