//! The process: shutdown, slow and broken connections, durability.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::sync::Mutex;

use futures_util::future::join_all;

use crate::support::raw::{self, Raw};
use crate::support::{
    App, Engine, Installation, Options, ids, listing, on_both_engines, portico, run, until,
};

on_both_engines! {
    own:
        shutdown_finishes_requests_in_flight,
        acknowledged_writes_survive_a_kill;
}

/// Waits for this many requests in flight, including the metrics request.
async fn in_flight(app: &App, count: usize) {
    let line = format!("portico_http_requests_in_flight {count}");
    until("the requests are in flight", 10, async || {
        app.get("/metrics").await.text().lines().any(|one| one == line).then_some(())
    })
    .await;
}

async fn shutdown_finishes_requests_in_flight(engine: Engine) {
    let installation = Installation::new(engine).await;
    for signal in ["TERM", "INT"] {
        let mut app = installation.start().await;
        let body = listing(signal, "ada").to_string();
        let (beginning, rest) = body.split_at(30);
        let mut slow = Raw::begin_post(&app, "/listings", body.len(), beginning);
        // An idle connection does not delay shutdown.
        let mut idle = Raw::connect(&app);
        idle.send(format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", app.address()));
        in_flight(&app, 2).await;
        app.signal(signal);
        until("nothing new is accepted", 10, async || {
            TcpStream::connect(app.address()).is_err().then_some(())
        })
        .await;
        slow.send(rest);
        let answer = slow.read_to_end();
        assert_eq!(raw::status(&answer), 201, "{answer}");
        assert!(app.ended().await, "it ends well");
        assert_eq!(raw::status(&idle.read_to_end()), 200);
    }
    let app = installation.start().await;
    assert_eq!(ids(&app.get("/listings").await.json(200), "listingId"), ["TERM", "INT"]);
}

async fn acknowledged_writes_survive_a_kill(engine: Engine) {
    let installation = Installation::new(engine).await;
    let mut app = installation.start().await;
    let acknowledged = Mutex::new(BTreeSet::new());
    let writers = (0..16).map(async |writer| {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        for number in 0.. {
            let id = format!("{writer}-{number}");
            let request = client.post(format!("{}/listings", app.url));
            let request =
                request.header("content-type", "application/json").body(listing(&id, "ada").to_string());
            match request.send().await {
                Ok(answer) if answer.status() == 201 => _ = acknowledged.lock().unwrap().insert(id),
                Ok(answer) => panic!("{}", answer.status()),
                // The server was killed.
                Err(_) => break,
            }
        }
    });
    let killing = async {
        until("some are acknowledged", 30, async || (acknowledged.lock().unwrap().len() > 200).then_some(()))
            .await;
        app.signal("KILL");
    };
    futures_util::future::join(join_all(writers), killing).await;
    assert!(!app.ended().await);
    let app = installation.start().await;
    let stored: BTreeSet<String> =
        ids(&app.get("/listings").await.json(200), "listingId").into_iter().collect();
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.is_subset(&stored), "lost: {:?}", acknowledged.difference(&stored));
    // Statistics and search agree with the data.
    let statistics = app.get("/v1/listings/stats/overview").await.json(200);
    assert_eq!(statistics["totalListings"], stored.len());
    let found = ids(&app.get("/listings?searchTerm=oak%20street").await.json(200), "listingId");
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), stored);
}

/// Concurrently, since each takes as long as the idle timeout.
#[test]
fn slow_requests_time_out() {
    let app = App::shared(Engine::Sqlite);
    let slow_body = Raw::begin_post(app, "/listings", 1000, "{\"listingId\": \"slow\"");
    let silent = Raw::connect(app);
    let mut slow_head = Raw::connect(app);
    slow_head.send("GET /healthz HTTP/1.1\r\nHost: loc");
    for (what, raw) in [("nothing was sent", silent), ("half a head was sent", slow_head)] {
        let told = raw.read_to_end();
        assert!(told.is_empty() || raw::status(&told) == 408, "{what}: {told}");
    }
    let told = slow_body.read_to_end();
    assert_eq!(raw::status(&told), 408, "{told}");
    assert!(told.contains("content-type: application/problem+json\r\n"), "{told}");
    let problem = raw::json(&told);
    assert_eq!((&problem["code"], &problem["status"]), (&"body_timeout".into(), &408.into()), "{problem}");
}

#[test]
fn oversized_headers_are_refused() {
    let app = App::shared(Engine::Sqlite);
    let large = format!("X-Large: {}\r\n", "x".repeat(100_000));
    let many = "X-Many: x\r\n".repeat(200);
    let long = format!("/listings?searchTerm={}", "x".repeat(100_000));
    for (target, headers) in [("/healthz", large), ("/healthz", many), (long.as_str(), String::new())] {
        let mut raw = Raw::connect(app);
        raw.send_if_heard(format!(
            "GET {target} HTTP/1.1\r\nHost: {}\r\n{headers}Connection: close\r\n\r\n",
            app.address()
        ));
        let told = raw.read_to_end();
        assert!(told.is_empty() || matches!(raw::status(&told), 414 | 431), "{told}");
    }
    run(async { app.get("/healthz").await.status(200) });
}

#[test]
fn invalid_http_gets_400_or_nothing() {
    let app = App::shared(Engine::Sqlite);
    let host = app.address();
    let requests = [
        "\r\n\r\n\r\nNONSENSE\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        format!("GET /listings HTTP/1.1\r\nHost: {host}\r\nBroken header\r\n\r\n"),
        format!("POST /listings HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n"),
        format!(
            "POST /listings HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{{}}"
        ),
        format!("POST /listings HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: gzip\r\n\r\nxx"),
        "\u{16}\u{3}\u{1}\u{2}".to_owned() + &"\0".repeat(100),
    ];
    for request in requests {
        let mut raw = Raw::connect(app);
        raw.send_if_heard(&request);
        raw.fall_silent();
        let told = raw.read_to_end();
        let refused =
            told.is_empty() || told.get(9..12).is_some_and(|status| matches!(status, "400" | "501" | "505"));
        assert!(refused, "{request:?}: {told}");
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let app = App::shared(Engine::Sqlite);
    let host = app.address();
    let two = format!(
        "GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\nGET /nothing HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    );
    let told = raw::exchange(app, two);
    let statuses: Vec<&str> = told.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["200", "404"]);
}

#[test]
fn data_folder_is_locked_by_one_server() {
    run(async {
        let mut app = Options::new(Engine::Sqlite).start().await;
        let serve = ["serve", "--listen", "127.0.0.1:0", "--json"];
        let second = app.command(&serve);
        let (out, err) =
            (String::from_utf8(second.stdout).unwrap(), String::from_utf8(second.stderr).unwrap());
        assert!(!second.status.success());
        assert_eq!(out, "");
        let folder = app.data.display().to_string();
        assert!(err.contains("another portico") && err.contains(&folder) && err.contains("--data"), "{err}");
        app.get("/readyz").await.status(200);
        // A killed server holds no lock.
        app.signal("KILL");
        app.ended().await;
        let again = Options::new(Engine::Sqlite).data(&app.data).start().await;
        again.get("/readyz").await.status(200);
    });
}

#[test]
fn port_in_use_is_reported() {
    run(async {
        let app = App::shared(Engine::Sqlite);
        let folder = tempfile::tempdir().unwrap();
        let mut command = portico();
        command.args(["serve", "--listen", app.address(), "--data"]).arg(folder.path());
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && err.contains(app.address()), "{err}");
    });
}
