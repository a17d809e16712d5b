//! `Idempotency-Key`: retries are replayed and run once.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::stream::{self, StreamExt as _};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, App, Engine, Options, encoded, ids, listing, on_both_engines, unique};

on_both_engines! {
    shared:
        same_key_gets_the_same_response,
        session_retry_opens_another_session,
        key_retry_does_not_get_the_secret,
        every_post_takes_a_key,
        another_body_under_the_same_key_is_422,
        another_caller_may_use_the_same_key,
        another_route_may_use_the_same_key,
        same_route_with_other_path_is_another_request,
        refused_request_can_be_corrected_under_its_key,
        first_response_is_replayed_after_changes,
        a_key_has_a_length,
        requests_without_a_key_all_run;
    own:
        answers_outlive_the_server,
        concurrent_retries_run_once;
}

fn device(user: &str) -> Value {
    json!({"userId": user, "network": unique("net"), "deviceIdentifier": "1"})
}

async fn send(app: &App, path: &str, body: &Value, key: &str) -> Answer {
    app.to_post(path, body).once(key).send().await
}

async fn same_key_gets_the_same_response(app: &App) {
    let (user, key) = (unique("ada"), unique("key"));
    let body = device(&user);
    let first = send(app, "/v1/depin-device", &body, &key).await.json(201);
    for _ in 0..3 {
        assert_eq!(send(app, "/v1/depin-device", &body, &key).await.json(201), first);
    }
    let devices = app.get(&format!("/v1/depin-devices/user/{user}")).await.json(200);
    assert_eq!(ids(&devices, "depinDeviceId"), [first["depinDeviceId"].as_str().unwrap()]);
}

/// Credentials are not stored, so that they cannot be given again.
async fn session_retry_opens_another_session(app: &App) {
    let (body, key) = (json!({"userId": unique("ada")}), unique("key"));
    let [first, second] = [
        send(app, "/v1/sandbox/sessions", &body, &key).await.json(201),
        send(app, "/v1/sandbox/sessions", &body, &key).await.json(201),
    ];
    for session in [&first, &second] {
        let own = app.to_get("/v1/keys").bearer(session["token"].as_str().unwrap()).send().await.json(200);
        assert_eq!(own.as_array().unwrap().len(), 2);
    }
    assert_ne!(first["apiKey"], second["apiKey"]);
    assert_ne!(first["token"], second["token"]);
}

async fn key_retry_does_not_get_the_secret(app: &App) {
    let (ada, key) = (app.someone().await, unique("key"));
    let create = async |name: &str| {
        let body = json!({"name": name});
        app.to_post("/v1/keys", &body).bearer(&ada.token).once(&key).send().await
    };
    let first = create("laptop").await.json_without_message(201);
    let secret = first["apiKey"].as_str().unwrap();
    for _ in 0..2 {
        assert_eq!(create("laptop").await.json_without_message(201), json!({"id": first["id"]}));
    }
    create("phone").await.refused(422, "idempotency_key_reused");
    let own = app.to_get("/v1/keys").bearer(&ada.token).send().await.json(200);
    assert_eq!(ids(&own, "name"), ["Sandbox session", "laptop"], "made once");
    app.to_get("/stage/listings/user/nobody").key(secret).send().await.refused(404, "no_listings");
}

