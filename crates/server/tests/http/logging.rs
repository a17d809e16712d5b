//! Lines carry their request; requests survive a failing log; readiness requires a working write.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::process::Stdio;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::Value;

use crate::support::{
    App, Bureau, Engine, Options, Raw, applicant, listing, on_both_engines, on_chain, run, until,
};

on_both_engines! {
    own:
        item_is_followed_from_request_to_transaction,
        each_listing_of_a_group_has_its_own_lines,
        verification_is_followed_to_the_bureau,
        erasure_has_one_line,
        closed_log_pipe_does_not_fail_requests,
        full_log_pipe_does_not_delay_requests,
        readiness_requires_a_successful_write;
}

/// Lines of a request, the last of which is that of the access log.
async fn lines_of(app: &App, request_id: &str) -> Vec<Value> {
    until("the request is logged", 10, async || {
        let log = app.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str(line).ok());
        let of_request = |line: &Value| line["spans"][0]["request_id"] == request_id;
        let lines: Vec<Value> = lines.filter(of_request).collect();
        lines.iter().any(|line| line["target"] == "portico::access").then_some(lines)
    })
    .await
}

/// The lines with a message.
fn that_say<'a>(lines: &'a [Value], message: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["message"] == message).collect()
}

/// The only line with a message.
#[track_caller]
fn that_says<'a>(lines: &'a [Value], message: &str) -> &'a Value {
    match that_say(lines, message)[..] {
        [line] => line,
        _ => panic!("{message:?} is not there once: {lines:#?}"),
    }
}

async fn item_is_followed_from_request_to_transaction(engine: Engine) {
    let app = Options::new(engine).flags(&["--log", "debug"]).start().await;
    let request = app.to_post("/stage/listings", &on_chain("followed", "ada")).key(app.operator());
    let answer = request.header("x-request-id", "record-1").send().await.json(201);
    let transaction = &answer["transactionHash"];
    let lines = lines_of(&app, "record-1").await;
    let recorded = that_says(&lines, "listing recorded");
    assert_eq!((&recorded["level"], &recorded["transaction"]), (&"INFO".into(), transaction));
    let key = &recorded["key"];
    for message in ["a listing is queued for the chain", "a chain item is written", "a listing is signed"] {
        let said = that_say(&lines, message);
        assert!(!said.is_empty() && said.iter().all(|line| line["key"] == *key), "{message}: {lines:#?}");
    }
    assert_eq!(&that_says(&lines, "a listing is signed")["transaction"], transaction);
    assert_eq!(&that_says(&lines, "a transaction is signed")["transaction"], transaction);
    assert!(that_say(&lines, "a transaction is sent").iter().any(|sent| sent["transaction"] == *transaction));
    assert_eq!(&that_says(&lines, "a listing is mined")["key"], key);
    for line in &lines {
        let span = &line["spans"][0];
        assert_eq!((&span["method"], &span["route"]), (&"POST".into(), &"/stage/listings".into()), "{line}");
        assert!(line["span"].is_null() && line["request_id"].is_null(), "printed once: {line}");
    }
}

async fn each_listing_of_a_group_has_its_own_lines(engine: Engine) {
    let app = Options::new(engine).flags(&["--log", "debug"]).start().await;
    let record = |number: usize| {
        let id = format!("crowd-{number}");
        let request = app.to_post("/stage/listings", &on_chain(&id, "ada")).key(app.operator());
        async move { (request.header("x-request-id", &id).send().await.json(201), id) }
    };
    let mut keys = BTreeSet::new();
    for (answer, id) in join_all((0..16).map(record)).await {
        let lines = lines_of(&app, &id).await;
        let signed = that_says(&lines, "a listing is signed");
        assert_eq!(signed["transaction"], answer["transactionHash"], "{id}");
        assert_eq!(signed["key"], that_says(&lines, "listing recorded")["key"], "{id}");
        assert_eq!(signed["key"], that_says(&lines, "a listing is mined")["key"], "{id}");
        keys.insert(signed["key"].to_string());
    }
    assert_eq!(keys.len(), 16);
}

