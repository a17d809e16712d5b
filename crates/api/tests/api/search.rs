//! Search: literal, case-insensitive substrings.

use serde_json::json;

use crate::support::{App, encoded, ids, listing, on_both_engines, unique, with};

on_both_engines! {
    shared:
        search_covers_id_street_city_state_and_postal_code,
        search_does_not_cover_the_user,
        search_term_does_not_span_fields,
        short_terms_are_found_too,
        case_is_ignored_in_every_script,
        greek_sigma_matches_both_small_letters,
        patterns_quotes_and_sql_are_literals,
        new_listing_is_found_at_once;
}

async fn found(app: &App, term: &str) -> Vec<String> {
    ids(&app.get(&format!("/listings?searchTerm={}", encoded(term))).await.json(200), "listingId")
}

async fn search_covers_id_street_city_state_and_postal_code(app: &App) {
    for field in ["listingId", "streetAddress", "city", "state", "postalCode"] {
        let (id, word) = (unique("searched"), unique("QuartZ"));
        let value = if field == "listingId" { format!("{id} {word}") } else { format!("the {word} one") };
        let body = app.add_listing(with(listing(&id, "ada"), json!({field: value}))).await;
        let id = body["listingId"].as_str().unwrap();
        for term in [word.clone(), word.to_lowercase(), word.to_uppercase(), word[2..].to_owned()] {
            assert_eq!(found(app, &term).await, [id], "{field}: {term}");
        }
    }
}

async fn search_does_not_cover_the_user(app: &App) {
    let user = unique("topaz");
    app.add_listing(listing(&unique("a"), &user)).await;
    assert_eq!(found(app, &user).await, [""; 0]);
}

async fn search_term_does_not_span_fields(app: &App) {
    let (street, city) = (unique("onyx"), unique("ruby"));
    app.add_listing(with(listing(&unique("a"), "ada"), json!({"streetAddress": street, "city": city}))).await;
    assert_eq!(found(app, &format!("{street}{city}")).await, [""; 0]);
    assert_eq!(found(app, &format!("{street} {city}")).await, [""; 0]);
}

async fn short_terms_are_found_too(app: &App) {
    let id = unique("short");
    app.add_listing(with(listing(&id, "ada"), json!({"city": "Ǭ Ǯǰ"}))).await;
    for term in ["ǭ", "ǯǰ", "Ǯ", "Ǭ Ǯ"] {
        assert!(found(app, term).await.contains(&id), "{term}");
    }
    assert_eq!(found(app, "ǰǬ").await, [""; 0]);
}

async fn case_is_ignored_in_every_script(app: &App) {
    for (stored, term) in
        [("ÅNGSTRÖM", "ångström"), ("łódź", "ŁÓDŹ"), ("МОСКВА", "москва"), ("東京都", "京都")]
    {
        let (id, mark) = (unique("script"), unique("m"));
        app.add_listing(with(listing(&id, "ada"), json!({"city": format!("{stored} {mark}")}))).await;
        let found = found(app, &format!("{term} {mark}")).await;
        assert_eq!(found, [id], "{term} in {stored}");
    }
}

async fn greek_sigma_matches_both_small_letters(app: &App) {
    let (id, mark) = (unique("sigma"), unique("m"));
    app.add_listing(with(listing(&id, "ada"), json!({"city": format!("{mark} ΟΔΟΣΑ")}))).await;
    for term in ["ΟΔΟΣΑ", "οδοσ", "ΟΔΟΣ"] {
        assert_eq!(found(app, &format!("{mark} {term}")).await, [id.as_str()], "{term}");
    }
}

async fn patterns_quotes_and_sql_are_literals(app: &App) {
    let mark = unique("lit");
    app.add_listing(with(listing(&unique("plain"), "ada"), json!({"streetAddress": format!("{mark}abc")})))
        .await;
    let terms = [
        "%",
        "_",
        "a%c",
        "a_c",
        "\\",
        "\\%",
        "'",
        "''",
        "\"",
        "\"\"",
        "*",
        "?",
        "a*",
        "NEAR(a b)",
        "a OR b",
        "a AND b",
        "-a",
        "^a",
        "(",
        "{",
        ":",
        "';--",
        "'); DROP TABLE listings; --",
        "x' OR '1'='1",
        "\u{2019}",
        "%%",
        "__",
        "$1",
        "?1",
    ];
    for term in terms {
        let term = format!("{mark}{term}");
        assert_eq!(found(app, &term).await, [""; 0], "{term}");
        let id = unique("literal");
        app.add_listing(with(listing(&id, "ada"), json!({"streetAddress": format!("1 {term} Rd")}))).await;
        assert_eq!(found(app, &term).await, [id.as_str()], "{term}");
        app.delete(&format!("/listings/{id}")).await.status(200);
    }
}

async fn new_listing_is_found_at_once(app: &App) {
    let mark = unique("instant");
    for count in 1..=20 {
        app.add_listing(with(listing(&unique("i"), "ada"), json!({"city": mark}))).await;
        assert_eq!(found(app, &mark).await.len(), count);
    }
}
