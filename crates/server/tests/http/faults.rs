//! What happens to the machine: full disks, read-only files, stopped processes, damaged and doubly used files. The
//! service recovers by itself, and `/readyz` tells the truth meanwhile.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::support::{
    App, Engine, Installation, Options, applicant, ids, listing, on_both_engines, on_chain, portico, run,
    unique, until,
};

on_both_engines! {
    own:
        a_stopped_process_goes_on,
        a_read_only_database_is_503_until_it_is_writable;
}

async fn becomes_ready(app: &App, status: u16) {
    until(&format!("/readyz is {status}"), 30, async || {
        (app.get("/readyz").await.status == status).then_some(())
    })
    .await;
}

/// The ids of the listings of a user.
async fn listings_of(app: &App, user: &str) -> Vec<String> {
    ids(&app.get(&format!("/listings?userId={user}")).await.json(200), "listingId")
}

/// Everything that writes works: listings, the chain, results.
async fn writes_work(app: &App) {
    let (who, id) = (app.someone().await, unique("elm"));
    app.to_post("/stage/listings", &on_chain(&id, "landlord")).key(app.operator()).send().await.json(201);
    let made = app.verified(&who.token, "", &applicant("Lovelace")).await;
    app.minted(&made.token).await;
}

#[test]
fn a_full_disk_is_503_and_recovers() {
    run(async {
        let app = Options::new(Engine::Sqlite).start().await;
        app.add_listing(listing("before", "ada")).await;
        writes_work(&app).await;
        for _round in 0..2 {
            app.limit_files(Some(4096));
            for id in ["lost-1", "lost-2"] {
                let refused = app.post("/listings", listing(id, "ada")).await;
                assert_ne!(refused.header("retry-after"), "", "{}", refused.text());
                refused.refused(503, "unavailable");
            }
            becomes_ready(&app, 503).await;
            app.get("/healthz").await.status(200);
            assert_eq!(listings_of(&app, "ada").await, ["before"]);
            app.limit_files(None);
            becomes_ready(&app, 200).await;
            writes_work(&app).await;
        }
        app.add_listing(listing("after", "ada")).await;
        let found = listings_of(&app, "ada").await;
        assert_eq!(found, ["before", "after"], "nothing of what was refused is there");
    });
}

async fn a_stopped_process_goes_on(engine: Engine) {
    let app = Options::new(engine).start().await;
    app.add_listing(listing("before", "ada")).await;
    let is_long = std::env::var_os("PORTICO_LONG").is_some();
    app.signal("STOP");
    tokio::time::sleep(Duration::from_secs(if is_long { 20 } else { 1 })).await;
    // Requests that arrive meanwhile are answered after it continues.
    let body = listing("during", "ada");
    let asked = app.to_post("/listings", &body).once("during").send();
    let (answer, ()) = tokio::join!(asked, async {
        tokio::time::sleep(Duration::from_secs(if is_long { 40 } else { 1 })).await;
        app.signal("CONT");
    });
    answer.only_message(201);
    becomes_ready(&app, 200).await;
    writes_work(&app).await;
    app.to_post("/listings", &body).once("during").send().await.only_message(201);
    assert_eq!(listings_of(&app, "ada").await, ["before", "during"]);
}

