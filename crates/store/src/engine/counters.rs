//! Event rows and counters, written in the transaction of the change.

use std::future::{Ready, ready};

use portico_domain::{Tenant, Timestamp};

use crate::engine::error::Result;
use crate::engine::param::OwnedParam;
use crate::engine::sql::{Sql, Tx, sql, statements};

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

/// A counter's scope and name, and the amount to add.
pub(crate) type Count<'a> = (&'static str, &'a str, i64);

/// Notes an event and changes of counters, which are written when the work has succeeded. Ready at once: it is a future
/// because units of work end with it.
pub(crate) fn record<T: Tx>(
    tx: &mut T,
    by: &ChangeContext,
    kind: &'static str,
    subject: &str,
    counts: &[Count<'_>],
) -> Ready<Result<()>> {
    let account = by.account.as_ref().map(Tenant::stored);
    let context = tx.context();
    let event = [context.seq(), kind.into(), subject.into(), account.as_deref().into(), by.at.into()];
    context.events.push(event.each_ref().map(OwnedParam::from));
    for &(scope, name, by) in counts.iter().filter(|(_, _, by)| *by != 0) {
        *context.totals.entry((scope, name.into())).or_insert(0) += by;
    }
    ready(Ok(()))
}

statements! { EVENT, COUNT, UNCOUNT }