async fn verification_is_followed_to_the_bureau(engine: Engine) {
    let bureau = Bureau::start();
    let app = Options::new(engine).settings(&bureau.settings()).flags(&["--log", "debug"]).start().await;
    let ada = app.sign_in("ada").await;
    let request = app.to_post("/verifyRentalRequirements", &applicant("Lovelace")).bearer(&ada.token);
    let answer = request.header("x-request-id", "verify-1").send().await.json(200);
    let id = &answer["verificationResults"]["Id"];
    let lines = lines_of(&app, "verify-1").await;
    let finished = that_says(&lines, "verification finished");
    assert_eq!((&finished["level"], &finished["verification"]), (&"INFO".into(), id));
    let asked = bureau.take_requests();
    assert_eq!(finished["checks"], asked.len());
    let ended = that_say(&lines, "a check ended");
    assert_eq!(ended.len(), asked.len());
    for request in asked {
        let line = ended.iter().find(|line| line["reference"] == request.reference).expect("its reference");
        assert_eq!(line["outcome"], "found", "{line}");
        assert_eq!(&line["spans"][1]["verification"], id, "{line}");
    }
    let writes = that_say(&lines, "a unit of work ended");
    assert!(
        writes.iter().any(|line| line["spans"][1]["verification"] == *id),
        "down to the store: {lines:#?}"
    );
}

async fn erasure_has_one_line(engine: Engine) {
    let app = Options::new(engine).start().await;
    let ada = app.sign_in("ada").await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    let erase = app.request(Method::DELETE, "/v1/users/ada/personal-data").bearer(&ada.token);
    erase.header("x-request-id", "erase-1").send().await.status(200);
    app.logs("erasure applied").await;
    let log = app.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("erasure applied")).collect();
    let [line] = lines[..] else { panic!("{log}") };
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["level"], &line["spans"][0]["request_id"]), (&"INFO".into(), &"erase-1".into()));
    assert!(line["erasure"].is_u64() || line["erasure"].is_i64(), "{line}");
}

/// All log writes fail.
fn full_disk() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn writer_survives_a_log_on_a_full_disk() {
    run(async {
        let app = Options::new(Engine::Sqlite).stderr(full_disk()).start().await;
        app.post("/listings", listing("before", "ada")).await.only_message(201);
        let raw = Raw::open(&app).await;
        // The writer logs a failed commit itself.
        raw.change("ALTER TABLE counters RENAME TO counters_away", &[]).await.unwrap();
        let refused = app.post("/listings", listing("meanwhile", "ada")).await;
        assert!(refused.status >= 500, "{}", refused.text());
        raw.change("ALTER TABLE counters_away RENAME TO counters", &[]).await.unwrap();
        app.post("/listings", listing("after", "ada")).await.only_message(201);
        app.get("/readyz").await.status(200);
    });
}

async fn closed_log_pipe_does_not_fail_requests(engine: Engine) {
    // A closed pipe.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let app = Options::new(engine).flags(&["--log", "debug"]).stderr(writer.into()).start().await;
    for number in 0..20 {
        app.post("/listings", listing(&format!("l-{number}"), "ada")).await.only_message(201);
        app.get("/listings/none").await.problem(405);
    }
    app.get("/readyz").await.status(200);
}

async fn full_log_pipe_does_not_delay_requests(engine: Engine) {
    // A pipe that nobody reads is full after 64 KiB.
    let (reader, writer) = std::io::pipe().unwrap();
    let mut app = Options::new(engine).flags(&["--log", "trace"]).stderr(writer.into()).start().await;
    for _ in 0..300 {
        app.get("/listings").await.status(200);
    }
    app.post("/listings", listing("a", "ada")).await.only_message(201);
    app.signal("TERM");
    assert!(app.ended().await);
    drop(reader);
}

async fn readiness_requires_a_successful_write(engine: Engine) {
    let app = Options::new(engine).start().await;
    app.get("/readyz").await.status(200);
    let raw = Raw::open(&app).await;
    match engine {
        Engine::Sqlite => _ = raw.change("BEGIN IMMEDIATE", &[]).await,
        Engine::Postgres => {
            let name = app.database.as_ref().unwrap().rsplit_once('/').unwrap().1;
            let set = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
            raw.change(&set, &[]).await;
            disconnect_others(&raw).await;
        }
    }
    app.get("/healthz").await.status(200);
    until("the service is not ready", 10, async || (app.get("/readyz").await.status == 503).then_some(()))
        .await;
    match engine {
        Engine::Sqlite => _ = raw.change("ROLLBACK", &[]).await,
        Engine::Postgres => {
            let name = app.database.as_ref().unwrap().rsplit_once('/').unwrap().1;
            raw.change(&format!("ALTER DATABASE {name} RESET default_transaction_read_only"), &[]).await;
            disconnect_others(&raw).await;
        }
    }
    until("the service is ready", 20, async || (app.get("/readyz").await.status == 200).then_some(())).await;
    app.post("/listings", listing("a", "ada")).await.only_message(201);
}

async fn disconnect_others(raw: &Raw) {
    let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                  WHERE datname = current_database() AND pid <> pg_backend_pid()";
    raw.rows(others, &[]).await;
}
