//! Applications: what they freeze, what becomes of them, and who learns what.

use std::collections::BTreeSet;

use portico_app::applications::{
    ApplicationView, Basis, CheckStatus, DecisionRequest, Party, SeenConditions,
};
use portico_app::screening::VerificationResult;
use portico_app::{CallContext, Error, Result};
use portico_domain::applications::{ApplicationStatus, Decision};
use portico_domain::listing_changes::ListingChange;
use portico_domain::listings::ListingStatus;
use portico_domain::{ErrorCode, ListingId, Text, UserId};
use portico_screening::Check;

use crate::world::{
    Facts, Inputs, World, account_key, anonymous, member, operator, person, terms_of, user_key,
};

on_both_engines! {
    every_application_has_its_own_id_and_key,
    the_owners_pipeline_binds_the_applicant,
    terms_bind_beside_a_pipeline_that_requires_nothing,
    findings_for_another_country_do_not_count,
    unstated_terms_are_met_once_the_required_checks_are_there,
    nothing_required_attests_nothing,
    new_application_ends_the_flags_of_a_decided_one,
    terms_alone_require_the_checks_that_they_need,
    terms_and_checks_are_frozen_at_submission,
    passed_means_the_frozen_minimum,
    records_on_file_do_not_pass,
    complete_report_stays_until_its_applicant_renews_it,
    incomplete_report_takes_later_findings_of_the_same_person,
    decision_freezes_the_report,
    only_the_applicant_renews,
    flags_expire_with_their_finding,
    forgotten_findings_are_shown_as_expired,
    repeated_verification_is_the_same_report,
    applying_again_changes_nothing_while_open,
    own_paused_and_unknown_listings_are_rejected,
    one_rejected_listing_stores_none,
    withdrawing_clears_flags_and_ends_the_sharing,
    sharing_ends_after_a_decision_too,
    only_the_applicant_ends_the_sharing,
    conditions_must_be_those_that_were_seen,
    names_are_checked_against_the_report,
    account_keys_do_not_reach_what_members_do_for_themselves,
    disclosures_are_counted_over_all_owners,
    withdrawn_application_is_followed_by_a_new_one,
    owner_operator_and_account_key_decide,
    strangers_and_the_applicant_do_not_decide,
    decided_application_is_final,
    withdrawn_application_cannot_be_changed,
    deleting_a_listing_closes_its_applications,
    reads_mean_the_present_incarnation,
    former_owner_learns_nothing_of_later_applications,
    strangers_learn_no_existence,
    one_of_two_decisions_wins,
    decision_and_withdrawal_exclude_each_other,
    decision_on_an_older_version_is_rejected,
    decision_names_only_valid_checks,
    editing_terms_yields_five_sets_of_flags,
    recreating_a_listing_yields_five_sets_of_flags,
    many_listings_of_an_account_yield_five_sets_of_flags,
    withdrawing_and_applying_again_yields_five_sets_of_flags,
    another_account_has_its_own_five_sets,
    same_terms_count_once,
    five_more_sets_after_thirty_days,
    withheld_application_keeps_no_flags_on_the_chain,
    results_of_another_identity_do_not_count,
    same_identity_is_recognised_across_spellings,
    disputed_finding_keeps_the_flags,
    new_finding_replaces_a_disputed_one,
    dispute_covers_every_result_with_the_finding,
    disputes_have_their_own_codes,
    notice_is_whole_for_the_applicant_alone,
    decision_without_checks_gives_no_notice,
    erasure_deletes_applications_and_clears_flags,
    erased_person_applies_again,
}

const HIGH: [i64; 4] = [650, 720, 50_000, 90_000];

fn ann() -> CallContext {
    member("ann", "acme")
}

fn bob() -> CallContext {
    person("bob")
}

fn user(name: &str) -> UserId {
    UserId::stored(name)
}

async fn apply(world: &World, listing: &ListingId) -> Result<()> {
    world.app.applications.apply(&bob(), user("bob"), vec![listing.clone()], SeenConditions::new()).await
}

async fn view(world: &World, call: &CallContext, listing: &ListingId) -> Result<ApplicationView> {
    world.app.applications.view(call, &user("bob"), listing).await
}

/// What both sides see; it must be the same.
async fn seen(world: &World, owner: &CallContext, listing: &ListingId) -> ApplicationView {
    let (owners, own) =
        (view(world, owner, listing).await.unwrap(), view(world, &bob(), listing).await.unwrap());
    assert_eq!(owners.evaluation, own.evaluation);
    assert_eq!(owners.is_withheld, own.is_withheld);
    let applicants = world.app.applications.applicants(owner, listing, None, 10).await.unwrap().items;
    let listed = applicants.iter().find(|applicant| applicant.user == user("bob")).unwrap();
    assert_eq!((listed.status, listed.is_withheld), (own.status, own.is_withheld));
    assert_eq!(listed.evaluation, own.evaluation);
    owners
}

async fn withdraw(world: &World, listing: &ListingId) -> Result<()> {
    world.app.applications.end_sharing(&bob(), &user("bob"), listing).await
}

async fn renew(world: &World, listing: &ListingId) -> Result<()> {
    world.app.applications.renew(&bob(), &user("bob"), listing).await
}

fn decision(decision: Decision, reasons: &[Check]) -> DecisionRequest {
    let basis = if reasons.is_empty() { Basis::NoReport } else { Basis::Checks(reasons.to_vec()) };
    DecisionRequest { decision, basis, note: None, if_match: None }
}

async fn decide(
    world: &World,
    call: &CallContext,
    listing: &ListingId,
    request: DecisionRequest,
) -> Result<()> {
    world.app.applications.decide(call, &user("bob"), listing, request).await
}

async fn delete(world: &World, call: &CallContext, listing: &ListingId) {
    world.app.listings.delete(call, listing.clone()).await.unwrap();
}

async fn set_status(world: &World, call: &CallContext, listing: &ListingId, status: ListingStatus) {
    let change = ListingChange { status: Some(status), ..ListingChange::default() };
    world.app.listings.edit(call, listing.clone(), change, None).await.unwrap();
}

/// The listings that the applicant's list names; empty if there is no list.
async fn listed(world: &World) -> Vec<ListingId> {
    match world.app.applications.of_user(&bob(), user("bob")).await {
        Ok(mapping) => mapping.listings,
        Err(Error::NotFound(ErrorCode::ApplicationNotFound)) => Vec::new(),
        Err(other) => panic!("{other}"),
    }
}

fn bits(view: &ApplicationView) -> Option<u8> {
    view.evaluation.flags.map(|flags| flags.passes.bits())
}

fn checks(view: &ApplicationView) -> Vec<(Check, CheckStatus)> {
    view.evaluation.checks.iter().map(|state| (state.check, state.status)).collect()
}

/// The flags on the chain that are not cleared.
async fn flags_on_chain(world: &World) -> Vec<u8> {
    let flags = world.chain_flags().await;
    flags.iter().filter_map(|flags| flags.passes.map(portico_domain::chain::Passes::bits)).collect()
}

fn conflict<T>(result: Result<T>) -> ErrorCode {
    match result.map(drop) {
        Err(Error::Conflict(code)) => code,
        other => panic!("no conflict: {other:?}"),
    }
}

fn is_hidden<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Forbidden(_) | Error::NotFound(_)))
}

fn is_absent<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::NotFound(ErrorCode::ApplicationNotFound)))
}

/// A screened applicant with an application to a listing of ann's.
async fn applied(world: &World, terms: [i64; 4]) -> (ListingId, VerificationResult) {
    let oak = world.offer("oak", &ann(), terms).await;
    let verified = world.screen(&bob(), Inputs::ALL).await.unwrap();
    apply(world, &oak).await.unwrap();
    (oak, verified)
}

