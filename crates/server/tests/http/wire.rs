//! Requests as no HTTP library sends them, and what the log says of refused ones.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::raw::{self, Raw};
use crate::support::{App, Engine, Options, ids, listing, on_both_engines, run, unique, until, with};

on_both_engines! {
    own:
        log_has_no_personal_data;
}

#[test]
fn chunked_body_over_the_limit_is_413() {
    let app = App::shared(Engine::Sqlite);
    let length = (1 << 20) + 1;
    let head = format!(
        "POST /listings HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n",
        app.address()
    );
    let answer = raw::exchange(app, format!("{head}{length:x}\r\n{}\r\n0\r\n\r\n", "x".repeat(length)));
    assert_eq!(raw::status(&answer), 413, "{answer}");
}

#[test]
fn body_far_over_the_limit_is_413() {
    let app = App::shared(Engine::Sqlite);
    // A client that sends the whole body before it reads must still get the error.
    let body = "x".repeat(5 << 20);
    for _ in 0..10 {
        let mut raw = Raw::begin_post(app, "/listings", body.len(), "");
        raw.send_if_heard(&body);
        assert_eq!(raw::status(&raw.read_to_end()), 413);
    }
}

/// A proxy in front could take another of them than this service.
#[test]
fn a_request_names_one_host() {
    let app = App::shared(Engine::Sqlite);
    let own = app.address();
    for (target, hosts) in [
        ("/healthz", vec![own, own]),
        ("/healthz", vec![own, "evil.example"]),
        ("/healthz", vec!["evil.example", own]),
        ("/healthz", vec![]),
        ("http://evil.example/healthz", vec![own]),
        (&format!("http://{own}/healthz"), vec!["localhost"]),
    ] {
        let headers: String = hosts.iter().flat_map(|host| ["Host: ", host, "\r\n"]).collect();
        let answer =
            raw::exchange(app, format!("GET {target} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
        assert_eq!(raw::status(&answer), 400, "{target} {hosts:?}: {answer}");
        assert_eq!(raw::json(&answer)["code"], "invalid_request");
    }
    let absent = raw::exchange(app, "GET /listings HTTP/1.0\r\n\r\n");
    assert!(absent.starts_with("HTTP/1.0 421"), "{absent}");
    let absolute = format!("GET http://{own}/healthz HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n");
    assert_eq!(raw::status(&raw::exchange(app, absolute)), 200);
}

#[test]
fn truncated_body_changes_nothing() {
    run(async {
        let app = App::shared(Engine::Sqlite);
        let id = unique("broken");
        let body = listing(&id, "ada").to_string();
        let raw = Raw::begin_post(app, "/listings", body.len() + 1, &body);
        raw.fall_silent();
        let told = raw.read_to_end();
        assert!(told.is_empty() || raw::status(&told) == 400, "{told}");
        let answer = app.get(&format!("/listings?listingId={id}")).await;
        assert_eq!(answer.json(200), json!([]));
    });
}

#[test]
fn overloaded_server_sheds_load() {
    run(async {
        let app = Options::new(Engine::Sqlite).flags(&["--max-in-flight", "1"]).start().await;
        let body = listing("slow", "ada").to_string();
        let (beginning, rest) = body.split_at(20);
        let mut slow = Raw::begin_post(&app, "/listings", body.len(), beginning);
        // Metrics are not limited; they count the slow request and themselves.
        until("the slow request is being worked on", 10, async || {
            let metrics = app.get("/metrics").await;
            metrics.text().contains("portico_http_requests_in_flight 2").then_some(())
        })
        .await;
        let refused = app.get("/listings").await;
        assert_eq!(refused.header("retry-after"), "1");
        refused.refused(503, "unavailable");
        for vital in ["/healthz", "/readyz", "/metrics"] {
            app.get(vital).await.status(200);
        }
        assert!(app.get("/metrics").await.text().contains("portico_http_requests_shed_total"));
        slow.send(rest);
        let answer = slow.read_to_end();
        assert_eq!(raw::status(&answer), 201, "{answer}");
        assert_eq!(ids(&app.get("/listings").await.json(200), "listingId"), ["slow"]);
    });
}

async fn log_has_no_personal_data(engine: Engine) {
    const SECRET: &str = "sEcReT-900-00-0720";
    let app = Options::new(engine).flags(&["--log", "trace"]).start().await;
    let ada = app.sign_in(&format!("{SECRET}-user")).await;
    let body =
        with(listing(&format!("{SECRET}-id"), &ada.user), json!({"city": SECRET, "streetAddress": SECRET}));
    app.to_post("/listings", &body).bearer(&ada.token).once(SECRET).send().await.only_message(201);
    app.to_post("/listings", &body).bearer(&ada.token).send().await.problem(409);
    app.to_post("/listings", &json!({"city": [SECRET]})).bearer(&ada.token).send().await.problem(400);
    app.request(Method::POST, "/listings").body(format!("{{{SECRET}")).send().await.problem(400);
    app.get(&format!("/listings?searchTerm={SECRET}&userId={}", ada.user)).await.json(200);
    app.get(&format!("/listings?minRent={SECRET}")).await.problem(400);
    app.get(&format!("/{SECRET}")).await.problem(404);
    app.to_get(&format!("/stage/savedListings/{}", ada.user)).key(&ada.key).send().await.json(200);
    app.to_get(&format!("/applications/{}", ada.user)).bearer(&ada.token).send().await.problem(404);
    app.to_get("/listings").key(&format!("test_{SECRET}_x")).send().await.problem(401);
    app.to_get("/listings").bearer(SECRET).send().await.problem(401);
    let last = app.to_get("/nothing").header("x-request-id", "the-last-one").send().await;
    last.problem(404);
    let log = until("the last request is logged", 5, async || {
        Some(app.log()).filter(|log| log.contains("the-last-one"))
    });
    let log = log.await;
    for secret in [SECRET, "900-00", &ada.token, &ada.key, ada.key.splitn(3, '_').nth(2).unwrap()] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(line["level"].is_string() && line["timestamp"].is_string(), "{line}");
    }
}
