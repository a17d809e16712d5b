//! Ids in paths of `/stage`: empty ones, and those in another Unicode form.

use reqwest::Method;
use serde_json::json;

use crate::support::{App, encoded, listing, on_both_engines, unique};

on_both_engines! {
    shared:
        empty_id_to_delete_is_a_bad_request,
        decomposed_id_finds_the_composed_one,
        invisible_characters_are_no_part_of_ids;
}

async fn empty_id_to_delete_is_a_bad_request(app: &App) {
    let delete = async |path: &str| app.request(Method::DELETE, path).key(app.operator()).send().await;
    for path in ["/stage/listing/", "/stage/listing/%20", "/stage/listing/%20%20"] {
        delete(path).await.has_faults(&[("ListingKey", "empty")]);
        app.to_get(path).key(app.operator()).send().await.problem(404);
    }
    for path in ["/stage/savedListings/ada/", "/stage/savedListings/ada/%20"] {
        delete(path).await.has_faults(&[("listingId", "empty")]);
    }
    delete("/stage/savedListings//oak").await.has_faults(&[("userId", "empty")]);
    delete(&format!("/stage/listing/{}", unique("never"))).await.refused(404, "listing_not_found");
}

async fn decomposed_id_finds_the_composed_one(app: &App) {
    let id = unique("zoe");
    let (decomposed, composed) = (format!("{id}e\u{308}"), format!("{id}\u{eb}"));
    app.add_listing(listing(&decomposed, &unique("owner"))).await;
    for id in [&decomposed, &composed] {
        assert_eq!(app.get(&format!("/v1/listings/{}", encoded(id))).await.json(200)["listingId"], composed);
        let found = app.get(&format!("/listings?searchTerm={}", encoded(id))).await.json(200);
        assert_eq!(found[0]["listingId"], composed);
    }
    app.post("/listings", listing(&composed, &unique("owner"))).await.refused(409, "listing_exists");
}

async fn invisible_characters_are_no_part_of_ids(app: &App) {
    for c in ["\u{200b}", "\u{200d}", "\u{2060}", "\u{feff}", "\u{ad}"] {
        let body = listing(&format!("oak{c}"), &unique("owner"));
        app.post("/listings", body).await.has_faults(&[("/listingId", "invisible_character")]);
    }
    for id in [".", ".."] {
        let body = json!({"listingId": id, "userId": "u", "streetAddress": "s", "city": "c", "state": "t", "postalCode": "p"});
        app.post("/listings", body).await.has_faults(&[("/listingId", "not_an_id")]);
    }
}
