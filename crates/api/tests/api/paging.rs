//! Paged and streamed lists.

use std::collections::BTreeSet;

use futures_util::stream::{self, StreamExt as _};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, App, Engine, Options, encoded, ids, listing, on_both_engines, unique, with};

on_both_engines! {
    shared:
        pages_of_every_list_are_complete,
        pages_stay_stable_under_changes,
        link_header_keeps_the_query,
        page_after_the_last_is_empty,
        limit_is_between_1_and_1000,
        a_cursor_comes_from_a_link,
        a_cursor_belongs_to_its_query;
    own:
        long_list_is_streamed_and_paged;
}

async fn ask(app: &App, path: &str) -> Answer {
    app.to_get(path).key(app.operator()).send().await
}

fn and(path: &str, more: &str) -> String {
    format!("{path}{}{more}", if path.contains('?') { '&' } else { '?' })
}

/// All items of a list, and the number of pages.
async fn in_pages(app: &App, path: &str, limit: usize) -> (Vec<Value>, usize) {
    let (mut all, mut pages) = (Vec::new(), 0);
    let mut path = Some(and(path, &format!("limit={limit}")));
    while let Some(at) = path {
        let answer = ask(app, &at).await;
        path = answer.next_page();
        let page = answer.json(200).as_array().unwrap().clone();
        assert!(page.len() == limit || (path.is_none() && page.len() < limit), "{at}: {}", page.len());
        all.extend(page);
        pages += 1;
        assert!(pages < 2000, "{at}: the pages do not end");
    }
    (all, pages)
}

async fn pages_of_every_list_are_complete(app: &App) {
    const COUNT: u32 = 23;
    let (user, city, network) = (unique("pager"), unique("Pageville"), unique("Pagenet"));
    let template = app
        .post("/v1/predefined-portfolio", json!({"name": "T", "riskLevel": "Moderate"}))
        .await
        .json_without_message(201);
    let template = template["predefinedPortfolioId"].as_str().unwrap();
    let oak = unique("oak");
    app.add_listing(listing(&oak, &user)).await;
    // A separate area, so that other tests do not change the pages.
    let latitude = -80.0 - f64::from(u8::from(app.database.is_none()));
    for number in 0..COUNT {
        let more = json!({
            "city": city, "postalCode": city, "monthlyRent": 5_000_000 + number / 4, "bedRoomCount": 777,
            "bathroomCount": 778, "latitude": latitude, "longitude": 10.0 + f64::from(number / 3) / 1000.0,
        });
        app.add_listing(with(listing(&unique("page"), &user), more)).await;
        let portfolio = json!({"userId": user, "riskLevel": "Moderate", "isCustom": true});
        app.post("/v1/user-portfolio", portfolio).await.json_without_message(201);
        let device = json!({"userId": user, "network": network, "deviceIdentifier": number.to_string()});
        app.post("/v1/depin-device", device).await.json_without_message(201);
        let applied = json!({"userId": unique("applicant"), "listingIds": [oak]});
        app.to_post("/applications", &applied).key(app.operator()).send().await.only_message(201);
    }
    let lists = [
        (format!("/listings?userId={user}"), COUNT as usize + 1),
        (format!("/listings?searchTerm={city}"), COUNT as usize),
        ("/listings?minRent=5000000&maxRent=5000100".to_owned(), COUNT as usize),
        ("/listings?bedrooms=777".to_owned(), COUNT as usize),
        ("/listings?bathrooms=778&minRent=5000002".to_owned(), COUNT as usize - 8),
        (format!("/listings?near={}&radiusKm=50", encoded(&format!("{latitude},10"))), COUNT as usize),
        (
            format!("/listings?bbox={}", encoded(&format!("9,{},11,{}", latitude - 0.1, latitude + 0.1))),
            COUNT as usize,
        ),
        (format!("/stage/listings/user/{user}"), COUNT as usize + 1),
        (format!("/stage/listings/city/{}", city.to_lowercase()), COUNT as usize),
        (format!("/stage/listings/postal/{city}"), COUNT as usize),
        (format!("/stage/listings/search?field=City&value={}", &city[1..]), COUNT as usize),
        (format!("/v1/user-portfolios/{user}"), COUNT as usize),
        (format!("/v1/depin-devices/user/{user}"), COUNT as usize),
        (format!("/v1/depin-devices/network/{network}"), COUNT as usize),
        (format!("/v1/listings/{oak}/applicants"), COUNT as usize),
    ];
    for (path, count) in lists {
        let whole = ask(app, &path).await;
        assert_eq!(whole.next_page(), None, "{path}");
        let whole = whole.json(200).as_array().unwrap().clone();
        assert_eq!(whole.len(), count, "{path}");
        for limit in [1, 5, 22, 23, 24, 1000] {
            let (all, pages) = in_pages(app, &path, limit).await;
            assert_eq!(all, whole, "{path} by {limit}");
            assert_eq!(pages, count.div_ceil(limit), "{path} by {limit}");
        }
    }
    // Predefined portfolios are shared with concurrent tests.
    for path in ["/v1/predefined-portfolios", "/v1/predefined-portfolios/risk/Moderate"] {
        let (paged, _) = in_pages(app, path, 3).await;
        let paged = ids(&json!(paged), "predefinedPortfolioId");
        assert!(paged.iter().any(|id| id == template), "{path}");
        assert_eq!(paged.iter().collect::<BTreeSet<_>>().len(), paged.len(), "{path}: nothing comes twice");
    }
}

