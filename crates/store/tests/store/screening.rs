//! Cases, checks, results and the audit log.

use futures_util::future::join_all;
use portico_domain::applications::ApplicationStatus;
use portico_domain::{CaseId, Tenant};
use portico_records::ItemKind;
use portico_store::audit::Append;
use portico_store::screening::{
    AdvanceErasures, BeginChecks, Case, CaseSelector, Dispute, ErasePerson, FinishCheck, FinishGuess,
    ForgetAppliedErasures, ForgetInputs, Guess, Lifetime, Mint, NewCase, NewCheck, OpenCase, RevokeIdentity,
    StoreVerification, StoredVerification, TakeGuess,
};
use portico_store::{Budget, Error, Result, SharingChange, StoreReport};

use crate::applications::{change_sharing, item, new_report, open as newest_application};
use crate::engines::Db;
use crate::idempotency::ReversingSeal;
use crate::samples::{
    NOW, account, apply, by, conflict, delete, entry, later, missing, person, submission, text,
};

on_both_engines! {
    concurrent_entries_form_one_hash_chain,
    a_case_is_opened_once_by_one_person,
    generated_case_is_reused_until_it_has_a_result,
    a_check_keeps_its_reference_until_its_inputs_change,
    late_finding_does_not_overwrite_another,
    result_extends_incomplete_reports_of_open_applications,
    valid_results_are_read_newest_first,
    newest_result_of_a_case_is_found,
    dispute_changes_every_result_with_the_finding,
    dispute_of_a_changed_result_changes_nothing,
    revoked_case_accepts_no_result,
    wrong_names_are_counted_and_right_ones_are_not,
    concurrent_guesses_respect_the_limit,
    an_erased_person_leaves_a_case_without_an_owner,
    nothing_is_written_for_a_person_who_was_erased_meanwhile,
    an_erasure_revokes_the_tokens_of_all_cases,
    an_erasure_clears_the_flags_of_all_applications,
    applications_are_deleted_whoever_applied_the_erasure,
    erasures_of_another_keystore_are_applied,
    an_erasure_is_applied_once_whatever_its_number,
}

pub(crate) fn case(id: &str, user: &str, token: u8) -> Case {
    Case {
        id: text(id),
        name: Some(text(id)),
        tenant: Some(account("acme")),
        user: text(user),
        token: [token; 16],
        holder: [token; 20],
        custody: Some(i64::from(token)),
        wished_wallet: None,
        secret: Some(vec![token; 60]),
        revoked_at: None,
    }
}

pub(crate) async fn open(db: &Db, case: Case, of: CaseSelector) -> Result<Case> {
    open_after(db, 0, case, of).await
}

/// By somebody who knows of this erasure.
async fn open_after(db: &Db, erasure: i64, case: Case, of: CaseSelector) -> Result<Case> {
    let entry = entry("case.opened", case.id.as_str());
    let lifetime = Lifetime::new(&case.user, erasure);
    db.write(OpenCase { new: NewCase { case, of }, lifetime, entry, by: by() }).await
}

pub(crate) fn result(id: &str, case: &Case) -> StoreVerification {
    let verification = StoredVerification {
        id: text(id),
        user: case.user.clone(),
        case: case.id.clone(),
        created_at: NOW,
        expires_at: later(1_000_000),
        consented_at: None,
        consent_version: None,
        inputs: Some(vec![1]),
        findings: Some(vec![2]),
        outcome: vec![3],
    };
    StoreVerification {
        person: person(1),
        verification,
        commitment: [3; 32],
        entries: vec![entry("verification.made", id)],
        at: NOW,
    }
}

/// Asserts that the whole log is one hash chain; returns its length.
async fn whole(db: &Db) -> i64 {
    let (mut previous, mut place) = ([0; 32], 0);
    loop {
        let entries = db.audit_after(place, 7).await.unwrap();
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            assert_eq!(entry.seq, place + 1);
            assert!(entry.follows(&previous, None));
            (previous, place) = (entry.hash, entry.seq);
        }
    }
    let head = db.audit_head().await.unwrap();
    assert_eq!((head.seq, head.hash), (place, previous));
    assert_ne!(head.log, [0; 32]);
    place
}

