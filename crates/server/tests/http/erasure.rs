//! Erasure by a command, through restarts, and after a restore.

use std::path::Path;

use serde_json::json;

use crate::support::erasing::{erase, is_forgotten, known};
use crate::support::{
    App, Engine, Options, Session, Verified, applicant, new_database, on_both_engines, run,
};

on_both_engines! {
    shared:
        erase_command_works_while_the_server_runs;
    own:
        data_after_an_erasure_survives_restarts,
        restored_database_applies_erasures_again;
}

async fn erase_command_works_while_the_server_runs(app: &App) {
    let known = known(app).await;
    let output = app.command(&["erase", "--user", &known.who.user]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    is_forgotten(app, &known).await;
    let output = app.command(&["erase", "--user", ""]);
    assert!(!output.status.success());
}

/// A backup of the unused database.
async fn copied(app: &App, to: &Path) -> Option<String> {
    match &app.database {
        None => {
            std::fs::copy(app.data.join("portico.db"), to).unwrap();
            None
        }
        Some(url) => {
            let (client, connection) =
                tokio_postgres::connect(&new_database().await, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            let (server, name) = url.rsplit_once('/').unwrap();
            let copy = format!("{name}_copy");
            let others =
                format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
            client.batch_execute(&others).await.unwrap();
            client.batch_execute(&format!("CREATE DATABASE {copy} TEMPLATE {name}")).await.unwrap();
            Some(format!("{server}/{copy}"))
        }
    }
}

/// Restores the SQLite file.
fn put_back(data: &Path, copy: &Path) {
    for name in [
        "portico.db-wal",
        "portico.db-shm",
        "portico.search.db",
        "portico.search.db-wal",
        "portico.search.db-shm",
    ] {
        // Some may not exist.
        let _ = std::fs::remove_file(data.join(name));
    }
    std::fs::copy(copy, data.join("portico.db")).unwrap();
}

async fn stop(mut app: App) {
    app.signal("TERM");
    assert!(app.ended().await);
}

async fn restored_database_applies_erasures_again(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    let (data, keys) = (folder.path().join("data"), folder.path().join("people.db"));
    let keystore = format!("sqlite:{}", keys.display());
    let (copy, old_keys) = (folder.path().join("copy.db"), folder.path().join("people-old.db"));
    let options = || Options::new(engine).data(&data).flags(&["--keystore", &keystore]);

    let app = options().start().await;
    let url = app.database.clone();
    let (gone, stays) = (known(&app).await, known(&app).await);
    app.signal("TERM");
    let mut app = app;
    assert!(app.ended().await);
    let copy_url = copied(&app, &copy).await;
    std::fs::copy(&keys, &old_keys).unwrap();

    let again = |url: &Option<String>| url.iter().fold(options(), |options, url| options.database(url));
    let app = again(&url).start().await;
    erase(&app, &gone.who.token, &gone.who.user).await.only_message(200);
    is_forgotten(&app, &gone).await;
    stop(app).await;

    // The restored copy uses the current keystore.
    if engine == Engine::Sqlite {
        put_back(&data, &copy);
    }
    let app = again(&copy_url).start().await;
    is_forgotten(&app, &gone).await;
    app.logs("erased again").await;
    app.validate(&stays.who.token, &stays.made.id, "Ada", "Lovelace").await.status(200);
    app.to_get(&format!("/v1/verifications/{}", stays.made.id))
        .bearer(&stays.who.token)
        .send()
        .await
        .status(200);
    // New people can be verified, on the chain too.
    known(&app).await;
    stop(app).await;

    // Only a keystore copy from the same time would restore the person; those must not be kept.
    if engine == Engine::Sqlite {
        put_back(&data, &copy);
        for name in ["people.db-wal", "people.db-shm"] {
            let _ = std::fs::remove_file(folder.path().join(name));
        }
        std::fs::copy(&old_keys, &keys).unwrap();
        let app = options().start().await;
        let read =
            app.to_get(&format!("/v1/verifications/{}", gone.made.id)).bearer(&gone.who.token).send().await;
        read.status(200);
    }
}

/// The result of an erased person who started again, after a restart.
async fn still_has(app: &App, who: &Session, made: &Verified) {
    let path = format!("/v1/verifications/{}", made.id);
    let read = app.to_get(&path).bearer(&who.token).send().await.json(200);
    assert_eq!((&read["tokenId"], &read["revoked"]), (&json!(made.token), &json!(false)), "{read}");
    app.validate(&who.token, &made.id, "Ada", "Byron").await.status(200);
}

async fn data_after_an_erasure_survives_restarts(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    let (data, database) = (folder.path().join("data"), engine.database().await);
    let start = || database.iter().fold(Options::new(engine).data(&data), |o, url| o.database(url)).start();
    let app = start().await;
    let (ada, bob) = (app.someone().await, app.someone().await);
    let mut made = Vec::new();
    for who in [&ada, &bob] {
        app.verified(&who.token, "", &applicant("Lovelace")).await;
        erase(&app, &who.token, &who.user).await.only_message(200);
        made.push(app.verified(&who.token, "", &applicant("Byron")).await);
    }
    stop(app).await;
    for _ in 0..2 {
        let mut app = start().await;
        for (who, made) in [&ada, &bob].into_iter().zip(&made) {
            still_has(&app, who, made).await;
        }
        app.signal("KILL");
        app.ended().await;
    }
}

#[test]
fn data_after_a_failed_erasure_survives_restart() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let options = || Options::new(Engine::Sqlite).data(&data);
        let app = options().start().await;
        let ada = app.someone().await;
        let before = app.verified(&ada.token, "", &applicant("Lovelace")).await;
        let reader = rusqlite::Connection::open(data.join("keys.db")).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM keys").unwrap();
        erase(&app, &ada.token, &ada.user).await.refused(503, "unavailable");
        drop(reader);
        app.validate(&ada.token, &before.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
        let made = app.verified(&ada.token, "", &applicant("Byron")).await;
        stop(app).await;
        let app = options().start().await;
        still_has(&app, &ada, &made).await;
    });
}

#[test]
fn restart_completes_an_interrupted_erasure() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let options = || Options::new(Engine::Sqlite).data(&data);
        let mut app = options().start().await;
        let ada = app.someone().await;
        let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
        // An open reader prevents the old log frames from being overwritten.
        let reader = rusqlite::Connection::open(data.join("keys.db")).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        // Closing the last connection would empty the log.
        reader.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        let name = format!("user {}", ada.user);
        let wrapped: Vec<u8> =
            reader.query_row("SELECT wrapped FROM keys WHERE name = ?1", [&name], |row| row.get(0)).unwrap();
        erase(&app, &ada.token, &ada.user).await.refused(503, "unavailable");
        app.signal("KILL");
        app.ended().await;
        drop(reader);
        let is_there = || {
            ["keys.db", "keys.db-wal"].iter().any(|file| {
                let bytes = std::fs::read(data.join(file)).unwrap_or_default();
                bytes.windows(wrapped.len()).any(|window| window == wrapped)
            })
        };
        assert!(is_there(), "it was cut off");
        let app = options().start().await;
        assert!(!is_there());
        app.validate(&ada.token, &made.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
    });
}
