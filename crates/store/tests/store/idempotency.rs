//! Idempotency keys.

use std::sync::Arc;

use futures_util::future::join_all;
use portico_domain::{ErrorCode, Timestamp};
use portico_store::sql::{Op, Sql, Tx, sql};
use portico_store::{
    Answering, Error, ForgetReplies, IdempotencyClaim, Idempotent, RegisterDevice, Result, Seal,
};

use crate::engines::Db;
use crate::samples::{NOW, conflict, device, later, register};

on_both_engines! {
    repeated_request_gets_the_first_reply,
    another_request_under_the_same_key_is_refused,
    keys_of_different_scopes_are_different,
    an_answer_survives_reopening,
    failed_work_leaves_the_key_free,
    an_answer_is_kept_for_a_day_and_no_longer,
    concurrent_requests_with_one_key_have_one_effect,
    concurrent_requests_with_an_expired_key_have_one_effect,
    next_request_does_the_work_if_the_first_fails,
    answers_are_sealed_for_their_scope,
    old_answers_are_forgotten_and_new_ones_kept,
    old_answers_are_forgotten_in_batches,
}

const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// Reverses the bytes and binds them to their context; another context fails to open them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReversingSeal;

impl Seal for ReversingSeal {
    fn seal(&self, context: &[u8], plain: &[u8]) -> Result<Vec<u8>> {
        let mirrored = plain.iter().rev().map(|byte| !byte);
        Ok(context.iter().copied().chain(mirrored).collect())
    }
    fn open(&self, context: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        let mirrored = sealed.strip_prefix(context).ok_or_else(|| Error::Bug("another context".into()))?;
        Ok(mirrored.iter().rev().map(|byte| !byte).collect())
    }
}

/// Registers a device whose id is the reply.
type Registering = Idempotent<Answering<RegisterDevice, String>>;

fn once(id: &str, key: u8, request: u8, at: Timestamp) -> Registering {
    let op = Answering { op: register(device(id)), answer: id.to_owned() };
    Idempotent {
        op,
        key: IdempotencyClaim {
            scope: [key; 32],
            fingerprint: [request; 32],
            at,
            seal: Arc::new(ReversingSeal),
        },
    }
}

async fn devices(db: &Db) -> Vec<String> {
    let rows = db.raw("SELECT id FROM devices ORDER BY seq").await;
    rows.into_iter().flatten().flatten().collect()
}

async fn kept(db: &Db) -> String {
    db.raw("SELECT count(*) FROM idempotency").await[0][0].clone().unwrap()
}

async fn repeated_request_gets_the_first_reply(db: Db) {
    for id in ["first", "second", "third"] {
        assert_eq!(db.write(once(id, 1, 1, NOW)).await.unwrap(), "first");
    }
    assert_eq!(devices(&db).await, ["first"]);
    assert_eq!(db.device_total().await.unwrap(), 1);
}

async fn another_request_under_the_same_key_is_refused(db: Db) {
    db.write(once("a", 1, 1, NOW)).await.unwrap();
    let other = db.write(once("b", 1, 2, NOW)).await;
    assert!(matches!(other, Err(Error::KeyReused)), "{other:?}");
    assert_eq!(devices(&db).await, ["a"]);
    assert_eq!(db.write(once("c", 1, 1, NOW)).await.unwrap(), "a", "the first answer is still there");
}

async fn keys_of_different_scopes_are_different(db: Db) {
    assert_eq!(db.write(once("a", 1, 1, NOW)).await.unwrap(), "a");
    assert_eq!(db.write(once("b", 2, 1, NOW)).await.unwrap(), "b");
    assert_eq!(devices(&db).await, ["a", "b"]);
}

async fn an_answer_survives_reopening(db: Db) {
    db.write(once("a", 1, 1, NOW)).await.unwrap();
    let db = db.closed().await.open(portico_store::Role::Server).await;
    assert_eq!(db.write(once("b", 1, 1, NOW)).await.unwrap(), "a");
}

async fn failed_work_leaves_the_key_free(db: Db) {
    db.write(register(device("taken"))).await.unwrap();
    assert_eq!(conflict(db.write(once("taken", 1, 1, NOW)).await), "device_exists");
    assert_eq!(kept(&db).await, "0");
    assert_eq!(conflict(db.write(once("taken", 1, 1, NOW)).await), "device_exists", "it is tried again");
    assert_eq!(db.write(once("free", 1, 2, NOW)).await.unwrap(), "free", "another request may use the key");
    assert_eq!(devices(&db).await, ["taken", "free"]);
}

async fn an_answer_is_kept_for_a_day_and_no_longer(db: Db) {
    db.write(once("a", 1, 1, NOW)).await.unwrap();
    assert_eq!(db.write(once("b", 1, 1, later(DAY - 1))).await.unwrap(), "a");
    let other = db.write(once("b", 1, 2, later(DAY - 1))).await;
    assert!(matches!(other, Err(Error::KeyReused)), "{other:?}");

    assert_eq!(db.write(once("c", 1, 2, later(DAY + 1))).await.unwrap(), "c");
    assert_eq!(devices(&db).await, ["a", "c"]);
    assert_eq!(db.write(once("d", 1, 2, later(2 * DAY))).await.unwrap(), "c", "a new day has begun");
    assert_eq!(kept(&db).await, "1");
}

