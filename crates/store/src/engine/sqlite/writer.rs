//! The writer thread. It runs all queued jobs in one transaction, commits once, and replies after the commit: a group
//! commit.
//!
//! A job that fails must not affect the others of its group. Most fail before they change anything, for example because an
//! id is taken. If one fails half-way, which is rare, the group is rolled back and run again, each job in a savepoint.
//! Savepoints copy every page that changes, so they are not used from the start.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::pin::pin;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::task::{self, Poll, Waker};

use portico_sqlite::{Checkpointer, spawn_supervised};
use rusqlite::Connection;
use tokio::sync::oneshot;
use tracing::Span;

use super::search_index::SearchIndex;
use super::statement::{exec, rows};
use crate::engine::audit_key::AuditKeyCell;
use crate::engine::context::Context;
use crate::engine::counters::{COUNT, EVENT, UNCOUNT};
use crate::engine::error::{Error, Result};
use crate::engine::param::OwnedParam;
use crate::engine::sql::{FromRow, Op, Param, Sql, Tx};

/// Beyond this number of queued jobs, callers get a 503.
const MAX_QUEUED_JOBS: usize = 4096;
/// Jobs in one transaction.
const MAX_GROUP_JOBS: usize = 256;
/// The length of the write-ahead log, in pages of 4 KiB, at which it is copied back.
const MAX_WAL_PAGES: i32 = 32_000;

/// A queued unit of work and its caller.
trait Job: Send {
    /// Runs it within the group's transaction, possibly for the second time. Returns whether it failed half-way.
    fn run(&mut self, connection: &mut Connection, effects: &mut GroupEffects, isolation: Isolation) -> bool;
    /// Replies to the caller after the commit.
    fn answer(self: Box<Self>, committed: Result<()>);
}

/// Whether a job can be rolled back alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Isolation {
    /// It is part of the group.
    Group,
    /// It has its own savepoint.
    Savepoint,
}

struct QueuedJob<O: Op> {
    op: O,
    outcome: Result<O::Out>,
    answer: oneshot::Sender<Result<O::Out>>,
    audit_key: AuditKeyCell,
    /// Of the caller.
    span: Span,
}

impl<O: Op> Job for QueuedJob<O> {
    fn run(&mut self, connection: &mut Connection, effects: &mut GroupEffects, isolation: Isolation) -> bool {
        let _entered = self.span.enter();
        let before = connection.total_changes();
        self.outcome = match isolation {
            Isolation::Group => run(connection, effects, &self.op, &self.audit_key),
            Isolation::Savepoint => in_savepoint(connection, effects, &self.op, &self.audit_key),
        };
        let is_done = self.outcome.is_ok();
        tracing::debug!(work = std::any::type_name::<O>(), is_done, "a unit of work ended");
        isolation == Isolation::Group && self.outcome.is_err() && connection.total_changes() != before
    }

    fn answer(self: Box<Self>, committed: Result<()>) {
        // The client may have disconnected; the work is done all the same.
        let _ = self.answer.send(committed.and(self.outcome));
    }
}

/// What is written once for all jobs of a group.
#[derive(Default)]
struct GroupEffects {
    /// Changes of the totals.
    totals: HashMap<(&'static str, Box<str>), i64>,
}

#[derive(Debug)]
pub(super) struct Writer {
    jobs: SyncSender<Box<dyn Job>>,
    pub(super) audit_key: AuditKeyCell,
}

impl Writer {
    pub(super) fn start(
        mut connection: Connection,
        path: &Path,
        search_index: Option<SearchIndex>,
    ) -> Result<Self> {
        let (jobs, inbox) = sync_channel(MAX_QUEUED_JOBS);
        let checkpointer = Checkpointer::start(path, &mut connection, MAX_WAL_PAGES)?;
        let mut thread = Thread { connection, inbox, checkpointer, search_index };
        spawn_supervised("portico-writer", move || thread.run())?;
        Ok(Self { jobs, audit_key: AuditKeyCell::default() })
    }

