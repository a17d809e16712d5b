//! `POST /stage/listings` and reads from the chain.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::record;
use crate::support::{Answer, App, listing, on_both_engines, on_chain, unique, until, with};

on_both_engines! {
    shared:
        recorded_terms_are_read_from_the_chain,
        recorded_listing_is_on_both_surfaces,
        absent_terms_require_nothing,
        id_is_generated_if_absent,
        an_id_is_taken_only_once,
        values_beyond_the_contract_are_refused_unsigned,
        all_errors_are_reported_at_once,
        unrecorded_listing_has_no_terms,
        deleted_listing_is_retired_and_can_be_recorded_again,
        idempotency_key_records_once,
        idempotency_key_is_for_one_request,
        concurrent_requests_are_all_recorded,
        recorded_listings_are_counted;
}

async fn post(app: &App, body: &Value) -> Answer {
    app.to_post("/stage/listings", body).key(app.operator()).send().await
}

async fn terms(app: &App, id: &str) -> Answer {
    app.to_get(&format!("/stage/listing/requirements/{id}")).key(app.operator()).send().await
}

#[track_caller]
fn is_hash(value: &Value) {
    let hash = value.as_str().unwrap();
    let digits = hash.strip_prefix("0x").unwrap();
    assert!(digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit()), "{hash}");
}

async fn recorded_terms_are_read_from_the_chain(app: &App) {
    let id = unique("elm");
    let asked = json!({"minCredit": 620, "prefCredit": 700.0, "minIncome": 55_000.25, "prefIncome": 70_000});
    let answer = post(app, &with(on_chain(&id, "ada"), asked)).await.json(201);
    assert_eq!(answer["message"], "Listing created");
    assert_eq!(answer["listingId"], id);
    is_hash(&answer["transactionHash"]);
    assert_eq!(answer.as_object().unwrap().len(), 3);
    assert_eq!(
        terms(app, &id).await.json(200),
        json!({"listingId": id, "minCreditScore": 620, "prefCreditScore": 700, "minIncome": 55_000.25, "prefIncome": 70_000}),
    );
}

async fn recorded_listing_is_on_both_surfaces(app: &App) {
    let (id, user) = (unique("elm"), unique("ada"));
    let more = json!({
        "propertyValue": 450_000, "latitude": 30.5, "longitude": -97.5, "country": "CA", "monthlyPayment": 1850.5,
        "walkthroughLink": "https://example.com/tour",
    });
    post(app, &with(on_chain(&id, &user), more)).await.json(201);
    let expected = record(
        &id,
        &user,
        json!({
            "StreetAddress": {"S": "7 Elm Street"}, "PostalCode": {"S": "78702"}, "Country": {"S": "CA"},
            "MonthlyRent": {"N": "1850.5"}, "PropertyValue": {"N": "450000"}, "Latitude": {"N": "30.5"},
            "Longitude": {"N": "-97.5"}, "walkthroughLink": {"S": "https://example.com/tour"},
        }),
    );
    let stored = app.to_get(&format!("/stage/listing/{id}")).key(app.operator()).send().await.json(200);
    assert_eq!(stored, expected);
    let simple = app.get(&format!("/listings?listingId={id}")).await.json(200);
    assert_eq!(simple[0]["monthlyRent"], 1850.5);
}

async fn absent_terms_require_nothing(app: &App) {
    let (none, least) = (unique("none"), unique("least"));
    post(app, &on_chain(&none, "ada")).await.json(201);
    post(app, &with(on_chain(&least, "ada"), json!({"minCredit": 600, "minIncome": 10}))).await.json(201);
    let zero = terms(app, &none).await.json(200);
    assert_eq!((&zero["prefCreditScore"], &zero["minIncome"]), (&json!(0), &json!(0)));
    let same = terms(app, &least).await.json(200);
    assert_eq!((&same["prefCreditScore"], &same["prefIncome"]), (&json!(600), &json!(10)));
}

