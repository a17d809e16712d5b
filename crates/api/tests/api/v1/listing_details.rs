//! `/v1/listings/{id}`: one listing with all of its fields, edits, and their history.

use futures_util::future::join;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    Answer, App, Session, encoded, ids, listing, moment, on_both_engines, on_chain, unique, until, with,
};

on_both_engines! {
    shared:
        listing_of_either_form_has_all_fields,
        every_field_can_be_edited_and_cleared,
        fixed_and_invalid_fields_are_reported,
        lost_race_is_a_failed_precondition,
        known_version_is_not_sent_again,
        first_terms_put_a_listing_on_the_chain,
        edit_of_the_digest_is_the_next_version,
        partial_terms_keep_the_others,
        unknown_members_are_named,
        search_follows_every_edit,
        history_lists_every_edit,
        later_listing_with_the_same_id_has_no_history,
        rooms_are_accepted_on_the_chain;
}

fn path(id: &str) -> String {
    format!("/v1/listings/{}", encoded(id))
}

async fn read(app: &App, id: &str) -> Value {
    app.get(&path(id)).await.json(200)
}

async fn edit(app: &App, who: &Session, id: &str, body: Value) -> Answer {
    app.request(Method::PATCH, &path(id)).bearer(&who.token).json(&body).send().await
}

async fn listed(app: &App, who: &Session) -> String {
    let id = unique("home");
    app.add_listing(listing(&id, &who.user)).await;
    id
}

async fn record(app: &App, body: Value) {
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201);
}

async fn listing_of_either_form_has_all_fields(app: &App) {
    let owner = app.someone().await;
    let id = listed(app, &owner).await;
    let seen = read(app, &id).await;
    let sent = listing(&id, &owner.user);
    for field in ["streetAddress", "city", "state", "postalCode", "userId", "listingId"] {
        assert_eq!(seen[field], sent[field], "{field}");
    }
    assert_eq!(
        (&seen["status"], &seen["onChain"], &seen["version"]),
        (&json!("active"), &json!(false), &json!(1))
    );
    assert_eq!((&seen["terms"], &seen["country"]), (&Value::Null, &json!("US")));
    assert_eq!(moment(&seen["createdAt"]), moment(&seen["updatedAt"]));
    let other = unique("home");
    record(app, with(on_chain(&other, &owner.user), json!({"minCredit": 620}))).await;
    let seen = read(app, &other).await;
    assert_eq!(seen["terms"], json!({"minCredit": 620, "prefCredit": 620, "minIncome": 0, "prefIncome": 0}));
    assert_eq!(seen["onChain"], true);
    app.get(&path(&unique("never"))).await.refused(404, "listing_not_found");
}

async fn every_field_can_be_edited_and_cleared(app: &App) {
    let owner = app.someone().await;
    let id = listed(app, &owner).await;
    let change = json!({
        "streetAddress": "5 New Street", "city": "Dallas", "state": "OK", "postalCode": "75001", "country": "CA",
        "monthlyRent": 1900.5, "propertyValue": 300_000, "bedRoomCount": 3, "bathroomCount": 2,
        "latitude": 30.5, "longitude": -97.5, "walkthroughLink": "https://example.com/walk",
        "description": "Two bright rooms", "availableFrom": "2027-03-01", "status": "paused",
    });
    let seen = edit(app, &owner, &id, change.clone()).await.json(200);
    for (field, value) in change.as_object().unwrap() {
        assert_eq!(&seen[field], value, "{field}");
    }
    assert_eq!((&seen["version"], &seen), (&json!(2), &read(app, &id).await));
    let clear = json!({
        "monthlyRent": null, "propertyValue": null, "bedRoomCount": null, "bathroomCount": null,
        "latitude": null, "longitude": null, "walkthroughLink": null, "description": null, "availableFrom": null,
    });
    let seen = edit(app, &owner, &id, clear.clone()).await.json(200);
    for field in clear.as_object().unwrap().keys() {
        assert_eq!(seen.get(field), None, "{field}");
    }
    assert_eq!((&seen["city"], &seen["status"]), (&json!("Dallas"), &json!("paused")));
    // Nothing new is no new version.
    assert_eq!(edit(app, &owner, &id, json!({"city": "Dallas"})).await.json(200)["version"], 3);
    assert_eq!(edit(app, &owner, &id, json!({})).await.json(200)["version"], 3);
}

