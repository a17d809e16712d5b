//! Erasure: at once, in the database and on the chain.

use futures_util::future::join_all;
use portico_domain::UserId;
use reqwest::Method;

use crate::support::erasing::{Known, erase, is_forgotten, known};
use crate::support::{App, Engine, OPERATOR, Options, applicant, on_both_engines, unique};

on_both_engines! {
    shared:
        erasure_is_immediate,
        concurrent_erasures_all_complete,
        erased_user_can_start_again,
        only_the_person_and_the_operator_erase,
        erased_persons_keys_are_revoked,
        unknown_user_can_be_erased;
    own:
        erasure_works_on_a_real_node;
}

async fn erasure_is_immediate(app: &App) {
    let known = known(app).await;
    erase(app, &known.who.token, &known.who.user).await.only_message(200);
    is_forgotten(app, &known).await;
    erase(app, &known.who.token, &known.who.user).await.only_message(200);
    is_forgotten(app, &known).await;
}

async fn concurrent_erasures_all_complete(app: &App) {
    let people = join_all((0..12).map(async |_| {
        let who = app.someone().await;
        let made = app.verified(&who.token, "", &applicant("Lovelace")).await;
        (who, made)
    }))
    .await;
    let erased = join_all(people.iter().map(|(who, _)| erase(app, &who.token, &who.user))).await;
    for ((who, made), answer) in people.iter().zip(erased) {
        answer.only_message(200);
        app.validate(&who.token, &made.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
    }
}

async fn erased_user_can_start_again(app: &App) {
    let known = known(app).await;
    let Known { who, listing, .. } = &known;
    erase(app, &who.token, &who.user).await.only_message(200);
    is_forgotten(app, &known).await;
    let again = app.verified(&who.token, "", &applicant("Byron")).await;
    assert_ne!(again.token, known.made.token);
    // The old case has neither owner nor name any more: its token is never minted again.
    let other = app.identity(&who.token, &known.case, "w").await.status(200);
    assert!(other.text() != known.made.token && other.text() != again.token);
    assert_eq!(app.validate(&who.token, &again.id, "Ada", "Byron").await.status(200).text(), again.token);
    app.apply(&who.token, &who.user, &[listing]).await;
    app.flags_become(&who.user, listing, [true; 4]).await;
    let reference = app.chain_key(&who.user, listing).await;
    assert_ne!(reference, known.reference, "the chain does not know that it is the same person");
    assert_eq!(app.commitment_on_chain(&known.reference).await, None);
}

async fn only_the_person_and_the_operator_erase(app: &App) {
    let bob = app.someone().await;
    let root = app.token(&["--sub", &unique("root"), "--scope", "admin"]);
    for who in 0..3 {
        let known = known(app).await;
        let path = format!("/v1/users/{}/personal-data", known.who.user);
        for key in [&bob.key, &known.who.key, app.operator()] {
            app.request(Method::DELETE, &path).key(key).send().await.refused(401, "unauthenticated");
        }
        app.delete(&path).await.refused(401, "unauthenticated");
        erase(app, &bob.token, &known.who.user).await.refused(403, "forbidden");
        app.validate(&bob.token, &known.made.id, "Ada", "Lovelace").await.status(200);
        match who {
            0 => erase(app, &root, &known.who.user).await.only_message(200),
            1 => erase(app, &known.who.token, &known.who.user).await.only_message(200),
            _ => app.tool().people.erase(&OPERATOR, &UserId::parse(&known.who.user).unwrap()).await.unwrap(),
        }
        is_forgotten(app, &known).await;
    }
}

async fn erased_persons_keys_are_revoked(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    let second = app.new_key(&["--user", &ada.user]);
    let works =
        async |key: &str| app.to_get("/stage/listings/user/nobody").key(key).send().await.status == 404;
    for key in [&ada.key, &second, &bob.key] {
        assert!(works(key).await);
    }
    erase(app, &ada.token, &ada.user).await.only_message(200);
    for key in [&ada.key, &second] {
        let refused = app.to_get("/stage/listings/user/nobody").key(key).send().await;
        refused.refused(401, "unauthenticated");
    }
    assert!(works(&bob.key).await, "another person's key");
    let listed = app.to_get("/v1/keys").bearer(&ada.token).send().await.json(200);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert!(listed.as_array().unwrap().iter().all(|key| key["revokedAt"].is_string()), "{listed}");
    // A returning user makes new ones.
    assert!(works(&app.sign_in(&ada.user).await.key).await);
}

async fn unknown_user_can_be_erased(app: &App) {
    let ada = app.someone().await;
    erase(app, &ada.token, &ada.user).await.only_message(200);
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
}

async fn erasure_works_on_a_real_node(engine: Engine) {
    let app = Options::new(engine).anvil().start().await;
    erased_user_can_start_again(&app).await;
}
