//! A unit of work is atomic and does not affect others.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Waker};

use futures_util::future::{join, join_all};
use portico_domain::ErrorCode;
use portico_store::sql::{Op, Sql, Tx, sql};
use portico_store::{CreateListing, Error, Result};

use crate::engines::Db;
use crate::samples::{conflict, create, listing, text};

on_both_engines! {
    work_that_fails_leaves_nothing,
    work_that_panics_leaves_nothing,
    work_with_a_wrong_statement_leaves_nothing,
    engine_survives_many_panics,
    failing_work_does_not_affect_its_group,
    panicking_work_does_not_affect_its_group,
    success_means_durable,
    work_sees_its_own_writes,
    work_continues_after_the_client_disconnects,
}

static MARK: Sql = sql("INSERT INTO members (user_id, account) VALUES (?1, 'mark')");
static MARKS: Sql = sql("SELECT user_id FROM members ORDER BY user_id");
static WRONG: Sql = sql("INSERT INTO no_such_table (x) VALUES (1)");

#[derive(Clone, Copy, PartialEq)]
enum End {
    Well,
    Error,
    Panic,
    WrongStatement,
    IgnoredError,
}

struct Work {
    name: String,
    end: End,
}

impl Op for Work {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&MARK, &[self.name.as_str().into()]).await?;
        create(listing(&self.name)).run(tx).await?;
        match self.end {
            End::Well => Ok(()),
            End::Error => Err(Error::Conflict(ErrorCode::Forbidden)),
            End::Panic => panic!("on purpose"),
            End::WrongStatement => tx.exec(&WRONG, &[]).await.map(drop),
            End::IgnoredError => {
                tx.exec(&MARK, &[self.name.as_str().into()]).await.unwrap_err();
                Ok(())
            }
        }
    }
}

fn work(name: &str, end: End) -> Work {
    Work { name: name.to_owned(), end }
}

/// Returns the marks; asserts that listings, events and counters agree with them.
async fn marks(db: &Db) -> Vec<String> {
    let column = |rows: Vec<Vec<Option<String>>>| rows.into_iter().flatten().flatten().collect::<Vec<_>>();
    let marks = column(db.raw("SELECT user_id FROM members ORDER BY user_id").await);
    assert_eq!(column(db.raw("SELECT id FROM listings ORDER BY id").await), marks);
    assert_eq!(column(db.raw("SELECT subject FROM events ORDER BY subject").await), marks);
    let total = db.listing_statistics().await.unwrap().total;
    assert_eq!(total, i64::try_from(marks.len()).unwrap());
    marks
}

async fn work_that_fails_leaves_nothing(db: Db) {
    assert_eq!(conflict(db.write(work("a", End::Error)).await), "forbidden");
    assert_eq!(marks(&db).await, [""; 0]);
    db.write(work("a", End::Well)).await.unwrap();
    assert_eq!(marks(&db).await, ["a"]);
}

async fn work_that_panics_leaves_nothing(db: Db) {
    let outcome = db.write(work("a", End::Panic)).await;
    assert!(matches!(outcome, Err(Error::Bug(_))), "{outcome:?}");
    assert_eq!(marks(&db).await, [""; 0]);
    db.write(work("b", End::Well)).await.unwrap();
    assert_eq!(marks(&db).await, ["b"], "not even later");
    db.write(work("a", End::Well)).await.unwrap();
    assert_eq!(marks(&db).await, ["a", "b"]);
}

async fn work_with_a_wrong_statement_leaves_nothing(db: Db) {
    let outcome = db.write(work("a", End::WrongStatement)).await;
    assert!(matches!(outcome, Err(Error::Bug(_))), "{outcome:?}");
    assert_eq!(marks(&db).await, [""; 0]);
    db.write(work("a", End::Well)).await.unwrap();
    assert_eq!(marks(&db).await, ["a"]);
}

async fn engine_survives_many_panics(db: Db) {
    let outcomes = join_all((0..40).map(|n| db.write(work(&format!("bad-{n}"), End::Panic)))).await;
    assert!(outcomes.iter().all(Result::is_err));
    let good: Vec<String> = (10..50).map(|n| format!("good-{n}")).collect();
    for outcome in join_all(good.iter().map(|name| db.write(work(name, End::Well)))).await {
        outcome.unwrap();
    }
    assert_eq!(marks(&db).await, good);
}

/// Blocks the engine, so that later work is committed in one group.
struct Gate(Mutex<Receiver<()>>);

impl Op for Gate {
    type Out = ();
    async fn run<T: Tx>(&self, _: &mut T) -> Result<()> {
        // Stays open: work may be run again.
        let _ = self.0.lock().unwrap().recv();
        Ok(())
    }
}

/// Runs work with both ends concurrently, in one group if the engine has groups.
async fn side_by_side(db: &Db, end: End) {
    let (open, gate) = channel();
    let works = (0..30).map(|n| {
        let end = if n % 3 == 1 { end } else { End::Well };
        db.write(work(&format!("{n:02}"), end))
    });
    let works = join_all(works.collect::<Vec<_>>());
    let opening = async move { open.send(()).unwrap() };
    // All start in this order before any is awaited.
    let (gate, (outcomes, ())) = join(db.write(Gate(Mutex::new(gate))), join(works, opening)).await;
    gate.unwrap();
    for (n, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.is_ok(), n % 3 != 1, "{n}: {outcome:?}");
    }
    let kept: Vec<String> = (0..30).filter(|n| n % 3 != 1).map(|n| format!("{n:02}")).collect();
    assert_eq!(marks(db).await, kept);
}

async fn failing_work_does_not_affect_its_group(db: Db) {
    side_by_side(&db, End::Error).await;
}

async fn panicking_work_does_not_affect_its_group(db: Db) {
    side_by_side(&db, End::Panic).await;
}

/// An engine may reject further statements after a failed one, but must not report success.
async fn success_means_durable(db: Db) {
    let outcome = db.write(work("a", End::IgnoredError)).await;
    let expected: &[&str] = if outcome.is_ok() { &["a"] } else { &[] };
    assert_eq!(marks(&db).await, expected, "{outcome:?}");
}

struct WriteAndRead(&'static str);

impl Op for WriteAndRead {
    type Out = Vec<String>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<String>> {
        tx.exec(&MARK, &[self.0.into()]).await?;
        Ok(tx.rows::<(String,)>(&MARKS, &[]).await?.into_iter().map(|(name,)| name).collect())
    }
}

async fn work_sees_its_own_writes(db: Db) {
    assert_eq!(db.write(WriteAndRead("b")).await.unwrap(), ["b"]);
    assert_eq!(db.write(WriteAndRead("a")).await.unwrap(), ["a", "b"]);
}

/// Stores a listing and signals that it has started.
struct Begun(CreateListing, Mutex<Option<Sender<()>>>);

impl Op for Begun {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        self.0.run(tx).await?;
        self.1.lock().unwrap().take().unwrap().send(()).unwrap();
        Ok(())
    }
}

async fn work_continues_after_the_client_disconnects(db: Db) {
    let (begun, has_begun) = channel();
    let op = Begun(create(listing("a")), Mutex::new(Some(begun)));
    let mut write = Box::pin(db.write(op));
    let first_look = write.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(first_look.is_pending(), "an answer follows the commit, which takes a while");
    drop(write);
    tokio::task::block_in_place(|| has_begun.recv().unwrap());
    // A request for the same id waits for the first one to end.
    assert_eq!(conflict(db.write(create(listing("a"))).await), "listing_exists");
    assert_eq!(db.listing(&text("a")).await.unwrap(), Some(listing("a")));
}
