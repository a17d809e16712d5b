//! Following a list while others add to it: nothing is missed, and everything that is committed is shown.

use portico_store::{Cursor, Page};

use crate::engines::{Db, OpenTransaction};
use crate::samples::{device, register, text};

on_both_engines! {
    a_row_that_is_committed_late_is_not_missed,
    a_follower_of_concurrent_writers_misses_nothing,
    pages_without_running_writes_repeat_nothing,
}

const LATE: &str = "late";

/// Takes a creation number as the store does, adds a device, and commits when it is told to. SQLite has one writer:
/// there, it does both at the end.
async fn add_late(db: &Db) -> OpenTransaction {
    const INTO: &str =
        "INSERT INTO devices (seq, id, user_id, network, identifier, created_at, updated_at) SELECT";
    const COLUMNS: &str = "'late', 'ann', 'helium', 'late', 0, 0";
    let number =
        "FROM (SELECT pg_advisory_xact_lock_shared(last_value) FROM creation_numbers OFFSET 0) AS announced";
    let postgres = format!("{INTO} nextval('creation_numbers'), {COLUMNS} {number}");
    db.place().begin(&format!("{INTO} NULL, {COLUMNS}"), &postgres).await
}

async fn page(db: &Db, after: Option<Cursor>, limit: usize) -> Page<String> {
    db.devices_on(&text("helium"), after, limit).await.unwrap().map(|device| device.id.as_str().to_owned())
}

async fn add(db: &Db, ids: impl IntoIterator<Item = u32>) {
    for id in ids {
        db.write(register(device(&format!("d-{id}")))).await.unwrap();
    }
}

async fn a_row_that_is_committed_late_is_not_missed(db: Db) {
    add(&db, 0..3).await;
    let late = add_late(&db).await;
    add(&db, 3..6).await;
    // What is committed is shown at once, in pages and in the complete list.
    let shown = page(&db, None, 5).await;
    assert_eq!(shown.items, ["d-0", "d-1", "d-2", "d-3", "d-4"]);
    assert_eq!(page(&db, None, 10).await.items.len(), 6);
    let rest = page(&db, shown.next, 5).await;
    assert_eq!(rest.items, ["d-5"], "a complete list repeats nothing");
    let next = shown.next_to_follow();
    late.commit().await;
    let followed = page(&db, next, 5).await;
    assert!(followed.items.iter().any(|id| id == LATE), "{:?}", followed.items);
    assert_eq!(followed.next, None);
    // From now on the order is settled.
    let again = page(&db, None, 5).await;
    assert_eq!(again.next_to_follow(), again.next);
    assert_eq!(page(&db, again.next_to_follow(), 5).await.items.len(), 2);
}

async fn a_follower_of_concurrent_writers_misses_nothing(db: Db) {
    const WRITERS: u32 = 8;
    const EACH: u32 = 60;
    let writers = (0..WRITERS).map(|writer| {
        let db = db.handle();
        tokio::spawn(async move {
            for number in 0..EACH {
                db.write(register(device(&format!("d-{writer}-{number}")))).await.unwrap();
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let (mut seen, mut after) = (std::collections::HashSet::new(), None);
    loop {
        let is_over = writers.iter().all(tokio::task::JoinHandle::is_finished);
        let page = page(&db, after, 7).await;
        let next = page.next_to_follow();
        seen.extend(page.items);
        match next {
            Some(next) => after = Some(next).max(after),
            None if is_over => break,
            None => tokio::task::yield_now().await,
        }
    }
    assert_eq!(seen.len(), (WRITERS * EACH) as usize);
}

async fn pages_without_running_writes_repeat_nothing(db: Db) {
    add(&db, 0..10).await;
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = page(&db, after, 3).await;
        after = page.next_to_follow();
        seen.extend(page.items);
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..10).map(|id| format!("d-{id}")).collect::<Vec<_>>());
}
