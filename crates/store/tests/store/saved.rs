//! Saved listings: per user, in the order of saving; ids are references.

use portico_domain::listings::Listing;
use portico_store::{Result, SaveListing, UnsaveListing};

use crate::engines::Db;
use crate::samples::{by, conflict, create, delete, ids, listing, listing_ids, missing, store_all, text};

on_both_engines! {
    nothing_is_saved_at_first,
    saved_listings_stay_in_the_order_of_saving,
    saving_twice_changes_nothing,
    unknown_listings_may_be_saved_and_have_no_details,
    details_are_current,
    users_do_not_see_each_others,
    listing_is_removed_from_the_list,
    saving_again_moves_to_the_end,
    removing_an_unsaved_listing_is_refused,
    full_list_does_not_grow,
    saving_twice_changes_nothing_on_a_full_list,
}

async fn save(db: &Db, user: &str, id: &str) -> Result<()> {
    db.write(SaveListing { user: text(user), listing: text(id), by: by() }).await
}

async fn unsave(db: &Db, user: &str, id: &str) -> Result<()> {
    db.write(UnsaveListing { user: text(user), listing: text(id), by: by() }).await
}

/// Asserts the saved ids, and which of them have details.
async fn assert_saved(db: &Db, user: &str, saved: &[&str], details: &[&str]) {
    let (saved_ids, listings) = db.saved_listings(&text(user)).await.unwrap();
    assert_eq!(saved_ids, listing_ids(saved));
    assert_eq!(ids(&listings), *details);
}

async fn nothing_is_saved_at_first(db: Db) {
    assert_saved(&db, "ann", &[], &[]).await;
}

async fn saved_listings_stay_in_the_order_of_saving(db: Db) {
    store_all(&db, ["a", "b", "c"].map(listing)).await;
    for id in ["c", "a", "b"] {
        save(&db, "ann", id).await.unwrap();
    }
    assert_saved(&db, "ann", &["c", "a", "b"], &["c", "a", "b"]).await;
}

async fn saving_twice_changes_nothing(db: Db) {
    store_all(&db, ["a", "b"].map(listing)).await;
    for id in ["a", "b", "a"] {
        save(&db, "ann", id).await.unwrap();
    }
    assert_saved(&db, "ann", &["a", "b"], &["a", "b"]).await;
}

async fn unknown_listings_may_be_saved_and_have_no_details(db: Db) {
    store_all(&db, [listing("a"), listing("B")]).await;
    for id in ["unknown", "a", "b"] {
        save(&db, "ann", id).await.unwrap();
    }
    assert_saved(&db, "ann", &["unknown", "a", "b"], &["a"]).await;
}

async fn details_are_current(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    save(&db, "ann", "a").await.unwrap();
    db.write(delete("a")).await.unwrap();
    assert_saved(&db, "ann", &["a"], &[]).await;
    let again = Listing { city: text("Boston"), ..listing("a") };
    db.write(create(again.clone())).await.unwrap();
    let (_, details) = db.saved_listings(&text("ann")).await.unwrap();
    assert_eq!(details, [again]);
}

async fn users_do_not_see_each_others(db: Db) {
    save(&db, "ann", "a").await.unwrap();
    save(&db, "Ann", "b").await.unwrap();
    assert_saved(&db, "ann", &["a"], &[]).await;
    assert_saved(&db, "Ann", &["b"], &[]).await;
    assert_eq!(missing(unsave(&db, "ann", "b").await), "saved_listing_not_found");
}

async fn listing_is_removed_from_the_list(db: Db) {
    store_all(&db, ["a", "b"].map(listing)).await;
    for id in ["a", "b"] {
        save(&db, "ann", id).await.unwrap();
    }
    unsave(&db, "ann", "a").await.unwrap();
    assert_saved(&db, "ann", &["b"], &["b"]).await;
    assert!(db.listing(&text("a")).await.unwrap().is_some(), "the listing itself stays");
}

async fn saving_again_moves_to_the_end(db: Db) {
    for id in ["a", "b"] {
        save(&db, "ann", id).await.unwrap();
    }
    unsave(&db, "ann", "a").await.unwrap();
    save(&db, "ann", "a").await.unwrap();
    assert_saved(&db, "ann", &["b", "a"], &[]).await;
}

async fn removing_an_unsaved_listing_is_refused(db: Db) {
    assert_eq!(missing(unsave(&db, "ann", "a").await), "saved_listing_not_found");
    save(&db, "ann", "a").await.unwrap();
    unsave(&db, "ann", "a").await.unwrap();
    assert_eq!(missing(unsave(&db, "ann", "a").await), "saved_listing_not_found");
}

/// Up to the limit, for ann.
async fn fill(db: &Db) {
    db.raw(
        "INSERT INTO saved_listings (seq, user_id, listing_id) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000) \
         SELECT n, 'ann', 'l-' || n FROM numbers",
    )
    .await;
}

async fn full_list_does_not_grow(db: Db) {
    fill(&db).await;
    assert_eq!(conflict(save(&db, "ann", "one more").await), "too_many_saved");
    save(&db, "bob", "one more").await.unwrap();
    unsave(&db, "ann", "l-1").await.unwrap();
    save(&db, "ann", "one more").await.unwrap();
    assert_eq!(db.saved_listings(&text("ann")).await.unwrap().0.len(), 10_000);
}

async fn saving_twice_changes_nothing_on_a_full_list(db: Db) {
    fill(&db).await;
    save(&db, "ann", "l-7").await.unwrap();
    assert_eq!(db.saved_listings(&text("ann")).await.unwrap().0.len(), 10_000);
}
