//! Applications of users, and applicants of listings.

use portico_domain::applications::{Applicant, Application};
use portico_domain::{ListingId, Timestamp};
use portico_store::chain::{DesiredItem, PutItems, Refer, Word};
use portico_store::screening::{Attest, Flags};
use portico_store::{Apply, EndOrphanedApplications, Error, Page, Result};

use crate::engines::Db;
use crate::samples::{
    NOW, by_at, cleared, conflict, create, delete, entry, in_pieces, later, listing, listing_ids, offer,
    retired, text,
};

on_both_engines! {
    nobody_has_applied_at_first,
    applications_stay_in_the_order_of_applying,
    applying_twice_changes_nothing,
    a_list_may_name_a_listing_twice,
    applying_to_no_listing_changes_nothing,
    one_unknown_listing_stores_none,
    deleting_a_listing_ends_its_applications,
    deleting_a_listing_clears_the_flags_of_its_applicants,
    concurrent_apply_and_delete_leave_no_orphan,
    orphans_of_older_versions_are_ended,
    ended_application_gets_no_flags,
    applicants_are_listed_oldest_first_with_their_time,
    applicants_are_read_in_pages,
    applications_are_read_in_pages_with_times,
    applications_are_counted_once,
    full_list_rejects_the_whole_request,
    applying_twice_changes_nothing_on_a_full_list,
}

async fn apply_at(db: &Db, user: &str, listings: &[&str], at: Timestamp) -> Result<()> {
    offer(db, listings).await;
    apply_to_known(db, user, listings, at).await
}

