//! "Do I qualify?": what a person learns about themselves before they apply.

use portico_app::applications::{CheckStatus, Qualification, Term, TermStatus};
use portico_app::{CallContext, Error, Result};
use portico_domain::{ErrorCode, ListingId};
use portico_screening::Check;

use crate::world::{Inputs, World, account_key, anonymous, member, operator, person};

on_both_engines! {
    own_findings_answer_every_term,
    expired_findings_do_not_qualify,
    findings_for_another_country_do_not_qualify,
    terms_need_their_check_whatever_the_pipeline_says,
    qualification_is_recorded_nowhere,
    only_people_with_a_token_ask,
    listing_without_terms_has_none_to_meet,
}

const TERMS: [i64; 4] = [650, 720, 50_000, 90_000];

fn ann() -> CallContext {
    member("ann", "acme")
}

fn bob() -> CallContext {
    person("bob")
}

async fn ask(world: &World, call: &CallContext, listing: &ListingId) -> Result<Qualification> {
    world.app.applications.qualification(call, listing).await
}

async fn terms(world: &World, listing: &ListingId) -> Vec<TermStatus> {
    ask(world, &bob(), listing).await.unwrap().terms.iter().map(|state| state.status).collect()
}

async fn own_findings_answer_every_term(world: World) {
    use TermStatus::{Met, NotChecked, NotMet};
    let oak = world.offer("oak", &ann(), TERMS).await;
    assert_eq!(terms(&world, &oak).await, [NotChecked; 4]);
    world.screen(&bob(), Inputs::CREDIT).await.unwrap();
    assert_eq!(terms(&world, &oak).await, [Met, NotMet, NotChecked, NotChecked]);
    world.screen(&bob(), Inputs::INCOME).await.unwrap();
    let found = ask(&world, &bob(), &oak).await.unwrap();
    let named: Vec<_> = found.terms.iter().map(|state| (state.term, state.status)).collect();
    assert_eq!(
        named,
        [
            (Term::MinCredit, Met),
            (Term::PrefCredit, NotMet),
            (Term::MinIncome, Met),
            (Term::PrefIncome, NotMet)
        ]
    );
    // Somebody else's findings do not count.
    let other = ask(&world, &person("carl"), &oak).await.unwrap();
    assert!(other.terms.iter().all(|state| state.status == NotChecked));
}

async fn expired_findings_do_not_qualify(world: World) {
    use TermStatus::{Met, NotChecked};
    let oak = world.offer("oak", &ann(), [650, 650, 1, 1]).await;
    world.screen(&bob(), Inputs::CREDIT).await.unwrap();
    assert_eq!(terms(&world, &oak).await, [Met, Met, NotChecked, NotChecked]);
    world.clock.advance_days(31);
    assert_eq!(terms(&world, &oak).await, [NotChecked; 4]);
    world.app.maintenance.tidy().await.unwrap();
    assert_eq!(terms(&world, &oak).await, [NotChecked; 4]);
}

async fn findings_for_another_country_do_not_qualify(world: World) {
    world.require_in(&ann(), &[Check::SoftCredit], Some("CA")).await;
    let oak = world.offer("oak", &ann(), [650, 650, 0, 0]).await;
    world.screen(&bob(), Inputs::CREDIT).await.unwrap();
    let found = ask(&world, &bob(), &oak).await.unwrap();
    assert_eq!(found.terms[0].status, TermStatus::NotChecked);
    let checks: Vec<_> = found.checks.iter().map(|state| (state.check, state.status)).collect();
    assert_eq!(checks, [(Check::SoftCredit, CheckStatus::Missing)]);
}

async fn terms_need_their_check_whatever_the_pipeline_says(world: World) {
    use TermStatus::{Met, NotMet};
    world.require(&ann(), &[Check::SoftCredit]).await;
    let oak = world.offer("oak", &ann(), [650, 650, 50_000, 90_000]).await;
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    assert_eq!(terms(&world, &oak).await, [Met, Met, Met, NotMet]);
    let required: Vec<Check> =
        ask(&world, &bob(), &oak).await.unwrap().checks.iter().map(|state| state.check).collect();
    assert_eq!(required, [Check::Income, Check::SoftCredit]);
}

async fn qualification_is_recorded_nowhere(world: World) {
    let oak = world.offer("oak", &ann(), TERMS).await;
    world.screen(&bob(), Inputs::ALL).await.unwrap();
    let before = world.audit_entries().await;
    for _ in 0..3 {
        ask(&world, &bob(), &oak).await.unwrap();
    }
    let after = world.audit_entries().await;
    assert_eq!(before, after);
    assert_eq!(world.people_who_applied().await, 0);
}

async fn only_people_with_a_token_ask(world: World) {
    let oak = world.offer("oak", &ann(), TERMS).await;
    for call in [anonymous(), account_key("acme"), operator()] {
        let refused = ask(&world, &call, &oak).await;
        assert!(matches!(refused, Err(Error::Unauthenticated(_))), "{refused:?}");
    }
    let unknown = ask(&world, &bob(), &ListingId::stored("nowhere")).await;
    assert!(matches!(unknown, Err(Error::NotFound(ErrorCode::ListingNotFound))), "{unknown:?}");
}

async fn listing_without_terms_has_none_to_meet(world: World) {
    let plain = world.add_listing("plain", "ann").await;
    let found = ask(&world, &bob(), &plain).await.unwrap();
    assert_eq!((found.terms, found.checks), (vec![], vec![]));
}
