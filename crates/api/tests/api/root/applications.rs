//! `/applications`: which listings a user applied to.

use serde_json::{Value, json};

use crate::support::{
    Answer, App, Engine, Options, Session, encoded, listing, on_both_engines, on_chain, unique, with,
};

on_both_engines! {
    shared:
        application_round_trips_with_exact_fields,
        applications_are_listed_with_their_times,
        unknown_listing_is_reported_and_nothing_stored,
        user_without_application_is_not_found,
        check_adds_the_listing_of_the_path,
        check_names_the_user_of_the_path,
        listing_owner_reads_the_check,
        application_errors_are_all_reported;
    own:
        applications_end_with_their_listing_after_restart;
}

/// Applies to listings, creating missing ones.
async fn apply(app: &App, who: &Session, listings: Value) -> Answer {
    let valid = |id: &&str| !id.is_empty() && id.len() < 256;
    let ids: Vec<&str> =
        listings.as_array().into_iter().flatten().filter_map(Value::as_str).filter(valid).collect();
    app.offer(&ids).await;
    apply_to_known(app, who, listings).await
}

async fn apply_to_known(app: &App, who: &Session, listings: Value) -> Answer {
    let body = json!({"userId": who.user, "listingIds": listings});
    app.to_post("/applications", &body).bearer(&who.token).send().await
}

async fn applications(app: &App, who: &Session) -> Value {
    let path = format!("/applications/{}", encoded(&who.user));
    app.to_get(&path).bearer(&who.token).send().await.json(200)
}

async fn application_round_trips_with_exact_fields(app: &App) {
    let ada = app.someone().await;
    apply(app, &ada, json!(["oak", "elm"])).await.only_message(201);
    apply(app, &ada, json!(["ash"])).await.only_message(201);
    assert_eq!(
        applications(app, &ada).await,
        json!({"userId": ada.user, "listingIds": ["oak", "elm", "ash"]})
    );
}

async fn applications_are_listed_with_their_times(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    let path = format!("/v1/users/{}/applications", encoded(&ada.user));
    assert_eq!(app.to_get(&path).bearer(&ada.token).send().await.json(200), json!([]));
    apply(app, &ada, json!(["oak", "elm", "ash"])).await.only_message(201);
    let listed = app.to_get(&path).bearer(&ada.token).send().await.json(200);
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|found| &found["listingId"]).collect();
    assert_eq!(ids, ["oak", "elm", "ash"]);
    assert!(listed[0]["appliedAt"].as_str().unwrap().ends_with('Z'), "{listed}");
    let piece = app.to_get(&format!("{path}?limit=2")).bearer(&ada.token).send().await;
    assert!(piece.header("link").contains("rel=\"next\""));
    assert_eq!(piece.json(200), json!([listed[0], listed[1]]));
    app.to_get(&path).bearer(&bob.token).send().await.refused(403, "forbidden");
}

async fn unknown_listing_is_reported_and_nothing_stored(app: &App) {
    let (ada, real) = (app.someone().await, unique("real"));
    app.add_listing(listing(&real, "landlord")).await;
    let [one, two] = [unique("nowhere"), unique("nowhere")];
    let problem = apply_to_known(app, &ada, json!([one, real, two])).await.problem(400);
    assert_eq!(problem["code"], "unknown_listing");
    let faults: Vec<&Value> =
        problem["errors"].as_array().unwrap().iter().map(|fault| &fault["pointer"]).collect();
    assert_eq!(faults, ["/listingIds/0", "/listingIds/2"]);
    assert_eq!(problem["errors"][0]["code"], "unknown_listing");
    let answer = app.to_get(&format!("/applications/{}", ada.user)).bearer(&ada.token).send().await;
    answer.refused(404, "application_not_found");

    // Via the listing's path: that listing comes first.
    let path = format!("/applications/{}/{one}/check", ada.user);
    let body = json!({"userId": ada.user, "listingIds": [real, two]});
    let problem = app.to_post(&path, &body).bearer(&ada.token).send().await.problem(400);
    assert_eq!(problem["code"], "unknown_listing");
    assert_eq!(problem["errors"][0]["parameter"], "listingId");
    assert_eq!(problem["errors"][1]["pointer"], "/listingIds/1");
}

async fn user_without_application_is_not_found(app: &App) {
    let ada = app.someone().await;
    let answer = app.to_get(&format!("/applications/{}", ada.user)).bearer(&ada.token).send().await;
    answer.refused(404, "application_not_found");
}

