//! Reads show everything that was acknowledged before them, even during writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use portico_domain::listings::ListingFilter;

use crate::engines::Db;
use crate::samples::{create, delete, listing, store_all, text};

on_both_engines! {
    deleted_listings_are_never_shown,
    an_id_that_is_used_again_shows_the_new_listing,
    deletion_by_another_process_is_seen_soon,
    a_change_by_another_program_is_seen,
    other_conditions_apply_to_lookups_by_id,
    concurrent_readers_get_their_own_listing,
}

async fn shown(db: &portico_store::Db, id: &str) -> Option<portico_domain::listings::Listing> {
    let filter = ListingFilter { id: Some(text(id)), ..ListingFilter::default() };
    db.find_listings(&filter, None, 10).await.unwrap().items.pop()
}

async fn deleted_listings_are_never_shown(db: Db) {
    const LISTINGS: usize = 300;
    store_all(&db, (0..LISTINGS).map(|n| listing(&format!("l-{n}")))).await;
    // All before this one are deleted.
    let (deleted, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (db, deleted, done) = (db.handle(), deleted.clone(), done.clone());
            tokio::spawn(async move {
                while !done.load(Ordering::Acquire) {
                    let before = deleted.load(Ordering::Acquire);
                    // Listings around the current deletion.
                    for n in before.saturating_sub(3)..(before + 3).min(LISTINGS) {
                        let found = shown(&db, &format!("l-{n}")).await;
                        assert!(n >= before || found.is_none(), "l-{n} is shown after it was deleted");
                    }
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for n in 0..LISTINGS {
        let id = format!("l-{n}");
        assert!(shown(&db, &id).await.is_some(), "{id}");
        db.write(delete(&id)).await.unwrap();
        deleted.store(n + 1, Ordering::Release);
        assert!(shown(&db, &id).await.is_none(), "{id}");
    }
    done.store(true, Ordering::Release);
    for reader in readers {
        reader.await.unwrap();
    }
}

async fn concurrent_readers_get_their_own_listing(db: Db) {
    const STORED: usize = 100;
    store_all(&db, (0..STORED).map(|n| listing(&format!("l-{n}")))).await;
    let asking: Vec<_> = (0..2000)
        .map(|n| {
            let db = db.handle();
            tokio::spawn(async move { shown(&db, &format!("l-{}", n % (STORED + 50))).await })
        })
        .collect();
    // Some clients disconnect, which must not affect the others.
    tokio::task::yield_now().await;
    asking.iter().step_by(3).for_each(tokio::task::JoinHandle::abort);
    let mut answered = 0;
    for (n, task) in asking.into_iter().enumerate() {
        let Ok(found) = task.await else { continue };
        answered += 1;
        let wanted = n % (STORED + 50);
        let wanted = (wanted < STORED).then(|| format!("l-{wanted}"));
        assert_eq!(found.map(|found| found.id.as_str().to_owned()), wanted);
    }
    assert!(answered >= 1333, "{answered} were answered");
    assert!(shown(&db, "l-7").await.is_some());
}

async fn an_id_that_is_used_again_shows_the_new_listing(db: Db) {
    for n in 0..20 {
        let mut new = listing("again");
        new.street = text(&format!("{n} Oak Street"));
        db.write(create(new.clone())).await.unwrap();
        assert_eq!(shown(&db, "again").await, Some(new.clone()));
        assert_eq!(shown(&db, "again").await, Some(new));
        db.write(delete("again")).await.unwrap();
        assert_eq!(shown(&db, "again").await, None);
    }
}

async fn deletion_by_another_process_is_seen_soon(db: Db) {
    store_all(&db, [listing("a"), listing("b")]).await;
    assert!(shown(&db, "a").await.is_some());
    db.raw("DELETE FROM listings WHERE id = 'a'").await;
    let began = Instant::now();
    while shown(&db, "a").await.is_some() {
        assert!(began.elapsed() < Duration::from_secs(10), "it is still shown");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(shown(&db, "b").await.is_some());
}

async fn a_change_by_another_program_is_seen(db: Db) {
    store_all(&db, [listing("a")]).await;
    assert!(shown(&db, "a").await.is_some());
    let street = listing("a").street;
    db.raw(&format!(
        "UPDATE listings SET document = replace(document, '{street}', 'elsewhere') WHERE id = 'a'"
    ))
    .await;
    let now = db.listing(&text("a")).await.unwrap().unwrap();
    assert_eq!(now.street.as_str(), "elsewhere");
}

async fn other_conditions_apply_to_lookups_by_id(db: Db) {
    store_all(&db, [listing("a")]).await;
    let owner = shown(&db, "a").await.unwrap().user;
    for (user, fits) in [(owner, true), (text("somebody-else"), false)] {
        let filter = ListingFilter { id: Some(text("a")), user: Some(user), ..ListingFilter::default() };
        assert_eq!(db.find_listings(&filter, None, 10).await.unwrap().items.len(), usize::from(fits));
    }
}
