//! Users and accounts in another than their canonical form are rejected wherever one is read.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::tokens::{Signer, now};
use crate::support::{App, Request, encoded, listing, on_both_engines, unique, with};

on_both_engines! {
    shared:
        look_alike_token_does_not_act_as_another_user,
        token_subject_and_account_must_be_canonical,
        paths_queries_and_bodies_must_be_canonical;
}

/// What comes before and after a name, and the code of the fault.
const FAULTS: [(&str, &str, &str); 8] = [
    ("", "\u{a0}", "outer_space"),
    (" ", "", "outer_space"),
    ("", "\u{3000}", "outer_space"),
    ("", "\u{200b}", "invisible_character"),
    ("\u{202e}", "", "control_character"),
    ("", "\u{e0041}", "invisible_character"),
    ("", "e\u{301}", "not_normalized"),
    ("", "\u{85}", "control_character"),
];

fn claims(sub: &str) -> Value {
    json!({
        "iss": "portico", "aud": "portico", "sub": sub, "exp": now() + 600, "iat": now(), "portico_profile": "sandbox",
    })
}

async fn look_alike_token_does_not_act_as_another_user(app: &App) {
    let (signer, victim) = (Signer::of_server(app).await, unique("victim"));
    let id = unique("home");
    app.add_listing(listing(&id, &victim)).await;
    for (before, after, _) in FAULTS {
        let token = signer.sign(&claims(&format!("{before}{victim}{after}")));
        let delete = app.request(Method::DELETE, &format!("/listings/{id}")).bearer(&token);
        delete.send().await.refused(401, "unauthenticated");
    }
    let token = signer.sign(&claims(&victim));
    app.request(Method::DELETE, &format!("/listings/{id}")).bearer(&token).send().await.status(200);
}

async fn token_subject_and_account_must_be_canonical(app: &App) {
    let (signer, name) = (Signer::of_server(app).await, unique("zoe"));
    let too_long = "x".repeat(256);
    let wrong = FAULTS.map(|(before, after, _)| format!("{before}{name}{after}"));
    for wrong in wrong.iter().chain([&too_long]) {
        for (claim, claims) in
            [("sub", claims(wrong)), ("account", with(claims("zoe"), json!({"account": wrong})))]
        {
            let answer = app.to_get("/v1/keys").bearer(&signer.sign(&claims)).send().await;
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            let problem = answer.problem(401);
            let detail = problem["detail"].as_str().unwrap();
            assert!(
                detail.starts_with(&format!("the bearer token is not valid: its {claim} must ")),
                "{detail}"
            );
            assert!(!detail.contains(&name) && !detail.contains("xxx"), "{detail}");
        }
    }
    let token = signer.sign(&with(claims(&name), json!({"account": "Zo\u{eb} & Co"})));
    app.to_get("/v1/keys").bearer(&token).send().await.status(200);
}

/// Asserts that one of the faults is this one, and that the value is not repeated.
fn names_fault(problem: &Value, place: (&str, &str), code: &str, name: &str) {
    let (kind, place) = place;
    let faults = problem["errors"].as_array().unwrap();
    let found = faults.iter().any(|fault| fault[kind] == place && fault["code"] == code);
    assert!(found, "{place} {code}: {problem}");
    assert!(!problem.to_string().contains(name), "{problem}");
}

/// Every operation that names a user or an account, according to the document.
async fn paths_queries_and_bodies_must_be_canonical(app: &App) {
    let document = app.get("/openapi.json").await.json(200);
    let (root, name) = (app.token(&["--sub", &unique("root"), "--scope", "admin"]), unique("quentin"));
    let mut places = Vec::new();
    for (template, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let named = parameters.filter_map(|parameter| parameter["name"].as_str());
            let body = &operation["requestBody"]["content"]["application/json"]["schema"]["properties"];
            let in_body = body.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
            let names = named.map(|name| ("parameter", name)).chain(in_body.map(|name| ("pointer", name)));
            for (kind, place) in names.filter(|(_, name)| is_user_or_account(name)) {
                places.push(format!("{method} {template} {place}"));
                for (before, after, code) in FAULTS {
                    let value = format!("{before}{name}{after}");
                    let request = request(app, method, template, kind, place, &value);
                    let answer = request.bearer(&root).key(app.operator()).send().await;
                    let pointer = format!("/{place}");
                    let at = if kind == "pointer" { (kind, pointer.as_str()) } else { (kind, place) };
                    names_fault(&answer.problem(400), at, code, &name);
                }
            }
        }
    }
    assert!(places.len() >= 24, "{places:#?}");
}

fn is_user_or_account(name: &str) -> bool {
    ["userid", "accountid", "clientid"].contains(&name.to_ascii_lowercase().as_str())
}

fn request(app: &App, method: &str, template: &str, kind: &str, place: &str, value: &str) -> Request {
    let segments = template.split('/').map(|segment| match segment.strip_prefix('{') {
        Some(parameter) if parameter.strip_suffix('}') == Some(place) => encoded(value),
        Some(_) => "1".into(),
        None => segment.to_owned(),
    });
    let mut path = segments.collect::<Vec<_>>().join("/");
    if kind == "parameter" && !template.contains(&format!("{{{place}}}")) {
        path = format!("{path}?{place}={}", encoded(value));
    }
    let body = if kind == "pointer" { json!({place: value}) } else { json!({}) };
    app.request(method.to_uppercase().parse().unwrap(), &path).json(&body)
}