async fn id_is_generated_if_absent(app: &App) {
    let mut body = on_chain("", "ada");
    body.as_object_mut().unwrap().remove("id");
    let first = post(app, &body).await.json(201)["listingId"].as_str().unwrap().to_owned();
    let second = post(app, &body).await.json(201)["listingId"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    terms(app, &first).await.json(200);
}

async fn an_id_is_taken_only_once(app: &App) {
    let (recorded, simple) = (unique("elm"), unique("oak"));
    post(app, &on_chain(&recorded, "ada")).await.json(201);
    post(app, &on_chain(&recorded, "bob")).await.refused(409, "listing_exists");
    app.add_listing(listing(&simple, "ada")).await;
    post(app, &on_chain(&simple, "ada")).await.refused(409, "listing_exists");
    // Exactly one of many concurrent requests wins.
    let contested = unique("contested");
    let answers =
        join_all((0..20).map(async |n: u32| post(app, &on_chain(&contested, &n.to_string())).await.status))
            .await;
    assert_eq!(answers.iter().filter(|status| **status == 201).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|status| **status == 409).count(), 19, "{answers:?}");
}

async fn values_beyond_the_contract_are_refused_unsigned(app: &App) {
    let cases = [
        (json!({"minCredit": 1001}), "/minCredit", "out_of_range"),
        (json!({"prefCredit": -1}), "/prefCredit", "out_of_range"),
        (json!({"minCredit": 620.5}), "/minCredit", "not_whole"),
        (json!({"minIncome": 100_000_000_000_u64}), "/minIncome", "out_of_range"),
        (json!({"minIncome": 0.001}), "/minIncome", "too_precise"),
        (json!({"minIncome": 1e300}), "/minIncome", "out_of_range"),
        (json!({"minCredit": 700, "prefCredit": 600}), "/prefCredit", "below_minimum"),
        (json!({"minIncome": 2, "prefIncome": 1}), "/prefIncome", "below_minimum"),
        (json!({"minIncome": "2"}), "/minIncome", "wrong_type"),
        (json!({"walkthroughLink": "javascript:alert(1)"}), "/walkthroughLink", "not_a_link"),
        (json!({"latitude": 1}), "/latitude", "half_a_place"),
        (json!({"monthlyPayment": -1}), "/monthlyPayment", "out_of_range"),
    ];
    for (more, pointer, code) in cases {
        let id = unique("wrong");
        let problem = post(app, &with(on_chain(&id, "ada"), more.clone())).await.problem(400);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{more}: {problem}");
        assert_eq!(problem["errors"][0]["code"], code, "{more}: {problem}");
        terms(app, &id).await.refused(404, "record_not_found");
    }
}

async fn all_errors_are_reported_at_once(app: &App) {
    let problem = post(app, &json!({"minCredit": 1001, "prefIncome": 1, "minIncome": 2})).await.problem(400);
    let pointers: BTreeSet<&str> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["pointer"].as_str().unwrap())
        .collect();
    let all = [
        "/userId",
        "/addressStreet",
        "/addressCity",
        "/addressState",
        "/addressPostal",
        "/monthlyPayment",
        "/minCredit",
        "/prefIncome",
    ];
    assert_eq!(pointers, all.into_iter().collect());
}

async fn unrecorded_listing_has_no_terms(app: &App) {
    let id = unique("oak");
    app.add_listing(listing(&id, "ada")).await;
    terms(app, &id).await.refused(404, "record_not_found");
    terms(app, &unique("never")).await.refused(404, "record_not_found");
}

