//! `/verificationPipeline`: which checks an account requires.

use serde_json::{Value, json};

use crate::support::{Answer, App, encoded, on_both_engines, unique, with};

on_both_engines! {
    shared:
        pipeline_round_trips_with_exact_fields,
        partial_write_changes_only_given_fields,
        a_pipeline_is_read_by_its_client_id_too,
        unwritten_pipeline_is_not_found,
        pipelines_are_listed,
        people_of_one_account_share_its_pipeline,
        user_named_like_an_account_has_another_pipeline,
        client_id_stays_with_its_account,
        an_administrator_may_read_any_pipeline,
        a_client_id_belongs_to_one_account,
        the_account_must_be_named,
        pipeline_errors_are_all_reported;
}

async fn write(app: &App, token: &str, body: Value) -> Answer {
    app.to_post("/verificationPipeline", &body).bearer(token).send().await
}

#[track_caller]
fn assert_success(answer: Answer) {
    let answer = answer.status(200);
    assert!(answer.header("content-type").starts_with("text/plain"), "{:?}", answer.headers);
    assert_eq!(answer.text(), "Success");
}

async fn read(app: &App, token: &str, account: &str) -> Answer {
    app.to_get(&format!("/verificationPipeline?accountId={}", encoded(account))).bearer(token).send().await
}

/// Every check is there, also those that were never set.
fn pipeline(set: Value) -> Value {
    let none = json!({
        "EvictionCheck": false, "IncomeCheck": false, "SoftCreditCheck": false, "CriminalBackgroundCheck": false,
    });
    with(none, set)
}

async fn pipeline_round_trips_with_exact_fields(app: &App) {
    let ada = app.someone().await;
    let pipeline = json!({
        "ClientId": unique("acme"), "EvictionCheck": true, "IncomeCheck": false, "SoftCreditCheck": true,
        "CriminalBackgroundCheck": false, "CountryIdentifier": "US",
    });
    assert_success(write(app, &ada.token, pipeline.clone()).await);
    assert_eq!(read(app, &ada.token, &ada.user).await.json(200), pipeline);
}

async fn partial_write_changes_only_given_fields(app: &App) {
    let ada = app.someone().await;
    assert_success(write(app, &ada.token, json!({})).await);
    assert_eq!(read(app, &ada.token, &ada.user).await.json(200), pipeline(json!({})));
    assert_success(write(app, &ada.token, json!({"IncomeCheck": true, "CountryIdentifier": "US"})).await);
    assert_success(write(app, &ada.token, json!({"IncomeCheck": false, "EvictionCheck": true})).await);
    let expected = pipeline(json!({"EvictionCheck": true, "CountryIdentifier": "US"}));
    assert_eq!(read(app, &ada.token, &ada.user).await.json(200), expected);
    assert_success(write(app, &ada.token, json!({})).await);
    assert_eq!(read(app, &ada.token, &ada.user).await.json(200), expected);
}

async fn a_pipeline_is_read_by_its_client_id_too(app: &App) {
    let (ada, client) = (app.someone().await, unique("acme"));
    assert_success(write(app, &ada.token, json!({"ClientId": client})).await);
    assert_eq!(read(app, &ada.token, &client).await.json(200), pipeline(json!({"ClientId": client})));
    let renamed = unique("acme");
    assert_success(write(app, &ada.token, json!({"ClientId": renamed})).await);
    read(app, &ada.token, &client).await.refused(403, "forbidden");
    assert_eq!(read(app, &ada.token, &renamed).await.json(200), pipeline(json!({"ClientId": renamed})));
}

async fn pipelines_are_listed(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    let list = async |token: &str| app.to_get("/v1/pipelines").bearer(token).send().await.json(200);
    assert_eq!(list(&ada.token).await, json!([]));
    assert_success(write(app, &ada.token, json!({"IncomeCheck": true})).await);
    assert_eq!(list(&ada.token).await, json!([pipeline(json!({"IncomeCheck": true}))]));
    assert_eq!(list(&bob.token).await, json!([]), "another account's is not shown");
}

async fn unwritten_pipeline_is_not_found(app: &App) {
    let ada = app.someone().await;
    read(app, &ada.token, &ada.user).await.refused(404, "pipeline_not_found");
}

