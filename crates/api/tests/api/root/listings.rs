//! `/listings`: the simple form.

use serde_json::{Value, json};

use crate::support::{App, encoded, ids, listing, on_both_engines, unique, with};

on_both_engines! {
    shared:
        listing_round_trips_with_exact_fields,
        absent_fields_are_omitted,
        numbers_are_shown_shortest_and_exact,
        binary_float_noise_is_not_stored,
        text_is_trimmed,
        unknown_fields_are_ignored,
        listings_are_filtered_by_user,
        one_listing_is_found_by_its_id,
        all_conditions_must_hold,
        empty_list_is_200,
        taken_id_is_refused,
        id_of_deleted_listing_can_be_reused,
        unknown_listing_cannot_be_deleted,
        coordinates_come_in_pairs,
        wrong_coordinate_is_one_error,
        listings_are_filtered_by_rent_and_sorted_by_it,
        listings_are_filtered_by_rooms,
        listings_are_found_near_a_place,
        listings_are_found_inside_a_box,
        wrong_conditions_are_all_reported,
        duplicate_condition_is_refused;
}

async fn found(app: &App, query: &str) -> Value {
    app.get(&format!("/listings?{query}")).await.json(200)
}

/// The ids found, in order.
async fn found_ids(app: &App, query: &str) -> Vec<String> {
    ids(&found(app, query).await, "listingId")
}

async fn listing_round_trips_with_exact_fields(app: &App) {
    let (id, user) = (unique("oak"), unique("ada"));
    let body = json!({
        "listingId": id, "userId": user, "streetAddress": "12 Oak Street", "city": "Austin", "state": "TX",
        "postalCode": "78701", "monthlyRent": 2100.25, "bedRoomCount": 2, "bathroomCount": 1,
    });
    app.post("/listings", body.clone()).await.only_message(201);
    assert_eq!(found(app, &format!("listingId={id}")).await, json!([body]));
}

async fn absent_fields_are_omitted(app: &App) {
    let body = app.add_listing(listing(&unique("bare"), &unique("ada"))).await;
    let id = body["listingId"].as_str().unwrap();
    assert_eq!(found(app, &format!("listingId={id}")).await, json!([body]));
}

async fn numbers_are_shown_shortest_and_exact(app: &App) {
    // As sent and as returned.
    let cases = [
        ("450000.00", "450000"),
        ("4.5e5", "450000"),
        ("2100.2500", "2100.25"),
        ("0", "0"),
        ("0.0001", "0.0001"),
        ("99999999998.9999", "99999999998.9999"),
        ("99999999999", "99999999999"),
    ];
    for (sent, shown) in cases {
        let (id, user) = (unique("number"), unique("ada"));
        let body = format!(
            r#"{{"listingId":"{id}","userId":"{user}","streetAddress":"s","city":"c","state":"TX","postalCode":"1",
            "monthlyRent":{sent},"bedRoomCount":5.0,"bathroomCount":0}}"#
        );
        app.request(reqwest::Method::POST, "/listings").body(body).send().await.only_message(201);
        let answer = app.get(&format!("/listings?listingId={id}")).await;
        let expected = format!(r#""monthlyRent":{shown},"bedRoomCount":5,"bathroomCount":0}}]"#);
        assert!(answer.text().ends_with(&expected), "{sent}: {}", answer.text());
    }
}

async fn binary_float_noise_is_not_stored(app: &App) {
    let id = unique("noise");
    app.add_listing(with(listing(&id, &unique("ada")), json!({"monthlyRent": 0.1 + 0.2}))).await;
    assert_eq!(found(app, &format!("listingId={id}")).await[0]["monthlyRent"], 0.3);
}

async fn text_is_trimmed(app: &App) {
    let (id, user) = (unique("spaces"), unique("ada"));
    let body = json!({
        "listingId": format!("  {id} "), "userId": user, "streetAddress": " 1  Main St\u{2003}",
        "city": " New  York", "state": "NY ", "postalCode": " 10001 ",
    });
    app.post("/listings", body).await.only_message(201);
    let expected = json!([{
        "listingId": id, "userId": user, "streetAddress": "1  Main St", "city": "New  York", "state": "NY",
        "postalCode": "10001",
    }]);
    assert_eq!(found(app, &format!("listingId={id}")).await, expected);
    assert_eq!(found(app, &format!("listingId=%20{id}%20")).await, expected);
}

