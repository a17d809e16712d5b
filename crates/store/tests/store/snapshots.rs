//! Acknowledged writes are visible immediately, those of other processes soon; no read blocks the checkpoint.

use std::time::{Duration, Instant};

use portico_domain::listings::ListingFilter;
use portico_store::Role;

use crate::engines::Db;
use crate::samples::{create, delete, found, listing, term, text};

on_both_engines! {
    acknowledged_writes_are_visible_immediately,
    indexed_listings_are_found,
    writes_of_another_process_are_seen_soon,
    failed_read_does_not_affect_the_next_one,
    finished_read_does_not_block_the_checkpoint,
}

async fn acknowledged_writes_are_visible_immediately(db: Db) {
    for n in 0..200 {
        let id = format!("l-{n}");
        assert!(db.listing(&text(&id)).await.unwrap().is_none());
        // On another thread.
        let (writing, new) = (db.handle(), listing(&id));
        tokio::spawn(async move { writing.write(create(new)).await }).await.unwrap().unwrap();
        assert!(db.listing(&text(&id)).await.unwrap().is_some(), "{id}");
        if n % 2 == 0 {
            db.write(delete(&id)).await.unwrap();
            assert!(db.listing(&text(&id)).await.unwrap().is_none(), "{id}");
        }
    }
}

async fn indexed_listings_are_found(db: Db) {
    let filter = ListingFilter { city: Some(text("austin")), ..ListingFilter::default() };
    for n in 1..=30 {
        db.write(create(listing(&format!("l-{n}")))).await.unwrap();
        assert_eq!(found(&db, &filter).await.len(), n);
        db.wait_for_index().await.unwrap();
        assert_eq!(found(&db, &filter).await.len(), n, "after the index has it");
    }
    let filter = ListingFilter { term: Some(term("l-30")), ..ListingFilter::default() };
    assert_eq!(found(&db, &filter).await, ["l-30"]);
}

async fn writes_of_another_process_are_seen_soon(server: Db) {
    let tool = server.place().open(Role::Tool).await;
    assert!(server.listing(&text("a")).await.unwrap().is_none());
    tool.write(create(listing("a"))).await.unwrap();
    let (began, mut seen) = (Instant::now(), false);
    while !seen && began.elapsed() < Duration::from_secs(10) {
        seen = server.listing(&text("a")).await.unwrap().is_some();
    }
    assert!(seen);
}

async fn failed_read_does_not_affect_the_next_one(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    assert!(db.listing(&text("a")).await.unwrap().is_some());
    db.raw("ALTER TABLE listings RENAME COLUMN document TO elsewhere").await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(db.listing(&text("a")).await.is_err());
    db.raw("ALTER TABLE listings RENAME COLUMN elsewhere TO document").await;
    assert!(db.listing(&text("a")).await.unwrap().is_some());
}

async fn finished_read_does_not_block_the_checkpoint(db: Db) {
    assert!(db.listing(&text("a")).await.unwrap().is_none());
    db.write(create(listing("a"))).await.unwrap();
    // The log can be truncated only if nobody reads an old snapshot.
    db.close().unwrap();
    if let Some(index) = db.place().search_index() {
        let log = index.with_file_name("portico.db-wal");
        assert_eq!(std::fs::metadata(log).unwrap().len(), 0);
    }
}
