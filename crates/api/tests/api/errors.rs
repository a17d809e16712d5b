//! Error responses: status, shape, and no leaks.

use std::time::Duration;

use portico_api::{AllowedHosts, Limits};
use reqwest::Method;
use serde_json::json;

use crate::support::{
    App, Engine, Options, encoded, ids, listing, on_both_engines, run, unique, until, with,
};

on_both_engines! {
    shared:
        unknown_path_is_404,
        wrong_method_is_405_with_allow_header,
        wrong_content_type_is_415,
        body_over_a_mebibyte_is_413,
        caller_can_choose_the_request_id,
        another_host_is_421,
        ids_in_paths_may_hold_anything,
        path_with_invalid_utf8_is_refused,
        path_with_an_impossible_id_is_not_found,
        query_with_invalid_utf8_finds_nothing,
        error_does_not_echo_input;
}

async fn unknown_path_is_404(app: &App) {
    let paths = [
        "/nothing",
        "/listings/",
        "/listings/a/b",
        "/v1",
        "/v1/",
        "/stage",
        "/stage/listings/",
        "/V1/predefined-portfolios",
        "/listings//",
        "//listings",
        "/verificationPipeline/",
        "/docs/nothing.js",
        "/docs/..%2f..%2fetc%2fpasswd",
    ];
    for path in paths {
        app.get(path).await.refused(404, "not_found");
    }
    app.post("/nothing", json!({})).await.refused(404, "not_found");
}

async fn wrong_method_is_405_with_allow_header(app: &App) {
    let cases = [
        (Method::PATCH, "/listings", vec!["GET", "HEAD", "POST"]),
        (Method::DELETE, "/listings", vec!["GET", "HEAD", "POST"]),
        (Method::GET, "/listings/oak", vec!["DELETE"]),
        (Method::OPTIONS, "/listings", vec!["GET", "HEAD", "POST"]),
        (Method::POST, "/v1/user-portfolio/x", vec!["DELETE", "GET", "HEAD", "PUT"]),
        (Method::from_bytes(b"BREW").unwrap(), "/v1/keys", vec!["GET", "HEAD", "POST"]),
        (Method::PUT, "/readyz", vec!["GET", "HEAD"]),
    ];
    for (method, path, allowed) in cases {
        let answer = app.request(method, path).send().await;
        let mut allow: Vec<&str> = answer.header("allow").split(',').map(str::trim).collect();
        allow.sort_unstable();
        assert_eq!(allow, allowed, "{path}");
        answer.refused(405, "method_not_allowed");
    }
}

async fn wrong_content_type_is_415(app: &App) {
    let body = |id: &str| listing(id, "ada").to_string();
    let post = || app.request(Method::POST, "/listings");
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "text/json",
        "application/jsonp",
        "x",
        "application/xml",
    ] {
        let id = unique("typed");
        let answer = post().header("content-type", kind).bare_body(body(&id)).send().await;
        answer.refused(415, "unsupported_media_type");
        assert_eq!(app.get(&format!("/listings?listingId={id}")).await.json(200), json!([]), "{kind}");
    }
    for kind in ["application/json", "Application/JSON; charset=utf-8", "application/vnd.portico+json"] {
        let answer = post().header("content-type", kind).bare_body(body(&unique("typed"))).send().await;
        answer.only_message(201);
    }
    post().bare_body(body(&unique("typed"))).send().await.only_message(201);
}