async fn fixed_and_invalid_fields_are_reported(app: &App) {
    let owner = app.someone().await;
    let id = listed(app, &owner).await;
    let before = read(app, &id).await;
    let wrong = json!({
        "listingId": "x", "userId": "y", "city": null, "monthlyRent": -1, "status": "sold", "latitude": 91,
        "availableFrom": "2027-02-30", "terms": {"minCredit": 700, "prefCredit": 600, "minIncome": 0.001},
    });
    let mut faults = edit(app, &owner, &id, wrong).await.faults();
    faults.sort_unstable();
    let pointers: Vec<&str> = faults.iter().map(|(pointer, _)| pointer.as_str()).collect();
    for pointer in [
        "/availableFrom",
        "/city",
        "/latitude",
        "/listingId",
        "/monthlyRent",
        "/status",
        "/terms/minIncome",
        "/userId",
    ] {
        assert!(pointers.contains(&pointer), "{pointer}: {faults:?}");
    }
    edit(app, &owner, &id, json!({"latitude": 5})).await.has_faults(&[("/latitude", "half_a_place")]);
    edit(app, &owner, &id, json!({"terms": null})).await.has_faults(&[("/terms", "not_removable")]);
    assert_eq!(read(app, &id).await, before);
}

async fn lost_race_is_a_failed_precondition(app: &App) {
    let owner = app.someone().await;
    let id = listed(app, &owner).await;
    let etag = app.get(&path(&id)).await.header("etag").to_owned();
    let change = |city: &str, etag: &str| {
        let request = app.request(Method::PATCH, &path(&id)).bearer(&owner.token).header("If-Match", etag);
        request.json(&json!({"city": city})).send()
    };
    let (one, two) = join(change("One", &etag), change("Two", &etag)).await;
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);
    let winner = if one.status == 200 { "One" } else { "Two" };
    assert_eq!(read(app, &id).await["city"], winner);
    change("Three", &etag).await.refused(412, "precondition_failed");
    change("Three", "*").await.status(200);
    // A listing that was made again is another one.
    let etag = app.get(&path(&id)).await.header("etag").to_owned();
    app.delete(&format!("/listings/{id}")).await.status(200);
    app.add_listing(listing(&id, &owner.user)).await;
    change("Four", &etag).await.refused(412, "precondition_failed");
    change("Four", "nonsense").await.has_faults(&[("If-Match", "not_an_etag")]);
}

async fn known_version_is_not_sent_again(app: &App) {
    let owner = app.someone().await;
    let id = listed(app, &owner).await;
    let etag = app.get(&path(&id)).await.header("etag").to_owned();
    let known = app.to_get(&path(&id)).header("If-None-Match", &etag).send().await.status(304);
    assert_eq!((known.text(), known.header("etag")), ("", etag.as_str()));
    edit(app, &owner, &id, json!({"city": "Dallas"})).await.status(200);
    app.to_get(&path(&id)).header("If-None-Match", &etag).send().await.status(200);
}

async fn proof(app: &App, id: &str) -> Value {
    until("the record is on the chain", 30, async || {
        let answer = app.get(&format!("{}/proof", path(id))).await;
        (answer.status != 503).then_some(answer)
    })
    .await
    .json(200)
}

async fn first_terms_put_a_listing_on_the_chain(app: &App) {
    let owner = app.someone().await;
    let id = listed(app, &owner).await;
    app.get(&format!("{}/proof", path(&id))).await.refused(404, "record_not_found");
    let terms = json!({"minCredit": 620, "prefCredit": 700, "minIncome": 55_000, "prefIncome": 70_000.5});
    let seen = edit(app, &owner, &id, json!({"terms": terms})).await.json(200);
    assert_eq!((&seen["terms"], &seen["onChain"]), (&terms, &json!(true)));
    let proof = proof(app, &id).await;
    assert_eq!((&proof["matches"], &proof["version"]), (&json!(true), &json!(1)));
    let read = app.to_get(&format!("/stage/listing/requirements/{id}")).key(app.operator()).send().await;
    assert_eq!(read.json(200)["prefIncome"], 70_000.5);
}

