//! `/v1/listing-clusters`: listings on a map.

use serde_json::{Value, json};

use crate::support::{App, listing, on_both_engines, unique, with};

on_both_engines! {
    shared:
        clusters_count_what_the_list_has,
        a_single_listing_is_named,
        an_edited_listing_moves_on_the_map,
        wrong_parameters_are_named;
}

async fn clusters(app: &App, query: &str) -> Value {
    app.get(&format!("/v1/listing-clusters?{query}")).await.json(200)
}

/// Listings of one owner around a place that no other test uses.
async fn around(app: &App, latitude: f64, longitude: f64, count: u32) -> String {
    let owner = app.someone().await;
    for number in 0..count {
        let step = f64::from(number) * 0.001;
        let place =
            json!({"latitude": latitude + step, "longitude": longitude, "monthlyRent": 1000 + 100 * number});
        app.add_listing(with(listing(&unique("oak"), &owner.user), place)).await;
    }
    owner.user
}

async fn clusters_count_what_the_list_has(app: &App) {
    let owner = around(app, 61.1, 12.5, 5).await;
    let box_around = "bbox=12.4,61.0,12.6,61.2";
    for filter in ["", "&minRent=1200", "&maxRent=1100", "&userId=nobody", &format!("&userId={owner}")] {
        let list = app.get(&format!("/listings?{box_around}{filter}")).await.json(200);
        let found = clusters(app, &format!("{box_around}{filter}&zoom=8")).await;
        assert_eq!(found["total"], list.as_array().unwrap().len(), "{filter}");
        assert_eq!(found["isExact"], true);
    }
    let far = clusters(app, &format!("{box_around}&zoom=5")).await;
    assert_eq!(far["clusters"].as_array().unwrap().len(), 1);
    let cluster = &far["clusters"][0];
    let expected = json!({
        "count": 5, "latitude": cluster["latitude"], "longitude": cluster["longitude"],
        "west": cluster["west"], "south": cluster["south"], "east": cluster["east"], "north": cluster["north"],
    });
    assert_eq!(*cluster, expected, "more than one listing has no name");
    assert!((cluster["latitude"].as_f64().unwrap() - 61.102).abs() < 1e-6);
    assert!((cluster["north"].as_f64().unwrap() - 61.104).abs() < 1e-6);
    assert_eq!(
        clusters(app, &format!("{box_around}&zoom=20")).await["clusters"].as_array().unwrap().len(),
        5
    );
}

async fn a_single_listing_is_named(app: &App) {
    let owner = around(app, -61.1, 32.5, 1).await;
    let listed = app.get(&format!("/listings?userId={owner}")).await.json(200);
    let found = clusters(app, "bbox=32,-62,33,-61&zoom=3").await;
    let expected = json!({
        "listingId": listed[0]["listingId"], "streetAddress": listed[0]["streetAddress"],
        "monthlyRent": listed[0]["monthlyRent"],
    });
    assert_eq!(found["clusters"][0]["listing"], expected);
}

async fn an_edited_listing_moves_on_the_map(app: &App) {
    let owner = around(app, 62.5, 42.5, 2).await;
    let (before, after) = ("bbox=42,62,43,63&zoom=6", "bbox=52,62,53,63&zoom=6");
    assert_eq!(clusters(app, before).await["total"], 2);
    let listed = app.get(&format!("/listings?userId={owner}")).await.json(200);
    let path = format!("/v1/listings/{}", listed[0]["listingId"].as_str().unwrap());
    let session = app.sign_in(&owner).await;
    let moved = json!({"latitude": 62.5, "longitude": 52.5});
    app.request(reqwest::Method::PATCH, &path).bearer(&session.token).json(&moved).send().await.status(200);
    assert_eq!(
        (&clusters(app, before).await["total"], &clusters(app, after).await["total"]),
        (&json!(1), &json!(1))
    );
    let removed = path.replace("/v1", "");
    app.request(reqwest::Method::DELETE, &removed).bearer(&session.token).send().await.status(200);
    assert_eq!(clusters(app, after).await["total"], 0);
}

async fn wrong_parameters_are_named(app: &App) {
    for (query, parameter, code) in [
        ("", "zoom", "missing"),
        ("zoom=25", "zoom", "out_of_range"),
        ("zoom=-1", "zoom", "out_of_range"),
        ("zoom=4.5", "zoom", "out_of_range"),
        ("zoom=3&bbox=1,2,3", "bbox", "not_a_box"),
        ("zoom=3&bbox=0,91,1,5", "bbox", "out_of_range"),
        ("zoom=3&radiusKm=5", "radiusKm", "without_near"),
    ] {
        app.get(&format!("/v1/listing-clusters?{query}")).await.has_faults(&[(parameter, code)]);
    }
}
