//! `/v1/listings`: what a listing's owner needs beyond the specification.

use serde_json::json;

use crate::support::{App, encoded, listing, moment, on_both_engines, unique, with};

on_both_engines! {
    shared:
        applicants_are_listed_for_the_listings_owner,
        nobody_else_sees_the_applicants,
        listing_without_applicants_has_an_empty_list,
        applicants_of_an_unknown_listing_are_not_found;
}

async fn applicants_are_listed_for_the_listings_owner(app: &App) {
    let (owner, id) = (app.someone().await, format!("{} / 2", unique("oak")));
    app.add_listing(listing(&id, &owner.user)).await;
    let (ada, bob) = (app.someone().await, app.someone().await);
    for who in [&ada, &bob, &ada] {
        let body = json!({"userId": who.user, "listingIds": [id]});
        app.to_post("/applications", &body).bearer(&who.token).send().await.only_message(201);
    }
    let path = format!("/v1/listings/{}/applicants", encoded(&id));
    let list = app.to_get(&path).bearer(&owner.token).send().await.json(200);
    let state = json!({
        "status": "submitted", "checks": [], "complete": true, "flagsWithheld": false,
        "flags": {
            "passMinCredit": false, "passPrefCred": false, "passMinIncome": false, "passPrefIncome": false,
        },
    });
    let expected = json!([
        with(state.clone(), json!({"userId": ada.user, "appliedAt": moment(&list[0]["appliedAt"])})),
        with(state, json!({"userId": bob.user, "appliedAt": moment(&list[1]["appliedAt"])})),
    ]);
    assert_eq!(list, expected);
    assert!(list[0]["appliedAt"].as_str() < list[1]["appliedAt"].as_str());
    for key in [owner.key.as_str(), app.operator()] {
        assert_eq!(app.to_get(&path).key(key).send().await.json(200), expected);
    }
}

async fn nobody_else_sees_the_applicants(app: &App) {
    let (owner, ada, id) = (app.someone().await, app.someone().await, unique("oak"));
    app.add_listing(listing(&id, &owner.user)).await;
    let body = json!({"userId": ada.user, "listingIds": [id]});
    app.to_post("/applications", &body).bearer(&ada.token).send().await.only_message(201);
    let path = format!("/v1/listings/{id}/applicants");
    app.get(&path).await.refused(401, "unauthenticated");
    app.to_get(&path).bearer(&ada.token).send().await.refused(403, "forbidden");
    app.to_get(&path).key(&ada.key).send().await.refused(403, "forbidden");
}

async fn listing_without_applicants_has_an_empty_list(app: &App) {
    let (owner, id) = (app.someone().await, unique("oak"));
    app.add_listing(listing(&id, &owner.user)).await;
    let path = format!("/v1/listings/{id}/applicants");
    assert_eq!(app.to_get(&path).bearer(&owner.token).send().await.json(200), json!([]));
}

async fn applicants_of_an_unknown_listing_are_not_found(app: &App) {
    let owner = app.someone().await;
    let path = format!("/v1/listings/{}/applicants", unique("never"));
    app.to_get(&path).bearer(&owner.token).send().await.refused(404, "listing_not_found");
}