    pub(super) async fn run<O: Op>(&self, op: O) -> Result<O::Out> {
        let (answer, answered) = oneshot::channel();
        let outcome = Err(Error::Bug("a write was not run".into()));
        let audit_key = self.audit_key.clone();
        let job = QueuedJob { op, outcome, answer, audit_key, span: Span::current() };
        self.jobs.try_send(Box::new(job)).map_err(|error| match error {
            TrySendError::Full(_) => Error::Busy,
            TrySendError::Disconnected(_) => Error::Unavailable("the writer has stopped".into()),
        })?;
        answered.await.map_err(|_| Error::Unavailable("the writer has stopped".into()))?
    }
}

struct Thread {
    connection: Connection,
    inbox: Receiver<Box<dyn Job>>,
    checkpointer: Checkpointer,
    search_index: Option<SearchIndex>,
}

impl Thread {
    fn run(&mut self) {
        // A panic may have left a transaction open.
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be undone");
        }
        while let Ok(first) = self.inbox.recv() {
            let (mut jobs, mut effects) = (vec![first], GroupEffects::default());
            let committed = self.group(&mut jobs, &mut effects);
            if let Err(error) = &committed {
                tracing::error!(%error, "a group of writes was not committed");
            }
            let failed = committed.err().map(|error| error.to_string());
            for job in jobs {
                job.answer(failed.clone().map_or(Ok(()), |error| Err(Error::Unavailable(error))));
            }
            if let Some(search_index) = &self.search_index {
                search_index.wake();
            }
            self.checkpointer.after_commit(&self.connection);
        }
    }

    fn begin(&self) -> Result<()> {
        exec(&self.connection, "BEGIN IMMEDIATE", &[]).map(drop)
    }

    /// Runs the first job and what is waiting behind it in one transaction. Every job that was taken is in `jobs`.
    fn group(&mut self, jobs: &mut Vec<Box<dyn Job>>, effects: &mut GroupEffects) -> Result<()> {
        let mut begun = self.begin();
        let (mut taken, mut half_done) = (0, false);
        while let Some(job) = jobs.get_mut(taken) {
            half_done |= job.run(&mut self.connection, effects, Isolation::Group);
            taken += 1;
            if taken < MAX_GROUP_JOBS {
                jobs.extend(self.inbox.try_recv());
            }
        }
        if half_done {
            if !self.connection.is_autocommit() {
                exec(&self.connection, "ROLLBACK", &[])?;
            }
            *effects = GroupEffects::default();
            begun = self.begin();
            for job in &mut *jobs {
                job.run(&mut self.connection, effects, Isolation::Savepoint);
            }
        }
        begun?;
        // Some failures end the transaction, such as that of a full disk: then nothing may be written any more.
        if self.connection.is_autocommit() {
            return Err(Error::Unavailable("a failure has undone the whole group".into()));
        }
        let moved = effects.totals.iter().try_for_each(|((scope, name), by)| {
            let [scope, name] = [(*scope).into(), (&**name).into()];
            exec(&self.connection, COUNT.sqlite(), &[scope, name, 0.into(), (*by).into()])?;
            if *by < 0 {
                exec(&self.connection, UNCOUNT.sqlite(), &[scope, name])?;
            }
            Ok(())
        });
        let committed = moved.and_then(|()| exec(&self.connection, "COMMIT", &[]));
        if committed.is_err() && !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        committed.map(drop)
    }
}

/// Runs one job so that its failure leaves its neighbours' work alone.
fn in_savepoint<O: Op>(
    connection: &mut Connection,
    effects: &mut GroupEffects,
    op: &O,
    audit_key: &AuditKeyCell,
) -> Result<O::Out> {
    if !connection.is_autocommit() {
        exec(connection, "SAVEPOINT job", &[])?;
    }
    let outcome = run(connection, effects, op, audit_key);
    if outcome.is_err() && !connection.is_autocommit() {
        exec(connection, "ROLLBACK TO job", &[])?;
    }
    if !connection.is_autocommit() {
        exec(connection, "RELEASE job", &[])?;
    }
    outcome
}

fn run<O: Op>(
    connection: &mut Connection,
    effects: &mut GroupEffects,
    op: &O,
    audit_key: &AuditKeyCell,
) -> Result<O::Out> {
    if connection.is_autocommit() {
        return Err(Error::Unavailable("no transaction could be opened".into()));
    }
    let mut tx = LiteTx { connection, context: Context::sqlite(audit_key.clone()) };
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| ready(op.run(&mut tx))))
        .unwrap_or_else(|_| Err(Error::Bug("a write panicked".into())))?;
    let LiteTx { connection, context } = tx;
    for event in &context.events {
        exec(connection, EVENT.sqlite(), &event.each_ref().map(OwnedParam::borrow))?;
    }
    for (counter, by) in context.totals {
        *effects.totals.entry(counter).or_insert(0) += by;
    }
    Ok(outcome)
}

