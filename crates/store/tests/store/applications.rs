//! Applications: submitting, changing and ending them, and storing their flags.

use portico_domain::applications::ApplicationStatus;
use portico_domain::chain::Passes;
use portico_domain::{ErrorCode, ListingId};
use portico_records::{CheckFlags, ItemKind, Word, check_item, check_key, listing_key};
use portico_store::chain::StoredItem;
use portico_store::keystore::PersonId;
use portico_store::{
    ChangeApplication, DeleteOrphanedApplications, Disclosure, Error, ExpireFlags, FlagsOutcome, Result,
    StoreFlags, StoredApplication,
};

use crate::engines::Db;
use crate::samples::{
    NOW, apply, apply_at, by_at, conflict, create, delete, entry, in_pieces, later, listing, offer, person,
    submission, text,
};

on_both_engines! {
    nobody_has_applied_at_first,
    applications_stay_in_the_order_of_applying,
    applying_again_changes_nothing_while_it_is_open,
    open_application_stays_whatever_the_listing_says,
    a_list_may_name_a_listing_twice,
    one_unknown_listing_stores_none,
    refused_listing_stores_none,
    listing_that_changed_since_it_was_read_is_read_again,
    withdrawn_or_decided_application_is_followed_by_a_new_one,
    change_of_an_older_version_is_outdated,
    deleting_a_listing_closes_its_applications,
    concurrent_apply_and_delete_leave_no_open_application,
    only_the_newest_of_each_applicant_is_listed,
    applicants_are_read_in_pages,
    applications_of_a_person_are_read_in_pages,
    applications_are_counted_while_they_are_shared,
    full_list_rejects_the_whole_request,
    stored_flags_are_no_longer_due,
    flags_of_an_outdated_state_are_not_stored,
    same_flags_are_no_new_version,
    expired_flags_are_due_again,
    ended_flags_do_not_expire,
    sixth_set_of_terms_in_thirty_days_is_withheld,
    other_accounts_and_people_do_not_count,
    orphaned_applications_are_deleted,
}

async fn open(db: &Db, who: &PersonId, id: &str) -> StoredApplication {
    let listing = db.listing_number(&text(id)).await.unwrap().unwrap();
    db.newest_application(who, listing).await.unwrap().unwrap()
}

async fn statuses(db: &Db, who: &PersonId) -> Vec<&'static str> {
    db.applications_of(who).await.unwrap().iter().map(|application| application.status.name()).collect()
}

async fn change(db: &Db, application: &StoredApplication, status: ApplicationStatus) -> Result<()> {
    let id = application.id.clone();
    let entry = entry("application.changed", id.as_str());
    let document = vec![9];
    db.write(ChangeApplication { id, version: application.version, status, document, entry, by: by_at(NOW) })
        .await
}

async fn total(db: &Db) -> i64 {
    db.listing_statistics().await.unwrap().applications
}

async fn nobody_has_applied_at_first(db: Db) {
    offer(&db, &["a"]).await;
    assert!(db.applications_of(&person(1)).await.unwrap().is_empty());
    assert!(db.due_applications(None, 10).await.unwrap().is_empty());
    let listing = db.listing_number(&text("a")).await.unwrap().unwrap();
    assert!(db.applicants(listing, None, 10).await.unwrap().items.is_empty());
}

async fn applications_stay_in_the_order_of_applying(db: Db) {
    apply(&db, 1, &["m", "a"]).await.unwrap();
    apply(&db, 2, &["x"]).await.unwrap();
    apply(&db, 1, &["z", "b"]).await.unwrap();
    let mut listings = Vec::new();
    for id in ["m", "a", "z", "b"] {
        listings.push(db.listing_number(&text(id)).await.unwrap().unwrap());
    }
    let applied = db.applications_of(&person(1)).await.unwrap();
    assert_eq!(applied.iter().map(|application| application.listing).collect::<Vec<_>>(), listings);
    assert_eq!(db.applications_of(&person(2)).await.unwrap().len(), 1);
}

async fn applying_again_changes_nothing_while_it_is_open(db: Db) {
    apply(&db, 1, &["a", "b"]).await.unwrap();
    let before = db.applications_of(&person(1)).await.unwrap();
    apply_at(&db, 1, &["b", "c", "a"], later(5)).await.unwrap();
    let after = db.applications_of(&person(1)).await.unwrap();
    assert_eq!((&after[..2], after.len()), (&before[..], 3));
}

