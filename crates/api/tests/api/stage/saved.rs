//! `/stage/savedListings`: a user's saved listings.

use reqwest::Method;
use serde_json::{Value, json};

use super::record;
use crate::support::{Answer, App, listing, on_both_engines, unique};

on_both_engines! {
    shared:
        a_user_without_saved_listings_has_an_empty_list,
        saved_listings_come_with_their_details,
        saving_twice_changes_nothing,
        unknown_listing_can_be_saved_without_details,
        deleted_listing_stays_saved_without_details,
        saved_listing_is_removed_once,
        lists_are_per_user,
        saved_listing_errors_are_all_reported;
}

async fn save(app: &App, body: Value) -> Answer {
    app.to_post("/stage/savedListings", &body).key(app.operator()).send().await
}

async fn saved(app: &App, user: &str) -> Value {
    app.to_get(&format!("/stage/savedListings/{user}")).key(app.operator()).send().await.json(200)
}

async fn unsave(app: &App, user: &str, listing: &str) -> Answer {
    let path = format!("/stage/savedListings/{user}/{listing}");
    app.request(Method::DELETE, &path).key(app.operator()).send().await
}

fn list(user: &str, ids: &[&str], details: &[Value]) -> Value {
    json!({"savedListings": {"UserKey": user, "ListingIds": {"SS": ids}}, "listingDetails": details})
}

async fn a_user_without_saved_listings_has_an_empty_list(app: &App) {
    let user = unique("ada");
    assert_eq!(saved(app, &user).await, list(&user, &[], &[]));
}

async fn saved_listings_come_with_their_details(app: &App) {
    let (user, elm, oak) = (unique("ada"), unique("elm"), unique("oak"));
    for id in [&oak, &elm] {
        app.add_listing(listing(id, "bob")).await;
    }
    for id in [&elm, &oak] {
        save(app, json!({"userId": user, "listingId": id})).await.only_message(200);
    }
    let details = [record(&elm, "bob", json!({})), record(&oak, "bob", json!({}))];
    assert_eq!(saved(app, &user).await, list(&user, &[&elm, &oak], &details), "in the order of saving");
}

async fn saving_twice_changes_nothing(app: &App) {
    let user = unique("ada");
    for id in ["a", "b", "a"] {
        save(app, json!({"userId": user, "listingId": id})).await.only_message(200);
    }
    assert_eq!(saved(app, &user).await["savedListings"]["ListingIds"], json!({"SS": ["a", "b"]}));
}

async fn unknown_listing_can_be_saved_without_details(app: &App) {
    let (user, id) = (unique("ada"), unique("nowhere"));
    save(app, json!({"userId": user, "listingId": id})).await.only_message(200);
    assert_eq!(saved(app, &user).await, list(&user, &[&id], &[]));
}

async fn deleted_listing_stays_saved_without_details(app: &App) {
    let (user, id) = (unique("ada"), unique("oak"));
    app.add_listing(listing(&id, "bob")).await;
    save(app, json!({"userId": user, "listingId": id})).await.only_message(200);
    app.delete(&format!("/listings/{id}")).await.status(200);
    assert_eq!(saved(app, &user).await, list(&user, &[&id], &[]));
}

async fn saved_listing_is_removed_once(app: &App) {
    let user = unique("ada");
    for id in ["a", "b"] {
        save(app, json!({"userId": user, "listingId": id})).await.only_message(200);
    }
    unsave(app, &user, "a").await.only_message(200);
    assert_eq!(saved(app, &user).await, list(&user, &["b"], &[]));
    unsave(app, &user, "a").await.refused(404, "saved_listing_not_found");
    unsave(app, &unique("nobody"), "b").await.refused(404, "saved_listing_not_found");
}

async fn lists_are_per_user(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    let id = unique("nowhere");
    let body = json!({"userId": ada.user, "listingId": id});
    app.to_post("/stage/savedListings", &body).key(&ada.key).send().await.only_message(200);
    app.to_post("/stage/savedListings", &body).key(&bob.key).send().await.refused(403, "forbidden");
    let path = format!("/stage/savedListings/{}", ada.user);
    app.to_get(&path).key(&bob.key).send().await.refused(403, "forbidden");
    let remove = app.request(Method::DELETE, &format!("{path}/{id}")).key(&bob.key);
    remove.send().await.refused(403, "forbidden");
    assert_eq!(app.to_get(&path).key(&ada.key).send().await.json(200), list(&ada.user, &[&id], &[]));
}

async fn saved_listing_errors_are_all_reported(app: &App) {
    save(app, json!({})).await.has_faults(&[("/userId", "missing"), ("/listingId", "missing")]);
    let body = json!({"userId": ["ada"], "listingId": "\u{1}"});
    save(app, body).await.has_faults(&[("/userId", "wrong_type"), ("/listingId", "control_character")]);
}