async fn pages_stay_stable_under_changes(app: &App) {
    let user = unique("pager");
    let mut made = Vec::new();
    for _ in 0..6 {
        let id = unique("m");
        app.add_listing(listing(&id, &user)).await;
        made.push(id);
    }
    let first = ask(app, &format!("/listings?userId={user}&limit=3")).await;
    let path = first.next_page().unwrap();
    assert_eq!(ids(&first.json(200), "listingId"), made[..3]);
    // Deletes the item of the cursor and the next one; adds a new one.
    app.delete(&format!("/listings/{}", made[2])).await.status(200);
    app.delete(&format!("/listings/{}", made[3])).await.status(200);
    let last = unique("m");
    app.add_listing(listing(&last, &user)).await;
    let second = ask(app, &path).await;
    assert_eq!(second.next_page(), None);
    assert_eq!(ids(&second.json(200), "listingId"), [made[4].clone(), made[5].clone(), last]);
}

async fn link_header_keeps_the_query(app: &App) {
    let (user, city) = (unique("ö&=? u"), unique("Linkville"));
    for _ in 0..3 {
        app.add_listing(with(listing(&unique("l"), &user), json!({"city": city, "monthlyRent": 5}))).await;
    }
    let path = format!("/listings?searchTerm={city}&limit=1&userId={}&minRent=5", encoded(&user));
    let mut seen = 0;
    let mut at = Some(path);
    while let Some(path) = at {
        assert_eq!(path.matches("cursor=").count(), usize::from(seen > 0), "{path}");
        let answer = ask(app, &path).await;
        at = answer.next_page();
        seen += answer.json(200).as_array().unwrap().len();
    }
    assert_eq!(seen, 3);
}

async fn page_after_the_last_is_empty(app: &App) {
    let (user, city) = (unique("pager"), unique("Endville"));
    for _ in 0..2 {
        app.add_listing(with(listing(&unique("e"), &user), json!({"city": city}))).await;
    }
    let key = app.operator();
    for path in [format!("/listings?userId={user}"), format!("/stage/listings/city/{city}")] {
        let first = ask(app, &and(&path, "limit=1")).await;
        let second = first.next_page().unwrap();
        // The last remaining listing is deleted meanwhile: the page is empty.
        let whole = ask(app, &path).await.json(200);
        let last = whole[1].get("listingId").unwrap_or(&whole[1]["ListingId"]["S"]);
        app.request(Method::DELETE, &format!("/listings/{}", last.as_str().unwrap()))
            .key(key)
            .send()
            .await
            .status(200);
        let answer = ask(app, &second).await;
        assert_eq!(answer.next_page(), None);
        assert_eq!(answer.json(200), json!([]), "{path}");
        app.add_listing(with(listing(&unique("e"), &user), json!({"city": city}))).await;
    }
}

async fn limit_is_between_1_and_1000(app: &App) {
    for limit in ["0", "1001", "-1", "1.5", "abc", "", "99999999999999999999999", "1e2"] {
        app.get(&format!("/listings?limit={limit}")).await.has_faults(&[("limit", "out_of_range")]);
    }
    app.get("/listings?limit=1&limit=2").await.has_faults(&[("limit", "repeated")]);
}

/// The cursor of the second page.
async fn cursor_of(app: &App, path: &str) -> String {
    let next = ask(app, &and(path, "limit=1")).await.next_page();
    let next = next.unwrap_or_else(|| panic!("{path} has one page"));
    next.split_once("cursor=").unwrap().1.to_owned()
}