async fn open_application_stays_whatever_the_listing_says(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    let before = db.applications_of(&person(1)).await.unwrap();
    let mut paused = submission(&db, 1, &["a"], NOW).await;
    paused.wanted[0].refusal = Some(ErrorCode::ListingNotAvailable);
    db.write(paused).await.unwrap();
    assert_eq!(db.applications_of(&person(1)).await.unwrap(), before);
}

async fn a_list_may_name_a_listing_twice(db: Db) {
    apply(&db, 1, &["a", "b", "a"]).await.unwrap();
    assert_eq!(statuses(&db, &person(1)).await, ["submitted"; 2]);
    assert_eq!(total(&db).await, 2);
}

async fn one_unknown_listing_stores_none(db: Db) {
    offer(&db, &["real", "other"]).await;
    let wanted = submission(&db, 1, &["real", "unknown", "other", "gone"], NOW).await;
    let refused = db.write(wanted).await;
    assert!(matches!(&refused, Err(Error::UnknownListings(places)) if places == &[1, 3]), "{refused:?}");
    assert!(db.applications_of(&person(1)).await.unwrap().is_empty());
    assert_eq!(total(&db).await, 0);
}

async fn refused_listing_stores_none(db: Db) {
    offer(&db, &["a", "b"]).await;
    let mut wanted = submission(&db, 1, &["a", "b"], NOW).await;
    wanted.wanted[1].refusal = Some(ErrorCode::OwnListing);
    assert_eq!(conflict(db.write(wanted).await), "own_listing");
    assert!(db.applications_of(&person(1)).await.unwrap().is_empty());
}

async fn listing_that_changed_since_it_was_read_is_read_again(db: Db) {
    offer(&db, &["a"]).await;
    let stale = submission(&db, 1, &["a"], NOW).await;
    db.write(delete("a")).await.unwrap();
    offer(&db, &["a"]).await;
    assert!(matches!(db.write(stale).await, Err(Error::Outdated)));
    apply(&db, 1, &["a"]).await.unwrap();
}

async fn withdrawn_or_decided_application_is_followed_by_a_new_one(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    for status in [ApplicationStatus::Withdrawn, ApplicationStatus::Declined] {
        let before = open(&db, &person(1), "a").await;
        change(&db, &before, status).await.unwrap();
        let after = open(&db, &person(1), "a").await;
        assert_eq!((after.status, after.version, after.document.as_slice()), (status, 2, &[9][..]));
        apply(&db, 1, &["a"]).await.unwrap();
        let new = open(&db, &person(1), "a").await;
        assert_eq!((new.status, new.version), (ApplicationStatus::Submitted, 1));
        assert_ne!(new.id, after.id);
    }
    assert_eq!(statuses(&db, &person(1)).await, ["withdrawn", "declined", "submitted"]);
}

async fn change_of_an_older_version_is_outdated(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    let before = open(&db, &person(1), "a").await;
    change(&db, &before, ApplicationStatus::Approved).await.unwrap();
    assert!(matches!(change(&db, &before, ApplicationStatus::Declined).await, Err(Error::Outdated)));
    assert_eq!(statuses(&db, &person(1)).await, ["approved"]);
}

async fn deleting_a_listing_closes_its_applications(db: Db) {
    apply(&db, 1, &["a", "b"]).await.unwrap();
    apply(&db, 2, &["a"]).await.unwrap();
    apply(&db, 3, &["a"]).await.unwrap();
    change(&db, &open(&db, &person(3), "a").await, ApplicationStatus::Withdrawn).await.unwrap();
    for due in db.due_applications(None, 10).await.unwrap() {
        store_flags(&db, &due, None).await;
    }
    db.write(delete("a")).await.unwrap();
    assert_eq!(statuses(&db, &person(1)).await, ["closed", "submitted"]);
    assert_eq!(statuses(&db, &person(2)).await, ["closed"]);
    assert_eq!(statuses(&db, &person(3)).await, ["withdrawn"], "what has ended stays");
    assert_eq!(total(&db).await, 1);
    let due = db.due_applications(None, 10).await.unwrap();
    assert_eq!(due.len(), 2, "their flags are cleared");
    assert!(due.iter().all(|due| due.status == ApplicationStatus::Closed));
    // A new listing with the same id has no applicants.
    db.write(create(listing("a"))).await.unwrap();
    let number = db.listing_number(&text("a")).await.unwrap().unwrap();
    assert!(db.applicants(number, None, 10).await.unwrap().items.is_empty());
    assert_eq!(db.newest_application(&person(1), number).await.unwrap(), None);
}