async fn every_application_has_its_own_id_and_key(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    let elm = world.offer("elm", &ann(), HIGH).await;
    let mut ids = BTreeSet::from([view(&world, &bob(), &oak).await.unwrap().id.to_string()]);
    apply(&world, &elm).await.unwrap();
    assert!(ids.insert(view(&world, &bob(), &elm).await.unwrap().id.to_string()));
    let eve = person("eve");
    world.screen(&eve, Inputs::ALL).await.unwrap();
    let seen = SeenConditions::new();
    world.app.applications.apply(&eve, user("eve"), vec![oak.clone()], seen).await.unwrap();
    let theirs = world.app.applications.view(&eve, &user("eve"), &oak).await.unwrap();
    assert!(ids.insert(theirs.id.to_string()));
    withdraw(&world, &oak).await.unwrap();
    apply(&world, &oak).await.unwrap();
    assert!(ids.insert(view(&world, &bob(), &oak).await.unwrap().id.to_string()));
    delete(&world, &ann(), &elm).await;
    let elm = world.offer("elm", &ann(), HIGH).await;
    apply(&world, &elm).await.unwrap();
    assert!(ids.insert(view(&world, &bob(), &elm).await.unwrap().id.to_string()));
    world.app.maintenance.record_flags().await.unwrap();
    let flags = world.chain_flags().await;
    let keys: BTreeSet<_> = flags.iter().map(|flags| flags.key).collect();
    assert_eq!((flags.len(), keys.len()), (5, 5));
    assert_eq!(flags.iter().filter(|flags| flags.passes.is_some()).count(), 3);
}

async fn the_owners_pipeline_binds_the_applicant(world: World) {
    use CheckStatus::{Missing, Passed};
    world.require(&ann(), &Check::ALL).await;
    let oak = world.offer("oak", &ann(), HIGH).await;
    // Neither a client id nor a birth date.
    world.screen(&bob(), Inputs::CREDIT_AND_INCOME).await.unwrap();
    apply(&world, &oak).await.unwrap();
    let partial = seen(&world, &ann(), &oak).await;
    let expected = [
        (Check::Eviction, Missing),
        (Check::Income, Passed),
        (Check::SoftCredit, Passed),
        (Check::CriminalBackground, Missing),
    ];
    assert_eq!(checks(&partial), expected);
    assert!(!partial.evaluation.complete);
    assert_eq!(bits(&partial), None);
    assert!(flags_on_chain(&world).await.is_empty());
    // Findings of several results complete it.
    world.screen(&bob(), Inputs::RECORDS).await.unwrap();
    let complete = seen(&world, &ann(), &oak).await;
    assert!(complete.evaluation.complete);
    assert_eq!(bits(&complete), Some(0b0101));
    assert_eq!(flags_on_chain(&world).await, [0b0101]);
}

/// Regression: an eviction-only pipeline with credit terms showed four false flags and a complete report.
async fn terms_bind_beside_a_pipeline_that_requires_nothing(world: World) {
    use CheckStatus::{Missing, Passed};
    world.require(&ann(), &[]).await;
    let oak = world.offer("oak", &ann(), HIGH).await;
    apply(&world, &oak).await.unwrap();
    let before = seen(&world, &ann(), &oak).await;
    assert_eq!(checks(&before), [(Check::Income, Missing), (Check::SoftCredit, Missing)]);
    assert!(!before.evaluation.complete && bits(&before).is_none());
    world.require(&ann(), &[Check::Eviction]).await;
    let elm = world.offer("elm", &ann(), [650, 650, 0, 0]).await;
    apply(&world, &elm).await.unwrap();
    world.screen(&bob(), Inputs::RECORDS).await.unwrap();
    let partial = seen(&world, &ann(), &elm).await;
    assert_eq!(checks(&partial), [(Check::Eviction, Passed), (Check::SoftCredit, Missing)]);
    assert!(!partial.evaluation.complete);
}

/// Regression: an applicant could have the registers of another country searched.
async fn findings_for_another_country_do_not_count(world: World) {
    use CheckStatus::{Missing, Passed};
    world.require(&ann(), &[Check::Eviction]).await;
    let oak = world.offer("oak", &ann(), [0; 4]).await;
    apply(&world, &oak).await.unwrap();
    world.require_in(&bob(), &[Check::Eviction], Some("LI")).await;
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    assert_eq!(checks(&seen(&world, &ann(), &oak).await), [(Check::Eviction, Missing)]);
    world.require_in(&bob(), &[Check::Eviction], Some("US")).await;
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    assert_eq!(checks(&seen(&world, &ann(), &oak).await), [(Check::Eviction, Passed)]);
}

async fn unstated_terms_are_met_once_the_required_checks_are_there(world: World) {
    world.require(&ann(), &[Check::Eviction]).await;
    // Whatever the income is, nobody asked for it.
    world.set_facts(Facts { score: Some(640), income: Some(0), ..Facts::default() });
    let oak = world.offer("oak", &ann(), [630, 630, 0, 0]).await;
    let elm = world.add_listing("elm", "ann").await;
    world.require(&person("ann"), &[Check::Eviction]).await;
    apply(&world, &oak).await.unwrap();
    apply(&world, &elm).await.unwrap();
    assert_eq!(bits(&seen(&world, &ann(), &oak).await), None);
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    assert_eq!(bits(&seen(&world, &ann(), &oak).await), Some(0b1111));
    let without_terms = seen(&world, &person("ann"), &elm).await;
    assert_eq!((without_terms.terms, bits(&without_terms)), (None, Some(0b1111)));
}

/// Regression: a listing without terms turned four flags true after an income check that nobody required.
async fn nothing_required_attests_nothing(world: World) {
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    for (id, terms) in [("oak", None), ("elm", Some([0; 4]))] {
        let id = match terms {
            None => world.add_listing(id, "ann").await,
            Some(terms) => world.offer(id, &person("ann"), terms).await,
        };
        apply(&world, &id).await.unwrap();
        let view = seen(&world, &person("ann"), &id).await;
        assert!(view.evaluation.complete && bits(&view).is_none() && checks(&view).is_empty());
    }
    assert!(flags_on_chain(&world).await.is_empty());
}

/// Regression: flags of a declined application were renewed after the next application to the listing was withdrawn.
async fn new_application_ends_the_flags_of_a_decided_one(world: World) {
    let oak = world.offer("oak", &ann(), HIGH).await;
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    apply(&world, &oak).await.unwrap();
    decide(&world, &ann(), &oak, decision(Decision::Declined, &[])).await.unwrap();
    assert_eq!(flags_on_chain(&world).await.len(), 1);
    apply(&world, &oak).await.unwrap();
    assert_eq!(flags_on_chain(&world).await.len(), 1);
    withdraw(&world, &oak).await.unwrap();
    assert!(flags_on_chain(&world).await.is_empty());
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    assert!(flags_on_chain(&world).await.is_empty());
}

async fn terms_alone_require_the_checks_that_they_need(world: World) {
    for (id, terms, expected) in [
        ("a", [600, 600, 0, 0], vec![Check::SoftCredit]),
        ("b", [0, 700, 0, 0], vec![Check::SoftCredit]),
        ("c", [0, 0, 1, 1], vec![Check::Income]),
        ("d", [0, 0, 0, 0], vec![]),
        ("e", [1, 1, 1, 1], vec![Check::Income, Check::SoftCredit]),
    ] {
        let id = world.offer(id, &ann(), terms).await;
        apply(&world, &id).await.unwrap();
        let view = seen(&world, &ann(), &id).await;
        let required: Vec<Check> = checks(&view).into_iter().map(|(check, _)| check).collect();
        assert_eq!(required, expected, "{terms:?}");
    }
}