/// Runs reads on a connection that is not the writer's.
pub(crate) fn read_with<O: Op>(connection: &mut Connection, op: &O) -> Result<O::Out> {
    ready(op.run(&mut LiteTx { connection, context: Context::sqlite(AuditKeyCell::default()) }))
}

/// On this engine every future is ready at once.
fn ready<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    match pin!(future).poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(Error::Bug("a unit of work waited for something else than its database".into())),
    }
}

/// A transaction on the writer's connection. It borrows it exclusively, which lets its futures be `Send`.
struct LiteTx<'c> {
    connection: &'c mut Connection,
    context: Context,
}

impl Tx for LiteTx<'_> {
    async fn exec(&mut self, sql: &'static Sql, params: &[Param<'_>]) -> Result<u64> {
        exec(self.connection, sql.sqlite(), params)
    }
    async fn rows<R: FromRow>(&mut self, sql: &'static Sql, params: &[Param<'_>]) -> Result<Vec<R>> {
        rows(self.connection, sql.sqlite(), params)
    }
    fn context(&mut self) -> &mut Context {
        &mut self.context
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{Sender, channel};

    use portico_domain::Timestamp;

    use super::*;
    use crate::engine::counters::{ChangeContext, record};
    use crate::engine::sql::sql;
    use crate::engine::sqlite::{migrate, migrations::MIGRATIONS};
    use portico_sqlite::connect;

    /// Counts something, once it is told to.
    struct Counts {
        begun: Sender<()>,
        go: Mutex<Receiver<()>>,
    }

    impl Op for Counts {
        type Out = ();
        async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
            let by = ChangeContext { account: None, at: Timestamp::from_micros(0) };
            record(tx, &by, "counted", "", &[("things", "total", 1)]).await?;
            self.begun.send(()).unwrap();
            self.go.lock().unwrap().recv().unwrap();
            Ok(())
        }
    }

    /// Writes more than there is room for.
    struct TooMuch;

    static TOO_MUCH: Sql =
        sql("INSERT INTO events (kind, subject, at) VALUES ('', hex(zeroblob(1000000)), 0)");

    impl Op for TooMuch {
        type Out = u64;
        async fn run<T: Tx>(&self, tx: &mut T) -> Result<u64> {
            tx.exec(&TOO_MUCH, &[]).await
        }
    }

    #[tokio::test]
    async fn full_disk_rolls_back_the_counts_of_the_group() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("full.db");
        let mut connection = connect(&path, 1024).unwrap();
        migrate::run(&mut connection, MIGRATIONS).unwrap();
        connection.execute_batch("PRAGMA max_page_count = 300").unwrap();
        let writer = std::sync::Arc::new(Writer::start(connection, &path, None).unwrap());
        let counted = || -> i64 {
            let reader = connect(&path, 1024).unwrap();
            reader.query_row("SELECT coalesce(sum(n), 0) FROM counters", [], |row| row.get(0)).unwrap()
        };
        let write = |full: bool| {
            let ((begun, has_begun), (tell, go)) = (channel(), channel());
            let writer = writer.clone();
            async move {
                let counts = Counts { begun, go: Mutex::new(go) };
                let first = tokio::spawn({
                    let writer = writer.clone();
                    async move { writer.run(counts).await }
                });
                tokio::task::yield_now().await;
                has_begun.recv().unwrap();
                // It joins the group that is under way.
                let second = full.then(|| tokio::spawn(async move { writer.run(TooMuch).await }));
                tokio::task::yield_now().await;
                tell.send(()).unwrap();
                let first = first.await.unwrap();
                (
                    first,
                    match second {
                        Some(second) => second.await.unwrap(),
                        None => Ok(0),
                    },
                )
            }
        };
        let (first, second) = write(true).await;
        assert!(matches!(first, Err(Error::Unavailable(_))), "{first:?}");
        assert!(matches!(second, Err(Error::Unavailable(_))), "{second:?}");
        assert_eq!(counted(), 0);
        let (again, _) = write(false).await;
        again.unwrap();
        assert_eq!(counted(), 1);
    }
}