async fn people_of_one_account_share_its_pipeline(app: &App) {
    let account = unique("acme");
    let [ada, bob] = ["ada", "bob"].map(|name| app.token(&["--sub", &unique(name), "--account", &account]));
    assert_success(write(app, &ada, json!({"IncomeCheck": true})).await);
    assert_success(write(app, &bob, json!({"EvictionCheck": false})).await);
    let expected = pipeline(json!({"IncomeCheck": true}));
    assert_eq!(read(app, &ada, &account).await.json(200), expected);
    assert_eq!(read(app, &bob, &account).await.json(200), expected);
}

async fn user_named_like_an_account_has_another_pipeline(app: &App) {
    let acme = unique("acme");
    let member = app.token(&["--sub", &unique("ada"), "--account", &acme]);
    assert_success(write(app, &member, json!({"ClientId": acme, "IncomeCheck": true})).await);
    let namesake = app.token(&["--sub", &acme]);
    read(app, &namesake, &acme).await.refused(404, "pipeline_not_found");
    assert_success(write(app, &namesake, json!({"EvictionCheck": true})).await);
    write(app, &namesake, json!({"ClientId": acme})).await.refused(409, "client_id_taken");
    assert_eq!(read(app, &namesake, &acme).await.json(200), pipeline(json!({"EvictionCheck": true})));
    let of_account = pipeline(json!({"ClientId": acme, "IncomeCheck": true}));
    assert_eq!(read(app, &member, &acme).await.json(200), of_account);
    let root = app.token(&["--sub", &unique("root"), "--scope", "admin"]);
    assert_eq!(read(app, &root, &acme).await.json(200), of_account, "the account comes first");
    // A token that names the account makes even this user a member.
    let member = app.token(&["--sub", &acme, "--account", &acme]);
    assert_eq!(read(app, &member, &acme).await.json(200), of_account);
    assert_eq!(read(app, &namesake, &acme).await.json(200), pipeline(json!({"EvictionCheck": true})));
}

async fn client_id_stays_with_its_account(app: &App) {
    let (ada, bob, first) = (app.someone().await, app.someone().await, unique("first"));
    assert_success(write(app, &ada.token, json!({"ClientId": first})).await);
    assert_success(write(app, &ada.token, json!({"ClientId": unique("second")})).await);
    write(app, &bob.token, json!({"ClientId": first})).await.refused(409, "client_id_taken");
    assert_success(write(app, &ada.token, json!({"ClientId": first})).await);
}

async fn an_administrator_may_read_any_pipeline(app: &App) {
    let (ada, root) = (app.someone().await, app.token(&["--sub", &unique("root"), "--scope", "admin"]));
    assert_success(write(app, &ada.token, json!({"IncomeCheck": true})).await);
    assert_eq!(read(app, &root, &ada.user).await.json(200), pipeline(json!({"IncomeCheck": true})));
}

async fn a_client_id_belongs_to_one_account(app: &App) {
    let (ada, bob, client) = (app.someone().await, app.someone().await, unique("acme"));
    assert_success(write(app, &ada.token, json!({"ClientId": client})).await);
    assert_success(write(app, &ada.token, json!({"ClientId": client})).await);
    let taken = write(app, &bob.token, json!({"ClientId": client, "IncomeCheck": true})).await;
    taken.refused(409, "client_id_taken");
    read(app, &bob.token, &bob.user).await.refused(404, "pipeline_not_found");
}

async fn the_account_must_be_named(app: &App) {
    let ada = app.someone().await;
    let ask = |path: &str| app.to_get(path).bearer(&ada.token).send();
    ask("/verificationPipeline").await.has_faults(&[("accountId", "missing")]);
    ask("/verificationPipeline?accountId=").await.has_faults(&[("accountId", "empty")]);
}

async fn pipeline_errors_are_all_reported(app: &App) {
    let ada = app.someone().await;
    let body = json!({
        "ClientId": "", "EvictionCheck": "true", "IncomeCheck": 0, "SoftCreditCheck": 1,
        "CriminalBackgroundCheck": [], "CountryIdentifier": 5,
    });
    write(app, &ada.token, body).await.has_faults(&[
        ("/ClientId", "empty"),
        ("/EvictionCheck", "wrong_type"),
        ("/IncomeCheck", "wrong_type"),
        ("/SoftCreditCheck", "wrong_type"),
        ("/CriminalBackgroundCheck", "wrong_type"),
        ("/CountryIdentifier", "wrong_type"),
    ]);
    read(app, &ada.token, &ada.user).await.refused(404, "pipeline_not_found");
}
