//! Permissions: every operation, called by every kind of caller, in both profiles.

mod canonical;
mod keys;
mod table;
mod tokens;

use std::collections::BTreeSet;

use futures_util::stream::{self, StreamExt as _};
use portico_app::AccessTable;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    Answer, App, Engine, Options, Verified, applicant, listing, number, on_both_engines, on_chain, unique,
    until,
};
use table::{CALLERS, Caller, Row, Verdict};

on_both_engines! {
own:
    sandbox_permissions_match_the_table,
    live_permissions_match_the_table,
    sandbox_with_live_access_refuses_what_live_refuses,
    live_there_are_no_sandbox_sessions;
}

/// An owner, another user, and everyone's credentials.
struct World<'a> {
    app: &'a App,
    owner: String,
    other: String,
    owner_token: String,
    other_token: String,
    admin_token: String,
    owner_key: String,
    other_key: String,
}

impl<'a> World<'a> {
    async fn new(app: &'a App) -> Self {
        let (owner, other) = (unique("owner"), unique("other"));
        let world = Self {
            app,
            owner_token: app.token(&["--sub", &owner]),
            other_token: app.token(&["--sub", &other]),
            admin_token: app.token(&["--sub", &unique("root"), "--scope", "admin"]),
            owner_key: app.new_key(&["--user", &owner]),
            other_key: app.new_key(&["--user", &other]),
            owner,
            other,
        };
        let pipeline =
            app.to_post("/verificationPipeline", &json!({"EvictionCheck": true})).bearer(&world.owner_token);
        pipeline.send().await.status(200);
        app.offer(&["oak"]).await;
        world.make("/applications", json!({"userId": world.owner, "listingIds": ["oak"]})).await;
        world
    }

    /// Creates something as the operator.
    async fn make(&self, path: &str, body: Value) -> Value {
        let answer = self.app.to_post(path, &body).key(self.app.operator()).send().await;
        assert!((200..300).contains(&answer.status), "{}: {}", answer.request, answer.text());
        answer.json(answer_status(path))
    }

    /// Creates the resource of a placeholder; returns its id.
    async fn placeholder_id(&self, placeholder: &str) -> String {
        let owner = &self.owner;
        let made = match placeholder {
            "$owner" | "$person" => return owner.clone(),
            "$new" => return unique("new"),
            "$listing" => {
                let id = unique("listing");
                self.make("/listings", listing(&id, owner)).await;
                return id;
            }
            "$offered" => {
                let id = unique("offered");
                self.make("/listings", listing(&id, "landlord")).await;
                return id;
            }
            // The user and the listing of an application: of the owner, and to a listing of theirs.
            "$applied" => {
                let id = unique("applied");
                self.make("/listings", listing(&id, "landlord")).await;
                self.make("/applications", json!({"userId": owner, "listingIds": [id]})).await;
                return format!("{owner}/{id}");
            }
            "$applicant" => {
                let (id, user) = (unique("applied"), unique("applicant"));
                self.make("/listings", listing(&id, owner)).await;
                self.make("/applications", json!({"userId": user, "listingIds": [id]})).await;
                return format!("{user}/{id}");
            }
            "$onchain" => {
                let id = unique("onchain");
                self.make("/stage/listings", on_chain(&id, owner)).await;
                return id;
            }
            "$transaction" => {
                let body = on_chain(&unique("onchain"), owner);
                self.make("/stage/listings", body).await["transactionHash"].clone()
            }
            "$address" => return format!("0x{}", "11".repeat(20)),
            "$saved" => {
                let id = unique("saved");
                self.make("/stage/savedListings", json!({"userId": owner, "listingId": id})).await;
                return id;
            }
            "$record" => {
                let id = number();
                let record = json!({"listingId": id, "applicantId": 1, "requirementsMet": [true]});
                self.make("/requirements", record).await;
                return id.to_string();
            }
            "$template" => {
                let body = json!({"name": "T", "riskLevel": "Moderate"});
                self.make("/v1/predefined-portfolio", body).await["predefinedPortfolioId"].clone()
            }
            "$portfolio" => {
                let body = json!({"userId": owner, "riskLevel": "Moderate", "isCustom": true});
                self.make("/v1/user-portfolio", body).await["userPortfolioId"].clone()
            }
            "$device" => {
                let body = json!({"userId": owner, "network": "N", "deviceIdentifier": unique("device")});
                self.make("/v1/depin-device", body).await["depinDeviceId"].clone()
            }
            "$verified" => return self.verified().await.id,
            "$token" => return self.verified().await.token,
            "$key" => {
                let request = self.app.to_post("/v1/keys", &json!({"name": "k"})).bearer(&self.owner_token);
                request.send().await.json(201)["id"].clone()
            }
            unknown => panic!("{unknown} stands for nothing"),
        };
        made.as_str().unwrap().to_owned()
    }

    /// A result of the owner in a new case.
    async fn verified(&self) -> Verified {
        let query = format!("?caseId={}", unique("case"));
        self.app.verified(&self.owner_token, &query, &applicant("Lovelace")).await
    }

    /// Replaces every placeholder with a new resource.
    async fn filled(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        while let Some(at) = filled.find('$') {
            let rest = &filled[at + 1..];
            let length = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
            let placeholder = filled[at..=at + length].to_owned();
            filled = filled.replacen(&placeholder, &self.placeholder_id(&placeholder).await, 1);
        }
        filled
    }