async fn concurrent_apply_and_delete_leave_no_open_application(db: Db) {
    for round in 0..20 {
        let id = format!("l-{round}");
        offer(&db, &[&id]).await;
        let (one, two) = (db.handle(), db.handle());
        let submission = submission(&db, 1, &[&id], NOW).await;
        let delete = delete(&id);
        let (applied, deleted) =
            futures_util::future::join(async move { one.write(submission).await }, async move {
                two.write(delete).await
            })
            .await;
        deleted.unwrap();
        assert!(matches!(applied, Ok(()) | Err(Error::UnknownListings(_))), "{applied:?}");
        assert!(!statuses(&db, &person(1)).await.contains(&"submitted"));
    }
    assert_eq!(total(&db).await, 0);
}

async fn only_the_newest_of_each_applicant_is_listed(db: Db) {
    for who in [2, 1, 3] {
        apply(&db, who, &["a", "b"]).await.unwrap();
    }
    change(&db, &open(&db, &person(2), "a").await, ApplicationStatus::Withdrawn).await.unwrap();
    apply(&db, 2, &["a"]).await.unwrap();
    change(&db, &open(&db, &person(1), "a").await, ApplicationStatus::Withdrawn).await.unwrap();
    let number = db.listing_number(&text("a")).await.unwrap().unwrap();
    let page = db.applicants(number, None, 10).await.unwrap().items;
    let listed: Vec<_> = page.iter().map(|one| (one.person, one.status.name())).collect();
    assert_eq!(listed, [(person(1), "withdrawn"), (person(3), "submitted"), (person(2), "submitted")]);
}

async fn applicants_are_read_in_pages(db: Db) {
    for who in (0..10).rev() {
        apply(&db, who, &["a", "b"]).await.unwrap();
    }
    let number = db.listing_number(&text("a")).await.unwrap().unwrap();
    for limit in [1, 3, 5, 10, 11] {
        let read = in_pieces(limit, None, |after| db.applicants(number, after, limit)).await;
        let read: Vec<PersonId> = read.into_iter().map(|application| application.person).collect();
        assert_eq!(read, (0..10).rev().map(person).collect::<Vec<_>>(), "in pieces of {limit}");
    }
}

async fn applications_of_a_person_are_read_in_pages(db: Db) {
    for n in 0..7 {
        apply_at(&db, 1, &[&format!("l-{n}")], later(n)).await.unwrap();
        apply(&db, 2, &[&format!("l-{n}"), "other"]).await.unwrap();
    }
    let ann = person(1);
    for limit in [1, 3, 7, 8] {
        let read = in_pieces(limit, None, |after| db.applications_page(&ann, after, limit)).await;
        let times: Vec<_> = read.into_iter().map(|application| application.created_at).collect();
        assert_eq!(times, (0..7).map(later).collect::<Vec<_>>(), "in pieces of {limit}");
    }
}

async fn applications_are_counted_while_they_are_shared(db: Db) {
    apply(&db, 1, &["a", "b", "c"]).await.unwrap();
    change(&db, &open(&db, &person(1), "a").await, ApplicationStatus::Approved).await.unwrap();
    change(&db, &open(&db, &person(1), "b").await, ApplicationStatus::Withdrawn).await.unwrap();
    assert_eq!(total(&db).await, 2);
    db.write(delete("a")).await.unwrap();
    assert_eq!(total(&db).await, 1);
}

async fn fill(db: &Db, count: usize) {
    let person = match db.place().path() {
        Some(_) => "x'01010101010101010101010101010101'",
        None => "'\\x01010101010101010101010101010101'::bytea",
    };
    let empty = match db.place().path() {
        Some(_) => "x''",
        None => "''::bytea",
    };
    db.raw(&format!(
        "INSERT INTO applications (seq, id, person, listing, status, version, generation, settled, owner, terms, \
         document, created_at) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}) \
         SELECT n, 'filled-' || n, {person}, 1000000 + n, 'withdrawn', 1, 1, 1, {empty}, {empty}, {empty}, 0 \
         FROM numbers"
    ))
    .await;
}