async fn a_cursor_comes_from_a_link(app: &App) {
    let user = unique("pager");
    for _ in 0..2 {
        let more = json!({"monthlyRent": 900, "latitude": 1, "longitude": 1});
        app.add_listing(with(listing(&unique("page"), &user), more)).await;
    }
    let path = format!("/listings?userId={user}");
    let good = cursor_of(app, &path).await;
    app.get(&format!("{path}&limit=1&cursor={good}")).await.json(200);
    let digits = &good[1..];
    for cursor in
        ["", "x", "0", digits, &format!("{good}0"), &format!("g{digits}"), &format!("F{digits}"), "%00"]
    {
        let answer = app.get(&format!("{path}&limit=1&cursor={cursor}")).await;
        answer.has_faults(&[("cursor", "not_a_cursor")]);
    }
    app.get(&format!("{path}&limit=1&cursor={}", encoded(&"ü".repeat(24)))).await.problem(400);
    // A cursor with any number is only a position.
    for path in [path.as_str(), "/listings?minRent=1", "/listings?near=1,1", "/listings?searchTerm=pa"] {
        let query = cursor_of(app, path).await.split_off(32);
        for number in
            ["f".repeat(32), "7fffffffffffffff".repeat(2), "8000000000000000".repeat(2), "0".repeat(32)]
        {
            app.get(&format!("{path}&limit=3&cursor={number}{query}")).await.json(200);
        }
    }
}

/// With a cursor of another list, a page would skip items.
async fn a_cursor_belongs_to_its_query(app: &App) {
    let (user, other) = (unique("pager"), unique("pager"));
    for owner in [&user, &user, &other, &other] {
        app.add_listing(listing(&unique("page"), owner)).await;
    }
    let cursor = cursor_of(app, &format!("/listings?userId={user}&sort=newest")).await;
    for path in [
        format!("/listings?userId={other}&sort=newest"),
        format!("/listings?userId={user}&sort=rent"),
        format!("/listings?userId={user}"),
        "/listings?sort=newest".to_owned(),
        format!("/stage/listings/user/{user}"),
        format!("/v1/depin-devices/user/{user}"),
        "/v1/audit".to_owned(),
    ] {
        let answer = ask(app, &and(&path, &format!("cursor={cursor}"))).await;
        answer.has_faults(&[("cursor", "not_a_cursor")]);
    }
    let same = format!("/listings?sort=newest&limit=5&userId={user}&cursor={cursor}");
    assert_eq!(ask(app, &same).await.json(200).as_array().unwrap().len(), 1);
}

async fn long_list_is_streamed_and_paged(engine: Engine) {
    const COUNT: usize = 3000;
    let app = Options::new(engine).start().await;
    app.operator();
    stream::iter(0..COUNT)
        .map(async |number| {
            let more = json!({
                "city": format!("City {}", number % 3), "monthlyRent": number % 100, "latitude": 1,
                "longitude": 1.0 + f64::from(u32::try_from(number).unwrap()) / 1e4,
            });
            app.add_listing(with(
                listing(&format!("listing {number}"), &format!("user {}", number % 7)),
                more,
            ))
            .await;
        })
        .buffer_unordered(64)
        .collect::<Vec<()>>()
        .await;
    let all: BTreeSet<String> = (0..COUNT).map(|number| format!("listing {number}")).collect();
    let lists = [
        ("/listings", COUNT),
        ("/listings?searchTerm=listing", COUNT),
        // A short term, which uses another plan: every postal code has an 8.
        ("/listings?searchTerm=8", COUNT),
        ("/listings?minRent=0", COUNT),
        ("/listings?near=1,1&radiusKm=100", COUNT),
        ("/stage/listings/city/city%201", COUNT / 3),
        ("/stage/listings/search?field=state&value=tx", COUNT),
    ];
    for (path, count) in lists {
        let answer = ask(&app, path).await;
        assert_eq!(answer.next_page(), None);
        let whole = answer.json(200).as_array().unwrap().clone();
        assert_eq!(whole.len(), count, "{path}");
        let id = |listing: &Value| {
            listing.get("listingId").unwrap_or(&listing["ListingId"]["S"]).as_str().unwrap().to_owned()
        };
        let found: BTreeSet<String> = whole.iter().map(id).collect();
        assert_eq!(found.len(), whole.len(), "{path}: nothing comes twice");
        assert!(found.is_subset(&all), "{path}");
        for limit in [999, 1000] {
            assert_eq!(in_pages(&app, path, limit).await.0, whole, "{path} by {limit}");
        }
    }
    let rents = ask(&app, "/listings?minRent=0").await.json(200);
    let rents: Vec<i64> =
        rents.as_array().unwrap().iter().map(|one| one["monthlyRent"].as_i64().unwrap()).collect();
    assert!(rents.is_sorted());
}
