//! Invalid bodies: all errors are reported at once, and nothing is stored.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, App, item, listing, on_both_engines, unique, with};

on_both_engines! {
    shared:
        all_body_errors_are_reported_at_once,
        non_object_body_is_refused,
        text_has_limits,
        invalid_unicode_is_refused,
        numbers_have_limits,
        a_name_is_given_once,
        deep_nesting_is_refused,
        unusual_valid_json_is_accepted,
        refused_update_changes_nothing;
}

async fn post(app: &App, path: &str, body: impl Into<Vec<u8>>) -> Answer {
    app.request(Method::POST, path).body(body).send().await
}

/// Asserts these errors, and that nothing is stored.
async fn listing_has_faults(app: &App, more: Value, faults: &[(&str, &str)]) {
    let id = unique("refused");
    app.post("/listings", with(listing(&id, "ada"), more)).await.has_faults(faults);
    assert_eq!(app.get(&format!("/listings?listingId={id}")).await.json(200), json!([]), "{faults:?}");
}

async fn all_body_errors_are_reported_at_once(app: &App) {
    let all = ["listingId", "userId", "streetAddress", "city", "state", "postalCode"];
    let pointers: Vec<String> = all.iter().map(|name| format!("/{name}")).collect();
    let missing: Vec<(&str, &str)> = pointers.iter().map(|pointer| (pointer.as_str(), "missing")).collect();
    app.post("/listings", json!({})).await.has_faults(&missing);
    let body = json!({
        "listingId": "", "userId": 5, "streetAddress": null, "city": "x".repeat(101), "postalCode": "a\u{0}b",
        "monthlyRent": "5", "bedRoomCount": 1.5, "bathroomCount": -1,
    });
    app.post("/listings", body).await.has_faults(&[
        ("/listingId", "empty"),
        ("/userId", "wrong_type"),
        ("/streetAddress", "wrong_type"),
        ("/city", "too_long"),
        ("/state", "missing"),
        ("/postalCode", "control_character"),
        ("/monthlyRent", "wrong_type"),
        ("/bedRoomCount", "not_whole"),
        ("/bathroomCount", "out_of_range"),
    ]);
    // Query and body together.
    let ada = app.someone().await;
    let items =
        json!([item("A", json!(1)), item("B", json!("2")), {"protocolName": [], "protocolIdentifier": ""}]);
    let body = json!({"userId": ada.user, "riskLevel": "Moderate", "isCustom": 0, "protocolItems": items});
    app.to_post("/v1/user-portfolio", &body).bearer(&ada.token).send().await.has_faults(&[
        ("/isCustom", "wrong_type"),
        ("/protocolItems/1/allocationPercentage", "wrong_type"),
        ("/protocolItems/2/protocolName", "wrong_type"),
        ("/protocolItems/2/protocolIdentifier", "empty"),
        ("/protocolItems/2/allocationPercentage", "missing"),
    ]);
    assert_eq!(app.get(&format!("/v1/user-portfolios/{}", ada.user)).await.json(200), json!([]));
}

