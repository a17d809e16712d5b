//! Requests survive a failing log; readiness requires a working write.

use std::fs::OpenOptions;
use std::process::Stdio;

use crate::support::{Engine, Options, Raw, listing, on_both_engines, run, until};

on_both_engines! {
    own:
        closed_log_pipe_does_not_fail_requests,
        full_log_pipe_does_not_delay_requests,
        readiness_requires_a_successful_write;
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