async fn unknown_fields_are_ignored(app: &App) {
    let id = unique("more");
    let known = listing(&id, &unique("ada"));
    app.add_listing(with(known.clone(), json!({"garden": {"trees": [1, null]}, "propertyValue": "x"}))).await;
    assert_eq!(found(app, &format!("listingId={id}")).await, json!([known]));
}

async fn listings_are_filtered_by_user(app: &App) {
    let (ada, bob) = (unique("ada"), unique("bob"));
    let mut own = Vec::new();
    for _ in 0..3 {
        own.push(app.add_listing(listing(&unique("own"), &ada)).await);
        app.add_listing(listing(&unique("other"), &bob)).await;
    }
    assert_eq!(found(app, &format!("userId={ada}")).await, json!(own), "in the order of creation");
    assert_eq!(found_ids(app, &format!("userId={ada}x")).await, [""; 0]);
}

async fn one_listing_is_found_by_its_id(app: &App) {
    let id = unique("one");
    app.add_listing(listing(&id, &unique("ada"))).await;
    app.add_listing(listing(&format!("{id}-more"), &unique("ada"))).await;
    assert_eq!(found_ids(app, &format!("listingId={id}")).await, [id.as_str()]);
    assert_eq!(found_ids(app, &format!("listingId={}", id.to_uppercase())).await, [""; 0]);
}

async fn all_conditions_must_hold(app: &App) {
    let (ada, bob, city) = (unique("ada"), unique("bob"), unique("Ulm"));
    let (first, second, third) = (unique("a"), unique("b"), unique("c"));
    let flat = |id: &str, user: &str, rent: u32| {
        with(listing(id, user), json!({"city": city, "monthlyRent": rent, "bedRoomCount": 2}))
    };
    app.add_listing(flat(&first, &ada, 1000)).await;
    app.add_listing(flat(&second, &ada, 2000)).await;
    app.add_listing(flat(&third, &bob, 1000)).await;
    assert_eq!(
        found_ids(app, &format!("searchTerm={city}&userId={ada}&maxRent=1500")).await,
        [first.as_str()]
    );
    assert_eq!(
        found_ids(app, &format!("searchTerm={city}&bedrooms=2&minRent=1500")).await,
        [second.as_str()]
    );
    assert_eq!(found_ids(app, &format!("listingId={third}&userId={bob}")).await, [third.as_str()]);
    assert_eq!(found_ids(app, &format!("listingId={third}&userId={ada}")).await, [""; 0]);
    assert_eq!(found_ids(app, &format!("listingId={first}&searchTerm={city}&minRent=1001")).await, [""; 0]);
}

async fn empty_list_is_200(app: &App) {
    for query in [
        "userId=nobody-at-all",
        "listingId=nothing-at-all",
        "searchTerm=nowhere-at-all",
        "minRent=88888888888&maxRent=88888888888.5",
    ] {
        assert_eq!(found(app, query).await, json!([]), "{query}");
    }
}

async fn taken_id_is_refused(app: &App) {
    let first = app.add_listing(listing(&unique("taken"), &unique("ada"))).await;
    let id = first["listingId"].as_str().unwrap();
    let second = with(listing(id, &unique("bob")), json!({"city": "Dallas"}));
    app.post("/listings", second).await.refused(409, "listing_exists");
    assert_eq!(found(app, &format!("listingId={id}")).await, json!([first]));
}

async fn id_of_deleted_listing_can_be_reused(app: &App) {
    let (id, user) = (unique("gone"), unique("ada"));
    app.add_listing(listing(&id, &user)).await;
    let answer = app.delete(&format!("/listings/{id}")).await.status(200);
    assert_eq!(
        (answer.text(), answer.header("content-length"), answer.header("content-type")),
        ("", "0", "")
    );
    for query in [format!("listingId={id}"), format!("userId={user}"), format!("searchTerm={id}")] {
        assert_eq!(found(app, &query).await, json!([]), "{query}");
    }
    let again = app.add_listing(with(listing(&id, &user), json!({"city": "Dallas"}))).await;
    assert_eq!(found(app, &format!("searchTerm={id}")).await, json!([again]));
}

