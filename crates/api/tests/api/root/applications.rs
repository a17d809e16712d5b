//! `/applications`: which listings a user applied to.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    Answer, App, Engine, Options, Session, applicant, encoded, listing, on_both_engines, on_chain, unique,
    until, with,
};

on_both_engines! {
    shared:
        application_round_trips_with_exact_fields,
        applying_twice_changes_nothing,
        applications_are_listed_with_their_times,
        unknown_listing_is_reported_and_nothing_stored,
        user_without_application_is_not_found,
        applicant_reads_and_writes_only_their_own,
        operator_key_applies_for_others,
        check_adds_the_listing_of_the_path,
        check_names_the_user_of_the_path,
        deleting_a_listing_ends_its_applications,
        new_owner_of_an_id_inherits_nothing,
        only_the_applicant_and_the_operator_apply,
        listing_owner_reads_the_check,
        application_errors_are_all_reported;
    own:
        live_owner_cannot_apply_for_somebody,
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

async fn applying_twice_changes_nothing(app: &App) {
    let ada = app.someone().await;
    apply(app, &ada, json!(["oak", "elm", "oak"])).await.only_message(201);
    apply(app, &ada, json!(["elm", "ash"])).await.only_message(201);
    assert_eq!(applications(app, &ada).await["listingIds"], json!(["oak", "elm", "ash"]));
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

async fn applicant_reads_and_writes_only_their_own(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    apply(app, &ada, json!(["oak"])).await.only_message(201);
    let path = format!("/applications/{}", ada.user);
    app.get(&path).await.refused(401, "unauthenticated");
    app.to_get(&path).bearer(&bob.token).send().await.refused(403, "forbidden");
    app.to_get(&path).key(&bob.key).send().await.refused(403, "forbidden");
    let body = json!({"userId": ada.user, "listingIds": ["elm"]});
    app.post("/applications", body.clone()).await.refused(401, "unauthenticated");
    app.to_post("/applications", &body).bearer(&bob.token).send().await.refused(403, "forbidden");
    assert_eq!(applications(app, &ada).await["listingIds"], json!(["oak"]));
}

async fn operator_key_applies_for_others(app: &App) {
    let (ada, oak) = (app.someone().await, unique("oak"));
    app.add_listing(listing(&oak, "landlord")).await;
    let body = json!({"userId": ada.user, "listingIds": [oak]});
    app.to_post("/applications", &body).key(app.operator()).send().await.only_message(201);
    let answer = app.to_get(&format!("/applications/{}", ada.user)).key(app.operator()).send().await;
    assert_eq!(answer.json(200), body);
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

async fn deleting_a_listing_ends_its_applications(app: &App) {
    let (ada, id, other) = (app.someone().await, unique("oak"), unique("elm"));
    app.add_listing(listing(&id, "landlord")).await;
    apply(app, &ada, json!([id, other])).await.only_message(201);
    app.delete(&format!("/listings/{id}")).await.status(200);
    assert_eq!(applications(app, &ada).await["listingIds"], json!([other]));
}

/// Stores a listing with terms on the chain.
async fn record(app: &App, id: &str, owner: &str) {
    let body = with(on_chain(id, owner), json!({"minCredit": 620, "minIncome": 50_000}));
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201);
}

async fn new_owner_of_an_id_inherits_nothing(app: &App) {
    let (ada, landlord, next) = (app.someone().await, app.someone().await, app.someone().await);
    let id = unique("oak");
    record(app, &id, &landlord.user).await;
    apply_to_known(app, &ada, json!([id])).await.only_message(201);
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.flags_become(&ada.user, &id, [true; 4]).await;
    let reference = app.reference(&ada.user, &id).await;
    app.request(Method::DELETE, &format!("/stage/listing/{id}"))
        .key(&landlord.key)
        .send()
        .await
        .only_message(200);
    until("the flags are cleared on the chain", 30, async || {
        app.flags_on_chain(&reference, &id).await.is_none().then_some(())
    })
    .await;
    record(app, &id, &next.user).await;
    let path = format!("/v1/listings/{id}/applicants");
    assert_eq!(app.to_get(&path).bearer(&next.token).send().await.json(200), json!([]));
    let path = format!("/applications/{}/{id}/check", ada.user);
    app.to_get(&path).bearer(&next.token).send().await.refused(404, "application_not_found");
}

async fn only_the_applicant_and_the_operator_apply(app: &App) {
    let (ada, landlord) = (app.someone().await, app.someone().await);
    let account = unique("agency");
    let of_account = app.new_key(&["--account", &account]);
    // The tokens put ada and the landlord into one account.
    for who in [&ada, &landlord] {
        let token = app.token(&["--sub", &who.user, "--account", &account]);
        app.to_post("/verificationPipeline", &json!({})).bearer(&token).send().await.status(200);
    }
    let id = unique("oak");
    app.add_listing(listing(&id, &landlord.user)).await;
    let body = json!({"userId": ada.user, "listingIds": [id]});
    for path in ["/applications".to_owned(), format!("/applications/{}/{id}/check", ada.user)] {
        for request in [
            app.to_post(&path, &body).bearer(&landlord.token),
            app.to_post(&path, &body).key(&landlord.key),
            app.to_post(&path, &body).key(&of_account),
        ] {
            request.send().await.refused(403, "forbidden");
        }
        let answer = app.to_get(&format!("/applications/{}", ada.user)).bearer(&ada.token).send().await;
        answer.refused(404, "application_not_found");
    }
    for path in ["/applications".to_owned(), format!("/applications/{}/{id}/check", ada.user)] {
        app.to_post(&path, &body).key(&ada.key).send().await.only_message(201);
        app.to_post(&path, &body).key(app.operator()).send().await.only_message(201);
    }
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

/// Regression: sixteen listings with chosen terms revealed an applicant's score and income.
async fn live_owner_cannot_apply_for_somebody(engine: Engine) {
    let app = Options::new(engine).live().start().await;
    let (ada, eve) = (app.someone().await, app.someone().await);
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    record(&app, "probe", &eve.user).await;
    let body = json!({"userId": ada.user, "listingIds": []});
    let path = format!("/applications/{}/probe/check", ada.user);
    app.to_post(&path, &body).bearer(&eve.token).send().await.refused(403, "forbidden");
    app.to_post(&path, &body).key(&eve.key).send().await.refused(403, "forbidden");
    app.to_get(&path).bearer(&eve.token).send().await.refused(404, "application_not_found");
    // The applicant herself can apply, and the owner can read it.
    app.to_post(&path, &body).bearer(&ada.token).send().await.only_message(201);
    app.flags_become(&ada.user, "probe", [true; 4]).await;
    app.to_get(&path).bearer(&eve.token).send().await.status(200);
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
