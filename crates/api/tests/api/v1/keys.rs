//! `/v1/keys`: a user's own API keys; the sandbox's sessions and demo data.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{App, Engine, Options, ids, moment, on_both_engines, unique, until};

on_both_engines! {
    shared:
        session_has_a_token_and_a_key,
        key_secret_is_shown_only_at_creation,
        revoked_key_stops_at_once,
        revoking_twice_changes_nothing,
        a_key_needs_a_name,
        expired_key_is_refused,
        expiry_must_be_in_the_future,
        last_use_is_shown;
    own:
        demo_data_is_created_once_and_retry_gets_the_result,
        live_user_has_a_limited_number_of_keys;
}

async fn demo_data_is_created_once_and_retry_gets_the_result(engine: Engine) {
    let app = Options::new(engine).start().await;
    let demo = || app.request(Method::POST, "/v1/sandbox/demo");
    let first = demo().once("demo").send().await.json(201);
    assert_eq!(first["listings"], 360);
    assert_eq!(demo().once("demo").send().await.json(201), first);
    let again = demo().send().await.json(201);
    for made in ["listings", "people", "applications", "portfolios", "devices"] {
        assert!(first[made].as_u64().unwrap() > 0, "{first}");
        assert_eq!(again[made], 0, "{again}");
    }
    let totals = app.get("/v1/listings/stats/overview").await.json(200);
    assert_eq!(totals["totalListings"], 360, "{totals}");
}

async fn make(app: &App, token: &str, name: &str) -> (String, String) {
    let made =
        app.to_post("/v1/keys", &json!({"name": name})).bearer(token).send().await.json_without_message(201);
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    assert_eq!(made, json!({"id": text("id"), "apiKey": text("apiKey")}));
    (text("id"), text("apiKey"))
}

async fn keys(app: &App, token: &str) -> Value {
    app.to_get("/v1/keys").bearer(token).send().await.json(200)
}

async fn works(app: &App, key: &str) -> bool {
    match app.to_get("/listings?listingId=x").key(key).send().await {
        answer if answer.status == 200 => true,
        answer => {
            answer.refused(401, "unauthenticated");
            false
        }
    }
}

async fn session_has_a_token_and_a_key(app: &App) {
    let user = unique("ada");
    let session = app.post("/v1/sandbox/sessions", json!({"userId": user})).await.json(201);
    let text = |name: &str| session[name].as_str().unwrap();
    assert_eq!(session, json!({"token": text("token"), "apiKey": text("apiKey")}));
    assert!(text("apiKey").starts_with("test_"));
    assert_eq!(text("token").split('.').count(), 3);
    let saved = format!("/stage/savedListings/{user}");
    app.to_get(&saved).key(text("apiKey")).send().await.json(200);
    app.to_get(&format!("/applications/{user}")).bearer(text("token")).send().await.problem(404);
    app.post("/v1/sandbox/sessions", json!({})).await.has_faults(&[("/userId", "missing")]);
}

async fn key_secret_is_shown_only_at_creation(app: &App) {
    let user = unique("ada");
    let token = app.token(&["--sub", &user]);
    assert_eq!(keys(app, &token).await, json!([]));
    let (first, secret) = make(app, &token, "laptop").await;
    let (second, _) = make(app, &token, " phone ").await;
    // 256 random bits in base64, after the mode and the public id.
    let parts: Vec<&str> = secret.splitn(3, '_').collect();
    assert_eq!((parts[0], parts[1], parts[2].len()), ("test", first.as_str(), 43));
    let list = keys(app, &token).await;
    assert!(works(app, &secret).await);
    let expected = json!([
        {"id": first, "name": "laptop", "createdAt": moment(&list[0]["createdAt"]), "scope": "user", "owner": user},
        {"id": second, "name": "phone", "createdAt": moment(&list[1]["createdAt"]), "scope": "user", "owner": user},
    ]);
    assert_eq!(list, expected);
}