async fn concurrent_entries_form_one_hash_chain(db: Db) {
    assert_eq!(whole(&db).await, 0);
    let tasks = (0..100).map(|n| {
        let db = db.handle();
        tokio::spawn(async move { db.write(Append(entry("verification.read", &n.to_string()))).await })
    });
    for done in join_all(tasks.collect::<Vec<_>>()).await {
        done.unwrap().unwrap();
    }
    assert_eq!(whole(&db).await, 100);
    let ends = db.audit_after(99, 10).await.unwrap();
    assert_eq!(
        (ends.len(), ends[0].action.as_str(), ends[0].actor.as_str()),
        (1, "verification.read", "user ann")
    );
}

async fn a_case_is_opened_once_by_one_person(db: Db) {
    let first = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    assert_eq!(open(&db, case("c", "ann", 2), CaseSelector::Named).await.unwrap(), first);
    assert_eq!(missing(open(&db, case("c", "bob", 3), CaseSelector::Named).await), "case_not_found");
    // Its name is the tenant's: another one has cases of its own under it.
    for (token, tenant) in [(4, account("other")), (5, Tenant::User(text("acme")))] {
        let elsewhere =
            Case { id: text(&token.to_string()), tenant: Some(tenant), ..case("c", "ann", token) };
        assert_eq!(open(&db, elsewhere.clone(), CaseSelector::Named).await.unwrap(), elsewhere);
    }
    assert_eq!(db.case_of_token(&[1; 16]).await.unwrap(), Some(first));
    assert_eq!(db.case_of_token(&[2; 16]).await.unwrap(), None);
    assert_eq!(whole(&db).await, 3);
}

async fn generated_case_is_reused_until_it_has_a_result(db: Db) {
    let first = open(&db, case("c", "ann", 1), CaseSelector::Generated).await.unwrap();
    assert_eq!(open(&db, case("d", "ann", 2), CaseSelector::Generated).await.unwrap(), first);
    assert_eq!(open(&db, case("e", "bob", 3), CaseSelector::Generated).await.unwrap().id, text("e"));
    db.write(result("v", &first)).await.unwrap();
    assert_eq!(open(&db, case("f", "ann", 4), CaseSelector::Generated).await.unwrap().id, text("f"));
}

pub(crate) type Begin = BeginChecks<ReversingSeal>;

pub(crate) fn begin(inputs: u8, reference: &str, bureau: &str) -> Begin {
    // Only the last byte of the digest tells inputs apart.
    let mut digest = [7; 32];
    digest[31] = inputs;
    let check =
        NewCheck { kind: "income", inputs: digest, reference: reference.into(), bureau: bureau.into() };
    BeginChecks {
        case: text("c"),
        checks: vec![check],
        seal: ReversingSeal,
        valid_since: NOW,
        budget: Budget::default(),
        needed: (Budget::default(), 1),
        at: NOW,
    }
}

pub(crate) fn finish(reference: &str, finding: u8) -> FinishCheck {
    FinishCheck {
        case: text("c"),
        kind: "income",
        reference: reference.into(),
        finding: vec![finding],
        at: later(5),
    }
}

async fn a_check_keeps_its_reference_until_its_inputs_change(db: Db) {
    open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    let begun = async |op: Begin| db.write(op).await.unwrap().remove(0);
    assert_eq!(begun(begin(1, "r1", "acme")).await.reference, "r1");
    assert_eq!(begun(begin(1, "r2", "acme")).await.reference, "r1");
    db.write(finish("r1", 7)).await.unwrap();
    let found = begun(begin(1, "r3", "acme")).await;
    assert_eq!((found.reference.as_str(), found.finding), ("r1", Some(vec![7])));
    // Other inputs, another bureau, or an expired finding start again.
    let other = begun(begin(2, "r4", "acme")).await;
    assert_eq!((other.reference.as_str(), other.finding, other.finished_at), ("r4", None, None));
    db.write(finish("r4", 8)).await.unwrap();
    assert_eq!(begun(begin(2, "r5", "emca")).await.reference, "r5");
    db.write(finish("r5", 9)).await.unwrap();
    let old = BeginChecks { valid_since: later(6), ..begin(2, "r6", "emca") };
    assert_eq!(begun(old).await.reference, "r6");
}