async fn every_post_takes_a_key(app: &App) {
    let ada = app.someone().await;
    let template = app
        .post("/v1/predefined-portfolio", json!({"name": "T", "riskLevel": "Moderate"}))
        .await
        .json_without_message(201);
    let template = template["predefinedPortfolioId"].as_str().unwrap();
    app.offer(&["oak", "elm"]).await;
    let applied = json!({"userId": ada.user, "listingIds": ["oak"]});
    let posts = [
        ("/listings".to_owned(), listing(&unique("once"), &ada.user)),
        ("/verificationPipeline".to_owned(), json!({"IncomeCheck": true})),
        ("/requirements".to_owned(), json!({"listingId": 1, "applicantId": 1, "requirementsMet": []})),
        ("/applications".to_owned(), applied.clone()),
        (format!("/applications/{}/elm/check", encoded(&ada.user)), applied),
        ("/stage/savedListings".to_owned(), json!({"userId": ada.user, "listingId": "oak"})),
        (
            "/v1/user-portfolio".to_owned(),
            json!({"userId": ada.user, "riskLevel": "Moderate", "isCustom": true}),
        ),
        (format!("/v1/user-portfolio/copy/{template}"), json!({"userId": ada.user})),
        ("/v1/depin-device".to_owned(), device(&ada.user)),
        (
            "/v1/depin-devices".to_owned(),
            json!({"userId": ada.user, "devices": [{"network": "Helium", "deviceIdentifier": unique("device")}]}),
        ),
    ];
    for (path, body) in posts {
        let key = unique("key");
        let request = || {
            let request = app.to_post(&path, &body).once(&key).key(&ada.key);
            // Both credentials: each operation uses the one it needs.
            async { request.bearer(&ada.token).send().await }
        };
        let (first, again) = (request().await, request().await);
        assert_eq!(first.status / 100, 2, "{path}: {}", first.text());
        assert_eq!((again.status, again.text()), (first.status, first.text()), "{path}");
        assert_eq!(again.header("content-type"), first.header("content-type"), "{path}");
        let other = app.request(Method::POST, &path).once(&key).key(&ada.key).bearer(&ada.token);
        let other =
            other.body(body.to_string().replacen('{', "{\"more\":1,", 1).replace(",}", "}")).send().await;
        other.refused(422, "idempotency_key_reused");
    }
    let made = app.get(&format!("/v1/user-portfolios/{}", ada.user)).await.json(200);
    assert_eq!(ids(&made, "userPortfolioId").len(), 2, "one made and one copied");
    // Templates need the operator.
    let body = json!({"name": unique("T"), "riskLevel": "Moderate"});
    let key = unique("key");
    let first = send(app, "/v1/predefined-portfolio", &body, &key).await.json(201);
    assert_eq!(send(app, "/v1/predefined-portfolio", &body, &key).await.json(201), first);
}

async fn another_body_under_the_same_key_is_422(app: &App) {
    let (user, key) = (unique("ada"), unique("key"));
    let first = device(&user);
    send(app, "/v1/depin-device", &first, &key).await.json_without_message(201);
    send(app, "/v1/depin-device", &device(&user), &key).await.refused(422, "idempotency_key_reused");
    let devices = app.get(&format!("/v1/depin-devices/user/{user}")).await.json(200);
    assert_eq!(ids(&devices, "network"), [first["network"].as_str().unwrap()]);
}

async fn another_caller_may_use_the_same_key(app: &App) {
    let (ada, bob, key) = (app.someone().await, app.someone().await, unique("key"));
    let body = json!({"name": "same"});
    let make = async |token: &str| {
        let made = app.to_post("/v1/keys", &body).bearer(token).once(&key).send().await.json(201);
        made["id"].as_str().unwrap().to_owned()
    };
    let own = make(&ada.token).await;
    assert_ne!(own, make(&bob.token).await, "nobody is told another's answer");
    assert_eq!(own, make(&ada.token).await);
    // Nor do anonymous callers and callers with a key share it.
    let body = device(&ada.user);
    let first = app.to_post("/v1/depin-device", &body).bearer(&ada.token).once(&key).send().await.json(201);
    send(app, "/v1/depin-device", &body, &key).await.refused(409, "device_exists");
    let by_key = app.to_post("/v1/depin-device", &body).key(&ada.key).once(&key).send().await;
    by_key.refused(409, "device_exists");
    let again = app.to_post("/v1/depin-device", &body).bearer(&ada.token).once(&key).send().await.json(201);
    assert_eq!(again, first);
}

async fn another_route_may_use_the_same_key(app: &App) {
    let (user, key) = (unique("ada"), unique("key"));
    send(app, "/v1/depin-device", &device(&user), &key).await.json_without_message(201);
    let body = json!({"userId": user, "riskLevel": "Moderate", "isCustom": true});
    send(app, "/v1/user-portfolio", &body, &key).await.json_without_message(201);
    send(app, "/listings", &listing(&unique("a"), &user), &key).await.only_message(201);
}

async fn same_route_with_other_path_is_another_request(app: &App) {
    let (user, key) = (unique("ada"), unique("key"));
    app.offer(&["oak", "elm"]).await;
    let body = json!({"userId": user, "listingIds": []});
    let check = |listing: &str| format!("/applications/{user}/{listing}/check");
    send(app, &check("oak"), &body, &key).await.only_message(201);
    send(app, &check("elm"), &body, &key).await.refused(422, "idempotency_key_reused");
    send(app, &check("oak"), &body, &key).await.only_message(201);
}

async fn refused_request_can_be_corrected_under_its_key(app: &App) {
    let (user, key) = (unique("ada"), unique("key"));
    send(app, "/v1/depin-device", &json!({"userId": user}), &key).await.problem(400);
    let taken = device(&user);
    app.post("/v1/depin-device", taken.clone()).await.json_without_message(201);
    send(app, "/v1/depin-device", &taken, &key).await.refused(409, "device_exists");
    send(app, "/v1/depin-device", &device(&user), &key).await.json_without_message(201);
}