/// Concurrent requests have one effect and the same reply.
async fn ask_at_once(db: &Db, key: u8, at: Timestamp) {
    let before = devices(db).await.len();
    let tasks = (0..64).map(|n| {
        let (db, op) = (db.handle(), once(&format!("{key}-{}-{n}", at.micros()), key, 1, at));
        tokio::spawn(async move { db.write(op).await })
    });
    let answers: Vec<String> =
        join_all(tasks.collect::<Vec<_>>()).await.into_iter().map(|task| task.unwrap().unwrap()).collect();
    let made = devices(db).await.split_off(before);
    assert_eq!(made.len(), 1, "one effect");
    assert!(answers.iter().all(|answer| *answer == made[0]), "one answer: {answers:?}");
    let events = db.raw(&format!("SELECT count(*) FROM events WHERE subject = '{}'", made[0])).await;
    assert_eq!(events, [[Some("1".to_owned())]]);
}

async fn concurrent_requests_with_one_key_have_one_effect(db: Db) {
    ask_at_once(&db, 1, NOW).await;
    ask_at_once(&db, 2, NOW).await;
    assert_eq!(db.device_total().await.unwrap(), 2);
}

async fn concurrent_requests_with_an_expired_key_have_one_effect(db: Db) {
    ask_at_once(&db, 1, NOW).await;
    ask_at_once(&db, 1, later(DAY + 1)).await;
    assert_eq!(db.device_total().await.unwrap(), 2);
}

async fn next_request_does_the_work_if_the_first_fails(db: Db) {
    db.write(register(device("taken"))).await.unwrap();
    let tasks = (0..32).map(|n| {
        let id = if n % 2 == 0 { "taken".to_owned() } else { format!("free-{n}") };
        let (db, op) = (db.handle(), once(&id, 1, 1, NOW));
        tokio::spawn(async move { db.write(op).await })
    });
    let outcomes = join_all(tasks.collect::<Vec<_>>()).await;
    let made = devices(&db).await.split_off(1);
    assert_eq!(made.len(), 1);
    for outcome in outcomes {
        match outcome.unwrap() {
            Ok(answer) => assert_eq!(answer, made[0]),
            Err(error) => assert!(matches!(error, Error::Conflict(ErrorCode::DeviceExists)), "{error:?}"),
        }
    }
}

struct OnlyAnswer;

impl Op for OnlyAnswer {
    type Out = Vec<u8>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<u8>> {
        static ANSWER: Sql = sql("SELECT answer FROM idempotency");
        Ok(tx.one::<(Vec<u8>,)>(&ANSWER, &[]).await?.unwrap().0)
    }
}

async fn answers_are_sealed_for_their_scope(db: Db) {
    db.write(once("plain", 1, 1, NOW)).await.unwrap();
    let sealed = db.write(OnlyAnswer).await.unwrap();
    assert_eq!(sealed, ReversingSeal.seal(&[1; 32], b"\"plain\"").unwrap());
}

/// Stores many expired replies.
struct ManyOld;

impl Op for ManyOld {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        static KEEP: Sql =
            sql("INSERT INTO idempotency (scope, fingerprint, answer, created_at) VALUES (?1, ?1, ?1, ?2)");
        for n in 0..1500_i64 {
            tx.exec(&KEEP, &[n.to_be_bytes().as_slice().into(), n.into()]).await?;
        }
        Ok(())
    }
}

async fn old_answers_are_forgotten_and_new_ones_kept(db: Db) {
    db.write(once("old", 1, 1, NOW)).await.unwrap();
    db.write(once("new", 2, 1, later(DAY / 2))).await.unwrap();
    assert_eq!(db.write(ForgetReplies { at: later(DAY - 1) }).await.unwrap(), 0);
    assert_eq!(db.write(ForgetReplies { at: later(DAY + 1) }).await.unwrap(), 1);
    assert_eq!(db.write(ForgetReplies { at: later(DAY + 1) }).await.unwrap(), 0);
    assert_eq!(db.write(once("again", 2, 1, later(DAY + 1))).await.unwrap(), "new");
    assert_eq!(db.write(once("again", 1, 1, later(DAY - 1))).await.unwrap(), "again", "its key is free");
    assert_eq!(devices(&db).await, ["old", "new", "again"], "what was done stays done");
}

async fn old_answers_are_forgotten_in_batches(db: Db) {
    db.write(ManyOld).await.unwrap();
    db.write(once("new", 2, 1, NOW)).await.unwrap();
    let mut forgotten = 0;
    loop {
        match db.write(ForgetReplies { at: NOW }).await.unwrap() {
            0 => break,
            some => forgotten += some,
        }
    }
    assert_eq!(forgotten, 1500);
    assert_eq!(db.write(once("again", 2, 1, NOW)).await.unwrap(), "new");
}