    /// Calls an operation; retries while the chain lags behind.
    async fn call(&self, row: &Row, caller: Caller) -> Answer {
        let (path, body) = (self.filled(row.path).await, self.filled(row.body).await);
        until("the chain has caught up", 60, async || {
            let answer = self.call_once(row, &path, &body, caller).await;
            (answer.status != 503).then_some(answer)
        })
        .await
    }

    async fn call_once(&self, row: &Row, path: &str, body: &str, caller: Caller) -> Answer {
        let (method, _) = row.operation.split_once(' ').unwrap();
        let request = self.app.request(method.parse::<Method>().unwrap(), path);
        let request = if body.is_empty() { request } else { request.body(body.to_owned()) };
        let request = match caller {
            Caller::Nobody => request,
            Caller::WrongBearer => request.bearer(&altered(&self.owner_token)),
            Caller::WrongKey => request.key(&altered(&self.owner_key)),
            Caller::OtherBearer => request.bearer(&self.other_token),
            Caller::OwnerBearer => request.bearer(&self.owner_token),
            Caller::OtherKey => request.key(&self.other_key),
            Caller::OwnerKey => request.key(&self.owner_key),
            Caller::OperatorKey => request.key(self.app.operator()),
            Caller::AdminBearer => request.bearer(&self.admin_token),
        };
        request.send().await
    }
}

/// The success status of a creating operation.
fn answer_status(path: &str) -> u16 {
    if path == "/stage/savedListings" { 200 } else { 201 }
}

/// The credential with one character changed.
fn altered(credential: &str) -> String {
    let at = credential.len() - 10;
    let other = if &credential[at..=at] == "A" { "B" } else { "A" };
    format!("{}{other}{}", &credential[..at], &credential[at + 1..])
}

/// Operations such as `GET /listings`, and whether they are documented as open.
fn documented(document: &Value) -> Vec<(String, bool)> {
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let ways =
                operation["security"].as_array().unwrap_or_else(|| panic!("{method} {path}: no security"));
            let open = ways.iter().any(|way| way.as_object().is_some_and(serde_json::Map::is_empty));
            all.push((format!("{} {path}", method.to_uppercase()), open));
        }
    }
    all
}

async fn permissions_match_the_table(app: &App, verdicts: fn(&Row) -> Option<[Verdict; 9]>) {
    let rows: Vec<(Row, [Verdict; 9])> =
        table::rows().into_iter().filter_map(|row| verdicts(&row).map(|verdicts| (row, verdicts))).collect();
    let documented = documented(&app.get("/openapi.json").await.json(200));
    let named: BTreeSet<&str> = rows.iter().map(|(row, _)| row.operation).collect();
    let known: BTreeSet<&str> = documented.iter().map(|(operation, _)| operation.as_str()).collect();
    assert_eq!(named, known, "every operation has a row of the table, and every row an operation");
    let world = World::new(app).await;
    // A separate owner, so that erasure does not affect the other rows.
    let erased = World::new(app).await;
    // A few at once: every caller of every row together would wait for the database longer than a request may.
    let wrong = stream::iter(&rows).map(async |(row, verdicts)| {
        let mut wrong = Vec::new();
        let world = if row.path.contains("$person") { &erased } else { &world };
        for (caller, expected) in CALLERS.into_iter().zip(verdicts) {
            let answer = world.call(row, caller).await;
            if answer.status / 100 != 2 && answer.status < 500 {
                let (status, asked) = (answer.status, answer.request.clone());
                // Every refusal is a problem document, and a 401 has a challenge.
                let challenge = answer.header("www-authenticate").to_owned();
                answer.problem(status);
                assert_eq!(status == 401, !challenge.is_empty(), "{asked}: {challenge}");
                if !expected.allows(status) {
                    wrong.push(format!("{} by {caller:?}: {status}, not {expected:?}", row.operation));
                }
            } else if !expected.allows(answer.status) {
                wrong.push(format!("{} by {caller:?}: {}, not {expected:?}", row.operation, answer.status));
            }
        }
        wrong
    });
    let mut wrong: Vec<String> = wrong.buffer_unordered(8).collect::<Vec<_>>().await.concat();
    for (operation, open) in &documented {
        let (_, verdicts) = rows.iter().find(|(row, _)| row.operation == operation).unwrap();
        if *open != (verdicts[0] == Verdict::Yes) {
            wrong.push(format!("{operation}: the document says of being open: {open}"));
        }
    }
    assert_ne!(world.owner, world.other);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn sandbox_permissions_match_the_table(engine: Engine) {
    let app = Options::new(engine).start().await;
    permissions_match_the_table(&app, |row| Some(row.sandbox)).await;
}

async fn live_permissions_match_the_table(engine: Engine) {
    let app = Options::new(engine).live().start().await;
    permissions_match_the_table(&app, |row| row.live).await;
}

/// The operations that only a sandbox has keep their row.
async fn sandbox_with_live_access_refuses_what_live_refuses(engine: Engine) {
    let app = Options { access: Some(AccessTable::Live), ..Options::new(engine) }.start().await;
    permissions_match_the_table(&app, |row| Some(row.live.unwrap_or(row.sandbox))).await;
}

async fn live_there_are_no_sandbox_sessions(engine: Engine) {
    let app = Options::new(engine).live().start().await;
    app.post("/v1/sandbox/sessions", json!({"userId": "ada"})).await.refused(404, "not_found");
}
