//! Health, metrics, the OpenAPI document, pages, and CORS.

use std::collections::BTreeSet;

use portico_api::Limits;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, App, Engine, Options, listing, on_both_engines, run, unique, until};

on_both_engines! {
    shared:
        health_endpoints,
        head_answers_like_get_without_a_body,
        responses_have_no_store_and_nosniff,
        reference_page_loads_nothing_external,
        metrics_count_by_route_and_hold_no_ids,
        other_origins_get_no_cors_headers,
        other_origins_cannot_write_to_the_sandbox;
}

async fn health_endpoints(app: &App) {
    for path in ["/healthz", "/readyz"] {
        assert_eq!(app.get(path).await.json(200), json!({"status": "ok"}));
    }
    assert_eq!(app.get("/").await.status(307).header("location"), "/console/");
}

async fn head_answers_like_get_without_a_body(app: &App) {
    app.add_listing(listing(&unique("head"), "ada")).await;
    let user = unique("nobody");
    for path in
        [format!("/listings?userId={user}"), "/healthz".into(), "/docs/".into(), "/openapi.json".into()]
    {
        let (get, head) = (app.get(&path).await, app.request(Method::HEAD, &path).send().await);
        assert_eq!((head.status, head.text()), (200, ""), "{path}");
        for name in ["content-type", "content-length", "cache-control"] {
            assert_eq!(head.header(name), get.header(name), "{path}: {name}");
        }
    }
    let streamed = app.request(Method::HEAD, "/listings").send().await;
    assert_eq!((streamed.status, streamed.text()), (200, ""));
    let refused = app.request(Method::HEAD, "/nothing").send().await;
    assert_eq!((refused.status, refused.text()), (404, ""));
    assert_eq!(refused.header("content-type"), "application/problem+json");
    let refused = app.request(Method::HEAD, "/stage/listing/x").send().await;
    assert_eq!((refused.status, refused.text()), (401, ""));
}

async fn responses_have_no_store_and_nosniff(app: &App) {
    let answers = [
        app.get("/listings?listingId=x").await,
        app.get("/nothing").await,
        app.get("/stage/listing/x").await,
        app.request(Method::PATCH, "/listings").send().await,
        app.post("/v1/sandbox/sessions", json!({"userId": unique("ada")})).await,
    ];
    for answer in answers {
        assert_eq!(answer.header("cache-control"), "no-store", "{}", answer.request);
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{}", answer.request);
        assert_ne!(answer.header("x-request-id"), "", "{}", answer.request);
    }
}

/// The values of `src="…"` and `href="…"`.
fn references(html: &str) -> Vec<&str> {
    let after = |mark: &'static str| html.split(mark).skip(1).map(|rest| rest.split('"').next().unwrap());
    after("src=\"").chain(after("href=\"")).collect()
}

async fn reference_page_loads_nothing_external(app: &App) {
    assert_eq!(app.get("/docs").await.status(308).header("location"), "/docs/");
    let page = app.get("/docs/").await.status(200);
    assert!(page.header("content-type").starts_with("text/html"), "{:?}", page.headers);
    let files = references(page.text());
    assert!(!page.text().contains("://"), "{}", page.text());
    let mut answers = Vec::new();
    for file in files {
        assert!(!file.starts_with('/') && !file.contains(':'), "{file} lies below the page");
        let answer = app.get(&format!("/docs/{}", file.trim_start_matches("./"))).await.status(200);
        assert!(!answer.body.is_empty(), "{file}");
        answers.push(answer);
    }
    let is_script = |answer: &&Answer| answer.header("content-type").contains("javascript");
    assert!(answers.iter().filter(is_script).count() >= 2, "{answers:?}");
    let start = answers.iter().find(|answer| answer.request.contains("initializer")).unwrap();
    assert!(start.text().contains("/openapi.json"), "{}", start.text());
    assert!(!start.text().contains("://"), "{}", start.text());
    answers.push(page);
    for answer in &answers {
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"), "{policy}");
        assert!(
            !policy.contains("://") && !policy.contains('*') && !policy.contains("unsafe-eval"),
            "{policy}"
        );
    }
}