async fn body_over_a_mebibyte_is_413(app: &App) {
    let (id, limit) = (unique("large"), 1 << 20);
    let exactly = |length: usize| {
        let body = with(listing(&id, "ada"), json!({"padding": ""})).to_string();
        body.replace(r#""padding":"""#, &format!(r#""padding":"{}""#, "x".repeat(length - body.len())))
    };
    assert_eq!(exactly(limit).len(), limit);
    let post = |body: String| app.request(Method::POST, "/listings").body(body).send();
    post(exactly(limit + 1)).await.refused(413, "body_too_large");
    assert_eq!(app.get(&format!("/listings?listingId={id}")).await.json(200), json!([]));
    post(exactly(limit)).await.only_message(201);
}

async fn caller_can_choose_the_request_id(app: &App) {
    let (first, second) = (app.get("/healthz").await, app.get("/healthz").await);
    assert_ne!(first.header("x-request-id"), "");
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
    let ask = |id: &str| app.to_get("/nothing").header("x-request-id", id).send();
    let answer = ask("My-Id_1.2").await;
    assert_eq!(answer.header("x-request-id"), "My-Id_1.2");
    assert_eq!(answer.problem(404)["requestId"], "My-Id_1.2");
    for harmful in ["a b", "<script>", "a\"b", &"x".repeat(65), ""] {
        assert_ne!(ask(harmful).await.header("x-request-id"), harmful);
    }
}

async fn another_host_is_421(app: &App) {
    let ask = |host: &str| app.to_get("/listings?listingId=x").header("host", host).send();
    let others = [
        "evil.example",
        "evil.example:8080",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "",
        "[::2]:80",
    ];
    for host in others {
        ask(host).await.refused(421, "host_not_allowed");
    }
    for host in ["localhost", "LOCALHOST:1234", "127.0.0.1", "127.0.0.1:80", "[::1]:80"] {
        ask(host).await.status(200);
    }
}

#[test]
fn open_sandbox_still_checks_the_host() {
    run(async {
        let names = ["localhost", "portico.test"].map(String::from);
        let hosts = AllowedHosts { names: Some(names.into()), any_address: true };
        let app = Options { hosts, ..Options::new(Engine::Sqlite) }.start().await;
        let ask = |host: &str| app.to_get("/healthz").header("host", host).send();
        for host in ["evil.example", "10.0.0.1.evil.example", "[evil]:80", ""] {
            ask(host).await.refused(421, "host_not_allowed");
        }
        for host in ["localhost", "portico.test:8080", "10.0.0.1:8080", "[2001:db8::1]:80"] {
            ask(host).await.status(200);
        }
    });
}

async fn ids_in_paths_may_hold_anything(app: &App) {
    let odd = [
        "a/b", "/", "//a//", "a b", "ü/ö é", "日本", "100%", "%2F", "%25", "a?b#c", "a&b=c", "a;b", "a+b",
        "..", "./x", "'\"`", "{id}", ":id", "*", "a\\b", "🏠", "\u{e9}", "<script>", "$1", "null", "0",
        "stats", "search", "a,b",
    ];
    let key = app.operator();
    for id in odd {
        let (id, user) = (format!("{id} {}", unique("x")), format!("{id} {}", unique("u")));
        app.add_listing(listing(&id, &user)).await;
        let (path_id, path_user) = (encoded(&id), encoded(&user));
        let record = app.to_get(&format!("/stage/listing/{path_id}")).key(key).send().await.json(200);
        assert_eq!(record["ListingId"], json!({"S": id}));
        let own = app.to_get(&format!("/stage/listings/user/{path_user}")).key(key).send().await.json(200);
        assert_eq!(own, json!([record]));
        assert_eq!(
            ids(&app.get(&format!("/listings?userId={path_user}")).await.json(200), "listingId"),
            [id.as_str()]
        );
        assert_eq!(
            ids(&app.get(&format!("/listings?searchTerm={path_id}")).await.json(200), "listingId"),
            [id.as_str()]
        );
        let saved = json!({"userId": user, "listingId": id});
        app.to_post("/stage/savedListings", &saved).key(key).send().await.only_message(200);
        let saved = app.to_get(&format!("/stage/savedListings/{path_user}")).key(key).send().await.json(200);
        assert_eq!(saved["savedListings"], json!({"UserKey": user, "ListingIds": {"SS": [id]}}));
        let unsave = format!("/stage/savedListings/{path_user}/{path_id}");
        app.request(Method::DELETE, &unsave).key(key).send().await.only_message(200);
        let check = format!("/applications/{path_user}/{path_id}/check");
        app.post(&check, json!({"userId": user, "listingIds": []})).await.refused(409, "own_listing");
        let applicant = format!("{user}!");
        let applications = format!("/applications/{}", encoded(&applicant));
        let check = format!("{applications}/{path_id}/check");
        app.post(&check, json!({"userId": applicant, "listingIds": []})).await.only_message(201);
        let applied = app.to_get(&applications).key(key).send().await.json(200);
        assert_eq!(applied, json!({"userId": applicant, "listingIds": [id]}));
        app.delete(&format!("/listings/{path_id}")).await.status(200);
    }
}

async fn path_with_invalid_utf8_is_refused(app: &App) {
    for path in ["/listings/%ff", "/listings/%c3%28", "/listings/%ed%a0%80", "/listings/a%f5b"] {
        let answer = app.delete(path).await;
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.status);
        let status = answer.status;
        answer.problem(status);
    }
}