async fn check_adds_the_listing_of_the_path(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    apply(app, &bob, json!(["elm/2", "oak"])).await.only_message(201);
    let path = format!("/applications/{}/elm%2F2/check", ada.user);
    app.post(&path, json!({"userId": ada.user, "listingIds": []})).await.only_message(201);
    assert_eq!(applications(app, &ada).await["listingIds"], json!(["elm/2"]));
    let body = json!({"userId": ada.user, "listingIds": ["oak", " elm/2"]});
    app.to_post(&path, &body).bearer(&ada.token).send().await.only_message(201);
    assert_eq!(applications(app, &ada).await["listingIds"], json!(["elm/2", "oak"]));
}

async fn check_names_the_user_of_the_path(app: &App) {
    let ada = app.someone().await;
    let path = format!("/applications/{}/oak/check", ada.user);
    let body = json!({"userId": unique("bob"), "listingIds": ["elm"]});
    app.post(&path, body).await.has_faults(&[("/userId", "another_user")]);
    let missing = [("/userId", "missing"), ("/listingIds", "missing")];
    app.post(&path, json!({})).await.has_faults(&missing);
    let answer = app.to_get(&format!("/applications/{}", ada.user)).bearer(&ada.token).send().await;
    answer.refused(404, "application_not_found");
}

/// Stores a listing with terms on the chain.
async fn record(app: &App, id: &str, owner: &str) {
    let body = with(on_chain(id, owner), json!({"minCredit": 620, "minIncome": 50_000}));
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201);
}

async fn listing_owner_reads_the_check(app: &App) {
    let (ada, landlord, stranger) = (app.someone().await, app.someone().await, app.someone().await);
    let id = unique("oak");
    app.add_listing(listing(&id, &landlord.user)).await;
    apply_to_known(app, &ada, json!([id])).await.only_message(201);
    let check = format!("/applications/{}/{id}/check", ada.user);
    let records = format!("/v1/applications/{}/{id}/records", ada.user);
    for path in [&check, &records] {
        for who in [&ada, &landlord] {
            app.to_get(path).bearer(&who.token).send().await.status(200);
            app.to_get(path).key(&who.key).send().await.status(200);
        }
        app.to_get(path).bearer(&stranger.token).send().await.refused(403, "forbidden");
        app.to_get(path).key(&stranger.key).send().await.refused(403, "forbidden");
    }
}

async fn applications_end_with_their_listing_after_restart(engine: Engine) {
    let app = Options::new(engine).start().await;
    let ada = app.someone().await;
    for id in ["kept", "deleted"] {
        record(&app, id, "landlord").await;
    }
    apply_to_known(&app, &ada, json!(["kept", "deleted"])).await.only_message(201);
    app.delete("/listings/deleted").await.status(200);
    let app = app.restart().await;
    assert_eq!(applications(&app, &ada).await["listingIds"], json!(["kept"]));
    let all = app.to_get(&format!("/v1/users/{}/applications", ada.user)).bearer(&ada.token).send().await;
    let all = all.json(200);
    let statuses: Vec<_> =
        all.as_array().unwrap().iter().map(|one| (one["listingId"].clone(), one["status"].clone())).collect();
    let expected = [("kept", "submitted"), ("deleted", "closed")];
    assert_eq!(statuses, expected.map(|(id, status)| (json!(id), json!(status))));
    record(&app, "deleted", "somebody else").await;
    let applicants = app.to_get("/v1/listings/deleted/applicants").key(app.operator()).send().await;
    assert_eq!(applicants.json(200), json!([]));
}

async fn application_errors_are_all_reported(app: &App) {
    let ada = app.someone().await;
    let send = |body: Value| {
        let request = app.to_post("/applications", &body).bearer(&ada.token);
        async { request.send().await }
    };
    send(json!({})).await.has_faults(&[("/userId", "missing"), ("/listingIds", "missing")]);
    send(json!({"userId": 5, "listingIds": "oak"}))
        .await
        .has_faults(&[("/userId", "wrong_type"), ("/listingIds", "wrong_type")]);
    send(json!({"userId": ada.user, "listingIds": []})).await.has_faults(&[("/listingIds", "empty")]);
    send(json!({"userId": ada.user, "listingIds": ["oak", "", 5, "x".repeat(256)]})).await.has_faults(&[
        ("/listingIds/1", "empty"),
        ("/listingIds/2", "wrong_type"),
        ("/listingIds/3", "too_long"),
    ]);
    send(json!({"userId": ada.user, "listingIds": vec!["oak"; 1001]}))
        .await
        .has_faults(&[("/listingIds", "too_many")]);
}
