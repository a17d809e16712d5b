//! Applications: which listings a user applied to, and who applied to a listing.

use portico_domain::applications::{Applicant, Application};
use portico_domain::{ListingId, Timestamp};
use portico_store::{Apply, Page, Result};

use crate::engines::Db;
use crate::samples::{NOW, by_at, conflict, create, delete, in_pieces, later, listing, listing_ids, text};

on_both_engines! {
    nobody_has_applied_at_first,
    applications_stay_in_the_order_of_applying,
    applying_twice_changes_nothing,
    a_list_may_name_a_listing_twice,
    applying_to_nothing_is_nothing,
    unknown_and_deleted_listings_are_kept,
    applicants_are_listed_oldest_first_with_their_time,
    applicants_are_read_in_pieces,
    what_a_user_applied_to_is_read_in_pieces_with_its_times,
    applications_are_counted_once,
    a_full_list_is_refused_as_a_whole,
    applying_twice_changes_nothing_on_a_full_list_either,
}

async fn apply_at(db: &Db, user: &str, listings: &[&str], at: Timestamp) -> Result<()> {
    db.write(Apply { user: text(user), listings: listing_ids(listings), by: by_at(at) }).await
}

async fn apply(db: &Db, user: &str, listings: &[&str]) -> Result<()> {
    apply_at(db, user, listings, NOW).await
}

async fn assert_applied(db: &Db, user: &str, listings: &[&str]) {
    assert_eq!(db.applications(&text(user)).await.unwrap(), listing_ids(listings));
}

async fn nobody_has_applied_at_first(db: Db) {
    assert_applied(&db, "ann", &[]).await;
    let page = db.applicants(&text("a"), None, 10).await.unwrap();
    assert_eq!(page, Page { items: vec![], next: None });
}

async fn applications_stay_in_the_order_of_applying(db: Db) {
    apply(&db, "ann", &["m", "a"]).await.unwrap();
    apply(&db, "bob", &["x"]).await.unwrap();
    apply(&db, "ann", &["z", "b"]).await.unwrap();
    assert_applied(&db, "ann", &["m", "a", "z", "b"]).await;
    assert_applied(&db, "bob", &["x"]).await;
    assert_applied(&db, "Ann", &[]).await;
}

async fn applying_twice_changes_nothing(db: Db) {
    apply(&db, "ann", &["a", "b"]).await.unwrap();
    apply_at(&db, "ann", &["b", "c", "a"], later(5)).await.unwrap();
    assert_applied(&db, "ann", &["a", "b", "c"]).await;
    let page = db.applicants(&text("a"), None, 10).await.unwrap();
    assert_eq!(page.items, [Applicant { user: text("ann"), applied_at: NOW }], "the first time counts");
}

async fn a_list_may_name_a_listing_twice(db: Db) {
    apply(&db, "ann", &["a", "b", "a"]).await.unwrap();
    assert_applied(&db, "ann", &["a", "b"]).await;
    assert_eq!(db.listing_statistics().await.unwrap().applications, 2);
}

async fn applying_to_nothing_is_nothing(db: Db) {
    apply(&db, "ann", &[]).await.unwrap();
    assert_applied(&db, "ann", &[]).await;
}

async fn unknown_and_deleted_listings_are_kept(db: Db) {
    db.write(create(listing("real"))).await.unwrap();
    apply(&db, "ann", &["real", "unknown"]).await.unwrap();
    db.write(delete("real")).await.unwrap();
    assert_applied(&db, "ann", &["real", "unknown"]).await;
    let page = db.applicants(&text("real"), None, 10).await.unwrap();
    assert_eq!(page.items.len(), 1);
}

async fn applicants_are_listed_oldest_first_with_their_time(db: Db) {
    for (n, user) in ["zoe", "ann", "mia"].iter().enumerate() {
        apply_at(&db, user, &["other", "a"], later(i64::try_from(n).unwrap())).await.unwrap();
    }
    let page = db.applicants(&text("a"), None, 10).await.unwrap();
    let of = |user, micros| Applicant { user: text(user), applied_at: later(micros) };
    assert_eq!(page, Page { items: vec![of("zoe", 0), of("ann", 1), of("mia", 2)], next: None });
}

async fn applicants_are_read_in_pieces(db: Db) {
    let listing: ListingId = text("a");
    let users: Vec<String> = (0..10).map(|n| format!("user-{}", 9 - n)).collect();
    for user in &users {
        apply(&db, user, &["a", "b"]).await.unwrap();
    }
    for limit in [1, 3, 5, 10, 11] {
        let read = in_pieces(limit, None, |after| db.applicants(&listing, after, limit)).await;
        let read: Vec<String> = read.into_iter().map(|applicant| applicant.user.to_string()).collect();
        assert_eq!(read, users, "in pieces of {limit}");
    }
}

async fn what_a_user_applied_to_is_read_in_pieces_with_its_times(db: Db) {
    let ann = text("ann");
    assert_eq!(db.applications_of(&ann, None, 10).await.unwrap(), Page { items: Vec::new(), next: None });
    let applied = |n: i64| Application { listing: text(&format!("home-{}", 6 - n)), applied_at: later(n) };
    let wanted: Vec<Application> = (0..7).map(applied).collect();
    for (application, n) in wanted.iter().zip(0..) {
        apply_at(&db, "ann", &[application.listing.as_str()], later(n)).await.unwrap();
        apply_at(&db, "bob", &[application.listing.as_str(), "other"], later(n)).await.unwrap();
    }
    for limit in [1, 3, 7, 8] {
        let read = in_pieces(limit, None, |after| db.applications_of(&ann, after, limit)).await;
        assert_eq!(read, wanted, "in pieces of {limit}");
    }
}

async fn applications_are_counted_once(db: Db) {
    apply(&db, "ann", &["a", "b"]).await.unwrap();
    apply(&db, "ann", &["b", "c"]).await.unwrap();
    apply(&db, "bob", &["a"]).await.unwrap();
    assert_eq!(db.listing_statistics().await.unwrap().applications, 4);
}

/// Lets ann apply to so many listings.
async fn fill(db: &Db, count: usize) {
    db.raw(&format!(
        "INSERT INTO applications (seq, user_id, listing_id, created_at) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}) \
         SELECT n, 'ann', 'l-' || n, 0 FROM numbers"
    ))
    .await;
}

async fn a_full_list_is_refused_as_a_whole(db: Db) {
    fill(&db, 9_998).await;
    assert_eq!(conflict(apply(&db, "ann", &["x", "y", "z"]).await), "too_many_applications");
    assert_eq!(db.applications(&text("ann")).await.unwrap().len(), 9_998);
    assert_eq!(db.listing_statistics().await.unwrap().applications, 0);
    apply(&db, "ann", &["x", "y"]).await.unwrap();
    assert_eq!(conflict(apply(&db, "ann", &["z"]).await), "too_many_applications");
    apply(&db, "bob", &["z"]).await.unwrap();
}

async fn applying_twice_changes_nothing_on_a_full_list_either(db: Db) {
    fill(&db, 10_000).await;
    apply(&db, "ann", &["l-1", "l-10000"]).await.unwrap();
    assert_eq!(db.applications(&text("ann")).await.unwrap().len(), 10_000);
}