async fn path_with_an_impossible_id_is_not_found(app: &App) {
    for id in ["%00", "a%0ab", "%20", "%7f", &"x".repeat(256), &encoded(&"ü".repeat(256))] {
        app.delete(&format!("/listings/{id}")).await.refused(404, "not_found");
        app.get(&format!("/v1/depin-device/{id}")).await.refused(404, "not_found");
    }
    let longest = "ü".repeat(255);
    app.delete(&format!("/listings/{}", encoded(&longest))).await.refused(404, "listing_not_found");
}

async fn query_with_invalid_utf8_finds_nothing(app: &App) {
    for query in ["userId=%ff%fe", "searchTerm=%c3%28xyzzy", "listingId=%ed%a0%80"] {
        let answer = app.get(&format!("/listings?{query}")).await;
        match answer.status {
            200 => assert_eq!(answer.json(200), json!([]), "{query}"),
            _ => drop(answer.problem(400)),
        }
    }
    assert_ne!(app.get("/listings?limit=2&%ff=1&x=%zz&&=&a").await.status / 100, 5);
}

async fn error_does_not_echo_input(app: &App) {
    const SECRET: &str = "sEcReT-900-00-0720";
    let ada = app.someone().await;
    let long = format!("{SECRET}{}", "x".repeat(5000));
    let all_wrong = json!({
        "listingId": [SECRET], "userId": {SECRET: 1}, "streetAddress": format!("{SECRET}\u{7}"), "city": long,
        "state": long, "postalCode": format!("\u{0}{SECRET}"), "monthlyRent": SECRET, "bedRoomCount": SECRET,
        "latitude": SECRET,
    });
    let portfolio = json!({
        "userId": format!("{SECRET}\n"), "riskLevel": SECRET, "isCustom": SECRET,
        "protocolItems": [{"protocolName": long, "protocolIdentifier": {SECRET: SECRET}, "allocationPercentage": SECRET}],
    });
    let post =
        |path: &str, body: String| app.request(Method::POST, path).bearer(&ada.token).body(body).send();
    let answers = [
        post("/listings", all_wrong.to_string()).await,
        post("/v1/user-portfolio", portfolio.to_string()).await,
        post("/listings", format!("{{\"a\": {SECRET}}}")).await,
        post("/listings", format!("[\"{SECRET}\"]")).await,
        post("/listings", format!("{{\"{SECRET}\" 5")).await,
        post("/listings", format!("{{\"{SECRET}\": 1, \"{SECRET}\": 2}}")).await,
        post("/v1/user-portfolio", format!("{{\"protocolItems\": [{{\"{SECRET}\": 1, \"{SECRET}\": 1}}]}}"))
            .await,
        post("/listings", listing(SECRET, SECRET).to_string()).await,
        post(
            &format!("/applications/{SECRET}/{SECRET}/check"),
            json!({"userId": "x", "listingIds": []}).to_string(),
        )
        .await,
        app.get(&format!(
            "/listings?minRent={SECRET}&near={SECRET}&bbox={SECRET}&limit={SECRET}&cursor={SECRET}"
        ))
        .await,
        app.get(&format!("/v1/predefined-portfolios/risk/{SECRET}")).await,
        app.get(&format!("/{SECRET}")).await,
        app.get(&format!("/v1/chain/transactions/{SECRET}")).await,
        app.get(&format!("/v1/chain/blocks/{SECRET}")).await,
        app.get(&format!("/stage/listings/search?field={SECRET}&value={SECRET}")).await,
        app.to_get("/v1/keys").bearer(&format!("{SECRET}.{SECRET}.{SECRET}")).send().await,
        app.to_post("/listings", &json!({}))
            .bearer(&ada.token)
            .once(&format!("{SECRET} {SECRET}"))
            .send()
            .await,
        app.request(Method::from_bytes(SECRET.as_bytes()).unwrap(), "/listings").send().await,
        app.request(Method::POST, "/listings").header("content-type", SECRET).bare_body("{}").send().await,
        app.get(&format!("/v1/depin-device/{SECRET}")).await,
        app.get(&format!("/requirements/{SECRET}/{SECRET}")).await,
        app.to_get("/listings").bearer(SECRET).send().await,
        app.to_get("/listings").key(SECRET).send().await,
        app.to_get("/listings").header("authorization", SECRET).send().await,
        app.to_get(&format!("/verificationPipeline?accountId={SECRET}")).bearer(&ada.token).send().await,
    ];
    for answer in answers {
        let status = answer.status;
        assert!((400..500).contains(&status), "{}: {status}", answer.request);
        let shown = format!("{:?} {}", answer.headers, answer.text());
        assert!(!shown.contains(SECRET) && !shown.contains("900-00"), "{}: {shown}", answer.request);
        for internal in ["SELECT", "sqlite", "rusqlite", "postgres", "crates/", ".rs", "panicked", "Some("] {
            assert!(!shown.contains(internal), "{}: {internal} in {shown}", answer.request);
        }
        answer.problem(status);
    }
}