async fn terms_and_checks_are_frozen_at_submission(world: World) {
    world.require(&ann(), &[Check::SoftCredit]).await;
    let (oak, _) = applied(&world, [650, 720, 0, 0]).await;
    let before = seen(&world, &ann(), &oak).await;
    world.require(&ann(), &Check::ALL).await;
    world.set_terms(&ann(), &oak, [800, 850, 0, 0]).await.unwrap();
    world.screen(&bob(), Inputs::INCOME).await.unwrap();
    let after = seen(&world, &ann(), &oak).await;
    assert_eq!((after.terms, &after.id), (Some(terms_of([650, 720, 0, 0])), &before.id));
    assert_eq!(after.tag, before.tag);
    assert_eq!((checks(&after), bits(&after)), (checks(&before), bits(&before)));
    assert_eq!(bits(&after), Some(0b1101));
    withdraw(&world, &oak).await.unwrap();
    apply(&world, &oak).await.unwrap();
    let next = seen(&world, &ann(), &oak).await;
    assert_eq!((next.terms, checks(&next).len()), (Some(terms_of([800, 850, 0, 0])), 4));
    assert_eq!(bits(&next), Some(0b1100));
}

async fn passed_means_the_frozen_minimum(world: World) {
    use CheckStatus::{NotPassed, Passed};
    // The country's threshold is 620.
    for (id, score, minimum, expected) in [
        ("a", 619, 600, Passed),
        ("b", 600, 600, Passed),
        ("c", 640, 641, NotPassed),
        ("d", 599, 600, NotPassed),
    ] {
        let owner = person(id);
        let id = world.offer(id, &owner, [minimum, minimum, 0, 0]).await;
        world.set_facts(Facts { score: Some(score), ..Facts::default() });
        world.clock.advance_seconds(1);
        world.screen(&bob(), Inputs::CREDIT).await.unwrap();
        apply(&world, &id).await.unwrap();
        let view = seen(&world, &owner, &id).await;
        assert_eq!(checks(&view), [(Check::SoftCredit, expected)], "{score} {minimum}");
        assert_eq!(bits(&view).unwrap() & 1 == 1, expected == Passed);
    }
    let oak = world.offer("oak", &ann(), [0, 0, 50_000, 50_000]).await;
    world.set_facts(Facts { income: Some(49_999), ..Facts::default() });
    world.screen(&bob(), Inputs::INCOME).await.unwrap();
    apply(&world, &oak).await.unwrap();
    assert_eq!(checks(&seen(&world, &ann(), &oak).await), [(Check::Income, NotPassed)]);
}

async fn records_on_file_do_not_pass(world: World) {
    use CheckStatus::{NotPassed, Passed};
    world.require(&person("ann"), &[Check::Eviction, Check::CriminalBackground]).await;
    let oak = world.add_listing("oak", "ann").await;
    world.set_facts(Facts { evicted: Some(true), criminal: Some(false), ..Facts::default() });
    world.screen(&bob(), Inputs::RECORDS).await.unwrap();
    apply(&world, &oak).await.unwrap();
    let view = seen(&world, &person("ann"), &oak).await;
    assert_eq!(checks(&view), [(Check::Eviction, NotPassed), (Check::CriminalBackground, Passed)]);
    assert!(view.evaluation.complete);
}

/// Regression: every open or decided application always showed the newest findings.
async fn complete_report_stays_until_its_applicant_renews_it(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    let before = seen(&world, &ann(), &oak).await;
    assert_eq!(bits(&before), Some(0b0101));
    world.clock.advance_days(1);
    world.set_facts(Facts { income: Some(95_000), ..Facts::default() });
    world.screen(&bob(), Inputs::INCOME).await.unwrap();
    let after = seen(&world, &ann(), &oak).await;
    assert_eq!((after.evaluation, after.tag), (before.evaluation, before.tag));
    assert_eq!(flags_on_chain(&world).await, [0b0101]);
    renew(&world, &oak).await.unwrap();
    assert_eq!(bits(&seen(&world, &ann(), &oak).await), Some(0b1101));
    assert_eq!(flags_on_chain(&world).await, [0b1101]);
}

async fn incomplete_report_takes_later_findings_of_the_same_person(world: World) {
    use CheckStatus::{Missing, Passed};
    let oak = world.offer("oak", &ann(), HIGH).await;
    world.screen(&bob(), Inputs::CREDIT).await.unwrap();
    apply(&world, &oak).await.unwrap();
    world.clock.advance_days(1);
    let other = Inputs { last_name: Some("Byron"), ..Inputs::ALL };
    world.screen(&bob(), other).await.unwrap();
    let partial = seen(&world, &ann(), &oak).await;
    assert_eq!(checks(&partial), [(Check::Income, Missing), (Check::SoftCredit, Passed)]);
    world.screen(&bob(), Inputs::CREDIT_AND_INCOME).await.unwrap();
    let complete = seen(&world, &ann(), &oak).await;
    assert_eq!(checks(&complete), [(Check::Income, Passed), (Check::SoftCredit, Passed)]);
    let credit = |view: &ApplicationView| {
        view.findings
            .iter()
            .find(|finding| finding.check == Check::SoftCredit)
            .map(|finding| finding.reported_at)
    };
    assert_eq!(credit(&complete), credit(&partial), "what was shared stays");
    assert_eq!(bits(&complete), Some(0b0101));
}

/// Regression: a declined applicant was watched without end.
async fn decision_freezes_the_report(world: World) {
    for (id, decided) in [("oak", Decision::Declined), ("elm", Decision::Approved)] {
        let listing = world.offer(id, &ann(), HIGH).await;
        world.screen(&bob(), Inputs::CREDIT).await.unwrap();
        apply(&world, &listing).await.unwrap();
        decide(&world, &ann(), &listing, decision(decided, &[])).await.unwrap();
        let before = seen(&world, &ann(), &listing).await;
        world.screen(&bob(), Inputs::ALL).await.unwrap();
        let after = seen(&world, &ann(), &listing).await;
        assert_eq!((&after.evaluation, &after.tag), (&before.evaluation, &before.tag));
        assert_eq!(conflict(renew(&world, &listing).await), ErrorCode::ApplicationDecided);
        assert_eq!(seen(&world, &ann(), &listing).await.evaluation, before.evaluation);
        world.app.people.erase(&bob(), &user("bob")).await.unwrap();
    }
}

async fn only_the_applicant_renews(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    let before = view(&world, &bob(), &oak).await.unwrap();
    for call in [ann(), operator(), account_key("acme"), account_key("bob"), user_key("bob"), anonymous()] {
        let renewed = world.app.applications.renew(&call, &user("bob"), &oak).await;
        assert!(matches!(renewed, Err(Error::Forbidden(_))), "{call:?}");
    }
    assert_eq!(view(&world, &bob(), &oak).await.unwrap().tag, before.tag);
}

/// Regression: after 101 repetitions of a cached verification the results of another identity counted.
async fn repeated_verification_is_the_same_report(world: World) {
    let first = world.screen_in(&bob(), Inputs::ALL, "case").await.unwrap();
    for _ in 0..3 {
        let again = world.screen_in(&bob(), Inputs::ALL, "case").await.unwrap();
        assert_eq!(again.id, first.id);
    }
    assert_eq!(world.stored_verifications(&user("bob")).await, 1);
    let other = Inputs { last_name: Some("Byron"), ..Inputs::ALL };
    let second = world.screen_in(&bob(), other, "case").await.unwrap();
    // The case's token has the other name now, so this is another result.
    let third = world.screen_in(&bob(), Inputs::ALL, "case").await.unwrap();
    assert!(first.id != second.id && third.id != first.id && third.id != second.id);
}

async fn flags_expire_with_their_finding(world: World) {
    use CheckStatus::Expired;
    let (oak, _) = applied(&world, HIGH).await;
    let both = seen(&world, &ann(), &oak).await;
    let expiry = both.evaluation.flags.unwrap().expires_at();
    let earliest = both.evaluation.checks.iter().filter_map(|state| state.expires_at).min().unwrap();
    assert!(expiry <= earliest && expiry.minus_seconds(-24 * 60 * 60) > earliest, "{expiry} {earliest}");
    world.clock.advance_days(20);
    world.screen(&bob(), Inputs::CREDIT_AND_INCOME).await.unwrap();
    world.clock.advance_days(11);
    let after = seen(&world, &ann(), &oak).await;
    assert_eq!(checks(&after), [(Check::Income, Expired), (Check::SoftCredit, Expired)]);
    assert_eq!((after.evaluation.complete, bits(&after)), (false, None));
    renew(&world, &oak).await.unwrap();
    assert_eq!(bits(&seen(&world, &ann(), &oak).await), Some(0b0101));
    world.clock.advance_days(31);
    let end = seen(&world, &ann(), &oak).await;
    assert_eq!(checks(&end), [(Check::Income, Expired), (Check::SoftCredit, Expired)]);
    assert_eq!(bits(&end), None);
}