async fn first_response_is_replayed_after_changes(app: &App) {
    let (user, key) = (unique("ada"), unique("key"));
    let body = device(&user);
    let first = send(app, "/v1/depin-device", &body, &key).await.json(201);
    let id = first["depinDeviceId"].as_str().unwrap();
    app.delete(&format!("/v1/depin-device/{id}")).await.only_message(200);
    assert_eq!(send(app, "/v1/depin-device", &body, &key).await.json(201), first);
    assert_eq!(app.get(&format!("/v1/depin-devices/user/{user}")).await.json(200), json!([]));
}

async fn a_key_has_a_length(app: &App) {
    let user = unique("ada");
    send(app, "/v1/depin-device", &device(&user), &"k".repeat(255)).await.json_without_message(201);
    for key in ["", "a b", &"k".repeat(256)] {
        let answer = send(app, "/v1/depin-device", &device(&user), key).await;
        answer.has_faults(&[("Idempotency-Key", "out_of_range")]);
    }
    let twice = app.to_post("/v1/depin-device", &device(&user)).once("a").once("b").send().await;
    twice.has_faults(&[("Idempotency-Key", "out_of_range")]);
    let devices = app.get(&format!("/v1/depin-devices/user/{user}")).await.json(200);
    assert_eq!(devices.as_array().unwrap().len(), 1);
}

async fn requests_without_a_key_all_run(app: &App) {
    let user = unique("ada");
    let body = json!({"userId": user, "riskLevel": "Moderate", "isCustom": true});
    for _ in 0..3 {
        app.post("/v1/user-portfolio", body.clone()).await.json_without_message(201);
    }
    let made = app.get(&format!("/v1/user-portfolios/{user}")).await.json(200);
    assert_eq!(ids(&made, "userPortfolioId").len(), 3);
}

async fn answers_outlive_the_server(engine: Engine) {
    let app = Options::new(engine).start().await;
    let body = device("ada");
    let first = send(&app, "/v1/depin-device", &body, "key").await.json(201);
    let app = app.restart().await;
    assert_eq!(send(&app, "/v1/depin-device", &body, "key").await.json(201), first);
    assert_eq!(app.get("/v1/depin-devices/user/ada").await.json(200).as_array().unwrap().len(), 1);
}

const KEYS: usize = 500;
const SENT: usize = 8;

/// Sends 500 different requests, each several times, from 64 concurrent clients; returns the ids by key.
async fn send_many(
    app: &App,
    path: &str,
    id: &str,
    body: impl Fn(usize) -> Value,
) -> BTreeMap<usize, BTreeSet<String>> {
    // Several clients always send the same key concurrently.
    let requests = (0..KEYS).flat_map(|key| std::iter::repeat_n(key, SENT));
    let answers = stream::iter(requests)
        .map(async |key| (key, send(app, path, &body(key), &format!("key-{key}")).await.json(201)))
        .buffer_unordered(64)
        .collect::<Vec<(usize, Value)>>();
    let mut assigned: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for (key, answer) in answers.await {
        assigned.entry(key).or_default().insert(answer[id].as_str().unwrap().to_owned());
    }
    assigned
}

fn assert_once_each(assigned: &BTreeMap<usize, BTreeSet<String>>, stored: &Value, id: &str) {
    assert_eq!(assigned.len(), KEYS);
    for (key, assigned) in assigned {
        assert_eq!(assigned.len(), 1, "the key {key} has several answers: {assigned:?}");
    }
    let told: BTreeSet<String> = assigned.values().flatten().cloned().collect();
    let stored = ids(stored, id);
    assert_eq!(stored.len(), KEYS);
    assert_eq!(stored.into_iter().collect::<BTreeSet<_>>(), told);
}

async fn concurrent_retries_run_once(engine: Engine) {
    let app = Options::new(engine).start().await;
    let body = |key: usize| json!({"userId": "ada", "network": "N", "deviceIdentifier": key.to_string()});
    let assigned = send_many(&app, "/v1/depin-device", "depinDeviceId", body).await;
    let stored = app.get("/v1/depin-devices/user/ada").await.json(200);
    assert_once_each(&assigned, &stored, "depinDeviceId");
    assert_eq!(app.get("/v1/depin-devices/stats/overview").await.json(200)["totalDevices"], KEYS);
}