fn with_rate(rate: u32, trusted_hops: usize) -> Options {
    let limits = Limits { rate, ..Limits::default() };
    Options { limits, trusted_hops, ..Options::new(Engine::Sqlite) }
}

#[test]
fn rate_limit_per_address_is_429() {
    run(async {
        let app = with_rate(1, 0).start().await;
        app.get("/listings").await.status(200);
        let refused = until("a request is refused", 10, async || {
            Some(app.get("/listings").await).filter(|answer| answer.status != 200)
        });
        let refused = refused.await;
        assert_eq!(refused.header("retry-after"), "1");
        refused.refused(429, "rate_limited");
        until("requests are taken again", 10, async || {
            (app.get("/listings").await.status == 200).then_some(())
        })
        .await;
    });
}

#[test]
fn each_client_behind_a_trusted_proxy_has_its_own_limit() {
    run(async {
        let app = with_rate(1, 1).start().await;
        let from = |clients: &'static str| app.to_get("/listings").header("x-forwarded-for", clients).send();
        for client in ["192.0.2.1", "192.0.2.2", "198.51.100.1, 192.0.2.3"] {
            from(client).await.status(200);
        }
        // Only the entry of the trusted proxy counts; clients can forge the others.
        until("the third client is refused under another name", 10, async || {
            (from("203.0.113.9, 192.0.2.3").await.status == 429).then_some(())
        })
        .await;
    });
}

#[test]
fn untrusted_forwarded_header_is_ignored() {
    run(async {
        let app = with_rate(1, 0).start().await;
        let mut number = 0;
        until("a request is refused", 10, || {
            number += 1;
            let request =
                app.to_get("/listings").header("x-forwarded-for", &format!("192.0.2.{}", number % 250));
            async { (request.send().await.status == 429).then_some(()) }
        })
        .await;
    });
}

#[test]
fn body_with_many_names_does_not_block_the_server() {
    run(async {
        let app = Options::new(Engine::Sqlite).start().await;
        // The largest allowed body, with as many names as fit.
        let names: Vec<String> = (0..100_000).map(|number| format!("\"{number}\":0")).collect();
        let body = format!("{{{}}}", names.join(","));
        assert!(body.len() < 1 << 20);
        let asking = (0..4).map(|_| app.request(Method::POST, "/v1/depin-device").body(body.clone()).send());
        let answers = tokio::time::timeout(Duration::from_secs(10), futures_util::future::join_all(asking));
        let answers = answers.await.expect("four such bodies are read within ten seconds");
        for answer in answers {
            answer.has_faults(&[
                ("/userId", "missing"),
                ("/network", "missing"),
                ("/deviceIdentifier", "missing"),
            ]);
        }
    });
}