async fn metrics_count_by_route_and_hold_no_ids(app: &App) {
    let (user, id) = (unique("metric-user"), unique("metric-id"));
    app.add_listing(listing(&id, &user)).await;
    app.to_get(&format!("/stage/listing/{id}")).key(app.operator()).send().await.json(200);
    app.get(&format!("/v1/user-portfolios/{user}")).await.json(200);
    app.get(&format!("/listings?userId={user}")).await.json(200);
    app.get(&format!("/{id}")).await.problem(404);
    app.request(Method::from_bytes(b"METRIC-ID").unwrap(), "/listings").send().await.problem(405);
    let metrics = app.get("/metrics").await.status(200);
    assert!(
        metrics.header("content-type").starts_with("application/openmetrics-text"),
        "{:?}",
        metrics.headers
    );
    let text = metrics.text();
    for line in [
        "# TYPE portico_http_request_duration_seconds histogram",
        "portico_http_request_duration_seconds_bucket{le=\"+Inf\",method=\"GET\",route=\"/stage/listing/{ListingKey}\"}",
        "portico_http_request_duration_seconds_count{method=\"GET\",route=\"/v1/user-portfolios/{userId}\"}",
        "portico_http_request_duration_seconds_sum{method=\"POST\",route=\"/listings\"}",
        "portico_http_requests_total{method=\"GET\",route=\"/listings\",status=\"200\"}",
        "portico_http_requests_in_flight ",
    ] {
        assert!(text.lines().any(|one| one.starts_with(line)), "{line} in\n{text}");
    }
    assert!(
        !text.contains("metric-user") && !text.contains("metric-id") && !text.contains("METRIC"),
        "{text}"
    );
    // Every route is a documented template, empty, or `/rpc`.
    let document = app.get("/openapi.json").await.json(200);
    let known: BTreeSet<&str> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    for route in text.split("route=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(["", "/rpc"].contains(&route) || known.contains(route), "{route}");
    }
}

fn cors(answer: &Answer) -> Vec<(String, String)> {
    let named = answer.headers.iter().filter(|(name, _)| name.as_str().starts_with("access-control-"));
    named.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
}

async fn other_origins_get_no_cors_headers(app: &App) {
    let answer = app.to_get("/listings?listingId=x").header("origin", "https://app.example").send().await;
    assert_eq!(cors(&answer.status(200)), []);
    let preflight = app.request(Method::OPTIONS, "/listings").header("origin", "https://app.example");
    let preflight = preflight.header("access-control-request-method", "POST").send().await;
    assert_eq!(cors(&preflight), []);
    preflight.refused(405, "method_not_allowed");
}

async fn other_origins_cannot_write_to_the_sandbox(app: &App) {
    let id = unique("oak");
    let post = |origin: &str| app.to_post("/listings", &listing(&id, "ada")).header("origin", origin).send();
    let port = app.address().rsplit_once(':').unwrap().1.to_owned();
    let (other_port, other_name) =
        (format!("http://{}", app.address().replace(&port, "1")), format!("http://localhost:{port}"));
    for origin in ["https://evil.example", "null", "", "http://", &other_port, &other_name] {
        post(origin).await.refused(403, "foreign_origin");
        let delete = app.request(Method::DELETE, &format!("/listings/{id}")).header("origin", origin);
        delete.send().await.refused(403, "foreign_origin");
        let demo = app.request(Method::POST, "/v1/sandbox/demo").header("origin", origin);
        demo.send().await.refused(403, "foreign_origin");
        app.to_get("/listings?listingId=x").header("origin", origin).send().await.status(200);
    }
    assert_eq!(app.get(&format!("/listings?listingId={id}")).await.json(200), json!([]));
    post(&format!("http://{}", app.address())).await.status(201);
}

fn with_origins(origins: &[&str]) -> Options {
    let origins = origins.iter().map(|&origin| origin.to_owned()).collect();
    Options { origins, ..Options::new(Engine::Sqlite) }
}

