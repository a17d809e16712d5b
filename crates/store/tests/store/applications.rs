//! Applications: submitting, changing and ending them, and storing their reports.

use portico_domain::applications::ApplicationStatus;
use portico_domain::chain::Passes;
use portico_domain::{ErrorCode, Timestamp};
use portico_records::{CheckFlags, Content, ItemKind, Word};
use portico_store::chain::{ItemVersion, PutItemsAgain, StoredItem};
use portico_store::keystore::PersonId;
use portico_store::{
    ChangeApplication, DeleteOrphanedApplications, Disclosure, Error, FlagRecord, ReportOutcome, Result,
    SharingChange, StoreReport, StoredApplication,
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
    decision_keeps_the_report,
    renewal_opens_a_complete_report,
    end_of_sharing_is_final,
    new_application_ends_the_sharing_of_the_one_before,
    stored_reports_are_no_longer_due,
    report_of_an_outdated_state_is_not_stored,
    report_of_a_generation_is_stored_once,
    report_without_a_document_keeps_the_one_before,
    record_is_written_cleared_and_written_again,
    what_was_never_written_is_not_cleared,
    record_that_is_written_again_opens_with_the_same_salt,
    sixth_set_of_terms_in_thirty_days_is_withheld,
    other_accounts_and_people_do_not_count,
    terms_of_all_owners_together_are_limited,
    withheld_flags_are_cleared,
    orphaned_applications_are_deleted,
    orphaned_applications_clear_their_flags,
}

pub(crate) async fn open(db: &Db, who: &PersonId, id: &str) -> StoredApplication {
    let listing = db.listing_number(&text(id)).await.unwrap().unwrap();
    db.newest_application(who, listing).await.unwrap().unwrap()
}

async fn statuses(db: &Db, who: &PersonId) -> Vec<&'static str> {
    db.applications_of(who).await.unwrap().iter().map(|application| application.status.name()).collect()
}

/// As the service does: a withdrawal ends the sharing, a decision keeps it.
async fn change(db: &Db, application: &StoredApplication, status: ApplicationStatus) -> Result<()> {
    let sharing = match status {
        ApplicationStatus::Withdrawn => SharingChange::End,
        _ => SharingChange::Keep,
    };
    change_sharing(db, application, status, sharing).await
}

pub(crate) async fn change_sharing(
    db: &Db,
    application: &StoredApplication,
    status: ApplicationStatus,
    sharing: SharingChange,
) -> Result<()> {
    let (id, version) = (application.id.clone(), application.version);
    let entry = entry("application.changed", id.as_str());
    let (document, by) = (vec![9], by_at(NOW));
    db.write(ChangeApplication { id, version, status, sharing, document, entry, by }).await
}