async fn apply_to_known(db: &Db, user: &str, listings: &[&str], at: Timestamp) -> Result<()> {
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

async fn applying_to_no_listing_changes_nothing(db: Db) {
    apply(&db, "ann", &[]).await.unwrap();
    assert_applied(&db, "ann", &[]).await;
}

async fn one_unknown_listing_stores_none(db: Db) {
    offer(&db, &["real", "other"]).await;
    let refused = apply_to_known(&db, "ann", &["real", "unknown", "other", "gone"], NOW).await;
    assert!(matches!(&refused, Err(Error::UnknownListings(places)) if places == &[1, 3]), "{refused:?}");
    assert_applied(&db, "ann", &[]).await;
    assert!(db.intents(None, 10).await.unwrap().is_empty());
    assert_eq!(db.listing_statistics().await.unwrap().applications, 0);
}

async fn deleting_a_listing_ends_its_applications(db: Db) {
    apply(&db, "ann", &["a", "b"]).await.unwrap();
    apply(&db, "bob", &["a"]).await.unwrap();
    db.write(delete("a")).await.unwrap();
    assert_applied(&db, "ann", &["b"]).await;
    assert_applied(&db, "bob", &[]).await;
    assert_eq!(db.listing_statistics().await.unwrap().applications, 1);
    let due = db.intents(None, 10).await.unwrap();
    assert!(due.iter().all(|intent| intent.listing == text("b")), "{due:?}");
    // A new listing with the same id has no applicants.
    db.write(create(listing("a"))).await.unwrap();
    assert!(db.applicants(&text("a"), None, 10).await.unwrap().items.is_empty());
    assert!(!db.has_applied(&text("ann"), &text("a")).await.unwrap());
}

/// Gives an applicant a reference and flags for a listing.
async fn flagged(db: &Db, user: &str, listing: &str, reference: Word) -> Word {
    db.write(Refer { user: text(user), reference }).await.unwrap();
    let item = DesiredItem { deleted: false, payload: vec![1], ..cleared(&text(listing), &reference, NOW) };
    let key = item.key;
    db.write(PutItems(vec![item])).await.unwrap();
    key
}

async fn deleting_a_listing_clears_the_flags_of_its_applicants(db: Db) {
    apply(&db, "ann", &["a", "b"]).await.unwrap();
    apply(&db, "bob", &["a"]).await.unwrap();
    let (first, other) = (flagged(&db, "ann", "a", [7; 32]).await, flagged(&db, "ann", "b", [7; 32]).await);
    let second = flagged(&db, "bob", "a", [8; 32]).await;
    db.write(delete("a")).await.unwrap();
    for (key, deleted) in [(first, true), (second, true), (other, false)] {
        let item = db.chain_item(2, &key).await.unwrap().unwrap();
        assert_eq!((item.deleted, item.version), (deleted, if deleted { 2 } else { 1 }));
    }
}

async fn concurrent_apply_and_delete_leave_no_orphan(db: Db) {
    for round in 0..20 {
        let id = format!("l-{round}");
        offer(&db, &[&id]).await;
        let (one, two) = (db.handle(), db.handle());
        let listings = listing_ids(&[&id]);
        let apply = async move { one.write(Apply { user: text("ann"), listings, by: by_at(NOW) }).await };
        let delete = delete(&id);
        let (applied, deleted) =
            futures_util::future::join(apply, async move { two.write(delete).await }).await;
        deleted.unwrap();
        assert!(matches!(applied, Ok(()) | Err(Error::UnknownListings(_))), "{applied:?}");
        assert_applied(&db, "ann", &[]).await;
    }
    assert_eq!(db.listing_statistics().await.unwrap().applications, 0);
}

async fn orphans_of_older_versions_are_ended(db: Db) {
    offer(&db, &["kept"]).await;
    apply(&db, "ann", &["kept"]).await.unwrap();
    db.raw("INSERT INTO applications (seq, user_id, listing_id, created_at) VALUES (999, 'ann', 'gone', 0)")
        .await;
    let key = flagged(&db, "ann", "gone", [7; 32]).await;
    assert_eq!(db.orphaned_applications(10).await.unwrap(), listing_ids(&["gone"]));
    for listing in listing_ids(&["gone", "kept"]) {
        db.write(EndOrphanedApplications { listing, clear: cleared, by: by_at(NOW) }).await.unwrap();
    }
    assert_applied(&db, "ann", &["kept"]).await;
    assert!(db.chain_item(2, &key).await.unwrap().unwrap().deleted);
    assert!(db.orphaned_applications(10).await.unwrap().is_empty());
}

async fn ended_application_gets_no_flags(db: Db) {
    apply(&db, "ann", &["a"]).await.unwrap();
    let intent = db.intents(None, 10).await.unwrap().remove(0);
    db.write(Refer { user: text("ann"), reference: [7; 32] }).await.unwrap();
    db.write(PutItems(vec![retired("a")])).await.unwrap();
    let desired = DesiredItem { deleted: false, ..cleared(&text("a"), &[7; 32], NOW) };
    let key = desired.key;
    let flags = Some(Flags { desired, applicant: [7; 32], terms: (0, retired("a").key, 1) });
    db.write(delete("a")).await.unwrap();
    db.write(Attest { intent, flags, entry: entry("verification.used_for_flags", "ann") }).await.unwrap();
    assert!(db.chain_item(2, &key).await.unwrap().is_none());
}

async fn applicants_are_listed_oldest_first_with_their_time(db: Db) {
    for (n, user) in ["zoe", "ann", "mia"].iter().enumerate() {
        apply_at(&db, user, &["other", "a"], later(i64::try_from(n).unwrap())).await.unwrap();
    }
    let page = db.applicants(&text("a"), None, 10).await.unwrap();
    let of = |user, micros| Applicant { user: text(user), applied_at: later(micros) };
    assert_eq!(page, Page { items: vec![of("zoe", 0), of("ann", 1), of("mia", 2)], next: None });
}

async fn applicants_are_read_in_pages(db: Db) {
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

async fn applications_are_read_in_pages_with_times(db: Db) {
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

async fn fill(db: &Db, count: usize) {
    db.raw(&format!(
        "INSERT INTO applications (seq, user_id, listing_id, created_at) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}) \
         SELECT n, 'ann', 'l-' || n, 0 FROM numbers"
    ))
    .await;
}

async fn full_list_rejects_the_whole_request(db: Db) {
    fill(&db, 9_998).await;
    assert_eq!(conflict(apply(&db, "ann", &["x", "y", "z"]).await), "too_many_applications");
    assert_eq!(db.applications(&text("ann")).await.unwrap().len(), 9_998);
    assert_eq!(db.listing_statistics().await.unwrap().applications, 0);
    apply(&db, "ann", &["x", "y"]).await.unwrap();
    assert_eq!(conflict(apply(&db, "ann", &["z"]).await), "too_many_applications");
    apply(&db, "bob", &["z"]).await.unwrap();
}

async fn applying_twice_changes_nothing_on_a_full_list(db: Db) {
    fill(&db, 10_000).await;
    apply(&db, "ann", &["l-1", "l-10000"]).await.unwrap();
    assert_eq!(db.applications(&text("ann")).await.unwrap().len(), 10_000);
}