async fn forgotten_findings_are_shown_as_expired(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    world.clock.advance_days(31);
    world.app.maintenance.tidy().await.unwrap();
    let after = seen(&world, &ann(), &oak).await;
    assert!(checks(&after).iter().all(|(_, status)| *status == CheckStatus::Expired), "{after:?}");
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    renew(&world, &oak).await.unwrap();
    assert_eq!(bits(&seen(&world, &ann(), &oak).await), Some(0b0101));
}

async fn applying_again_changes_nothing_while_open(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    let before = view(&world, &bob(), &oak).await.unwrap();
    for status in [ListingStatus::Paused, ListingStatus::Rented, ListingStatus::Active] {
        set_status(&world, &ann(), &oak, status).await;
        apply(&world, &oak).await.unwrap();
        let after = view(&world, &bob(), &oak).await.unwrap();
        assert_eq!((&after.id, &after.tag), (&before.id, &before.tag));
        assert_eq!(after.timeline.len(), 1);
    }
    assert_eq!(world.app.applications.page(&bob(), &user("bob"), None, 10).await.unwrap().items.len(), 1);
}

async fn own_paused_and_unknown_listings_are_rejected(world: World) {
    let oak = world.add_listing("oak", "ann").await;
    let ann = person("ann");
    let own = world.app.applications.apply(&ann, user("ann"), vec![oak.clone()], SeenConditions::new()).await;
    assert_eq!(conflict(own), ErrorCode::OwnListing);
    for status in [ListingStatus::Paused, ListingStatus::Rented] {
        set_status(&world, &ann, &oak, status).await;
        assert_eq!(conflict(apply(&world, &oak).await), ErrorCode::ListingNotAvailable);
    }
    let unknown = apply(&world, &ListingId::stored("elm")).await;
    assert!(matches!(unknown, Err(Error::UnknownListings(places)) if places == [0]));
    assert!(listed(&world).await.is_empty());
}

async fn one_rejected_listing_stores_none(world: World) {
    let oak = world.add_listing("oak", "ann").await;
    let elm = world.add_listing("elm", "ann").await;
    set_status(&world, &person("ann"), &elm, ListingStatus::Paused).await;
    let seen = SeenConditions::new();
    let both =
        world.app.applications.apply(&bob(), user("bob"), vec![oak.clone(), elm.clone()], seen.clone()).await;
    assert_eq!(conflict(both), ErrorCode::ListingNotAvailable);
    assert!(listed(&world).await.is_empty());
    set_status(&world, &person("ann"), &elm, ListingStatus::Active).await;
    world.app.applications.apply(&bob(), user("bob"), vec![oak, elm], seen).await.unwrap();
    assert_eq!(listed(&world).await.len(), 2);
}

async fn withdrawing_clears_flags_and_ends_the_sharing(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    assert_eq!(flags_on_chain(&world).await.len(), 1);
    withdraw(&world, &oak).await.unwrap();
    assert!(flags_on_chain(&world).await.is_empty());
    let after = seen(&world, &ann(), &oak).await;
    assert_eq!(after.status, ApplicationStatus::Withdrawn);
    assert!(!after.sharing.is_active && checks(&after).is_empty() && bits(&after).is_none());
    // A later result stays unknown to the owner.
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    assert_eq!(seen(&world, &ann(), &oak).await.evaluation, after.evaluation);
    assert!(flags_on_chain(&world).await.is_empty());
    assert!(listed(&world).await.is_empty());
}

/// Regression: withdrawal was refused once an application was decided.
async fn sharing_ends_after_a_decision_too(world: World) {
    let (oak, _) = applied(&world, [720, 720, 0, 0]).await;
    decide(&world, &ann(), &oak, decision(Decision::Declined, &[Check::SoftCredit])).await.unwrap();
    withdraw(&world, &oak).await.unwrap();
    assert!(flags_on_chain(&world).await.is_empty());
    let after = seen(&world, &ann(), &oak).await;
    assert_eq!(after.status, ApplicationStatus::Declined);
    assert!(!after.sharing.is_active && checks(&after).is_empty() && after.findings.is_empty());
    let own = view(&world, &bob(), &oak).await.unwrap();
    assert!(own.decision.is_some() && own.notice.is_some(), "they stay");
    assert_eq!(conflict(withdraw(&world, &oak).await), ErrorCode::ApplicationWithdrawn);
    assert_eq!(world.app.listings.statistics(&anonymous()).await.unwrap().applications, 0);
    apply(&world, &oak).await.unwrap();
    assert_eq!(seen(&world, &ann(), &oak).await.status, ApplicationStatus::Submitted);
}

async fn only_the_applicant_ends_the_sharing(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    for call in [
        ann(),
        operator(),
        account_key("acme"),
        account_key("bob"),
        user_key("bob"),
        person("eve"),
        anonymous(),
    ] {
        let ended = world.app.applications.end_sharing(&call, &user("bob"), &oak).await;
        assert!(matches!(ended, Err(Error::Forbidden(_))), "{call:?}");
    }
    assert_eq!(view(&world, &bob(), &oak).await.unwrap().status, ApplicationStatus::Submitted);
}

/// Regression: what is required was switched under the applicant.
async fn conditions_must_be_those_that_were_seen(world: World) {
    let applications = &world.app.applications;
    let (oak, elm) = (world.offer("oak", &ann(), HIGH).await, world.offer("elm", &ann(), HIGH).await);
    let tag = async |id: &ListingId| applications.conditions(&anonymous(), id).await.unwrap().tag;
    let seen_now =
        SeenConditions::from([(oak.to_string(), tag(&oak).await), (elm.to_string(), tag(&elm).await)]);
    assert_ne!(seen_now[oak.as_str()], seen_now[elm.as_str()]);
    let try_both = async |seen: &SeenConditions| {
        applications.apply(&bob(), user("bob"), vec![elm.clone(), oak.clone()], seen.clone()).await
    };
    world.set_terms(&ann(), &oak, [651, 720, 50_000, 90_000]).await.unwrap();
    let changed = try_both(&seen_now).await;
    assert!(matches!(changed, Err(Error::ConditionsChanged(indices)) if indices == [1]));
    world.require(&ann(), &Check::ALL).await;
    let changed = try_both(&seen_now).await;
    assert!(matches!(changed, Err(Error::ConditionsChanged(indices)) if indices == [0, 1]));
    assert!(listed(&world).await.is_empty(), "nothing is stored");
    let conditions = applications.conditions(&bob(), &oak).await.unwrap();
    let required: Vec<_> =
        conditions.checks.iter().map(|check| (check.check, check.by_pipeline, check.by_terms)).collect();
    assert_eq!(
        required,
        [
            (Check::Eviction, true, false),
            (Check::Income, true, true),
            (Check::SoftCredit, true, true),
            (Check::CriminalBackground, true, false)
        ]
    );
    // What is named must be the same; what is not named is not looked at.
    let only_oak = SeenConditions::from([(oak.to_string(), conditions.tag)]);
    try_both(&only_oak).await.unwrap();
    assert!(view(&world, &ann(), &oak).await.unwrap().conditions_seen);
    assert!(!view(&world, &ann(), &elm).await.unwrap().conditions_seen);
}

