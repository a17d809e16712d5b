//! `/stage/listing…`: stored listing records.

use reqwest::Method;
use serde_json::{Value, json};

use super::record;
use crate::support::{Answer, App, encoded, listing, on_both_engines, unique, with};

on_both_engines! {
    shared:
        record_has_exactly_its_typed_attributes,
        unknown_values_are_zero_null_or_empty,
        numbers_are_the_shortest_exact_decimals,
        unknown_record_is_not_found,
        deleted_record_is_not_found_on_both_surfaces,
        records_are_listed_by_user,
        records_are_listed_by_postal_code,
        records_are_listed_by_city_in_any_case,
        records_are_searched_in_one_field,
        field_names_are_case_insensitive,
        search_needs_a_known_field_and_a_value;
}

async fn get(app: &App, path: &str) -> Answer {
    app.to_get(path).key(app.operator()).send().await
}

async fn search(app: &App, field: &str, value: &str) -> Answer {
    get(app, &format!("/stage/listings/search?field={}&value={}", encoded(field), encoded(value))).await
}

#[track_caller]
fn ids(answer: Answer) -> Vec<String> {
    let records = answer.json(200);
    let id = |record: &Value| record["ListingId"]["S"].as_str().unwrap().to_owned();
    records.as_array().unwrap().iter().map(id).collect()
}

async fn record_has_exactly_its_typed_attributes(app: &App) {
    let (id, user) = (unique("oak"), unique("ada"));
    let more = json!({"monthlyRent": 2100.25, "bedRoomCount": 2, "latitude": 30.2672, "longitude": -97.7431});
    app.add_listing(with(listing(&id, &user), more)).await;
    let expected = record(
        &id,
        &user,
        json!({"MonthlyRent": {"N": "2100.25"}, "Latitude": {"N": "30.2672"}, "Longitude": {"N": "-97.7431"}}),
    );
    assert_eq!(get(app, &format!("/stage/listing/{id}")).await.json(200), expected);
    assert_eq!(get(app, &format!("/stage/listings/user/{user}")).await.json(200), json!([expected]));
}

async fn unknown_values_are_zero_null_or_empty(app: &App) {
    let (id, user) = (unique("bare"), unique("ada"));
    app.add_listing(listing(&id, &user)).await;
    assert_eq!(get(app, &format!("/stage/listing/{id}")).await.json(200), record(&id, &user, json!({})));
}

async fn numbers_are_the_shortest_exact_decimals(app: &App) {
    let cases = [
        (json!(450_000.0), json!(0), json!(-0.0), ["450000", "0", "0"]),
        (json!(0.0001), json!(-0.5), json!(180), ["0.0001", "-0.5", "180"]),
        (
            json!(99_999_999_998.999_9),
            json!(12.000_000_001),
            json!(1e-9),
            ["99999999998.9999", "12.000000001", "0.000000001"],
        ),
    ];
    for (rent, latitude, longitude, shown) in cases {
        let id = unique("number");
        let more = json!({"monthlyRent": rent, "latitude": latitude, "longitude": longitude});
        app.add_listing(with(listing(&id, "ada"), more)).await;
        let record = get(app, &format!("/stage/listing/{id}")).await.json(200);
        let numbers = ["MonthlyRent", "Latitude", "Longitude"].map(|name| record[name].clone());
        assert_eq!(numbers, shown.map(|number| json!({"N": number})));
    }
}

async fn unknown_record_is_not_found(app: &App) {
    let id = unique("never");
    get(app, &format!("/stage/listing/{id}")).await.refused(404, "listing_not_found");
    let delete = app.request(Method::DELETE, &format!("/stage/listing/{id}")).key(app.operator());
    delete.send().await.refused(404, "listing_not_found");
    for list in ["user", "postal", "city"] {
        get(app, &format!("/stage/listings/{list}/{id}")).await.refused(404, "no_listings");
    }
    search(app, "City", &id).await.refused(404, "no_listings");
}

async fn deleted_record_is_not_found_on_both_surfaces(app: &App) {
    let id = unique("gone");
    app.add_listing(listing(&id, "ada")).await;
    let path = format!("/stage/listing/{id}");
    app.request(Method::DELETE, &path).key(app.operator()).send().await.only_message(200);
    get(app, &path).await.refused(404, "listing_not_found");
    search(app, "ListingId", &id).await.refused(404, "no_listings");
    assert_eq!(app.get(&format!("/listings?listingId={id}")).await.json(200), json!([]));
}