async fn unknown_listing_cannot_be_deleted(app: &App) {
    let id = unique("never");
    app.delete(&format!("/listings/{id}")).await.refused(404, "listing_not_found");
    app.add_listing(listing(&id, &unique("ada"))).await;
    app.delete(&format!("/listings/{id}")).await.status(200);
    app.delete(&format!("/listings/{id}")).await.refused(404, "listing_not_found");
}

async fn coordinates_come_in_pairs(app: &App) {
    let id = unique("place");
    let place = json!({"latitude": 30.2672, "longitude": -97.7431});
    let body = app.add_listing(with(listing(&id, &unique("ada")), place)).await;
    assert_eq!(found(app, &format!("listingId={id}")).await, json!([body]));
    for half in ["latitude", "longitude"] {
        let body = with(listing(&unique("half"), "ada"), json!({half: 30}));
        app.post("/listings", body).await.has_faults(&[("/latitude", "half_a_place")]);
    }
}

async fn wrong_coordinate_is_one_error(app: &App) {
    let cases = [
        (json!({"latitude": 90.1, "longitude": 0}), "/latitude", "out_of_range"),
        (json!({"latitude": 0, "longitude": -180.1}), "/longitude", "out_of_range"),
        (json!({"latitude": "0", "longitude": 0}), "/latitude", "wrong_type"),
    ];
    for (place, pointer, code) in cases {
        let body = with(listing(&unique("wrong"), "ada"), place);
        app.post("/listings", body).await.has_faults(&[(pointer, code)]);
    }
}

async fn listings_are_filtered_by_rent_and_sorted_by_it(app: &App) {
    let city = unique("Rentville");
    let mut all = Vec::new();
    for rent in [json!(900), json!(1500.5), json!(700), json!(1500.5)] {
        let id = unique("rent");
        app.add_listing(with(listing(&id, "ada"), json!({"city": city, "monthlyRent": rent}))).await;
        all.push(id);
    }
    app.add_listing(with(listing(&unique("unknown"), "ada"), json!({"city": city}))).await;
    let here = |query: &str| format!("{query}&searchTerm={city}");
    let named = |indexes: &[usize]| indexes.iter().map(|&index| all[index].clone()).collect::<Vec<_>>();
    let mut between = found_ids(app, &here("minRent=900&maxRent=1500.5")).await;
    between.sort();
    let mut expected = named(&[0, 1, 3]);
    expected.sort();
    assert_eq!(between, expected, "both ends belong to it");
    assert_eq!(found_ids(app, &here("maxRent=899.9999")).await, named(&[2]));
    assert_eq!(found_ids(app, &here("minRent=1500.5001")).await, [""; 0]);
    // A rent filter alone sorts by rent and excludes listings without one.
    let sorted = found(app, "minRent=0").await;
    let rents: Vec<f64> =
        sorted.as_array().unwrap().iter().map(|listing| listing["monthlyRent"].as_f64().unwrap()).collect();
    assert!(rents.is_sorted(), "{rents:?}");
    let own: Vec<String> = ids(&sorted, "listingId").into_iter().filter(|id| all.contains(id)).collect();
    assert_eq!(own, named(&[2, 0, 1, 3]), "equal rents in the order of creation");
}

async fn listings_are_filtered_by_rooms(app: &App) {
    let user = unique("rooms");
    let (two, three) = (unique("two"), unique("three"));
    app.add_listing(with(listing(&two, &user), json!({"bedRoomCount": 2, "bathroomCount": 1}))).await;
    app.add_listing(with(listing(&three, &user), json!({"bedRoomCount": 3, "bathroomCount": 1}))).await;
    app.add_listing(listing(&unique("unknown"), &user)).await;
    let own = format!("userId={user}");
    assert_eq!(found_ids(app, &format!("{own}&bedrooms=2")).await, [two.as_str()]);
    assert_eq!(found_ids(app, &format!("{own}&bathrooms=1")).await, [two.clone(), three.clone()]);
    assert_eq!(found_ids(app, &format!("{own}&bedrooms=3&bathrooms=1")).await, [three.as_str()]);
    assert_eq!(found_ids(app, &format!("{own}&bedrooms=0")).await, [""; 0]);
    assert_eq!(found_ids(app, &format!("{own}&minBedrooms=3")).await, [three.as_str()]);
    let sorted = found_ids(app, &format!("{own}&minBedrooms=2&sort=size")).await;
    assert_eq!(sorted, [three.clone(), two.clone()], "the largest first");
    let sorted = found_ids(app, &format!("{own}&bathrooms=1&sort=newest")).await;
    assert_eq!(sorted, [three.clone(), two.clone()], "the newest first");
    // Without a user another index is used.
    for (query, id) in [("bedrooms=2", &two), ("bathrooms=1", &three), ("bedrooms=3&bathrooms=1", &three)] {
        assert!(found_ids(app, query).await.contains(id), "{query}");
    }
    assert!(!found_ids(app, "bedrooms=2").await.contains(&three));
}