/// Regression: the owner had no way to ask whether a report is about the person in front of them.
async fn names_are_checked_against_the_report(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    let ask = async |call: &CallContext, first, last| {
        world.app.applications.check_name(call, (&user("bob"), &oak), (first, last)).await
    };
    assert!(ask(&ann(), "ada", " LOVELACE").await.unwrap());
    assert!(!ask(&ann(), "Ben", "Lovelace").await.unwrap());
    for call in [bob(), person("eve"), account_key("eve"), anonymous()] {
        let asked = ask(&call, "Ada", "Lovelace").await;
        assert!(matches!(asked, Err(Error::Forbidden(_) | Error::Unauthenticated(_))), "{call:?}");
    }
    let own = view(&world, &bob(), &oak).await.unwrap();
    assert_eq!(own.name_checks.iter().map(|check| check.matches).collect::<Vec<_>>(), [true, false]);
    let mut refused = false;
    for _ in 0..20 {
        refused |= matches!(ask(&ann(), "Ben", "Byron").await, Err(Error::TooMany { .. }));
    }
    assert!(refused, "guesses are limited");
    withdraw(&world, &oak).await.unwrap();
    assert_eq!(conflict(ask(&operator(), "Ada", "Lovelace").await), ErrorCode::NoReport);
}

/// Regression: an account's key read its members' applications to other landlords.
async fn account_keys_do_not_reach_what_members_do_for_themselves(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    // A token of bob's names an account, whose key acts for him from then on.
    world.app.listings.save(&member("bob", "household"), user("bob"), oak.clone()).await.unwrap();
    let (key, applications) = (account_key("household"), &world.app.applications);
    assert!(matches!(view(&world, &key, &oak).await, Err(Error::Forbidden(_))));
    assert!(matches!(applications.of_user(&key, user("bob")).await, Err(Error::Forbidden(_))));
    assert!(matches!(applications.page(&key, &user("bob"), None, 9).await, Err(Error::Forbidden(_))));
    assert!(matches!(applications.check(&key, &user("bob"), &oak).await, Err(Error::Forbidden(_))));
}

/// Regression: twenty owners who work together raised forty thresholds in one submission.
async fn disclosures_are_counted_over_all_owners(world: World) {
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    let mut withheld = Vec::new();
    for number in 0..42_i64 {
        let owner = person(&format!("owner{}", number / 4));
        let listing = world.offer(&format!("l{number}"), &owner, [600 + number, 600 + number, 0, 0]).await;
        apply(&world, &listing).await.unwrap();
        withheld.push(seen(&world, &owner, &listing).await.is_withheld);
    }
    assert_eq!(withheld.iter().position(|withheld| *withheld), Some(40));
    assert!(withheld[41]);
}

async fn withdrawn_application_is_followed_by_a_new_one(world: World) {
    use ApplicationStatus::{Declined, Submitted, Withdrawn};
    let (oak, _) = applied(&world, HIGH).await;
    let first = view(&world, &bob(), &oak).await.unwrap();
    withdraw(&world, &oak).await.unwrap();
    set_status(&world, &ann(), &oak, ListingStatus::Paused).await;
    assert_eq!(conflict(apply(&world, &oak).await), ErrorCode::ListingNotAvailable);
    set_status(&world, &ann(), &oak, ListingStatus::Active).await;
    apply(&world, &oak).await.unwrap();
    let second = seen(&world, &ann(), &oak).await;
    assert_ne!(second.id, first.id);
    assert_eq!((second.status, bits(&second)), (ApplicationStatus::Submitted, Some(0b0101)));
    decide(&world, &ann(), &oak, decision(Decision::Declined, &[])).await.unwrap();
    apply(&world, &oak).await.unwrap();
    let third = seen(&world, &ann(), &oak).await;
    assert!(third.id != second.id && third.decision.is_none());
    let all = world.app.applications.page(&bob(), &user("bob"), None, 10).await.unwrap().items;
    let statuses: Vec<ApplicationStatus> = all.iter().map(|one| one.status).collect();
    assert_eq!(statuses, [Withdrawn, Declined, Submitted]);
    assert_eq!(listed(&world).await, std::slice::from_ref(&oak));
    let applicants = world.app.applications.applicants(&ann(), &oak, None, 10).await.unwrap();
    assert_eq!(applicants.items.len(), 1, "the newest alone");
}

async fn owner_operator_and_account_key_decide(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    for (call, party, what, status) in [
        (ann(), Party::Owner, Decision::Approved, ApplicationStatus::Approved),
        (operator(), Party::Operator, Decision::Conditional, ApplicationStatus::Conditional),
        (account_key("acme"), Party::Owner, Decision::Declined, ApplicationStatus::Declined),
    ] {
        apply(&world, &oak).await.unwrap();
        decide(&world, &call, &oak, decision(what, &[])).await.unwrap();
        let view = seen(&world, &ann(), &oak).await;
        assert_eq!(view.status, status);
        assert_eq!(view.decision.unwrap().decision, what);
        assert_eq!(view.timeline.last().unwrap().by, party);
        let after = seen(&world, &ann(), &oak).await;
        assert_eq!(bits(&after), Some(0b0101), "the sharing goes on");
    }
}

async fn strangers_and_the_applicant_do_not_decide(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    for call in [bob(), person("eve"), account_key("bob"), account_key("eve"), anonymous()] {
        let decided = decide(&world, &call, &oak, decision(Decision::Approved, &[])).await;
        assert!(matches!(decided, Err(Error::Forbidden(_) | Error::Unauthenticated(_))), "{call:?}");
    }
    assert_eq!(view(&world, &bob(), &oak).await.unwrap().status, ApplicationStatus::Submitted);
}

async fn decided_application_is_final(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    decide(&world, &ann(), &oak, decision(Decision::Approved, &[])).await.unwrap();
    let before = view(&world, &ann(), &oak).await.unwrap();
    for call in [ann(), operator()] {
        let again = decide(&world, &call, &oak, decision(Decision::Declined, &[Check::Income])).await;
        assert_eq!(conflict(again), ErrorCode::ApplicationDecided);
    }
    let after = view(&world, &ann(), &oak).await.unwrap();
    assert_eq!(format!("{after:?}"), format!("{before:?}"), "nothing changed");
    assert_eq!(listed(&world).await, [oak]);
}

async fn withdrawn_application_cannot_be_changed(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    withdraw(&world, &oak).await.unwrap();
    let before = view(&world, &ann(), &oak).await.unwrap();
    assert_eq!(conflict(withdraw(&world, &oak).await), ErrorCode::ApplicationWithdrawn);
    let decided = decide(&world, &ann(), &oak, decision(Decision::Approved, &[])).await;
    assert_eq!(conflict(decided), ErrorCode::ApplicationWithdrawn);
    let after = view(&world, &ann(), &oak).await.unwrap();
    assert_eq!(format!("{after:?}"), format!("{before:?}"), "nothing changed");
}

async fn deleting_a_listing_closes_its_applications(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    let elm = world.offer("elm", &ann(), HIGH).await;
    apply(&world, &elm).await.unwrap();
    decide(&world, &ann(), &elm, decision(Decision::Approved, &[])).await.unwrap();
    for listing in [&oak, &elm] {
        delete(&world, &ann(), listing).await;
    }
    world.app.maintenance.record_flags().await.unwrap();
    assert!(flags_on_chain(&world).await.is_empty());
    assert!(listed(&world).await.is_empty());
    let all = world.app.applications.page(&bob(), &user("bob"), None, 10).await.unwrap().items;
    assert!(all.iter().all(|one| one.status == ApplicationStatus::Closed), "{all:?}");
    assert!(all[1].decision.is_some(), "what was decided is kept");
    assert!(is_hidden(&view(&world, &ann(), &oak).await));
    // Regression: the notice was gone with the listing.
    for listing in [&oak, &elm] {
        for call in [bob(), operator()] {
            let closed = view(&world, &call, listing).await.unwrap();
            assert_eq!(closed.status, ApplicationStatus::Closed);
            assert!(!closed.sharing.is_active && closed.findings.is_empty());
            let named: Vec<Check> = closed.notice.unwrap().checks().collect();
            assert_eq!(named, [Check::Income, Check::SoftCredit]);
        }
    }
    assert!(is_hidden(&decide(&world, &ann(), &oak, decision(Decision::Approved, &[])).await));
    assert!(is_hidden(&withdraw(&world, &oak).await));
}