async fn edit_of_the_digest_is_the_next_version(app: &App) {
    let owner = app.someone().await;
    let id = unique("home");
    record(app, on_chain(&id, &owner.user)).await;
    assert_eq!(proof(app, &id).await["version"], 1);
    for (version, change) in [
        (2, json!({"monthlyRent": 4321.5})),
        (3, json!({"description": "New floor"})),
        (4, json!({"bedRoomCount": 4, "bathroomCount": 2})),
        (5, json!({"terms": {"minCredit": 650, "prefCredit": 700}})),
        (5, json!({"monthlyRent": 4321.5})),
    ] {
        edit(app, &owner, &id, change.clone()).await.status(200);
        let proof = proof(app, &id).await;
        assert_eq!(
            (&proof["matches"], &proof["version"]),
            (&json!(true), &json!(version)),
            "{change}: {proof}"
        );
    }
    let read = app.to_get(&format!("/stage/listing/requirements/{id}")).key(app.operator()).send().await;
    assert_eq!(read.json(200)["minCreditScore"], 650);
}

async fn partial_terms_keep_the_others(app: &App) {
    let owner = app.someone().await;
    let id = unique("home");
    let terms = json!({"minCredit": 620, "prefCredit": 700, "minIncome": 55_000, "prefIncome": 70_000.5});
    record(app, with(on_chain(&id, &owner.user), terms.clone())).await;
    let recorded = proof(app, &id).await;
    for nothing in [json!({}), json!({"terms": {}}), json!({"terms": {"prefCredit": 700}})] {
        assert_eq!(edit(app, &owner, &id, nothing).await.json(200)["version"], 1);
    }
    assert_eq!(proof(app, &id).await, recorded);
    let seen = edit(app, &owner, &id, json!({"terms": {"minCredit": 610}})).await.json(200);
    let after = with(terms.clone(), json!({"minCredit": 610}));
    assert_eq!(seen["terms"], after);
    assert_eq!(proof(app, &id).await["matches"], true);
    let requirements = format!("/stage/listing/requirements/{id}");
    let on_chain = app.to_get(&requirements).key(app.operator()).send().await.json(200);
    assert_eq!((&on_chain["minCreditScore"], &on_chain["prefIncome"]), (&json!(610), &json!(70_000.5)));
    let history = app.get(&format!("{}/history", path(&id))).await.json(200);
    assert_eq!(history[0]["changes"], json!([{"field": "terms", "before": terms, "after": after}]));
    let above = json!({"terms": {"minIncome": 70_001}});
    edit(app, &owner, &id, above).await.has_faults(&[("/terms/prefIncome", "below_minimum")]);
    let seen =
        edit(app, &owner, &id, json!({"terms": {"minIncome": null, "prefCredit": null}})).await.json(200);
    assert_eq!(seen["terms"], with(after, json!({"minIncome": 0, "prefCredit": 610})));
    // Only values put a listing on the chain.
    let other = listed(app, &owner).await;
    let seen = edit(app, &owner, &other, json!({"terms": {"minCredit": null}})).await.json(200);
    assert_eq!((&seen["onChain"], &seen["version"]), (&json!(false), &json!(1)));
}

async fn unknown_members_are_named(app: &App) {
    let owner = app.someone().await;
    let id = listed(app, &owner).await;
    let change = json!({"city": "Dallas", "rent": 5, "terms": {"credit": 5}, "version": 7});
    edit(app, &owner, &id, change).await.has_faults(&[
        ("/terms/credit", "unknown_member"),
        ("/version", "not_changeable"),
        ("/rent", "unknown_member"),
    ]);
    assert_eq!(read(app, &id).await["version"], 1);
}