#[test]
fn allowed_origins_can_read_error_responses() {
    run(async {
        let options = with_origins(&["https://app.example"]);
        let app = Options { limits: Limits { rate: 1, ..Limits::default() }, ..options }.start().await;
        let ask = || app.to_get("/listings").header("origin", "https://app.example").send();
        let answer = until("there were too many", 10, async || {
            Some(ask().await).filter(|answer| answer.status == 429)
        })
        .await;
        assert_eq!(answer.header("access-control-allow-origin"), "https://app.example");
        assert!(
            answer.header("access-control-expose-headers").contains("retry-after"),
            "{:?}",
            answer.headers
        );
        assert!(answer.header("access-control-expose-headers").contains("ratelimit-policy"));
        assert_eq!(answer.header("ratelimit-policy"), r#""requests";q=1;w=1"#);
        assert_eq!(answer.header("ratelimit"), r#""requests";r=0;t=1"#);
        assert_eq!(answer.header("retry-after"), "1");
        answer.refused(429, "rate_limited");
        let admitted = until("there is more again", 10, async || {
            Some(ask().await).filter(|answer| answer.status == 200)
        });
        assert_eq!(admitted.await.header("ratelimit"), r#""requests";r=0;t=1"#);
        assert_eq!(app.get("/healthz").await.status(200).header("ratelimit"), "");
    });
}

#[test]
fn only_the_configured_origins_may_call_from_a_browser() {
    run(async {
        let app = with_origins(&["https://app.example", "http://localhost:3000"]).start().await;
        let allowed = |answer: &Answer| answer.header("access-control-allow-origin").to_owned();
        let get = |path: &str, origin: &str| app.to_get(path).header("origin", origin).send();
        for origin in ["https://app.example", "http://localhost:3000"] {
            assert_eq!(allowed(&get("/listings", origin).await.status(200)), origin);
            assert_eq!(
                allowed(&get("/nothing", origin).await.status(404)),
                origin,
                "a page reads refusals too"
            );
        }
        for origin in [
            "https://evil.example",
            "http://app.example",
            "https://app.example.evil.example",
            "https://app.example:8443",
            "null",
        ] {
            let answer = get("/listings", origin).await.status(200);
            assert_eq!(allowed(&answer), "", "{origin}");
            let preflight = app.request(Method::OPTIONS, "/listings").header("origin", origin);
            let preflight = preflight.header("access-control-request-method", "POST").send().await;
            assert_eq!(allowed(&preflight), "", "{origin}");
        }
        let preflight =
            app.request(Method::OPTIONS, "/v1/user-portfolio/x").header("origin", "https://app.example");
        let preflight = preflight
            .header("access-control-request-method", "PUT")
            .header("access-control-request-headers", "authorization,content-type,idempotency-key,x-api-key");
        let answer = preflight.send().await.status(200);
        assert_eq!(allowed(&answer), "https://app.example");
        for method in ["GET", "POST", "PUT", "DELETE"] {
            assert!(answer.header("access-control-allow-methods").contains(method), "{:?}", answer.headers);
        }
        for header in ["authorization", "content-type", "idempotency-key", "x-api-key"] {
            assert!(answer.header("access-control-allow-headers").contains(header), "{:?}", answer.headers);
        }
        assert_eq!(answer.header("access-control-allow-credentials"), "");
        let post = |origin: &str| {
            app.to_post("/listings", &listing(&unique("oak"), "ada")).header("origin", origin).send()
        };
        assert_eq!(allowed(&post("https://app.example").await.status(201)), "https://app.example");
        post("https://evil.example").await.refused(403, "foreign_origin");
        let exposed = get("/listings", "https://app.example").await;
        assert!(exposed.header("access-control-expose-headers").contains("link"), "{:?}", exposed.headers);
    });
}

#[test]
fn openapi_describes_every_operation() {
    let app = App::shared(Engine::Sqlite);
    run(async {
        let document = app.get("/openapi.json").await.json(200);
        assert_eq!(document["openapi"], "3.1.0");
        let mut names = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let at = format!("{method} {path}");
                let name = operation["operationId"].as_str().unwrap_or_else(|| panic!("{at}: no name"));
                assert!(names.insert(name.to_owned()), "{at}: {name} is taken");
                for text in ["summary", "description"] {
                    assert!(operation[text].as_str().is_some_and(|text| !text.is_empty()), "{at}");
                }
                let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
                let has = |place: &str, name: &str| {
                    parameters.iter().any(|one| one["in"] == place && one["name"] == name)
                };
                for part in path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()) {
                    assert!(has("path", part), "{at}: {part} is not described");
                }
                let takes_key =
                    parameters.iter().any(|one| one["$ref"] == "#/components/parameters/Idempotency-Key");
                assert_eq!(takes_key, method == "post" && path != "/rpc", "{at}");
                let responses = operation["responses"].as_object().unwrap();
                let is_success = |status: &&String| status.starts_with('2');
                let successes = if path == "/rpc" { 2 } else { 1 };
                assert_eq!(responses.keys().filter(is_success).count(), successes, "{at}");
                for (status, response) in
                    responses.iter().filter(|(status, _)| status.starts_with(['4', '5']))
                {
                    let name = response["$ref"].as_str().and_then(|path| path.rsplit('/').next());
                    let response = &document["components"]["responses"][name.unwrap_or_default()];
                    assert_eq!(
                        response["headers"]["X-Request-Id"]["$ref"],
                        "#/components/headers/X-Request-Id"
                    );
                    let problem = &response["content"]["application/problem+json"]["schema"]["$ref"];
                    assert_eq!(problem, "#/components/schemas/Problem", "{at}: {status}");
                }
                if let Some(body) = operation.get("requestBody") {
                    assert_ne!(
                        body["content"]["application/json"]["example"],
                        Value::Null,
                        "{at}: no example"
                    );
                    assert!(responses.contains_key("400") && responses.contains_key("413"), "{at}");
                }
            }
        }
    });
}

#[test]
fn openapi_types_every_list() {
    let app = App::shared(Engine::Sqlite);
    run(async {
        let document = app.get("/openapi.json").await.json(200);
        for (path, of) in [
            ("/v1/pipelines", "Pipeline"),
            ("/v1/chain/blocks", "Block"),
            ("/v1/users/{userId}/applications", "ApplicationSummary"),
            ("/v1/consents", "Consent"),
            ("/v1/listings/{id}/records", "Record"),
            ("/v1/applications/{userId}/{listingId}/records", "Record"),
        ] {
            let content = &document["paths"][path]["get"]["responses"]["200"]["content"];
            let schema = &content["application/json"]["schema"];
            assert_eq!(schema["type"], "array", "{path}");
            assert_eq!(schema["items"]["$ref"], format!("#/components/schemas/{of}"), "{path}");
        }
        assert_eq!(document["components"]["schemas"]["Vec"], Value::Null);
    });
}