async fn reads_mean_the_present_incarnation(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    delete(&world, &ann(), &oak).await;
    world.offer("oak", &ann(), [600, 600, 0, 0]).await;
    let applications = &world.app.applications;
    assert!(is_absent(&view(&world, &ann(), &oak).await));
    assert!(is_absent(&applications.check(&ann(), &user("bob"), &oak).await));
    // The applicant still reads what became of the former one.
    for call in [bob(), operator()] {
        assert_eq!(view(&world, &call, &oak).await.unwrap().status, ApplicationStatus::Closed);
        assert_eq!(applications.check(&call, &user("bob"), &oak).await.unwrap().bits(), 0);
    }
    assert!(is_absent(&decide(&world, &ann(), &oak, decision(Decision::Approved, &[])).await));
    assert!(is_absent(&withdraw(&world, &oak).await));
    apply(&world, &oak).await.unwrap();
    assert_eq!(seen(&world, &ann(), &oak).await.terms, Some(terms_of([600, 600, 0, 0])));
    assert_eq!(listed(&world).await, [oak]);
}

async fn former_owner_learns_nothing_of_later_applications(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    delete(&world, &ann(), &oak).await;
    let amy = person("amy");
    world.offer("oak", &amy, HIGH).await;
    apply(&world, &oak).await.unwrap();
    seen(&world, &amy, &oak).await;
    let applications = &world.app.applications;
    for former in [ann(), account_key("acme")] {
        assert!(matches!(view(&world, &former, &oak).await, Err(Error::Forbidden(_))));
        assert!(matches!(applications.applicants(&former, &oak, None, 9).await, Err(Error::Forbidden(_))));
        assert!(matches!(applications.check(&former, &user("bob"), &oak).await, Err(Error::Forbidden(_))));
        assert!(matches!(applications.record(&former, &user("bob"), &oak).await, Err(Error::Forbidden(_))));
        let decided = decide(&world, &former, &oak, decision(Decision::Declined, &[])).await;
        assert!(matches!(decided, Err(Error::Forbidden(_))));
    }
}

async fn strangers_learn_no_existence(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    let elm = world.offer("elm", &ann(), HIGH).await;
    let (eve, applications) = (person("eve"), &world.app.applications);
    let unknown = ListingId::stored("unknown");
    // With an application, without one, and without a listing.
    for listing in [&oak, &elm, &unknown] {
        for name in ["bob", "nobody"] {
            let seen = applications.view(&eve, &user(name), listing).await;
            assert!(matches!(seen, Err(Error::Forbidden(_))), "{listing} {name}");
            let seen = applications.check(&eve, &user(name), listing).await;
            assert!(matches!(seen, Err(Error::Forbidden(_))), "{listing} {name}");
            let seen = applications.record(&eve, &user(name), listing).await;
            assert!(matches!(seen, Err(Error::Forbidden(_))), "{listing} {name}");
        }
    }
    assert!(matches!(applications.of_user(&eve, user("bob")).await, Err(Error::Forbidden(_))));
    assert!(matches!(applications.page(&eve, &user("bob"), None, 9).await, Err(Error::Forbidden(_))));
    assert!(matches!(view(&world, &anonymous(), &oak).await, Err(Error::Unauthenticated(_))));
}

async fn one_of_two_decisions_wins(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    for _ in 0..5 {
        apply(&world, &oak).await.unwrap();
        let (ann, operator) = (ann(), operator());
        let (one, two) = tokio::join!(
            decide(&world, &ann, &oak, decision(Decision::Approved, &[])),
            decide(&world, &operator, &oak, decision(Decision::Declined, &[])),
        );
        let winner = match (one, two) {
            (Ok(()), lost) => {
                assert_eq!(conflict(lost), ErrorCode::ApplicationDecided);
                ApplicationStatus::Approved
            }
            (lost, Ok(())) => {
                assert_eq!(conflict(lost), ErrorCode::ApplicationDecided);
                ApplicationStatus::Declined
            }
            other => panic!("nobody won: {other:?}"),
        };
        let view = view(&world, &bob(), &oak).await.unwrap();
        assert_eq!((view.status, view.timeline.len()), (winner, 2));
    }
}

async fn decision_and_withdrawal_exclude_each_other(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    for _ in 0..5 {
        apply(&world, &oak).await.unwrap();
        let ann = ann();
        let (decided, withdrawn) = tokio::join!(
            decide(&world, &ann, &oak, decision(Decision::Approved, &[])),
            withdraw(&world, &oak),
        );
        let status = view(&world, &bob(), &oak).await.unwrap().status;
        match (decided, withdrawn) {
            // The decision stays.
            (Ok(()), Ok(())) => assert_eq!(status, ApplicationStatus::Approved),
            (lost, Ok(())) => {
                let expected = (ErrorCode::ApplicationWithdrawn, ApplicationStatus::Withdrawn);
                assert_eq!((conflict(lost), status), expected);
            }
            other => panic!("the sharing did not end: {other:?}"),
        }
    }
}

async fn decision_on_an_older_version_is_rejected(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    let first = view(&world, &ann(), &oak).await.unwrap().tag;
    withdraw(&world, &oak).await.unwrap();
    apply(&world, &oak).await.unwrap();
    let request =
        |tag: &str| DecisionRequest { if_match: Some(vec![tag.into()]), ..decision(Decision::Approved, &[]) };
    assert!(matches!(decide(&world, &ann(), &oak, request(&first)).await, Err(Error::Outdated)));
    let second = view(&world, &ann(), &oak).await.unwrap().tag;
    decide(&world, &ann(), &oak, request(&second)).await.unwrap();
    assert!(matches!(decide(&world, &ann(), &oak, request(&second)).await, Err(Error::Outdated)));
}

async fn decision_names_only_valid_checks(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    let ann = ann();
    let decline = |check| decide(&world, &ann, &oak, decision(Decision::Declined, &[check]));
    // Not required by this listing, although there is a finding.
    assert_eq!(conflict(decline(Check::Eviction).await), ErrorCode::CheckNotValid);
    // Expired after the owner read it.
    world.clock.advance_days(31);
    assert_eq!(conflict(decline(Check::SoftCredit).await), ErrorCode::CheckNotValid);
    let after = view(&world, &bob(), &oak).await.unwrap();
    assert!(after.status == ApplicationStatus::Submitted && after.notice.is_none());
    world.screen(&bob(), Inputs::CREDIT).await.unwrap();
    renew(&world, &oak).await.unwrap();
    decline(Check::SoftCredit).await.unwrap();
}

/// The last of six sets of terms has no flags, and both sides are told why.
async fn assert_sixth_is_withheld(world: &World, views: &[ApplicationView]) {
    let shown: Vec<bool> = views.iter().map(|view| bits(view).is_some()).collect();
    assert_eq!(shown, [true, true, true, true, true, false]);
    let withheld: Vec<bool> = views.iter().map(|view| view.is_withheld).collect();
    assert_eq!(withheld, [false, false, false, false, false, true]);
    let sixth = &views[5];
    assert_eq!(checks(sixth), [(Check::SoftCredit, CheckStatus::Missing)], "checks tell nothing either");
    assert!(!sixth.evaluation.complete);
    assert!(flags_on_chain(world).await.len() <= 5);
}

/// Six sets of terms that differ by one point.
fn six_terms() -> impl Iterator<Item = [i64; 4]> {
    (0..6).map(|step| [690 + step, 690 + step, 0, 0])
}

