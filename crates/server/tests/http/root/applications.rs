//! `/applications`: which listings a user applied to.

use serde_json::{Value, json};

use crate::support::{Answer, App, Session, encoded, listing, on_both_engines, unique};

on_both_engines! {
    shared:
        an_application_is_added_and_read_with_exactly_its_fields,
        applying_twice_changes_nothing,
        applications_are_listed_with_their_times_and_there_may_be_none,
        listings_need_not_exist,
        a_user_who_has_not_applied_is_not_found,
        an_applicant_reads_and_writes_only_their_own,
        a_key_of_the_operator_applies_for_others,
        a_check_adds_the_listing_of_the_path,
        a_check_names_the_user_of_the_path,
        a_deleted_listing_stays_in_the_application,
        faults_of_an_application_are_all_named;
}

async fn apply(app: &App, who: &Session, listings: Value) -> Answer {
    let body = json!({"userId": who.user, "listingIds": listings});
    app.to_post("/applications", &body).bearer(&who.token).send().await
}

async fn applications(app: &App, who: &Session) -> Value {
    let path = format!("/applications/{}", encoded(&who.user));
    app.to_get(&path).bearer(&who.token).send().await.json(200)
}

async fn an_application_is_added_and_read_with_exactly_its_fields(app: &App) {
    let ada = app.someone().await;
    apply(app, &ada, json!(["oak", "elm"])).await.only_says(201);
    apply(app, &ada, json!(["ash"])).await.only_says(201);
    assert_eq!(
        applications(app, &ada).await,
        json!({"userId": ada.user, "listingIds": ["oak", "elm", "ash"]})
    );
}

async fn applying_twice_changes_nothing(app: &App) {
    let ada = app.someone().await;
    apply(app, &ada, json!(["oak", "elm", "oak"])).await.only_says(201);
    apply(app, &ada, json!(["elm", "ash"])).await.only_says(201);
    assert_eq!(applications(app, &ada).await["listingIds"], json!(["oak", "elm", "ash"]));
}

async fn applications_are_listed_with_their_times_and_there_may_be_none(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    let path = format!("/v1/users/{}/applications", encoded(&ada.user));
    assert_eq!(app.to_get(&path).bearer(&ada.token).send().await.json(200), json!([]));
    apply(app, &ada, json!(["oak", "elm", "ash"])).await.only_says(201);
    let listed = app.to_get(&path).bearer(&ada.token).send().await.json(200);
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|found| &found["listingId"]).collect();
    assert_eq!(ids, ["oak", "elm", "ash"]);
    assert!(listed[0]["appliedAt"].as_str().unwrap().ends_with('Z'), "{listed}");
    let piece = app.to_get(&format!("{path}?limit=2")).bearer(&ada.token).send().await;
    assert!(piece.header("link").contains("rel=\"next\""));
    assert_eq!(piece.json(200), json!([listed[0], listed[1]]));
    app.to_get(&path).bearer(&bob.token).send().await.refused(403, "forbidden");
}

async fn listings_need_not_exist(app: &App) {
    let (ada, id) = (app.someone().await, unique("nowhere"));
    apply(app, &ada, json!([id])).await.only_says(201);
    assert_eq!(applications(app, &ada).await["listingIds"], json!([id]));
}

async fn a_user_who_has_not_applied_is_not_found(app: &App) {
    let ada = app.someone().await;
    let answer = app.to_get(&format!("/applications/{}", ada.user)).bearer(&ada.token).send().await;
    answer.refused(404, "application_not_found");
}

async fn an_applicant_reads_and_writes_only_their_own(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    apply(app, &ada, json!(["oak"])).await.only_says(201);
    let path = format!("/applications/{}", ada.user);
    app.get(&path).await.refused(401, "unauthenticated");
    app.to_get(&path).bearer(&bob.token).send().await.refused(403, "forbidden");
    app.to_get(&path).key(&bob.key).send().await.refused(403, "forbidden");
    let body = json!({"userId": ada.user, "listingIds": ["elm"]});
    app.post("/applications", body.clone()).await.refused(401, "unauthenticated");
    app.to_post("/applications", &body).bearer(&bob.token).send().await.refused(403, "forbidden");
    assert_eq!(applications(app, &ada).await["listingIds"], json!(["oak"]));
}

async fn a_key_of_the_operator_applies_for_others(app: &App) {
    let ada = app.someone().await;
    let body = json!({"userId": ada.user, "listingIds": ["oak"]});
    app.to_post("/applications", &body).key(app.operator()).send().await.only_says(201);
    let answer = app.to_get(&format!("/applications/{}", ada.user)).key(app.operator()).send().await;
    assert_eq!(answer.json(200), body);
}

async fn a_check_adds_the_listing_of_the_path(app: &App) {
    let ada = app.someone().await;
    let path = format!("/applications/{}/elm%2F2/check", ada.user);
    app.post(&path, json!({"userId": ada.user, "listingIds": []})).await.only_says(201);
    assert_eq!(applications(app, &ada).await["listingIds"], json!(["elm/2"]));
    let body = json!({"userId": format!(" {}", ada.user), "listingIds": ["oak", "elm/2"]});
    app.to_post(&path, &body).bearer(&ada.token).send().await.only_says(201);
    assert_eq!(applications(app, &ada).await["listingIds"], json!(["elm/2", "oak"]));
}

async fn a_check_names_the_user_of_the_path(app: &App) {
    let ada = app.someone().await;
    let path = format!("/applications/{}/oak/check", ada.user);
    let body = json!({"userId": unique("bob"), "listingIds": ["elm"]});
    app.post(&path, body).await.has_faults(&[("/userId", "another_user")]);
    let missing = [("/userId", "missing"), ("/listingIds", "missing")];
    app.post(&path, json!({})).await.has_faults(&missing);
    let answer = app.to_get(&format!("/applications/{}", ada.user)).bearer(&ada.token).send().await;
    answer.refused(404, "application_not_found");
}

async fn a_deleted_listing_stays_in_the_application(app: &App) {
    let (ada, id) = (app.someone().await, unique("oak"));
    app.add_listing(listing(&id, "landlord")).await;
    apply(app, &ada, json!([id])).await.only_says(201);
    app.delete(&format!("/listings/{id}")).await.status(200);
    assert_eq!(applications(app, &ada).await["listingIds"], json!([id]));
}

async fn faults_of_an_application_are_all_named(app: &App) {
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