async fn late_finding_does_not_overwrite_another(db: Db) {
    open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    db.write(begin(1, "r1", "acme")).await.unwrap();
    db.write(begin(2, "r2", "acme")).await.unwrap();
    db.write(finish("r1", 1)).await.unwrap();
    let found = db.write(begin(2, "r3", "acme")).await.unwrap().remove(0);
    assert_eq!((found.reference.as_str(), found.finding), ("r2", None), "it was asked with other inputs");
    db.write(finish("r2", 2)).await.unwrap();
    db.write(finish("r2", 3)).await.unwrap();
    let found = db.write(begin(2, "r3", "acme")).await.unwrap().remove(0);
    assert_eq!(found.finding, Some(vec![2]), "the first one counts");
}

async fn result_extends_incomplete_reports_of_open_applications(db: Db) {
    apply(&db, 1, &["open", "complete", "withdrawn", "decided", "closed"]).await.unwrap();
    apply(&db, 2, &["open"]).await.unwrap();
    db.write(delete("closed")).await.unwrap();
    let ann = person(1);
    for (id, status, sharing) in [
        ("withdrawn", ApplicationStatus::Withdrawn, SharingChange::End),
        ("decided", ApplicationStatus::Declined, SharingChange::Keep),
    ] {
        let before = newest_application(&db, &ann, id).await;
        change_sharing(&db, &before, status, sharing).await.unwrap();
    }
    let complete = newest_application(&db, &ann, "complete").await;
    for due in db.due_applications(None, 10).await.unwrap() {
        let is_complete = due.id == complete.id;
        db.write(StoreReport { is_complete, ..new_report(&due, None, 1) }).await.unwrap();
    }
    assert_eq!(db.incomplete_applications(&ann, 10).await.unwrap(), 1);
    let case = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    db.write(result("v", &case)).await.unwrap();
    let due = db.due_applications(None, 10).await.unwrap();
    assert_eq!(
        due.iter().map(|due| &due.id).collect::<Vec<_>>(),
        [&newest_application(&db, &ann, "open").await.id]
    );
    // Nothing of a complete report changes, however many results follow.
    assert_eq!(newest_application(&db, &ann, "complete").await.generation, complete.generation);
}