async fn editing_terms_yields_five_sets_of_flags(world: World) {
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    let oak = world.offer("oak", &ann(), [690, 690, 0, 0]).await;
    let mut views = Vec::new();
    for terms in six_terms() {
        world.set_terms(&ann(), &oak, terms).await.unwrap();
        apply(&world, &oak).await.unwrap();
        views.push(seen(&world, &ann(), &oak).await);
        decide(&world, &ann(), &oak, decision(Decision::Declined, &[])).await.unwrap();
    }
    assert_sixth_is_withheld(&world, &views).await;
}

async fn recreating_a_listing_yields_five_sets_of_flags(world: World) {
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    let mut views = Vec::new();
    for terms in six_terms() {
        let oak = world.offer("oak", &ann(), terms).await;
        apply(&world, &oak).await.unwrap();
        views.push(seen(&world, &ann(), &oak).await);
        delete(&world, &ann(), &oak).await;
    }
    assert_sixth_is_withheld(&world, &views).await;
}

async fn many_listings_of_an_account_yield_five_sets_of_flags(world: World) {
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    let mut views = Vec::new();
    for (number, terms) in six_terms().enumerate() {
        let owner = member(&format!("agent{}", number % 3), "acme");
        let listing = world.offer(&format!("l{number}"), &owner, terms).await;
        apply(&world, &listing).await.unwrap();
        views.push(seen(&world, &owner, &listing).await);
    }
    assert_sixth_is_withheld(&world, &views).await;
    // A new result does not bring the sixth back, nor does a decision.
    world.clock.advance_days(1);
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    let (sixth, owner) = (ListingId::stored("l5"), member("agent2", "acme"));
    assert!(seen(&world, &owner, &sixth).await.is_withheld);
    let named = decide(&world, &owner, &sixth, decision(Decision::Declined, &[Check::SoftCredit])).await;
    assert_eq!(conflict(named), ErrorCode::CheckNotValid);
    decide(&world, &owner, &sixth, decision(Decision::Declined, &[])).await.unwrap();
    let view = seen(&world, &owner, &sixth).await;
    assert!(view.is_withheld && bits(&view).is_none());
}

async fn withdrawing_and_applying_again_yields_five_sets_of_flags(world: World) {
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    let oak = world.offer("oak", &ann(), [1, 1, 0, 0]).await;
    let mut views = Vec::new();
    for terms in six_terms() {
        world.set_terms(&ann(), &oak, terms).await.unwrap();
        apply(&world, &oak).await.unwrap();
        views.push(seen(&world, &ann(), &oak).await);
        withdraw(&world, &oak).await.unwrap();
    }
    assert_sixth_is_withheld(&world, &views).await;
}

async fn another_account_has_its_own_five_sets(world: World) {
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    for owner in [ann(), person("amy")] {
        for (number, terms) in six_terms().enumerate() {
            let id = format!("{}-{number}", owner.actor.tenant().unwrap().name());
            let listing = world.offer(&id, &owner, terms).await;
            apply(&world, &listing).await.unwrap();
            assert_eq!(seen(&world, &owner, &listing).await.is_withheld, number == 5, "{id}");
        }
    }
}

async fn same_terms_count_once(world: World) {
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    for number in 0..8 {
        let listing = world.offer(&format!("l{number}"), &ann(), HIGH).await;
        apply(&world, &listing).await.unwrap();
        assert_eq!(bits(&seen(&world, &ann(), &listing).await), Some(0b0101));
    }
}

async fn five_more_sets_after_thirty_days(world: World) {
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    let oak = world.offer("oak", &ann(), [1, 1, 0, 0]).await;
    for (round, withheld) in [(0, 1), (31, 1)] {
        world.clock.advance_days(round);
        world.screen(&bob(), Inputs::ALL).await.unwrap();
        let mut withheld_views = 0;
        for [credit, ..] in six_terms() {
            let credit = credit + 50 * i64::from(round > 0);
            world.set_terms(&ann(), &oak, [credit, credit, 0, 0]).await.unwrap();
            apply(&world, &oak).await.unwrap();
            withheld_views += i32::from(seen(&world, &ann(), &oak).await.is_withheld);
            withdraw(&world, &oak).await.unwrap();
        }
        assert_eq!(withheld_views, withheld);
    }
}

async fn withheld_application_keeps_no_flags_on_the_chain(world: World) {
    world.require(&ann(), &[Check::SoftCredit]).await;
    for (number, terms) in six_terms().enumerate() {
        let listing = world.offer(&format!("l{number}"), &ann(), terms).await;
        apply(&world, &listing).await.unwrap();
    }
    assert!(flags_on_chain(&world).await.is_empty(), "nothing is known");
    for _ in 0..2 {
        world.screen(&bob(), Inputs::CREDIT).await.unwrap();
        assert!(seen(&world, &ann(), &ListingId::stored("l5")).await.is_withheld);
        assert_eq!(flags_on_chain(&world).await, [0b1111; 5]);
    }
}

/// Regression: an applicant rented on a friend's finances unseen.
async fn results_of_another_identity_do_not_count(world: World) {
    use CheckStatus::{Missing, Passed};
    let (oak, _) = applied(&world, HIGH).await;
    let before = seen(&world, &ann(), &oak).await;
    for other in [
        Inputs { last_name: Some("Byron"), ..Inputs::CREDIT },
        Inputs { ssn: Some("900-11-0700"), ..Inputs::CREDIT },
        Inputs { born: Some("1992-02-02"), ..Inputs::ALL },
    ] {
        world.clock.advance_days(1);
        world.screen(&bob(), other).await.unwrap();
        assert_eq!(seen(&world, &ann(), &oak).await.evaluation, before.evaluation);
        assert_eq!(conflict(renew(&world, &oak).await), ErrorCode::OtherIdentity);
        assert_eq!(seen(&world, &ann(), &oak).await.evaluation, before.evaluation);
        assert_eq!(flags_on_chain(&world).await, [0b0101]);
    }
    // A new application is about whom the newest result is about.
    world.clock.advance_days(1);
    world.screen(&bob(), Inputs { last_name: Some("Byron"), ..Inputs::CREDIT }).await.unwrap();
    let elm = world.offer("elm", &ann(), HIGH).await;
    apply(&world, &elm).await.unwrap();
    let partial = seen(&world, &ann(), &elm).await;
    assert_eq!(checks(&partial), [(Check::Income, Missing), (Check::SoftCredit, Passed)]);
}

async fn same_identity_is_recognised_across_spellings(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    world.clock.advance_days(1);
    let other = Inputs { last_name: Some("LOVELACE"), ssn: Some("900000700"), ..Inputs::CREDIT };
    world.screen(&bob(), other).await.unwrap();
    renew(&world, &oak).await.unwrap();
    assert_eq!(bits(&seen(&world, &ann(), &oak).await), Some(0b0101));
}

async fn disputed_finding_keeps_the_flags(world: World) {
    let (oak, verified) = applied(&world, HIGH).await;
    let before = seen(&world, &ann(), &oak).await;
    world.app.screening.dispute(&bob(), &verified.id, Check::SoftCredit).await.unwrap();
    let after = seen(&world, &ann(), &oak).await;
    let expected = [(Check::Income, CheckStatus::Passed), (Check::SoftCredit, CheckStatus::Disputed)];
    assert_eq!(checks(&after), expected);
    assert!(after.evaluation.complete);
    assert_eq!((bits(&after), after.evaluation.flags), (Some(0b0101), before.evaluation.flags));
    assert_eq!(flags_on_chain(&world).await, [0b0101]);
    // Again: nothing changes.
    world.app.screening.dispute(&bob(), &verified.id, Check::SoftCredit).await.unwrap();
    assert_eq!(seen(&world, &ann(), &oak).await.evaluation, after.evaluation);
    // A disputed finding can be named as a reason.
    decide(&world, &ann(), &oak, decision(Decision::Declined, &[Check::SoftCredit])).await.unwrap();
}