async fn non_object_body_is_refused(app: &App) {
    let bodies: [(&[u8], &str); 24] = [
        (b"", "missing"),
        (b"  \n ", "missing"),
        (b"[]", "wrong_type"),
        (br#"["listingId", "userId"]"#, "wrong_type"),
        (br#"[{"listingId": "a"}]"#, "wrong_type"),
        (b"null", "wrong_type"),
        (b"true", "wrong_type"),
        (b"5", "wrong_type"),
        (br#""text""#, "wrong_type"),
        (b"{", "not_json"),
        (b"}", "not_json"),
        (b"{]", "not_json"),
        (br#"{"a": }"#, "not_json"),
        (br#"{"a": 1,}"#, "not_json"),
        (br#"{"a": 1} {"b": 2}"#, "not_json"),
        (b"{'a': 1}", "not_json"),
        (br#"{"a": NaN}"#, "not_json"),
        (br#"{"a": -Infinity}"#, "not_json"),
        (br#"{"a": 01}"#, "not_json"),
        (br#"{"a": .5}"#, "not_json"),
        (b"{\"a\": \"\n\"}", "not_json"),
        (br#"{"a": "\x"}"#, "not_json"),
        (b"\xff\xfe{\0}\0", "not_utf8"),
        (b"\xef\xbb\xbf{}", "not_json"),
    ];
    for path in
        ["/listings", "/requirements", "/v1/user-portfolio", "/v1/depin-device", "/v1/sandbox/sessions"]
    {
        for (body, code) in bodies {
            let faults = post(app, path, body.to_vec()).await.faults();
            assert_eq!(
                faults,
                [(String::new(), code.to_owned())],
                "{path} {}",
                String::from_utf8_lossy(body)
            );
        }
    }
}

async fn text_has_limits(app: &App) {
    // The maximum length, in characters.
    let limits =
        [("userId", 255), ("streetAddress", 255), ("city", 100), ("state", 100), ("postalCode", 255)];
    for (name, longest) in limits {
        let id = unique("long");
        app.post("/listings", with(listing(&id, "ada"), json!({name: "ü".repeat(longest)})))
            .await
            .only_message(201);
        let pointer = format!("/{name}");
        listing_has_faults(app, json!({name: "ü".repeat(longest + 1)}), &[(&pointer, "too_long")]).await;
        for empty in ["", "   ", "\u{2003}\u{a0}"] {
            listing_has_faults(app, json!({name: empty}), &[(&pointer, "empty")]).await;
        }
    }
    let longest = "🏠".repeat(255);
    app.post("/listings", listing(&longest, "ada")).await.only_message(201);
    app.post("/listings", listing(&format!("{longest}x"), "ada"))
        .await
        .has_faults(&[("/listingId", "too_long")]);
    let portfolio = |description: String| json!({"userId": "ada", "riskLevel": "Moderate", "isCustom": true, "description": description});
    app.post("/v1/user-portfolio", portfolio("x".repeat(4000))).await.json_without_message(201);
    app.post("/v1/user-portfolio", portfolio("x".repeat(4001)))
        .await
        .has_faults(&[("/description", "too_long")]);
    let items = |count: usize| {
        let items = vec![item("A", json!(0)); count];
        json!({"userId": "ada", "riskLevel": "Moderate", "isCustom": true, "protocolItems": items})
    };
    app.post("/v1/user-portfolio", items(1000)).await.json_without_message(201);
    app.post("/v1/user-portfolio", items(1001)).await.has_faults(&[("/protocolItems", "too_many")]);
}

async fn invalid_unicode_is_refused(app: &App) {
    for control in ["\0", "a\0b", "\n", "a\tb", "\r\n", "\u{1b}[31m", "\u{7f}", "\u{85}", "\u{9f}"] {
        listing_has_faults(app, json!({"city": control}), &[("/city", "control_character")]).await;
    }
    let with_city = |id: &str, city: &[u8]| {
        let body = listing(id, "ada").to_string();
        let (before, after) = body.split_once("Austin").unwrap();
        [before.as_bytes(), city, after.as_bytes()].concat()
    };
    let refused: [(&[u8], &str, &str); 8] = [
        (b"\xff", "", "not_utf8"),
        (b"\xc3\x28", "", "not_utf8"),
        (b"\xed\xa0\x80", "", "not_utf8"),
        (b"\xf4\x90\x80\x80", "", "not_utf8"),
        (b"\xc0\xaf", "", "not_utf8"),
        (br"\ud800", "/city", "not_text"),
        (br"\udc00\ud800", "/city", "not_text"),
        (br"\u0000", "/city", "control_character"),
    ];
    for (city, pointer, code) in refused {
        let id = unique("text");
        post(app, "/listings", with_city(&id, city)).await.has_faults(&[(pointer, code)]);
        assert_eq!(app.get(&format!("/listings?listingId={id}")).await.json(200), json!([]));
    }
    let id = unique("text");
    post(app, "/listings", with_city(&id, br"\ud83c\udfe0 \u00fc \/")).await.only_message(201);
    assert_eq!(app.get(&format!("/listings?listingId={id}")).await.json(200)[0]["city"], "🏠 ü /");
    // A name with a truncated UTF-8 sequence.
    let answer = post(app, "/listings", r#"{"\ud800": 1}"#).await;
    answer.has_faults(&[("", "not_text")]);
}

async fn numbers_have_limits(app: &App) {
    let with_rent = |id: &str, rent: &str| {
        listing(id, "ada").to_string().replacen('{', &format!("{{\"monthlyRent\": {rent}, "), 1)
    };
    let refused = [
        ("-1", "out_of_range"),
        ("-0.0001", "out_of_range"),
        ("99999999999.0001", "out_of_range"),
        ("1e400", "out_of_range"),
        ("1e99999999999999999999999", "out_of_range"),
        ("1e-400", "too_precise"),
        ("0.00001", "too_precise"),
        ("33.333333333333336", "too_precise"),
        ("\"5\"", "wrong_type"),
        ("\"NaN\"", "wrong_type"),
        ("true", "wrong_type"),
        ("[5]", "wrong_type"),
        ("{}", "wrong_type"),
    ];
    for (rent, code) in refused {
        let id = unique("number");
        post(app, "/listings", with_rent(&id, rent)).await.has_faults(&[("/monthlyRent", code)]);
        assert_eq!(app.get(&format!("/listings?listingId={id}")).await.json(200), json!([]), "{rent}");
    }
    for rent in ["-0", "0e999999999", "1E+3", "99999999999", "0.1000000000000000000000000000000"] {
        post(app, "/listings", with_rent(&unique("number"), rent)).await.only_message(201);
    }
    listing_has_faults(
        app,
        json!({"bedRoomCount": 1001, "bathroomCount": 0.5}),
        &[("/bedRoomCount", "out_of_range"), ("/bathroomCount", "not_whole")],
    )
    .await;
}

async fn a_name_is_given_once(app: &App) {
    let id = unique("twice");
    let body = listing(&id, "ada").to_string().replacen('{', r#"{"city": "Dallas", "#, 1);
    post(app, "/listings", body).await.has_faults(&[("/city", "repeated")]);
    assert_eq!(app.get(&format!("/listings?listingId={id}")).await.json(200), json!([]));
    let body = listing(&id, "ada").to_string().replacen('{', r#"{"c\u0069ty": "Dallas", "#, 1);
    post(app, "/listings", body).await.has_faults(&[("/city", "repeated")]);
    // The name of an unknown member is not shown.
    let body = listing(&id, "ada").to_string().replacen('{', r#"{"x": 1, "y": {}, "x": 2, "#, 1);
    post(app, "/listings", body).await.has_faults(&[("", "repeated")]);
    let items =
        r#"[{"protocolName":"A","protocolName":"B","protocolIdentifier":"a","allocationPercentage":1}]"#;
    let body =
        format!(r#"{{"userId":"ada","riskLevel":"Moderate","isCustom":true,"protocolItems":{items}}}"#);
    post(app, "/v1/user-portfolio", body).await.has_faults(&[("/protocolItems/0/protocolName", "repeated")]);
}

async fn deep_nesting_is_refused(app: &App) {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(10_000), close.repeat(10_000));
    let bodies = [
        deep("[", "]"),
        deep(r#"{"a":"#, "}"),
        format!(r#"{{"city": {}}}"#, deep("[", "]")),
        format!(r#"{{"unknown": {}}}"#, deep("[", "]")),
        format!(r#"{{"protocolItems": {}"#, "[".repeat(500_000)),
    ];
    for body in bodies {
        let faults = post(app, "/listings", body).await.faults();
        assert_eq!(faults, [(String::new(), "too_deep".to_owned())]);
    }
    // Brackets inside a string do not nest.
    let body = with(listing(&unique("flat"), "ada"), json!({"streetAddress": "[".repeat(200)}));
    app.post("/listings", body).await.only_message(201);
}

async fn unusual_valid_json_is_accepted(app: &App) {
    let id = unique("strange");
    let body = format!(
        " \r\n\t{{ \"listing\\u0049d\"\n:\"{id}\" ,\"userId\":\"\\u0061da\",\"streetAddress\":\"\\\"1\\\" Oak\",\"city\":\"Austin\",
        \"state\":\"TX\",\"postalCode\":\"1\",\"unknown\":{{\"a\":[1e999,{{}},[],null]}},\"\":0}} \n"
    );
    post(app, "/listings", body).await.only_message(201);
    let stored = app.get(&format!("/listings?listingId={id}")).await.json(200);
    assert_eq!((&stored[0]["userId"], &stored[0]["streetAddress"]), (&json!("ada"), &json!("\"1\" Oak")));
}

async fn refused_update_changes_nothing(app: &App) {
    let body = json!({"userId": unique("ada"), "name": "Before", "riskLevel": "Moderate", "isCustom": true});
    let made = app.post("/v1/user-portfolio", body).await.json_without_message(201);
    let path = format!("/v1/user-portfolio/{}", made["userPortfolioId"].as_str().unwrap());
    let before = app.get(&path).await.json(200);
    // The first part is valid, the second is not.
    let change = json!({"name": "After", "protocolItems": [item("A", json!(60)), item("B", json!(41))]});
    app.put(&path, change).await.has_faults(&[("/protocolItems", "over_allocated")]);
    app.put(&path, json!({"name": "After", "riskLevel": "Reckless"})).await.problem(400);
    app.put(&path, json!([])).await.has_faults(&[("", "wrong_type")]);
    assert_eq!(app.get(&path).await.json(200), before);
}