/// A shell command for a user who may not write everything.
fn as_nobody(command: &Command) -> Command {
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut outer = Command::new(if is_root { "setpriv" } else { "env" });
    if is_root {
        outer.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    outer.arg(command.get_program()).args(command.get_args());
    outer
}

async fn a_read_only_database_is_503_until_it_is_writable(engine: Engine) {
    let place = Installation::new(engine).await;
    let app = place.start().await;
    app.add_listing(listing("before", "ada")).await;
    let Some(url) = app.database.clone() else {
        // A running process keeps its open files. What a start does with a file that it may not write:
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let file = folder.path().join("portico.db");
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
        let mut serve = portico();
        // The program may be in a folder that only its owner can enter.
        let program = folder.path().join("portico");
        std::fs::copy(serve.get_program(), &program).unwrap();
        serve = Command::new(program);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path().join("data"));
        serve.arg("--database").arg(format!("sqlite:{}", file.display()));
        let said = error(&as_nobody(&serve).output().unwrap());
        assert!(said.contains("the database cannot be opened"), "{said}");
        assert!(said.contains("Permission denied"), "{said}");
        return;
    };
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let name = url.rsplit_once('/').unwrap().1;
    let set = async |value: &str| {
        let sql = format!("ALTER DATABASE {name} SET default_transaction_read_only = {value}");
        client.batch_execute(&sql).await.unwrap();
        // Only new sessions begin with it.
        let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()";
        client.batch_execute(others).await.unwrap();
    };
    set("on").await;
    becomes_ready(&app, 503).await;
    app.post("/listings", listing("lost", "ada")).await.refused(503, "unavailable");
    assert_eq!(listings_of(&app, "ada").await, ["before"]);
    set("off").await;
    becomes_ready(&app, 200).await;
    writes_work(&app).await;
    assert_eq!(listings_of(&app, "ada").await, ["before"]);
}

#[test]
fn a_closed_standard_error_does_not_stop_the_service() {
    run(async {
        let (reader, writer) = std::io::pipe().unwrap();
        let options = Options::new(Engine::Sqlite).stderr(writer.into()).flags(&["--log", "debug"]);
        let mut app = options.start().await;
        drop(reader);
        for number in 0..50 {
            app.add_listing(listing(&format!("l-{number}"), "ada")).await;
        }
        becomes_ready(&app, 200).await;
        writes_work(&app).await;
        app.signal("TERM");
        assert!(app.ended().await, "it ends well");
    });
}

fn error(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    said
}

fn serve_on(data: &Path, database: Option<&Path>) -> Output {
    let mut command = portico();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
    if let Some(database) = database {
        command.arg("--database").arg(format!("sqlite:{}", database.display()));
    }
    command.output().unwrap()
}

#[test]
fn one_database_has_one_server_whatever_leads_to_it() {
    run(async {
        let app = Options::new(Engine::Sqlite).start().await;
        app.add_listing(listing("before", "ada")).await;
        let file = app.data.join("portico.db");
        // On the same file system.
        let others = tempfile::tempdir_in(app.data.parent().unwrap()).unwrap();
        let folder = |name: &str| {
            let folder = others.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        };
        let (soft, hard, named) = (folder("soft"), folder("hard"), folder("named"));
        symlink(&file, soft.join("portico.db")).unwrap();
        std::fs::hard_link(&file, hard.join("portico.db")).unwrap();
        for refused in [
            serve_on(&soft, None),
            serve_on(&hard, None),
            serve_on(&named, Some(&file)),
            serve_on(&folder("linked"), Some(&hard.join("portico.db"))),
        ] {
            let said = error(&refused);
            assert!(said.contains("another portico is using the database"), "{said}");
        }
        // So are commands that need the server to be stopped.
        let mut moving = portico();
        moving.args(["encryption", "move", "--to"]).arg(format!("sqlite:{}", named.join("k.db").display()));
        let said = error(&moving.arg("--data").arg(&soft).output().unwrap());
        assert!(said.contains("another portico is using the database"), "{said}");
        writes_work(&app).await;
    });
}

#[test]
fn the_lock_of_a_database_ends_with_its_server() {
    run(async {
        let place = Installation::new(Engine::Sqlite).await;
        for signal in ["KILL", "TERM"] {
            let mut app = place.start().await;
            app.signal(signal);
            app.ended().await;
        }
        writes_work(&place.start().await).await;
    });
}

