//! `/requirements`: integers in, strings out.

use serde_json::{Value, json};

use crate::support::{App, number, on_both_engines};

on_both_engines! {
    shared:
        numbers_are_returned_as_strings,
        numeric_strings_are_numbers,
        a_record_is_replaced,
        missing_record_is_not_found,
        non_integer_path_is_not_found,
        record_errors_are_all_reported,
        numbers_are_limited_to_exact_json_range;
}

async fn read(app: &App, listing: u64, applicant: u64) -> Value {
    app.get(&format!("/requirements/{listing}/{applicant}")).await.json(200)
}

async fn numbers_are_returned_as_strings(app: &App) {
    let (listing, applicant) = (number(), number());
    let body =
        json!({"listingId": listing, "applicantId": applicant, "requirementsMet": [true, false, true]});
    app.post("/requirements", body).await.only_message(201);
    let expected = json!({
        "listingId": listing.to_string(), "applicantId": applicant.to_string(),
        "requirementsMet": [true, false, true],
    });
    assert_eq!(read(app, listing, applicant).await, expected);
}

async fn numeric_strings_are_numbers(app: &App) {
    let (listing, applicant) = (number(), number());
    let body = json!({
        "listingId": listing.to_string(), "applicantId": format!("00{applicant}"), "requirementsMet": [],
    });
    app.post("/requirements", body).await.only_message(201);
    let expected = json!({
        "listingId": listing.to_string(), "applicantId": applicant.to_string(), "requirementsMet": [],
    });
    assert_eq!(read(app, listing, applicant).await, expected);
}

async fn a_record_is_replaced(app: &App) {
    let (listing, applicant) = (number(), number());
    for met in [json!([true, true]), json!([false])] {
        let body = json!({"listingId": listing, "applicantId": applicant, "requirementsMet": met});
        app.post("/requirements", body).await.only_message(201);
        assert_eq!(read(app, listing, applicant).await["requirementsMet"], met);
    }
}

async fn missing_record_is_not_found(app: &App) {
    let (listing, applicant) = (number(), number());
    let body = json!({"listingId": listing, "applicantId": applicant, "requirementsMet": [true]});
    app.post("/requirements", body).await.only_message(201);
    let swapped = app.get(&format!("/requirements/{applicant}/{listing}")).await;
    swapped.refused(404, "requirements_not_found");
}

async fn non_integer_path_is_not_found(app: &App) {
    for path in ["abc/1", "1/abc", "1.5/1", "1.0/1", "-1/1", "%2B1/1", "1e3/1", "9007199254740992/1", "%20/1"]
    {
        app.get(&format!("/requirements/{path}")).await.refused(404, "not_found");
    }
}

async fn record_errors_are_all_reported(app: &App) {
    let missing = [("/listingId", "missing"), ("/applicantId", "missing"), ("/requirementsMet", "missing")];
    app.post("/requirements", json!({})).await.has_faults(&missing);
    let body = json!({"listingId": 1.5, "applicantId": "abc", "requirementsMet": [true, "true", null, 0]});
    app.post("/requirements", body).await.has_faults(&[
        ("/listingId", "not_whole"),
        ("/applicantId", "not_whole"),
        ("/requirementsMet/1", "wrong_type"),
        ("/requirementsMet/2", "wrong_type"),
        ("/requirementsMet/3", "wrong_type"),
    ]);
    let body = json!({"listingId": -1, "applicantId": true, "requirementsMet": true});
    app.post("/requirements", body).await.has_faults(&[
        ("/listingId", "out_of_range"),
        ("/applicantId", "wrong_type"),
        ("/requirementsMet", "wrong_type"),
    ]);
    let body = json!({"listingId": 1, "applicantId": 1, "requirementsMet": vec![true; 1001]});
    app.post("/requirements", body).await.has_faults(&[("/requirementsMet", "too_many")]);
}

async fn numbers_are_limited_to_exact_json_range(app: &App) {
    let (largest, applicant) = (9_007_199_254_740_991_u64, number());
    let body = json!({"listingId": largest, "applicantId": applicant, "requirementsMet": vec![true; 1000]});
    app.post("/requirements", body).await.only_message(201);
    assert_eq!(read(app, largest, applicant).await["listingId"], largest.to_string());
    let body = json!({"listingId": largest + 1, "applicantId": applicant, "requirementsMet": []});
    app.post("/requirements", body).await.has_faults(&[("/listingId", "out_of_range")]);
}