async fn full_list_rejects_the_whole_request(db: Db) {
    fill(&db, 9_998).await;
    assert_eq!(conflict(apply(&db, 1, &["x", "y", "z"]).await), "too_many_applications");
    assert_eq!(db.applications_of(&person(1)).await.unwrap().len(), 9_998);
    assert_eq!(total(&db).await, 0);
    apply(&db, 1, &["x", "y"]).await.unwrap();
    assert_eq!(conflict(apply(&db, 1, &["z"]).await), "too_many_applications");
    apply(&db, 1, &["y", "x"]).await.unwrap();
    apply(&db, 2, &["z"]).await.unwrap();
}

fn home() -> ListingId {
    text("home")
}

/// The reference of an application on the chain, which its id determines.
fn reference(application: &StoredApplication) -> Word {
    let mut reference = [0; 32];
    for (at, byte) in application.id.as_str().bytes().enumerate() {
        reference[at % 32] ^= byte;
    }
    reference
}

fn flags(bits: u8) -> CheckFlags {
    CheckFlags { passes: Passes::from_bits(bits), expires_at: later(10) }
}

async fn item(db: &Db, application: &StoredApplication) -> Option<StoredItem> {
    let key = check_key(&listing_key(&home()), &reference(application));
    db.chain_item(ItemKind::Check, &key).await.unwrap()
}

fn disclosure(owner: u8, terms: u8, days: i64) -> Disclosure {
    const DAY: i64 = 24 * 60 * 60 * 1_000_000;
    let at = later(days * DAY);
    Disclosure { owner: [owner; 32], terms: [terms; 32], since: later((days - 30) * DAY), limit: 5, at }
}

fn new_flags(application: &StoredApplication, disclosure: Option<Disclosure>, bits: u8) -> StoreFlags {
    StoreFlags {
        id: application.id.clone(),
        person: application.person,
        generation: application.generation,
        status: application.status,
        disclosure,
        listing: home(),
        reference: reference(application),
        flags: Some(flags(bits)),
        entry: entry("application.flags_recorded", application.id.as_str()),
    }
}

async fn store_flags(
    db: &Db,
    application: &StoredApplication,
    disclosure: Option<Disclosure>,
) -> FlagsOutcome {
    db.write(new_flags(application, disclosure, 1)).await.unwrap()
}

async fn stored_flags_are_no_longer_due(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    apply(&db, 2, &["a"]).await.unwrap();
    let due = db.due_applications(None, 10).await.unwrap();
    assert_eq!(due.len(), 2);
    assert_eq!(store_flags(&db, &due[0], None).await, FlagsOutcome::Stored);
    let left = db.due_applications(None, 10).await.unwrap();
    assert_eq!(left.iter().map(|due| due.person).collect::<Vec<_>>(), [person(2)]);
    assert!(db.due_applications(Some(&person(1)), 10).await.unwrap().is_empty());
    let item = item(&db, &due[0]).await.unwrap();
    let expected = check_item(&home(), &reference(&due[0]), flags(1), NOW).payload;
    assert_eq!((item.version, item.payload, item.deleted), (1, expected, false));
}

async fn flags_of_an_outdated_state_are_not_stored(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    let before = db.due_applications(None, 10).await.unwrap().remove(0);
    change(&db, &before, ApplicationStatus::Withdrawn).await.unwrap();
    assert_eq!(store_flags(&db, &before, Some(disclosure(1, 1, 0))).await, FlagsOutcome::Outdated);
    assert!(item(&db, &before).await.is_none());
    assert_eq!(open(&db, &person(1), "a").await.disclosed_at, None);
}

async fn same_flags_are_no_new_version(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    for (bits, version) in [(1, 1), (1, 1), (2, 2), (1, 3)] {
        let application = open(&db, &person(1), "a").await;
        db.write(new_flags(&application, None, bits)).await.unwrap();
        assert_eq!(item(&db, &application).await.unwrap().version, version);
    }
}

