//! Lost connections. SQLite has none, and must work all the same.

use portico_store::Error;

use crate::engines::Db;
use crate::samples::{create, listing, text};

on_both_engines! {
    read_survives_a_lost_connection,
    writes_continue_after_all_connections_are_lost,
}

async fn read_survives_a_lost_connection(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    for _round in 0..20 {
        for _every_shared_connection in 0..4 {
            assert_eq!(db.listing(&text("a")).await.unwrap(), Some(listing("a")));
        }
        db.cut_connections().await;
    }
}

async fn writes_continue_after_all_connections_are_lost(db: Db) {
    for outcome in
        futures_util::future::join_all((0..40).map(|n| db.write(create(listing(&format!("{n}")))))).await
    {
        outcome.unwrap();
    }
    db.cut_connections().await;
    // Each connection may cost at most one failed write, which leaves nothing behind.
    let mut refused = 0;
    while let Err(error) = db.write(create(listing("new"))).await {
        assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
        assert_eq!(db.listing(&text("new")).await.unwrap(), None);
        refused += 1;
        assert!(refused <= 16, "{error:?}");
    }
    assert_eq!(db.listing_statistics().await.unwrap().total, 41);
}