#[test]
fn a_damaged_search_index_is_rebuilt() {
    run(async {
        let place = Installation::new(Engine::Sqlite).await;
        let index = place.data().join("portico.search.db");
        let damages = [
            "UPDATE documents_data SET block = zeroblob(50)",
            "DELETE FROM documents_data",
            "DROP TABLE entries",
            "DELETE FROM documents_idx; DELETE FROM documents_data WHERE id > 10",
        ];
        let mut app = place.start().await;
        for (number, damage) in damages.into_iter().enumerate() {
            app.add_listing(listing(&format!("oak-{number}"), "ada")).await;
            until("it is in the index", 20, async || {
                let open = rusqlite::Connection::open(&index).ok()?;
                let indexed = "SELECT revision FROM progress";
                let revision: i64 = open.query_row(indexed, [], |row| row.get(0)).ok()?;
                (revision > i64::try_from(number).unwrap()).then_some(())
            })
            .await;
            app.signal("TERM");
            assert!(app.ended().await);
            drop(app);
            let connection = rusqlite::Connection::open(&index).unwrap();
            connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
            connection.execute_batch(damage).unwrap();
            drop(connection);
            app = place.start().await;
            app.logs("the search index is damaged").await;
            let found = app.get("/listings?searchTerm=Oak%20Street").await.json(200);
            assert_eq!(ids(&found, "listingId").len(), number + 1, "{damage}");
        }
    });
}

/// Writes of each kind are done exactly once, although connections are cut all the time.
#[test]
fn writes_are_done_once_while_connections_are_killed() {
    run(async {
        let app = Options::new(Engine::Postgres).start().await;
        let url = app.database.clone().unwrap();
        let (killer, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let (is_over, killed, done) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
        let kill = async {
            let busy = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
                 AND pid <> pg_backend_pid() AND state <> 'idle'";
            while !is_over.load(Ordering::Relaxed) {
                let before = done.load(Ordering::Relaxed);
                let count = killer.query(busy, &[]).await.unwrap().len();
                killed.fetch_add(count, Ordering::Relaxed);
                // After a cut, one write gets through before the next one: on a slow machine a write takes longer
                // than any fixed pause.
                while count > 0 && done.load(Ordering::Relaxed) == before && !is_over.load(Ordering::Relaxed)
                {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        };
        let key = app.operator().to_owned();
        let rounds = if std::env::var_os("PORTICO_LONG").is_some() { 200 } else { 15 };
        let write = async |method: Method, path: String, body: serde_json::Value| {
            let once = unique("once");
            let end = Instant::now() + Duration::from_mins(1);
            loop {
                let request = app.request(method.clone(), &path).key(&key).once(&once).json(&body);
                let answer = request.send().await;
                match answer.status {
                    200..300 => {
                        done.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                    503 => assert!(Instant::now() < end, "{}", answer.text()),
                    other => panic!("{other}: {} {}", answer.request, answer.text()),
                }
            }
        };
        let writers = async {
            join_all((0..4).map(async |writer| {
                for round in 0..rounds {
                    let id = format!("l-{writer}-{round}");
                    write(Method::POST, "/listings".into(), listing(&id, "ada")).await;
                    let id = format!("s-{writer}-{round}");
                    write(Method::POST, "/stage/listings".into(), on_chain(&id, "ada")).await;
                    let device = json!({"userId": "ada", "network": "helium", "deviceIdentifier": id});
                    write(Method::POST, "/v1/depin-device".into(), device).await;
                }
            }))
            .await;
            is_over.store(true, Ordering::Relaxed);
        };
        tokio::join!(kill, writers);
        assert!(killed.load(Ordering::Relaxed) > 10, "{killed:?} connections were killed");
        becomes_ready(&app, 200).await;
        assert_eq!(listings_of(&app, "ada").await.len(), 8 * rounds);
        let overview = app.get("/v1/depin-devices/stats/overview").await.json(200);
        assert_eq!(overview["totalDevices"], 4 * rounds, "{overview}");
        writes_work(&app).await;
    });
}