async fn revoked_key_stops_at_once(app: &App) {
    let token = app.token(&["--sub", &unique("ada")]);
    let ((id, secret), (_, other)) = (make(app, &token, "lost").await, make(app, &token, "kept").await);
    assert!(works(app, &secret).await);
    app.request(Method::DELETE, &format!("/v1/keys/{id}")).bearer(&token).send().await.only_message(200);
    assert!(!works(app, &secret).await);
    assert!(works(app, &other).await);
    let list = keys(app, &token).await;
    moment(&list[0]["revokedAt"]);
    assert!(list[1].get("revokedAt").is_none());
}

async fn revoking_twice_changes_nothing(app: &App) {
    let token = app.token(&["--sub", &unique("ada")]);
    let (id, _) = make(app, &token, "lost").await;
    let mut revoked = Vec::new();
    for _ in 0..2 {
        app.request(Method::DELETE, &format!("/v1/keys/{id}")).bearer(&token).send().await.only_message(200);
        revoked.push(keys(app, &token).await[0]["revokedAt"].clone());
    }
    assert_eq!(revoked[0], revoked[1]);
}

async fn live_user_has_a_limited_number_of_keys(engine: Engine) {
    let app = &Options::new(engine).live().start().await;
    let token = app.token(&["--sub", "ada"]);
    for _ in 0..100 {
        make(app, &token, "one of many").await;
    }
    let more = || app.to_post("/v1/keys", &json!({"name": "one more"})).bearer(&token).send();
    more().await.refused(409, "too_many_keys");
    let list = keys(app, &token).await;
    let first = &ids(&list, "id")[0];
    app.request(Method::DELETE, &format!("/v1/keys/{first}")).bearer(&token).send().await.only_message(200);
    more().await.json_without_message(201);
}

async fn a_key_needs_a_name(app: &App) {
    let token = app.token(&["--sub", &unique("ada")]);
    for (body, code) in
        [(json!({}), "missing"), (json!({"name": ""}), "empty"), (json!({"name": 5}), "wrong_type")]
    {
        app.to_post("/v1/keys", &body).bearer(&token).send().await.has_faults(&[("/name", code)]);
    }
    assert_eq!(keys(app, &token).await, json!([]));
}

async fn expired_key_is_refused(app: &App) {
    let user = unique("ada");
    let token = app.token(&["--sub", &user]);
    let soon = app.new_key(&["--user", &user, "--ttl", "2s"]);
    let later = app.new_key(&["--user", &user, "--ttl", "90d"]);
    assert!(works(app, &soon).await && works(app, &later).await);
    until("the key has expired", 10, async || (!works(app, &soon).await).then_some(())).await;
    assert!(works(app, &later).await);
    let list = keys(app, &token).await;
    assert!(moment(&list[0]["expiresAt"]).as_str() < moment(&list[1]["expiresAt"]).as_str());
}

async fn expiry_must_be_in_the_future(app: &App) {
    let token = app.token(&["--sub", &unique("ada")]);
    let make = |expiry: Value| {
        app.to_post("/v1/keys", &json!({"name": "laptop", "expiresAt": expiry})).bearer(&token).send()
    };
    make(json!("2020-01-01T00:00:00Z")).await.has_faults(&[("/expiresAt", "in_the_past")]);
    make(json!("tomorrow")).await.has_faults(&[("/expiresAt", "not_a_moment")]);
    assert_eq!(keys(app, &token).await, json!([]));
    let made = make(json!("2099-12-31T23:59:59+01:00")).await.json_without_message(201);
    assert!(works(app, made["apiKey"].as_str().unwrap()).await);
    assert_eq!(keys(app, &token).await[0]["expiresAt"], "2099-12-31T22:59:59.000000Z");
}

/// To a minute: the uses that follow change nothing.
async fn last_use_is_shown(app: &App) {
    let token = app.token(&["--sub", &unique("ada")]);
    let ((_, used), (_, unused)) = (make(app, &token, "used").await, make(app, &token, "unused").await);
    assert!(works(app, &used).await);
    let last_use = async || keys(app, &token).await[0].get("lastUsedAt").cloned();
    let first = until("the use is stored", 10, last_use).await;
    moment(&first);
    for _ in 0..20 {
        assert!(works(app, &used).await);
    }
    assert_eq!(last_use().await, Some(first));
    let list = keys(app, &token).await;
    assert!(list[1].get("lastUsedAt").is_none(), "{list}");
    assert!(works(app, &unused).await);
}