async fn deleted_listing_is_retired_and_can_be_recorded_again(app: &App) {
    for surface in ["/stage/listing", "/listings"] {
        let id = unique("again");
        for credit in [600, 700] {
            post(app, &with(on_chain(&id, "ada"), json!({"minCredit": credit}))).await.json(201);
            assert_eq!(terms(app, &id).await.json(200)["minCreditScore"], credit);
            let delete = app.request(Method::DELETE, &format!("{surface}/{id}")).key(app.operator());
            delete.send().await.status(200);
            // At once, even before it is on the chain.
            terms(app, &id).await.refused(404, "record_not_found");
        }
        post(app, &with(on_chain(&id, "ada"), json!({"minCredit": 1}))).await.json(201);
        let proof = app.get(&format!("/v1/listings/{id}/proof")).await.json(200);
        assert_eq!((&proof["version"], &proof["matches"]), (&json!(5), &json!(true)));
    }
}

async fn idempotency_key_records_once(app: &App) {
    let (id, key) = (unique("once"), unique("key"));
    let body = on_chain(&id, "ada");
    let send =
        async || app.to_post("/stage/listings", &body).key(app.operator()).once(&key).send().await.json(201);
    let answers = join_all((0..10).map(async |_| send().await)).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(send().await, answers[0]);
    let proof = app.get(&format!("/v1/listings/{id}/proof")).await.json(200);
    assert_eq!((&proof["version"], &proof["transactionHash"]), (&json!(1), &answers[0]["transactionHash"]));
    // Also for requests without an id, which would each get a new one.
    let (mut nameless, key) = (body.clone(), unique("key"));
    nameless.as_object_mut().unwrap().remove("id");
    let send = async || {
        app.to_post("/stage/listings", &nameless).key(app.operator()).once(&key).send().await.json(201)
    };
    let answers = join_all((0..10).map(async |_| send().await)).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    let made = answers[0]["listingId"].as_str().unwrap();
    app.to_get(&format!("/stage/listing/{made}")).key(app.operator()).send().await.json(200);
    // The key of a failed request can be used again.
    let (taken, free, key) = (body, on_chain(&unique("free"), "ada"), unique("key"));
    app.to_post("/stage/listings", &taken)
        .key(app.operator())
        .once(&key)
        .send()
        .await
        .refused(409, "listing_exists");
    app.to_post("/stage/listings", &free).key(app.operator()).once(&key).send().await.json(201);
}

async fn idempotency_key_is_for_one_request(app: &App) {
    let key = unique("key");
    let first = on_chain(&unique("a"), "ada");
    app.to_post("/stage/listings", &first).key(app.operator()).once(&key).send().await.json(201);
    let other = on_chain(&unique("b"), "ada");
    let again = app.to_post("/stage/listings", &other).key(app.operator()).once(&key).send().await;
    again.refused(422, "idempotency_key_reused");
}

async fn concurrent_requests_are_all_recorded(app: &App) {
    let name = unique("many");
    let ids: Vec<String> = (0..200).map(|n| format!("{name}-{n}")).collect();
    let recorded =
        join_all(ids.iter().enumerate().map(async |(n, id)| {
            post(app, &with(on_chain(id, "ada"), json!({"minCredit": n}))).await.json(201)
        }))
        .await;
    for (n, (id, answer)) in ids.iter().zip(&recorded).enumerate() {
        assert_eq!(answer["listingId"], *id);
        assert_eq!(terms(app, id).await.json(200)["minCreditScore"], n);
    }
    let transactions: BTreeSet<&str> =
        recorded.iter().map(|answer| answer["transactionHash"].as_str().unwrap()).collect();
    assert!(transactions.len() < ids.len(), "what arrives together goes together");
}

async fn recorded_listings_are_counted(app: &App) {
    let id = unique("counted");
    post(app, &with(on_chain(&id, "ada"), json!({"addressState": id}))).await.json(201);
    until("the statistics know it", 10, async || {
        let statistics = app.get("/v1/listings/stats/overview").await.json(200);
        let on_chain = statistics["onChain"].as_i64().unwrap();
        (statistics["stateDistribution"][&id] == 1 && on_chain > 0).then_some(())
    })
    .await;
}