async fn valid_results_are_read_newest_first(db: Db) {
    let case = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    for (id, expires) in [("v1", 30), ("v2", 20), ("v3", 10)] {
        let mut new = result(id, &case);
        new.verification.expires_at = later(expires);
        db.write(new).await.unwrap();
    }
    let valid = async |user: &str, at: i64| {
        let found = db.valid_verifications(&text(user), later(at)).await.unwrap();
        found.into_iter().map(|found| found.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(valid("ann", 9).await, ["v3", "v2", "v1"]);
    assert_eq!(valid("ann", 10).await, ["v2", "v1"], "at the moment of its expiry it is not");
    assert!(valid("bob", 0).await.is_empty());
    let at = later(25);
    db.write(ForgetInputs { inputs_before: NOW, checks_before: NOW, guesses_before: NOW, at }).await.unwrap();
    assert_eq!(valid("ann", 0).await, ["v1"], "what is forgotten is not valid");
}

async fn newest_result_of_a_case_is_found(db: Db) {
    let first = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    let second = open(&db, case("d", "ann", 2), CaseSelector::Named).await.unwrap();
    for (id, case) in [("v1", &first), ("v2", &first), ("v3", &second)] {
        db.write(result(id, case)).await.unwrap();
    }
    let newest = async |user: &str, case: &str| {
        let found = db.newest_verification(&text(user), &text(case)).await.unwrap();
        found.map(|found| found.id.to_string())
    };
    assert_eq!(newest("ann", "c").await.as_deref(), Some("v2"));
    assert_eq!(newest("ann", "d").await.as_deref(), Some("v3"));
    assert_eq!(newest("ann", "e").await, None);
    assert_eq!(newest("bob", "c").await, None);
}

/// Of the finding in these results.
fn dispute(outcomes: &[(&str, u8, u8)]) -> Dispute {
    let outcome = |&(id, before, after): &(&str, u8, u8)| (text(id), vec![before], vec![after]);
    Dispute {
        case: text("c"),
        check: "income",
        outcomes: outcomes.iter().map(outcome).collect(),
        entry: entry("verification.disputed", "v"),
    }
}

async fn outcomes(db: &Db) -> Vec<Vec<u8>> {
    let found = db.valid_verifications(&text("ann"), NOW).await.unwrap();
    found.into_iter().map(|found| found.outcome).collect()
}

async fn dispute_changes_every_result_with_the_finding(db: Db) {
    let case = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    apply(&db, 1, &["l"]).await.unwrap();
    for id in ["v", "w", "x"] {
        db.write(result(id, &case)).await.unwrap();
    }
    db.write(begin(1, "r1", "acme")).await.unwrap();
    db.write(finish("r1", 7)).await.unwrap();
    let before = newest_application(&db, &person(1), "l").await;
    db.write(dispute(&[("v", 3, 4), ("w", 3, 5)])).await.unwrap();
    assert_eq!(outcomes(&db).await, [[3], [5], [4]]);
    let asked = db.write(begin(1, "r2", "acme")).await.unwrap().remove(0);
    assert_eq!((asked.reference.as_str(), asked.finding), ("r2", None), "the bureau is asked again");
    assert_eq!(newest_application(&db, &person(1), "l").await, before, "the report names the same findings");
    assert_eq!(whole(&db).await, 5, "a case, three results, and the dispute");
}

async fn dispute_of_a_changed_result_changes_nothing(db: Db) {
    let case = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    for id in ["v", "w"] {
        db.write(result(id, &case)).await.unwrap();
    }
    db.write(begin(1, "r1", "acme")).await.unwrap();
    let late = db.write(dispute(&[("v", 3, 4), ("w", 2, 5)])).await;
    assert!(matches!(late, Err(Error::Outdated)), "{late:?}");
    assert_eq!(outcomes(&db).await, [[3], [3]]);
    assert_eq!(db.write(begin(1, "r2", "acme")).await.unwrap().remove(0).reference, "r1");
}

async fn revoked_case_accepts_no_result(db: Db) {
    let case = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    let mint = || Mint { case: text("c"), at: NOW };
    db.write(mint()).await.unwrap();
    let revoke = || RevokeIdentity { token: [1; 16], entry: entry("identity.revoked", "1"), by: by() };
    db.write(revoke()).await.unwrap();
    db.write(revoke()).await.unwrap();
    assert_eq!(conflict(db.write(mint()).await), "identity_revoked");
    assert_eq!(conflict(db.write(result("v", &case)).await), "identity_revoked");
    assert_eq!(conflict(open(&db, case.clone(), CaseSelector::Named).await), "identity_revoked");
    assert!(db.verification(&text("v")).await.unwrap().is_none());
    assert_eq!(whole(&db).await, 2, "opened and revoked, once");
}

fn guess(at: i64) -> TakeGuess {
    TakeGuess {
        guess: Guess { verification: text("v"), caller: "bob".into(), at: later(at) },
        limit_per_caller: 5,
        limit: 7,
        since: later(at - 100),
        refused: entry("identity.validation_refused", "v"),
    }
}

async fn wrong_names_are_counted_and_right_ones_are_not(db: Db) {
    let case = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    db.write(result("v", &case)).await.unwrap();
    let take = async |at: i64| db.write(guess(at)).await.unwrap();
    let finish = async |place: i64, is_correct: bool| {
        db.write(FinishGuess { place, is_correct, entry: entry("identity.validated", "v") }).await.unwrap();
    };
    for _ in 0..8 {
        finish(take(0).await.unwrap(), true).await;
    }
    for _ in 0..5 {
        finish(take(0).await.unwrap(), false).await;
    }
    assert_eq!(take(0).await, None);
    let other = TakeGuess { guess: Guess { caller: "eve".into(), ..guess(0).guess }, ..guess(0) };
    assert!(db.write(other).await.unwrap().is_some(), "somebody else may");
    let by = async |caller: &str| {
        let guess = TakeGuess { guess: Guess { caller: caller.into(), ..guess(0).guess }, ..guess(0) };
        db.write(guess).await.unwrap().is_some()
    };
    assert_eq!((by("mia").await, by("zoe").await), (true, false), "seven in all");
    assert!(take(101).await.is_some(), "and later they may again");
    assert_eq!(whole(&db).await, 17, "a case, a result, and each guess");
}

async fn concurrent_guesses_respect_the_limit(db: Db) {
    let case = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    db.write(result("v", &case)).await.unwrap();
    let tasks = (0..40).map(|_| {
        let db = db.handle();
        tokio::spawn(async move { db.write(guess(0)).await })
    });
    let taken = join_all(tasks.collect::<Vec<_>>()).await;
    let taken = taken.into_iter().filter(|done| done.as_ref().unwrap().as_ref().unwrap().is_some()).count();
    assert_eq!(taken, 5);
    assert_eq!(whole(&db).await, 37, "a case, a result, and each refusal");
}

async fn an_erased_person_leaves_a_case_without_an_owner(db: Db) {
    let case = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    let other = open(&db, self::case("d", "bob", 2), CaseSelector::Named).await.unwrap();
    db.write(begin(1, "r1", "acme")).await.unwrap();
    db.write(result("v", &case)).await.unwrap();
    db.write(result("w", &other)).await.unwrap();
    db.write(guess(0)).await.unwrap();
    apply(&db, 1, &["l"]).await.unwrap();
    apply(&db, 2, &["l"]).await.unwrap();
    assert!(db.write(erase(5)).await.unwrap());
    assert!(db.verification(&text("v")).await.unwrap().is_none());
    assert!(db.verification(&text("w")).await.unwrap().is_some(), "others stay");
    assert!(db.applications_of(&person(1)).await.unwrap().is_empty());
    assert_eq!(db.applications_of(&person(2)).await.unwrap().len(), 1);
    assert_eq!(db.listing_statistics().await.unwrap().applications, 1);
    let id: CaseId = text("c");
    let left = db.case(&id).await.unwrap().unwrap();
    assert_eq!((left.user.as_str(), left.name, left.tenant, left.secret), ("", None, None, None));
    assert!(left.revoked_at.is_some());
    // The name is free, and the case that gets it is another one.
    let again = Case { id: text("e"), name: Some(text("c")), ..self::case("e", "ann", 3) };
    assert_eq!(open_after(&db, 5, again.clone(), CaseSelector::Named).await.unwrap(), again);
    for table in ["checks", "name_guesses"] {
        let left = db.raw(&format!("SELECT count(*) FROM {table}")).await;
        assert_eq!(left, [[Some("0".to_owned())]], "{table}");
    }
}

pub(crate) fn erase(erasure: i64) -> ErasePerson {
    ErasePerson {
        user: text("ann"),
        person: Some(person(1)),
        erasure,
        keys_revoked_at: later(9),
        entry: entry("person.erased", "ann"),
        by: by(),
    }
}

async fn nothing_is_written_for_a_person_who_was_erased_meanwhile(db: Db) {
    let before = open(&db, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    db.write(result("v", &before)).await.unwrap();
    apply(&db, 2, &["l"]).await.unwrap();
    let submission = submission(&db, 1, &["l"], NOW).await;
    assert!(db.write(erase(5)).await.unwrap());
    // All of it began before the erasure.
    let late = open(&db, case("d", "ann", 3), CaseSelector::Named).await;
    assert!(matches!(late, Err(Error::Erased)), "{late:?}");
    let late = db.write(submission).await;
    assert!(matches!(late, Err(Error::Erased)), "{late:?}");
    assert_eq!(conflict(db.write(begin(1, "r1", "acme")).await), "identity_revoked");
    assert_eq!(conflict(db.write(result("w", &before)).await), "identity_revoked");
    let mint = Mint { case: text("c"), at: NOW };
    assert_eq!(conflict(db.write(mint).await), "identity_revoked");
    assert_eq!(missing(db.write(guess(0)).await), "identity_not_found");
    for table in ["checks", "name_guesses", "verifications"] {
        let left = db.raw(&format!("SELECT count(*) FROM {table}")).await;
        assert_eq!(left, [[Some("0".to_owned())]], "{table}");
    }
    // Work that begins now is after the erasure, and others were never erased.
    open_after(&db, 5, case("e", "ann", 4), CaseSelector::Named).await.unwrap();
    open(&db, case("f", "bob", 5), CaseSelector::Named).await.unwrap();
}

async fn an_erasure_revokes_the_tokens_of_all_cases(db: Db) {
    for (id, token) in [("c", 1), ("d", 2)] {
        open(&db, case(id, "ann", token), CaseSelector::Named).await.unwrap();
        db.write(Mint { case: text(id), at: NOW }).await.unwrap();
    }
    assert!(db.write(erase(5)).await.unwrap());
    assert_eq!(db.raw("SELECT count(*) FROM chain_items WHERE deleted = 0").await, [[Some("0".to_owned())]]);
}

async fn an_erasure_clears_the_flags_of_all_applications(db: Db) {
    apply(&db, 1, &["a", "b", "c"]).await.unwrap();
    apply(&db, 2, &["a"]).await.unwrap();
    let mut applications = db.applications_of(&person(1)).await.unwrap();
    let without_flags = applications.pop().unwrap();
    let other = newest_application(&db, &person(2), "a").await;
    for application in applications.iter().chain([&other]) {
        db.write(new_report(application, None, 5)).await.unwrap();
    }
    // No key is needed: the row says where its record is.
    assert!(db.write(erase(5)).await.unwrap());
    for application in &applications {
        let cleared = item(&db, application).await.unwrap();
        assert_eq!((cleared.version, cleared.deleted, cleared.payload), (2, true, vec![]));
    }
    assert!(item(&db, &without_flags).await.is_none(), "what was never written is not cleared");
    assert!(!item(&db, &other).await.unwrap().deleted);
    assert_eq!(db.chain_items_after(ItemKind::Check, &[], 10).await.unwrap().len(), 3);
}

async fn applications_are_deleted_whoever_applied_the_erasure(db: Db) {
    apply(&db, 1, &["l"]).await.unwrap();
    // Another replica found the erasure, and could not tell by what applications refer to the person.
    let found = ErasePerson { person: None, ..erase(5) };
    assert!(db.write(found).await.unwrap());
    assert_eq!(db.applications_of(&person(1)).await.unwrap().len(), 1);
    assert!(!db.write(erase(5)).await.unwrap());
    assert!(db.applications_of(&person(1)).await.unwrap().is_empty());
    assert_eq!(db.listing_statistics().await.unwrap().applications, 0);
}

async fn erasures_of_another_keystore_are_applied(db: Db) {
    assert!(db.write(erase(5)).await.unwrap());
    db.write(AdvanceErasures(5)).await.unwrap();
    assert!(!db.write(erase(1)).await.unwrap());
    db.write(ForgetAppliedErasures).await.unwrap();
    assert!(db.write(erase(1)).await.unwrap());
}

async fn an_erasure_is_applied_once_whatever_its_number(db: Db) {
    let many = 1 << 50;
    for erasure in [7, many, 3] {
        assert!(!db.erasure_is_applied(erasure).await.unwrap());
        assert!(db.write(erase(erasure)).await.unwrap());
        assert!(db.erasure_is_applied(erasure).await.unwrap());
    }
    let case = open_after(&db, many, case("c", "ann", 1), CaseSelector::Named).await.unwrap();
    db.write(result("v", &case)).await.unwrap();
    // As after a restart: what the person stored since then stays.
    for erasure in [7, many, 3] {
        assert!(!db.write(erase(erasure)).await.unwrap());
    }
    assert!(db.verification(&text("v")).await.unwrap().is_some());
    db.write(AdvanceErasures(7)).await.unwrap();
    assert_eq!(db.erasures_applied_up_to().await.unwrap(), 7);
    for (erasure, applied) in [(3, true), (6, true), (8, false), (many, true)] {
        assert_eq!(db.erasure_is_applied(erasure).await.unwrap(), applied, "{erasure}");
    }
    assert_eq!(db.raw("SELECT count(*) FROM erasures_applied").await, [[Some("1".to_owned())]]);
}
