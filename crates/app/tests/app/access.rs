//! Access rules: every use case checks them, whatever the surface.

use portico_app::applications::SeenConditions;
use portico_app::{Actor, Error, Profile, Result};
use portico_domain::applications::ApplicationMapping;
use portico_domain::keys::KeyScope;
use portico_domain::{ListingId, Text, UserId};

use crate::world::{World, account_key, anonymous, listing, member, operator, person};

#[derive(Debug, PartialEq)]
enum Outcome {
    Allowed,
    Unauthenticated,
    Forbidden,
    NotFound,
}

fn outcome<T>(result: Result<T>) -> Outcome {
    match result.map(drop) {
        Ok(()) => Outcome::Allowed,
        Err(Error::Unauthenticated(_)) => Outcome::Unauthenticated,
        Err(Error::Forbidden(_)) => Outcome::Forbidden,
        Err(Error::NotFound(_)) => Outcome::NotFound,
        Err(other) => panic!("{other}"),
    }
}

/// Calls every use case that is not open to everyone, about ada's data.
macro_rules! about_ada {
    ($world:expr, $call:expr) => {{
        let (app, call, ada) = (&$world.app, &$call, UserId::stored("ada"));
        let oak = ListingId::stored("oak");
        vec![
            ("listings.create", outcome(app.listings.create(call, listing("elm", "ada")).await)),
            ("listings.save", outcome(app.listings.save(call, ada.clone(), oak.clone()).await)),
            ("listings.saved", outcome(app.listings.saved(call, &ada).await)),
            ("listings.unsave", outcome(app.listings.unsave(call, ada.clone(), oak.clone()).await)),
            ("applications.page", outcome(app.applications.page(call, &ada, None, 1).await)),
            ("applications.applicants", outcome(app.applications.applicants(call, &oak, None, 1).await)),
            ("portfolios.of_user", outcome(app.portfolios.of_user(call, &ada, None, 1).await)),
            ("devices.of_user", outcome(app.devices.of_user(call, &ada, None, 1).await)),
            ("people.erase", outcome(app.people.erase(call, &ada).await)),
            ("listings.delete", outcome(app.listings.delete(call, oak).await)),
        ]
    }};
}

async fn with_oak(profile: Profile) -> World {
    let world = World::new(profile).await;
    world.add_listing("oak", "ada").await;
    world
}

#[tokio::test]
async fn live_use_cases_reject_anonymous_callers() {
    let world = with_oak(Profile::Live).await;
    for (what, outcome) in about_ada!(world, anonymous()) {
        assert_eq!(outcome, Outcome::Unauthenticated, "{what}");
    }
}

#[tokio::test]
async fn other_users_are_forbidden_in_both_profiles() {
    for profile in [Profile::Sandbox, Profile::Live] {
        let world = with_oak(profile).await;
        for stranger in [person("bob"), account_key("bob")] {
            for (what, outcome) in about_ada!(world, stranger) {
                assert_eq!(outcome, Outcome::Forbidden, "{profile:?} {what}");
            }
        }
    }
}

#[tokio::test]
async fn owners_and_operators_are_allowed() {
    for caller in [person("ada"), account_key("acme"), operator()] {
        let world = with_oak(Profile::Live).await;
        let oak = ListingId::stored("oak");
        world.app.listings.save(&member("ada", "acme"), UserId::stored("ada"), oak).await.unwrap();
        let is_key = matches!(caller.actor, Actor::Key { .. });
        for (what, outcome) in about_ada!(world, caller) {
            // What members do for themselves is out of reach for their account's keys.
            let is_own = ["people.erase", "applications.page"].contains(&what);
            let expected = if is_key && is_own { Outcome::Forbidden } else { Outcome::Allowed };
            assert_eq!(outcome, expected, "{what}");
        }
    }
}

#[tokio::test]
async fn key_of_an_account_does_not_act_for_a_user_of_its_name() {
    let world = with_oak(Profile::Live).await;
    let (key, ada) = (account_key("ada"), UserId::stored("ada"));
    let saved = async || outcome(world.app.listings.saved(&key, &ada).await);
    assert_eq!(saved().await, Outcome::Forbidden);
    let oak = || ListingId::stored("oak");
    world.app.listings.save(&person("ada"), ada.clone(), oak()).await.unwrap();
    assert_eq!(saved().await, Outcome::Forbidden);
    world.app.listings.save(&member("ada", "ada"), ada.clone(), oak()).await.unwrap();
    assert_eq!(saved().await, Outcome::Allowed, "the token names the account");
}

#[tokio::test]
async fn data_about_all_users_needs_the_operator_when_live() {
    let world = with_oak(Profile::Live).await;
    let devices = &world.app.devices;
    for (caller, expected) in [
        (anonymous(), Outcome::Unauthenticated),
        (person("ada"), Outcome::Forbidden),
        (account_key("ada"), Outcome::Forbidden),
        (operator(), Outcome::Allowed),
    ] {
        assert_eq!(outcome(devices.statistics(&caller, None).await), expected);
        let network = Text::stored("Helium");
        assert_eq!(outcome(devices.on_network(&caller, &network, None, 1).await), expected);
    }
}

#[tokio::test]
async fn only_the_applicant_and_the_operator_apply() {
    let world = with_oak(Profile::Live).await;
    let oak = || vec![ListingId::stored("oak")];
    let bob = UserId::stored("bob");
    for (caller, expected) in [
        (anonymous(), Outcome::Unauthenticated),
        // The listing's owner, and a key of the applicant's account.
        (person("ada"), Outcome::Forbidden),
        (account_key("bob"), Outcome::Forbidden),
        (person("bob"), Outcome::Allowed),
        (operator(), Outcome::Allowed),
    ] {
        assert_eq!(
            outcome(world.app.applications.apply(&caller, bob.clone(), oak(), SeenConditions::new()).await),
            expected
        );
    }
    let ApplicationMapping { listings, .. } =
        world.app.applications.of_user(&person("bob"), bob).await.unwrap();
    assert_eq!(listings, oak());
}

#[tokio::test]
async fn keys_are_created_listed_and_revoked_by_their_owner() {
    let world = World::new(Profile::Live).await;
    let keys = &world.app.keys;
    let name = || Text::stored("laptop");
    let of = |user: &str| KeyScope::User(UserId::stored(user));
    for (caller, scope) in [
        (anonymous(), of("ada")),
        (person("bob"), of("ada")),
        (person("ada"), KeyScope::Operator),
        (account_key("ada"), of("ada")),
    ] {
        assert_eq!(outcome(keys.create(&caller, name(), scope, None).await), Outcome::Forbidden);
    }
    let key = keys.create(&person("ada"), name(), of("ada"), None).await.unwrap();
    let secret = key.expose_secret().unwrap().to_owned();
    assert_eq!(keys.own(&person("ada")).await.unwrap().len(), 1);
    assert_eq!(keys.own(&person("bob")).await.unwrap().len(), 0);
    assert_eq!(outcome(keys.all(&person("ada")).await), Outcome::Forbidden);
    assert_eq!(outcome(keys.revoke(&anonymous(), key.id.clone()).await), Outcome::Unauthenticated);
    assert_eq!(outcome(keys.revoke(&person("bob"), key.id.clone()).await), Outcome::NotFound);
    assert!(keys.verify(&secret).await.is_ok());
    assert_eq!(outcome(keys.revoke(&person("ada"), key.id).await), Outcome::Allowed);
    assert_eq!(outcome(keys.verify(&secret).await), Outcome::Unauthenticated);
}