async fn new_finding_replaces_a_disputed_one(world: World) {
    let (oak, verified) = applied(&world, HIGH).await;
    world.app.screening.dispute(&bob(), &verified.id, Check::SoftCredit).await.unwrap();
    world.clock.advance_seconds(1);
    world.set_facts(Facts { score: Some(760), ..Facts::default() });
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    renew(&world, &oak).await.unwrap();
    let after = seen(&world, &ann(), &oak).await;
    assert!(checks(&after).iter().all(|(_, status)| *status == CheckStatus::Passed));
    assert_eq!(bits(&after), Some(0b0111));
    assert_eq!(flags_on_chain(&world).await, [0b0111]);
}

async fn dispute_covers_every_result_with_the_finding(world: World) {
    let oak = world.offer("oak", &ann(), HIGH).await;
    let inputs = Inputs::CREDIT_AND_INCOME;
    // Two results of one case share the finding about credit.
    let first = world.screen_in(&bob(), inputs, "case").await.unwrap();
    world.clock.advance_days(1);
    world.screen_in(&bob(), Inputs { token: Some("income-95000"), ..inputs }, "case").await.unwrap();
    apply(&world, &oak).await.unwrap();
    assert_eq!(bits(&seen(&world, &ann(), &oak).await), Some(0b1101));
    world.app.screening.dispute(&bob(), &first.id, Check::SoftCredit).await.unwrap();
    let after = seen(&world, &ann(), &oak).await;
    let expected = [(Check::Income, CheckStatus::Passed), (Check::SoftCredit, CheckStatus::Disputed)];
    assert_eq!(checks(&after), expected);
    // The bureau is asked again, in the same case as well.
    world.clock.advance_days(1);
    world.set_facts(Facts { score: Some(800), ..Facts::default() });
    world.screen_in(&bob(), Inputs { token: Some("income-95000"), ..inputs }, "case").await.unwrap();
    renew(&world, &oak).await.unwrap();
    let after = seen(&world, &ann(), &oak).await;
    assert!(checks(&after).iter().all(|(_, status)| *status == CheckStatus::Passed));
    assert_eq!(bits(&after), Some(0b1111));
}

async fn disputes_have_their_own_codes(world: World) {
    let (_, verified) = applied(&world, HIGH).await;
    let partial = world.screen(&bob(), Inputs::INCOME).await.unwrap();
    let screening = &world.app.screening;
    let dispute = async |call: CallContext, check| screening.dispute(&call, &verified.id, check).await;
    for other in [person("eve"), ann()] {
        let refused = dispute(other, Check::Income).await;
        assert!(matches!(refused, Err(Error::Refused(ErrorCode::FindingNotYours))));
    }
    for unsigned in [anonymous(), operator(), account_key("bob")] {
        assert!(matches!(dispute(unsigned, Check::Income).await, Err(Error::Unauthenticated(_))));
    }
    let absent = screening.dispute(&bob(), &partial.id, Check::SoftCredit).await;
    assert!(matches!(absent, Err(Error::NotFound(ErrorCode::CheckNotFound))));
    let unknown = screening.dispute(&bob(), &Text::stored("unknown"), Check::SoftCredit).await;
    assert!(matches!(unknown, Err(Error::NotFound(ErrorCode::VerificationNotFound))));
    world.clock.advance_days(31);
    assert_eq!(conflict(dispute(bob(), Check::Income).await), ErrorCode::CheckNotValid);
    let report = screening.verification(&bob(), &verified.id).await.unwrap();
    assert!(report.checks.iter().all(|check| check.disputed_at().is_none()), "nothing changed");
}

async fn notice_is_whole_for_the_applicant_alone(world: World) {
    let (oak, _) = applied(&world, [720, 720, 0, 0]).await;
    decide(&world, &ann(), &oak, decision(Decision::Conditional, &[Check::SoftCredit])).await.unwrap();
    let own = view(&world, &bob(), &oak).await.unwrap().notice.unwrap();
    assert_eq!(own.checks().collect::<Vec<_>>(), [Check::SoftCredit]);
    let report = &own.reports[0];
    assert_eq!(report.score.as_ref().map(|score| score.points), Some(700));
    assert!(!report.supplier.name.is_empty());
    // Regression: a key that acts for a user read the exact score.
    for other in [ann(), operator(), account_key("acme"), user_key("bob")] {
        let theirs = view(&world, &other, &oak).await.unwrap().notice.unwrap();
        assert_eq!(theirs.at(), own.at());
        assert_eq!(theirs.checks().collect::<Vec<_>>(), [Check::SoftCredit]);
        assert!(theirs.reports.iter().all(|report| report.score.is_none()), "{other:?}");
        assert!(theirs.reports.iter().all(|report| report.supplier.name.is_empty()), "{other:?}");
    }
    let applications = &world.app.applications;
    let own = applications.page(&bob(), &user("bob"), None, 9).await.unwrap();
    assert!(own.items[0].notice.as_ref().is_some_and(|notice| notice.reports[0].score.is_some()));
    for other in [operator(), user_key("bob")] {
        let theirs = applications.page(&other, &user("bob"), None, 9).await.unwrap();
        assert!(theirs.items[0].notice.is_none());
    }
    // It stays as it was given.
    world.screen(&bob(), Inputs { ssn: Some("900-11-0300"), ..Inputs::ALL }).await.unwrap();
    let later = view(&world, &bob(), &oak).await.unwrap().notice.unwrap();
    assert_eq!(later.reports[0].score.as_ref().map(|score| score.points), Some(700));
}

async fn decision_without_checks_gives_no_notice(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    for (what, reasons) in [(Decision::Declined, vec![]), (Decision::Approved, vec![Check::SoftCredit])] {
        apply(&world, &oak).await.unwrap();
        decide(&world, &ann(), &oak, decision(what, &reasons)).await.unwrap();
        let view = view(&world, &bob(), &oak).await.unwrap();
        assert!(view.notice.is_none());
        assert_eq!(view.decision.unwrap().reasons, reasons);
    }
}

async fn erasure_deletes_applications_and_clears_flags(world: World) {
    let (oak, verified) = applied(&world, HIGH).await;
    let elm = world.offer("elm", &ann(), HIGH).await;
    apply(&world, &elm).await.unwrap();
    decide(&world, &ann(), &elm, decision(Decision::Declined, &[Check::SoftCredit])).await.unwrap();
    let tag = view(&world, &ann(), &oak).await.unwrap().tag;
    assert_eq!(flags_on_chain(&world).await.len(), 2);
    world.app.people.erase(&bob(), &user("bob")).await.unwrap();
    assert!(flags_on_chain(&world).await.is_empty());
    for listing in [&oak, &elm] {
        for call in [ann(), bob(), operator()] {
            assert!(is_absent(&view(&world, &call, listing).await));
        }
        let applicants = world.app.applications.applicants(&ann(), listing, None, 9).await.unwrap();
        assert!(applicants.items.is_empty());
    }
    // The owner read it before.
    let request = DecisionRequest { if_match: Some(vec![tag]), ..decision(Decision::Approved, &[]) };
    assert!(is_absent(&decide(&world, &ann(), &oak, request).await));
    assert!(is_absent(&withdraw(&world, &oak).await));
    let disputed = world.app.screening.dispute(&bob(), &verified.id, Check::Income).await;
    assert!(matches!(disputed, Err(Error::NotFound(ErrorCode::VerificationNotFound))));
    assert_eq!(world.app.listings.statistics(&anonymous()).await.unwrap().applications, 0);
    assert_eq!(world.app.maintenance.delete_orphaned_applications().await.unwrap(), 0);
}

async fn erased_person_applies_again(world: World) {
    let (oak, _) = applied(&world, HIGH).await;
    world.app.people.erase(&bob(), &user("bob")).await.unwrap();
    apply(&world, &oak).await.unwrap();
    let fresh = seen(&world, &ann(), &oak).await;
    assert!(checks(&fresh).iter().all(|(_, status)| *status == CheckStatus::Missing));
    world.screen(&bob(), Inputs { last_name: Some("Byron"), ..Inputs::ALL }).await.unwrap();
    assert_eq!(bits(&seen(&world, &ann(), &oak).await), Some(0b0101));
}