async fn search_follows_every_edit(app: &App) {
    let owner = app.someone().await;
    let id = listed(app, &owner).await;
    let (street, city) = (unique("Birchway"), unique("Oldtown"));
    let first = json!({"streetAddress": street, "city": city, "postalCode": "11111", "monthlyRent": 1234});
    edit(app, &owner, &id, first).await.status(200);
    let find =
        async |query: String| ids(&app.get(&format!("/listings?{query}")).await.json(200), "listingId");
    assert_eq!(find(format!("searchTerm={street}")).await, [id.as_str()]);
    assert_eq!(find(format!("searchTerm={city}")).await, [id.as_str()]);
    let (new_street, new_city) = (unique("Maplelane"), unique("Newtown"));
    edit(app, &owner, &id, json!({"streetAddress": new_street, "city": new_city})).await.status(200);
    assert!(find(format!("searchTerm={street}")).await.is_empty());
    assert_eq!(find(format!("searchTerm={new_street}")).await, [id.as_str()]);
    let by_city = async |city: &str| {
        app.to_get(&format!("/stage/listings/city/{}", encoded(city))).key(app.operator()).send().await
    };
    by_city(&city).await.refused(404, "no_listings");
    assert_eq!(by_city(&new_city).await.json(200)[0]["ListingId"]["S"], id);
    assert_eq!(find(format!("userId={}", owner.user)).await, [id.as_str()]);
}

async fn history_lists_every_edit(app: &App) {
    let owner = app.someone().await;
    let id = listed(app, &owner).await;
    let history = format!("{}/history", path(&id));
    assert_eq!(app.get(&history).await.json(200), json!([]));
    let city = read(app, &id).await["city"].clone();
    edit(app, &owner, &id, json!({"city": "Dallas", "monthlyRent": 900})).await.status(200);
    let by_operator = app.request(Method::PATCH, &path(&id)).key(app.operator());
    by_operator.json(&json!({"terms": {"minCredit": 600}, "monthlyRent": null})).send().await.status(200);
    let seen = app.get(&history).await.json(200);
    assert_eq!(ids_of(&seen), [(2, "owner"), (3, "operator")]);
    let changes = seen[0]["changes"].as_array().unwrap();
    let of = |field: &str| changes.iter().find(|change| change["field"] == field).unwrap().clone();
    assert_eq!(of("city"), json!({"field": "city", "before": city, "after": "Dallas"}));
    assert_eq!(of("monthlyRent")["after"], 900);
    let page = app.get(&format!("{history}?limit=1")).await;
    assert!(page.header("link").contains("rel=\"next\""));
    assert_eq!(page.json(200), json!([seen[0]]));
    app.get(&format!("{}/history", path(&unique("never")))).await.refused(404, "listing_not_found");
}

fn ids_of(history: &Value) -> Vec<(i64, &str)> {
    let edits = history.as_array().unwrap().iter();
    edits.map(|edit| (edit["version"].as_i64().unwrap(), edit["by"].as_str().unwrap())).collect()
}

async fn later_listing_with_the_same_id_has_no_history(app: &App) {
    let (owner, next) = (app.someone().await, app.someone().await);
    let id = listed(app, &owner).await;
    edit(app, &owner, &id, json!({"description": "Mine"})).await.status(200);
    app.delete(&format!("/listings/{id}")).await.status(200);
    app.get(&format!("{}/history", path(&id))).await.refused(404, "listing_not_found");
    app.add_listing(listing(&id, &next.user)).await;
    assert_eq!(app.get(&format!("{}/history", path(&id))).await.json(200), json!([]));
    assert_eq!(read(app, &id).await.get("description"), None);
}

async fn rooms_are_accepted_on_the_chain(app: &App) {
    let owner = app.someone().await;
    let id = unique("home");
    record(app, with(on_chain(&id, &owner.user), json!({"bedRoomCount": 3, "bathroomCount": 1}))).await;
    let seen = app.get(&format!("/listings?listingId={id}")).await.json(200);
    assert_eq!((&seen[0]["bedRoomCount"], &seen[0]["bathroomCount"]), (&json!(3), &json!(1)));
    assert_eq!(proof(app, &id).await["matches"], true);
}
