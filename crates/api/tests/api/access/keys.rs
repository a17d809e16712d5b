//! API keys: scopes and revocation.

use portico_domain::KeyId;
use reqwest::Method;
use serde_json::json;

use crate::support::{App, Engine, OPERATOR, Options, listing, on_both_engines, unique};

on_both_engines! {
    shared:
        account_key_acts_for_users_of_the_account,
        account_key_is_not_an_operator_key,
        revoked_key_stops_at_once,
        malformed_key_is_refused,
        all_presented_credentials_must_be_valid,
        duplicate_credential_is_refused;
    own:
        live_keys_begin_with_live;
}

async fn account_key_acts_for_users_of_the_account(app: &App) {
    let (account, member, stranger) = (unique("acme"), unique("member"), unique("stranger"));
    let key = app.new_key(&["--account", &account]);
    let token = app.token(&["--sub", &member, "--account", &account]);
    let (own, others) = (unique("own"), unique("others"));
    let body = listing(&own, &member);
    app.to_post("/listings", &body).key(&key).send().await.refused(403, "forbidden");
    app.to_post("/listings", &body).bearer(&token).send().await.only_message(201);
    app.add_listing(listing(&others, &stranger)).await;

    let saved = |user: &str| format!("/stage/savedListings/{user}");
    app.to_get(&saved(&member)).key(&key).send().await.json(200);
    app.to_get(&saved(&stranger)).key(&key).send().await.refused(403, "forbidden");
    let delete = |id: &str| app.request(Method::DELETE, &format!("/stage/listing/{id}")).key(&key).send();
    delete(&others).await.refused(403, "forbidden");
    delete(&own).await.only_message(200);

    // A user who moves to another account keeps their data.
    let other_account = unique("other");
    let token = app.token(&["--sub", &member, "--account", &other_account]);
    let body = listing(&unique("moved"), &member);
    app.to_post("/listings", &body).bearer(&token).send().await.only_message(201);
    app.to_get(&saved(&member)).key(&key).send().await.refused(403, "forbidden");
    let key = app.new_key(&["--account", &other_account]);
    app.to_get(&saved(&member)).key(&key).send().await.json(200);
}

async fn account_key_is_not_an_operator_key(app: &App) {
    let key = app.new_key(&["--account", &unique("acme")]);
    let body = json!({"name": "T", "riskLevel": "Moderate"});
    app.to_post("/v1/predefined-portfolio", &body).key(&key).send().await.refused(403, "forbidden");
}

async fn revoked_key_stops_at_once(app: &App) {
    let keys = [app.new_key(&[]), app.new_key(&["--user", "ada"]), app.new_key(&["--account", "acme"])];
    for key in keys {
        let ask = || app.to_get("/stage/listings/user/nobody-at-all").key(&key).send();
        ask().await.refused(404, "no_listings");
        let id = KeyId::parse(key.split('_').nth(1).unwrap()).unwrap();
        app.tool().keys.revoke(&OPERATOR, id).await.unwrap();
        ask().await.refused(401, "unauthenticated");
    }
}

async fn malformed_key_is_refused(app: &App) {
    let key = app.someone().await.key;
    let parts: Vec<&str> = key.splitn(3, '_').collect();
    let forgeries = [
        String::new(),
        "x".into(),
        "_".into(),
        "__".into(),
        format!("{key}x"),
        key[..key.len() - 1].into(),
        format!("live_{}_{}", parts[1], parts[2]),
        format!("test_{}_", parts[1]),
        format!("test_{}_{}", parts[1], "A".repeat(43)),
        format!("test_0000000000000000_{}", parts[2]),
        format!("{key} "),
        "test_' OR 1=1 --_x".into(),
    ];
    for forged in forgeries {
        if forged.trim() == key {
            // Whitespace around a header value is ignored.
            app.to_get("/listings?listingId=x").key(&forged).send().await.status(200);
            continue;
        }
        for path in ["/listings?listingId=x", "/stage/listings/user/x", "/healthz"] {
            app.to_get(path).key(&forged).send().await.refused(401, "unauthenticated");
        }
    }
}

async fn all_presented_credentials_must_be_valid(app: &App) {
    let ada = app.someone().await;
    let path = "/listings?listingId=x";
    app.to_get(path).bearer(&ada.token).key(&ada.key).send().await.status(200);
    app.to_get(path).bearer(&ada.token).key("x").send().await.refused(401, "unauthenticated");
    app.to_get(path).bearer("x").key(&ada.key).send().await.refused(401, "unauthenticated");
    for authorization in ["Basic YWRhOng=", "Bearer", "Bearer ", "bearer", &ada.token, "Token x"] {
        let request = app.to_get(path).header("authorization", authorization);
        request.send().await.refused(401, "unauthenticated");
    }
    app.to_get(path).header("authorization", &format!("bearer {}", ada.token)).send().await.status(200);
}

async fn duplicate_credential_is_refused(app: &App) {
    let ada = app.someone().await;
    let twice = app.to_get("/listings?listingId=x").key(&ada.key).key(&ada.key);
    twice.send().await.refused(401, "unauthenticated");
    let twice = app.to_get("/listings?listingId=x").bearer(&ada.token).bearer(&ada.token);
    twice.send().await.refused(401, "unauthenticated");
}

async fn live_keys_begin_with_live(engine: Engine) {
    let app = Options::new(engine).live().start().await;
    assert!(app.new_key(&[]).starts_with("live_"));
    let token = app.token(&["--sub", "ada"]);
    let made = app
        .to_post("/v1/keys", &json!({"name": "mine"}))
        .bearer(&token)
        .send()
        .await
        .json_without_message(201);
    let key = made["apiKey"].as_str().unwrap();
    assert!(key.starts_with("live_"));
    app.to_get("/stage/savedListings/ada").key(key).send().await.json(200);
}