async fn renew(db: &Db, who: &PersonId, id: &str) -> StoredApplication {
    let before = open(db, who, id).await;
    change_sharing(db, &before, before.status, SharingChange::Renew).await.unwrap();
    open(db, who, id).await
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
        store_report(&db, &due, None).await;
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
    let key = match db.place().path() {
        Some(_) => "zeroblob(32)",
        None => "decode(repeat('00', 32), 'hex')",
    };
    db.raw(&format!(
        "INSERT INTO applications (seq, id, person, listing, status, version, generation, computed, owner, terms, \
         chain_key, document, created_at) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}) \
         SELECT n, 'filled-' || n, {person}, 1000000 + n, 'withdrawn', 1, 1, 1, {empty}, {empty}, {key}, {empty}, 0 \
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

async fn decision_keeps_the_report(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    let stored = StoreReport { is_complete: true, ..new_report(&open(&db, &person(1), "a").await, None, 1) };
    db.write(stored).await.unwrap();
    let before = open(&db, &person(1), "a").await;
    change(&db, &before, ApplicationStatus::Declined).await.unwrap();
    let after = open(&db, &person(1), "a").await;
    assert_eq!((after.generation, after.is_complete, after.has_ended), (before.generation, true, false));
    assert_eq!((after.salt.as_ref(), after.is_shared()), (before.salt.as_ref(), true));
    assert!(db.due_applications(None, 10).await.unwrap().is_empty(), "nothing is computed again");
}

async fn renewal_opens_a_complete_report(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    let stored = StoreReport { is_complete: true, ..new_report(&open(&db, &person(1), "a").await, None, 1) };
    db.write(stored).await.unwrap();
    let before = open(&db, &person(1), "a").await;
    assert_eq!(db.incomplete_applications(&person(1), 10).await.unwrap(), 0);
    let after = renew(&db, &person(1), "a").await;
    assert_eq!((after.generation, after.version), (before.generation + 1, before.version + 1));
    assert_eq!((after.is_complete, after.is_shared(), after.document.as_slice()), (false, true, &[9][..]));
    assert_eq!(db.due_applications(None, 10).await.unwrap(), [after]);
    assert_eq!(db.incomplete_applications(&person(1), 10).await.unwrap(), 1);
    assert_eq!(total(&db).await, 1);
}

async fn end_of_sharing_is_final(db: Db) {
    apply(&db, 1, &["open", "decided"]).await.unwrap();
    let decided = open(&db, &person(1), "decided").await;
    change(&db, &decided, ApplicationStatus::Approved).await.unwrap();
    for id in ["open", "decided"] {
        store_report(&db, &open(&db, &person(1), id).await, None).await;
    }
    for (id, status) in [("open", ApplicationStatus::Withdrawn), ("decided", ApplicationStatus::Approved)] {
        let before = open(&db, &person(1), id).await;
        change_sharing(&db, &before, status, SharingChange::End).await.unwrap();
        let after = open(&db, &person(1), id).await;
        assert_eq!((after.status, after.generation), (status, before.generation + 1));
        assert!(after.has_ended && !after.is_shared());
        assert_eq!(
            db.due_applications(None, 10).await.unwrap(),
            std::slice::from_ref(&after),
            "its flags are cleared"
        );
        for sharing in [SharingChange::Keep, SharingChange::Renew, SharingChange::End] {
            let late = change_sharing(&db, &after, status, sharing).await;
            assert!(matches!(late, Err(Error::Outdated)), "{sharing:?}: {late:?}");
        }
        let clear = StoreReport { record: FlagRecord::Clear, ..new_report(&after, None, 0) };
        assert_eq!(db.write(clear).await.unwrap(), ReportOutcome::Stored);
        assert!(item(&db, &after).await.unwrap().deleted);
    }
    assert_eq!((total(&db).await, db.count_shared_applications().await.unwrap()), (0, 0));
    // Deleting the listing leaves the decision as it is, and counts nothing twice.
    db.write(delete("decided")).await.unwrap();
    assert_eq!(statuses(&db, &person(1)).await, ["withdrawn", "approved"]);
    assert_eq!(total(&db).await, 0);
}

async fn new_application_ends_the_sharing_of_the_one_before(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    let first = open(&db, &person(1), "a").await;
    change(&db, &first, ApplicationStatus::Declined).await.unwrap();
    let first = open(&db, &person(1), "a").await;
    assert_eq!(store_report(&db, &first, None).await, ReportOutcome::Stored);
    apply(&db, 2, &["a"]).await.unwrap();
    apply(&db, 1, &["a"]).await.unwrap();
    let due = db.due_applications(Some(&person(1)), 10).await.unwrap();
    assert_eq!(due[0].id, first.id);
    assert_eq!((due.len(), due[0].generation), (2, first.generation + 1));
}

const SALT: Word = [7; 32];

/// They expire in the year 2100.
fn flags(bits: u8) -> CheckFlags {
    let expires_at = Timestamp::from_micros(4_102_444_800_000_000);
    CheckFlags::expiring(Passes::from_bits(bits), expires_at)
}

pub(crate) async fn item(db: &Db, application: &StoredApplication) -> Option<StoredItem> {
    db.chain_item(ItemKind::Check, &application.chain_key).await.unwrap()
}

fn disclosure(owner: u8, terms: u8, days: i64) -> Disclosure {
    const DAY: i64 = 24 * 60 * 60 * 1_000_000;
    let (at, since) = (later(days * DAY), later((days - 30) * DAY));
    Disclosure { owner: [owner; 32], terms: [terms; 32], since, limit: 5, total_limit: 40, at }
}

/// With flags, and incomplete.
pub(crate) fn new_report(
    application: &StoredApplication,
    disclosure: Option<Disclosure>,
    bits: u8,
) -> StoreReport {
    StoreReport {
        id: application.id.clone(),
        person: application.person,
        generation: application.generation,
        status: application.status,
        chain_key: application.chain_key,
        disclosure,
        document: None,
        is_complete: false,
        record: FlagRecord::Write {
            commitment: flags(bits).commit(&application.chain_key, &SALT),
            salt: SALT.to_vec(),
            entry: entry("application.flags_recorded", application.id.as_str()),
        },
        at: NOW,
    }
}

async fn store_report(
    db: &Db,
    application: &StoredApplication,
    disclosure: Option<Disclosure>,
) -> ReportOutcome {
    db.write(new_report(application, disclosure, 1)).await.unwrap()
}

/// What the record says to whoever has the application's salt.
async fn opened(db: &Db, application: &StoredApplication) -> Option<CheckFlags> {
    let payload = item(db, application).await.unwrap().payload;
    match Content::decode(ItemKind::Check, &payload).unwrap() {
        Content::Check(commitment) => {
            let salt = application.salt.clone().unwrap();
            commitment.open(&application.chain_key, &salt.try_into().unwrap())
        }
        _ => None,
    }
}

async fn stored_reports_are_no_longer_due(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    apply(&db, 2, &["a"]).await.unwrap();
    let due = db.due_applications(None, 10).await.unwrap();
    assert_eq!(due.len(), 2);
    let before = db.audit_head().await.unwrap().seq;
    assert_eq!(store_report(&db, &due[0], None).await, ReportOutcome::Stored);
    let left = db.due_applications(None, 10).await.unwrap();
    assert_eq!(left.iter().map(|due| due.person).collect::<Vec<_>>(), [person(2)]);
    assert!(db.due_applications(Some(&person(1)), 10).await.unwrap().is_empty());
    let stored = open(&db, &person(1), "a").await;
    assert_eq!((stored.computed, stored.is_complete, stored.version), (stored.generation, false, 1));
    let record = item(&db, &stored).await.unwrap();
    assert_eq!((record.version, record.deleted, record.salt), (1, false, None));
    assert_eq!(opened(&db, &stored).await, Some(flags(1)));
    let entries = db.audit_after(before, 10).await.unwrap();
    let entries: Vec<_> =
        entries.iter().map(|entry| (entry.action.as_str(), entry.subject.as_str())).collect();
    assert_eq!(entries, [("application.flags_recorded", stored.id.as_str())]);
}

async fn report_of_an_outdated_state_is_not_stored(db: Db) {
    apply(&db, 1, &["a", "b"]).await.unwrap();
    let before = db.due_applications(None, 10).await.unwrap();
    change(&db, &before[0], ApplicationStatus::Withdrawn).await.unwrap();
    // A decision keeps the generation; it is another state all the same.
    change(&db, &before[1], ApplicationStatus::Approved).await.unwrap();
    for (before, id) in before.iter().zip(["a", "b"]) {
        assert_eq!(store_report(&db, before, Some(disclosure(1, 1, 0))).await, ReportOutcome::Outdated);
        assert!(item(&db, before).await.is_none());
        let after = open(&db, &person(1), id).await;
        assert_eq!((after.disclosed_at, after.salt, after.computed), (None, None, 0));
    }
}

async fn report_of_a_generation_is_stored_once(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    let seen = open(&db, &person(1), "a").await;
    assert_eq!(store_report(&db, &seen, None).await, ReportOutcome::Stored);
    let first = open(&db, &person(1), "a").await;
    // Another server computed it at the same time, and drew another salt.
    let mut second = StoreReport { document: Some(vec![2]), ..new_report(&seen, None, 2) };
    if let FlagRecord::Write { salt, .. } = &mut second.record {
        *salt = vec![8; 32];
    }
    assert_eq!(db.write(second).await.unwrap(), ReportOutcome::Outdated);
    assert_eq!(open(&db, &person(1), "a").await, first);
    assert_eq!((item(&db, &first).await.unwrap().version, opened(&db, &first).await), (1, Some(flags(1))));
}

async fn report_without_a_document_keeps_the_one_before(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    let seen = open(&db, &person(1), "a").await;
    db.write(StoreReport { document: Some(vec![4]), is_complete: true, ..new_report(&seen, None, 1) })
        .await
        .unwrap();
    let stored = open(&db, &person(1), "a").await;
    assert_eq!((stored.document.as_slice(), stored.version, stored.is_complete), (&[4][..], 2, true));
    let late = change(&db, &seen, ApplicationStatus::Approved).await;
    assert!(matches!(late, Err(Error::Outdated)), "what was shown has changed since: {late:?}");
    let seen = renew(&db, &person(1), "a").await;
    store_report(&db, &seen, None).await;
    let stored = open(&db, &person(1), "a").await;
    assert_eq!((stored.document, stored.version), (seen.document, seen.version));
}

async fn record_is_written_cleared_and_written_again(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    for (version, bits) in [(1, Some(5)), (2, None), (3, Some(5)), (4, Some(7))] {
        let seen = open(&db, &person(1), "a").await;
        let new = new_report(&seen, None, bits.unwrap_or_default());
        let new = match bits {
            Some(_) => new,
            None => StoreReport { record: FlagRecord::Clear, ..new },
        };
        assert_eq!(db.write(new).await.unwrap(), ReportOutcome::Stored);
        let stored = open(&db, &person(1), "a").await;
        let record = item(&db, &stored).await.unwrap();
        assert_eq!(
            (record.version, record.deleted, stored.salt.is_some()),
            (version, bits.is_none(), bits.is_some())
        );
        if let Some(bits) = bits {
            assert_eq!(opened(&db, &stored).await, Some(flags(bits)));
        }
        renew(&db, &person(1), "a").await;
    }
}

async fn what_was_never_written_is_not_cleared(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    let never = open(&db, &person(1), "a").await;
    db.write(StoreReport { record: FlagRecord::Clear, ..new_report(&never, None, 0) }).await.unwrap();
    assert!(item(&db, &never).await.is_none());
}

async fn record_that_is_written_again_opens_with_the_same_salt(db: Db) {
    apply(&db, 1, &["a"]).await.unwrap();
    store_report(&db, &open(&db, &person(1), "a").await, None).await;
    let stored = open(&db, &person(1), "a").await;
    let (kind, key) = (ItemKind::Check, stored.chain_key);
    let seen = ItemVersion { kind, key, version: 1 };
    db.write(PutItemsAgain { items: vec![(seen, 41)], at: NOW }).await.unwrap();
    assert_eq!(item(&db, &stored).await.unwrap().version, 42);
    assert_eq!(opened(&db, &stored).await, Some(flags(1)));
}

/// Applies to a new listing with terms of an owner's account.
async fn apply_with(db: &Db, who: u8, id: &str, owner: u8, terms: u8) -> StoredApplication {
    offer(db, &[id]).await;
    let mut wanted = submission(db, who, &[id], NOW).await;
    let (new, _) = wanted.wanted[0].new.as_mut().unwrap();
    (new.owner, new.terms) = ([owner; 32], [terms; 32]);
    db.write(wanted).await.unwrap();
    open(db, &person(who), id).await
}

async fn sixth_set_of_terms_in_thirty_days_is_withheld(db: Db) {
    for terms in 1..=7 {
        let id = format!("l-{terms}");
        let application = apply_with(&db, 1, &id, 1, terms).await;
        let outcome = store_report(&db, &application, Some(disclosure(1, terms, i64::from(terms)))).await;
        let expected = if terms <= 5 { ReportOutcome::Stored } else { ReportOutcome::Withheld };
        assert_eq!(outcome, expected, "{terms}");
        let application = open(&db, &person(1), &id).await;
        assert_eq!((application.is_withheld, application.disclosed_at.is_some()), (terms > 5, terms <= 5));
        assert_eq!(
            (item(&db, &application).await.is_some(), application.salt.is_some()),
            (terms <= 5, terms <= 5)
        );
    }
    let counted =
        async |days| db.count_disclosed_terms(&person(1), disclosure(1, 1, days).since).await.unwrap();
    assert_eq!((counted(8).await, counted(33).await), (5, 2));
    // Terms that count already stay, and the first ones are forgotten after thirty days.
    let first = renew(&db, &person(1), "l-1").await;
    assert_eq!(store_report(&db, &first, Some(disclosure(1, 1, 8))).await, ReportOutcome::Stored);
    let last = renew(&db, &person(1), "l-7").await;
    assert_eq!(store_report(&db, &last, Some(disclosure(1, 7, 33))).await, ReportOutcome::Stored);
    assert!(!open(&db, &person(1), "l-7").await.is_withheld);
}

async fn other_accounts_and_people_do_not_count(db: Db) {
    for n in 0..12_u8 {
        let (who, owner) = (u8::from(n % 2 == 0), n % 3);
        let application = apply_with(&db, who, &format!("l-{n}"), owner, n).await;
        assert_eq!(
            store_report(&db, &application, Some(disclosure(owner, n, 0))).await,
            ReportOutcome::Stored
        );
    }
}

async fn terms_of_all_owners_together_are_limited(db: Db) {
    let limited = |n: u8, days| Disclosure { total_limit: 3, ..disclosure(n, n, days) };
    for n in 1..=4 {
        let application = apply_with(&db, 1, &format!("l-{n}"), n, n).await;
        let outcome = store_report(&db, &application, Some(limited(n, 0))).await;
        assert_eq!(outcome, if n <= 3 { ReportOutcome::Stored } else { ReportOutcome::Withheld }, "{n}");
    }
    // Of one person only, for terms that do not count yet, and until the others are forgotten.
    let other = apply_with(&db, 2, "l-4", 4, 4).await;
    assert_eq!(store_report(&db, &other, Some(limited(4, 0))).await, ReportOutcome::Stored);
    let known = apply_with(&db, 1, "l-5", 1, 1).await;
    assert_eq!(store_report(&db, &known, Some(limited(1, 1))).await, ReportOutcome::Stored);
    let last = renew(&db, &person(1), "l-4").await;
    assert_eq!(store_report(&db, &last, Some(limited(4, 29))).await, ReportOutcome::Withheld);
    let last = renew(&db, &person(1), "l-4").await;
    assert_eq!(store_report(&db, &last, Some(limited(4, 31))).await, ReportOutcome::Stored);
    // Who learns nothing is not limited.
    let silent = apply_with(&db, 1, "l-6", 6, 6).await;
    assert_eq!(store_report(&db, &silent, None).await, ReportOutcome::Stored);
    assert_eq!(open(&db, &person(1), "l-6").await.disclosed_at, None);
}

async fn withheld_flags_are_cleared(db: Db) {
    let application = apply_with(&db, 1, "a", 1, 1).await;
    store_report(&db, &application, None).await;
    let seen = renew(&db, &person(1), "a").await;
    let none = Disclosure { limit: 0, ..disclosure(1, 1, 0) };
    assert_eq!(store_report(&db, &seen, Some(none)).await, ReportOutcome::Withheld);
    let withheld = open(&db, &person(1), "a").await;
    assert_eq!((withheld.is_withheld, withheld.salt, withheld.disclosed_at), (true, None, None));
    assert!(item(&db, &application).await.unwrap().deleted);
    assert!(db.due_applications(None, 10).await.unwrap().is_empty());
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

async fn orphaned_applications_clear_their_flags(db: Db) {
    apply(&db, 1, &["a", "b"]).await.unwrap();
    apply(&db, 2, &["a"]).await.unwrap();
    for due in db.due_applications(None, 10).await.unwrap() {
        store_report(&db, &due, None).await;
    }
    let ended = open(&db, &person(1), "b").await;
    change(&db, &ended, ApplicationStatus::Withdrawn).await.unwrap();
    let orphaned = db.applications_of(&person(1)).await.unwrap();
    db.write(DeleteOrphanedApplications { person: person(1), by: by_at(NOW) }).await.unwrap();
    for application in &orphaned {
        let cleared = item(&db, application).await.unwrap();
        assert_eq!((cleared.version, cleared.deleted), (2, true));
    }
    assert!(!item(&db, &open(&db, &person(2), "a").await).await.unwrap().deleted);
    assert_eq!(total(&db).await, 1, "what had ended counted no longer");
}