async fn expired_flags_are_due_again(db: Db) {
    for (user, expiry) in [(1, 10), (2, 20), (3, 30)] {
        apply(&db, user, &["a"]).await.unwrap();
        let application = open(&db, &person(user), "a").await;
        let flags = CheckFlags { expires_at: later(expiry), ..flags(1) };
        let new = StoreFlags { flags: Some(flags), ..new_flags(&application, None, 1) };
        assert_eq!(db.write(new).await.unwrap(), FlagsOutcome::Stored);
        assert_eq!(open(&db, &person(user), "a").await.flags_expire_at, Some(flags.expires_at));
    }
    let due = async || {
        let due = db.due_applications(None, 10).await.unwrap();
        due.iter().map(|due| due.person).collect::<Vec<_>>()
    };
    assert!(!db.has_expired_flags(later(9)).await.unwrap());
    assert_eq!(db.write(ExpireFlags { at: later(9), limit: 10 }).await.unwrap(), 0);
    assert!(due().await.is_empty());
    // From the moment of their expiry on, the earliest first.
    assert!(db.has_expired_flags(later(10)).await.unwrap());
    assert_eq!(db.write(ExpireFlags { at: later(25), limit: 1 }).await.unwrap(), 1);
    assert_eq!(due().await, [person(1)]);
    assert_eq!(db.write(ExpireFlags { at: later(25), limit: 10 }).await.unwrap(), 1);
    assert_eq!(due().await, [person(1), person(2)]);
    assert_eq!(open(&db, &person(1), "a").await.flags_expire_at, None);
    assert_eq!(db.write(ExpireFlags { at: later(25), limit: 10 }).await.unwrap(), 0, "once");
}

async fn ended_flags_do_not_expire(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    store_flags(&db, &open(&db, &person(1), "a").await, None).await;
    let before = open(&db, &person(1), "a").await;
    change(&db, &before, ApplicationStatus::Withdrawn).await.unwrap();
    let ended = db.due_applications(None, 10).await.unwrap().remove(0);
    let new = StoreFlags { flags: None, ..new_flags(&ended, None, 0) };
    assert_eq!(db.write(new).await.unwrap(), FlagsOutcome::Stored);
    assert!(!db.has_expired_flags(later(1_000)).await.unwrap());
    assert!(item(&db, &ended).await.unwrap().deleted);
}

async fn sixth_set_of_terms_in_thirty_days_is_withheld(db: Db) {
    // Each listing has terms of its own.
    for terms in 1..=7 {
        let id = format!("l-{terms}");
        let (owner, terms) = (1, terms);
        offer(&db, &[&id]).await;
        let mut wanted = submission(&db, 1, &[&id], NOW).await;
        let (new, _) = wanted.wanted[0].new.as_mut().unwrap();
        (new.owner, new.terms) = ([owner; 32], [terms; 32]);
        db.write(wanted).await.unwrap();
        let application = open(&db, &person(1), &id).await;
        let outcome = store_flags(&db, &application, Some(disclosure(owner, terms, i64::from(terms)))).await;
        let expected = if terms <= 5 { FlagsOutcome::Stored } else { FlagsOutcome::Withheld };
        assert_eq!(outcome, expected, "{terms}");
        let application = open(&db, &person(1), &id).await;
        assert_eq!((application.is_withheld, application.is_disclosed()), (terms > 5, terms <= 5));
        assert_eq!(item(&db, &application).await.is_some(), terms <= 5);
    }
    // Terms that count already stay, and the first ones are forgotten after thirty days.
    let first = open(&db, &person(1), "l-1").await;
    assert_eq!(store_flags(&db, &first, Some(disclosure(1, 1, 8))).await, FlagsOutcome::Stored);
    let last = open(&db, &person(1), "l-7").await;
    assert_eq!(store_flags(&db, &last, Some(disclosure(1, 7, 33))).await, FlagsOutcome::Stored);
}

async fn other_accounts_and_people_do_not_count(db: Db) {
    for n in 0..12_u8 {
        let (who, owner) = (u8::from(n % 2 == 0), n % 3);
        let id = format!("l-{n}");
        offer(&db, &[&id]).await;
        let mut wanted = submission(&db, who, &[&id], NOW).await;
        let (new, _) = wanted.wanted[0].new.as_mut().unwrap();
        (new.owner, new.terms) = ([owner; 32], [n; 32]);
        db.write(wanted).await.unwrap();
        let application = open(&db, &person(who), &id).await;
        assert_eq!(store_flags(&db, &application, Some(disclosure(owner, n, 0))).await, FlagsOutcome::Stored);
    }
}

async fn orphaned_applications_are_deleted(db: Db) {
    apply(&db, 1, &["a", "b"]).await.unwrap();
    apply(&db, 2, &["a"]).await.unwrap();
    assert_eq!(db.people_who_applied(None, 10).await.unwrap(), [person(1), person(2)]);
    assert_eq!(db.people_who_applied(Some(person(1)), 10).await.unwrap(), [person(2)]);
    db.write(DeleteOrphanedApplications { person: person(1), by: by_at(NOW) }).await.unwrap();
    assert_eq!(db.people_who_applied(None, 10).await.unwrap(), [person(2)]);
    assert_eq!(total(&db).await, 1);
}