async fn at(app: &App, user: &str, latitude: f64, longitude: f64) -> String {
    let id = unique("at");
    let place = json!({"latitude": latitude, "longitude": longitude});
    app.add_listing(with(listing(&id, user), place)).await;
    id
}

async fn found_by(app: &App, user: &str, query: &str) -> Vec<String> {
    let mut with_user = found_ids(app, &format!("{query}&userId={user}")).await;
    with_user.sort();
    // The spatial index and the owner index must agree.
    let all = found(app, query).await;
    let own = |listing: &&Value| listing["userId"] == user;
    let own: Vec<Value> = all.as_array().unwrap().iter().filter(own).cloned().collect();
    let mut by_place = ids(&json!(own), "listingId");
    by_place.sort();
    assert_eq!(with_user, by_place, "{query}");
    with_user
}

async fn listings_are_found_near_a_place(app: &App) {
    let user = unique("near");
    // A degree of latitude is about 111.2 km.
    let (here, five, twenty) = (
        at(app, &user, 10.0, 20.0).await,
        at(app, &user, 10.045, 20.0).await,
        at(app, &user, 10.18, 20.0).await,
    );
    app.add_listing(listing(&unique("nowhere"), &user)).await;
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    let near = encoded("10,20");
    assert_eq!(found_by(app, &user, &format!("near={near}")).await, sorted(vec![here.clone(), five.clone()]));
    assert_eq!(found_by(app, &user, &format!("near={near}&radiusKm=1")).await, std::slice::from_ref(&here));
    let far = found_by(app, &user, &format!("near={near}&radiusKm=21.5")).await;
    assert_eq!(far, sorted(vec![here.clone(), five, twenty]));
    assert_eq!(found_by(app, &user, &format!("near={near}&radiusKm=0")).await, [here]);
}

async fn listings_are_found_inside_a_box(app: &App) {
    let user = unique("box");
    let (inside, edge) = (at(app, &user, -33.5, 151.5).await, at(app, &user, -34.0, 151.0).await);
    at(app, &user, -34.000_000_001, 151.5).await;
    at(app, &user, -33.5, 152.1).await;
    let mut expected = vec![inside, edge];
    expected.sort();
    assert_eq!(found_by(app, &user, &format!("bbox={}", encoded("151,-34,152,-33"))).await, expected);
    let swapped = format!("bbox={}", encoded("151,-33,152,-34"));
    assert_eq!(found_by(app, &user, &swapped).await, expected, "south and north may be swapped");
}

async fn wrong_conditions_are_all_reported(app: &App) {
    let query = "userId=&listingId=%00&searchTerm=%20&minRent=abc&maxRent=-1&bedrooms=1.5&minBedrooms=-1\
                 &bathrooms=1e9&sort=cheap&near=1&radiusKm=-1&bbox=1,2,3&limit=0&cursor=x";
    app.get(&format!("/listings?{query}")).await.has_faults(&[
        ("userId", "empty"),
        ("listingId", "control_character"),
        ("searchTerm", "empty"),
        ("minRent", "not_a_number"),
        ("maxRent", "out_of_range"),
        ("bedrooms", "not_whole"),
        ("minBedrooms", "out_of_range"),
        ("bathrooms", "out_of_range"),
        ("near", "not_a_point"),
        ("radiusKm", "out_of_range"),
        ("bbox", "not_a_box"),
        ("sort", "unknown_order"),
        ("limit", "out_of_range"),
        ("cursor", "not_a_cursor"),
    ]);
    app.get("/listings?radiusKm=5").await.has_faults(&[("radiusKm", "without_near")]);
    app.get(&format!("/listings?near={}", encoded("91,0"))).await.has_faults(&[("near", "out_of_range")]);
}

async fn duplicate_condition_is_refused(app: &App) {
    app.get("/listings?userId=a&userId=b").await.has_faults(&[("userId", "repeated")]);
}
