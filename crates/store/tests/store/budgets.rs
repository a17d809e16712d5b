//! Daily budgets of what costs money.

use futures_util::future::join_all;
use portico_domain::{Quota, Timestamp};
use portico_store::{
    Budget, Charge, Error, ForgetBudgets, IdempotencyClaim, Idempotent, Paid, RegisterDevice, Role,
};

use crate::engines::Db;
use crate::idempotency::ReversingSeal;
use crate::samples::{NOW, conflict, device, register};

on_both_engines! {
    budget_is_used_up_and_survives_reopening,
    next_day_has_a_new_budget,
    every_payer_pays_or_none,
    refused_work_leaves_nothing,
    failed_work_pays_nothing,
    repeated_idempotency_key_pays_once,
    concurrent_work_never_exceeds_a_budget,
    past_days_are_forgotten,
}

const DAY_SECONDS: u32 = 24 * 60 * 60;

fn tomorrow() -> Timestamp {
    NOW.minus_seconds(-i64::from(DAY_SECONDS))
}

fn charge(payer: u8, limit: u32, at: Timestamp) -> Charge {
    let quota = Quota { name: "tests", limit, window_seconds: DAY_SECONDS, remaining: 0, reset_seconds: 0 };
    Charge::new([payer; 32], quota, at)
}

fn paid(id: &str, amount: i64, charges: &[Charge]) -> Paid<RegisterDevice> {
    Paid { op: register(device(id)), budget: Budget(charges.to_vec()), amount }
}

/// What was left of the quota that refused the work.
async fn left(db: &Db, work: Paid<RegisterDevice>) -> u32 {
    match db.write(work).await {
        Err(Error::OverQuota(quota)) => quota.remaining,
        other => panic!("{other:?}"),
    }
}

async fn used(db: &Db) -> Vec<String> {
    let rows = db.raw("SELECT used FROM budgets ORDER BY day, payer").await;
    rows.into_iter().flatten().flatten().collect()
}

async fn budget_is_used_up_and_survives_reopening(db: Db) {
    let ann = [charge(1, 5, NOW)];
    db.write(paid("a", 3, &ann)).await.unwrap();
    assert_eq!(left(&db, paid("b", 3, &ann)).await, 2);
    db.write(paid("c", 2, &ann)).await.unwrap();
    let db = db.closed().await.open(Role::Server).await;
    assert_eq!(left(&db, paid("d", 1, &ann)).await, 0);
    db.write(paid("e", 5, &[charge(2, 5, NOW)])).await.unwrap();
    assert_eq!(left(&db, paid("f", 6, &[charge(3, 5, NOW)])).await, 5, "more than there ever is");
}

async fn next_day_has_a_new_budget(db: Db) {
    db.write(paid("a", 1, &[charge(1, 1, NOW)])).await.unwrap();
    let Err(Error::OverQuota(quota)) = db.write(paid("b", 1, &[charge(1, 1, NOW)])).await else { panic!() };
    let seconds = i64::from(quota.reset_seconds);
    let wait = |seconds: i64| NOW.minus_seconds(-seconds);
    assert_eq!(left(&db, paid("b", 1, &[charge(1, 1, wait(seconds - 2))])).await, 0);
    db.write(paid("b", 1, &[charge(1, 1, wait(seconds))])).await.unwrap();
}

async fn every_payer_pays_or_none(db: Db) {
    let (person, account) = (charge(1, 9, NOW), charge(2, 1, NOW));
    db.write(paid("a", 1, &[person.clone(), account.clone()])).await.unwrap();
    let Err(Error::OverQuota(quota)) = db.write(paid("b", 1, &[person, account])).await else { panic!() };
    assert_eq!((quota.limit, quota.remaining), (1, 0), "it is the account's");
    assert_eq!(used(&db).await, ["1", "1"]);
}

async fn refused_work_leaves_nothing(db: Db) {
    let ann = [charge(1, 1, NOW)];
    assert_eq!(left(&db, paid("a", 2, &ann)).await, 1);
    db.write(register(device("a"))).await.unwrap();
}

async fn failed_work_pays_nothing(db: Db) {
    let ann = [charge(1, 2, NOW)];
    db.write(paid("a", 1, &ann)).await.unwrap();
    conflict(db.write(paid("a", 1, &ann)).await);
    db.write(paid("b", 1, &ann)).await.unwrap();
}

async fn repeated_idempotency_key_pays_once(db: Db) {
    let once = |id: &str| Idempotent {
        op: paid(id, 1, &[charge(1, 1, NOW)]),
        key: IdempotencyClaim {
            scope: [1; 32],
            fingerprint: [2; 32],
            at: NOW,
            seal: std::sync::Arc::new(ReversingSeal),
        },
    };
    for _ in 0..3 {
        db.write(once("a")).await.unwrap();
    }
    assert_eq!(used(&db).await, ["1"]);
}

async fn concurrent_work_never_exceeds_a_budget(db: Db) {
    let work = (0..40).map(|n| db.write(paid(&format!("{n}"), 1, &[charge(1, 10, NOW), charge(2, 90, NOW)])));
    let done = join_all(work).await;
    let refused = |outcome: &Result<(), Error>| matches!(outcome, Err(Error::OverQuota(_)));
    assert_eq!(done.iter().filter(|outcome| outcome.is_ok()).count(), 10);
    assert_eq!(done.iter().filter(|outcome| refused(outcome)).count(), 30, "{done:?}");
    assert_eq!(used(&db).await, ["10", "10"]);
}

async fn past_days_are_forgotten(db: Db) {
    db.write(paid("a", 1, &[charge(1, 9, NOW)])).await.unwrap();
    db.write(paid("b", 2, &[charge(1, 9, tomorrow())])).await.unwrap();
    db.write(ForgetBudgets { at: tomorrow() }).await.unwrap();
    assert_eq!(used(&db).await, ["2"]);
}