async fn records_are_listed_by_user(app: &App) {
    let (ada, first, second) = (unique("ada"), unique("a"), unique("b"));
    app.add_listing(listing(&first, &ada)).await;
    app.add_listing(listing(&unique("other"), &unique("bob"))).await;
    app.add_listing(listing(&second, &ada)).await;
    assert_eq!(ids(get(app, &format!("/stage/listings/user/{ada}")).await), [first, second]);
    get(app, &format!("/stage/listings/user/{}", ada.to_uppercase())).await.refused(404, "no_listings");
}

async fn records_are_listed_by_postal_code(app: &App) {
    let (code, first, second) = (unique("SW1A 2AA"), unique("a"), unique("b"));
    for (id, postal) in
        [(&first, code.clone()), (&unique("longer"), format!("{code}0")), (&second, code.clone())]
    {
        app.add_listing(with(listing(id, "ada"), json!({"postalCode": postal}))).await;
    }
    let here = get(app, &format!("/stage/listings/postal/{}", encoded(&code))).await;
    assert_eq!(ids(here), [first, second], "the whole code, in the order of creation");
}

async fn records_are_listed_by_city_in_any_case(app: &App) {
    let (city, first, second) = (unique("MÜNCHEN"), unique("a"), unique("b"));
    for (id, city) in
        [(&first, city.clone()), (&unique("longer"), format!("{city} Ost")), (&second, city.to_lowercase())]
    {
        app.add_listing(with(listing(id, "ada"), json!({"city": city}))).await;
    }
    for name in [city.clone(), city.to_lowercase(), format!(" {} ", city.replace('M', "m"))] {
        let here = get(app, &format!("/stage/listings/city/{}", encoded(&name))).await;
        assert_eq!(ids(here), [first.clone(), second.clone()], "{name}: the whole name, in any case");
    }
    get(app, &format!("/stage/listings/city/{}", encoded(&city[1..]))).await.refused(404, "no_listings");
}

async fn records_are_searched_in_one_field(app: &App) {
    let (word, id) = (unique("Linden"), unique("a"));
    app.add_listing(with(listing(&id, "ada"), json!({"streetAddress": format!("5 {word} Road")}))).await;
    app.add_listing(with(listing(&unique("b"), "ada"), json!({"city": word}))).await;
    let part = word[2..].to_uppercase();
    assert_eq!(ids(search(app, "StreetAddress", &part).await), [id.as_str()]);
    assert_eq!(ids(search(app, "StreetAddress", &format!(" {part} ")).await), [id.as_str()]);
    assert_ne!(ids(search(app, "City", &part).await), [id]);
    search(app, "State", &part).await.refused(404, "no_listings");
}

async fn field_names_are_case_insensitive(app: &App) {
    let (id, user) = (unique("field"), unique("fielder"));
    let (street, city, state, postal) = (unique("St"), unique("Ci"), unique("Sta"), unique("Po"));
    let address = json!({"streetAddress": street, "city": city, "state": state, "postalCode": postal});
    app.add_listing(with(listing(&id, &user), address)).await;
    let names = [
        ("ListingId", &id),
        ("listingId", &id),
        ("UserId", &user),
        ("userId", &user),
        ("StreetAddress", &street),
        ("streetAddress", &street),
        ("City", &city),
        ("city", &city),
        ("State", &state),
        ("STATE", &state),
        ("PostalCode", &postal),
        ("postalCODE", &postal),
    ];
    for (name, value) in names {
        assert_eq!(ids(search(app, name, value).await), [id.as_str()], "{name}");
    }
    let by_country = ids(search(app, "Country", "us").await);
    assert!(by_country.contains(&id), "the country of a listing that names none is US");
    search(app, "walkthroughLink", &id).await.refused(404, "no_listings");
}

async fn search_needs_a_known_field_and_a_value(app: &App) {
    let path = "/stage/listings/search";
    get(app, path).await.has_faults(&[("field", "missing"), ("value", "missing")]);
    for field in ["rent", "MonthlyRent", "", "City; DROP TABLE listings"] {
        search(app, field, "x").await.has_faults(&[("field", "unknown_field")]);
    }
    search(app, "City", " ").await.has_faults(&[("value", "empty")]);
    search(app, "City", "\0").await.has_faults(&[("value", "control_character")]);
    search(app, "City", &"x".repeat(256)).await.has_faults(&[("value", "too_long")]);
}
