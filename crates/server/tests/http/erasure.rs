//! Erasure: in the database, on the chain, and after a restore.

use std::path::Path;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::support::{
    Answer, App, Engine, Options, Session, Verified, applicant, new_database, on_both_engines, on_chain, run,
    unique, until, with,
};

on_both_engines! {
    shared:
        erasure_is_immediate,
        concurrent_erasures_all_complete,
        erased_user_can_start_again,
        only_the_person_and_the_operator_erase,
        erased_persons_keys_are_revoked,
        unknown_user_can_be_erased,
        erase_command_works_while_the_server_runs;
    own:
        data_after_an_erasure_survives_restarts,
        restored_database_applies_erasures_again,
        erasure_works_on_a_real_node;
}

async fn erase(app: &App, bearer: &str, user: &str) -> Answer {
    app.request(Method::DELETE, &format!("/v1/users/{user}/personal-data")).bearer(bearer).send().await
}

/// A person with a result, a token, and an application with four flags.
struct Known {
    who: Session,
    made: Verified,
    case: String,
    listing: String,
    reference: [u8; 32],
}

async fn known(app: &App) -> Known {
    let (who, case, listing) = (app.someone().await, unique("case"), unique("elm"));
    let body = with(on_chain(&listing, "landlord"), json!({"minCredit": 620, "minIncome": 50_000}));
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201);
    app.apply(&who.token, &who.user, &[&listing]).await;
    let made = app.verified(&who.token, &format!("?caseId={case}"), &applicant("Lovelace")).await;
    app.flags_become(&who.user, &listing, [true; 4]).await;
    app.minted(&made.token).await;
    app.validate(&who.token, &made.id, "Ada", "Lovelace").await.status(200);
    let reference = app.reference(&who.user, &listing).await;
    Known { who, made, case, listing, reference }
}

/// Asserts that only the data that must be kept is left.
async fn is_forgotten(app: &App, known: &Known) {
    let Known { who, made, listing, reference, .. } = known;
    app.validate(&who.token, &made.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
    let read = app.to_get(&format!("/v1/verifications/{}", made.id)).bearer(&who.token).send().await;
    read.refused(404, "verification_not_found");
    assert_eq!(app.to_get("/v1/verifications").bearer(&who.token).send().await.json(200), json!([]));
    let again = app.verify(&who.token, &format!("?verifiedId={}", made.id), &json!({})).await;
    again.refused(404, "verification_not_found");
    app.burned(&made.token).await;
    until("the flags are cleared on the chain", 30, async || {
        app.flags_on_chain(reference, listing).await.is_none().then_some(())
    })
    .await;
    let path = format!("/applications/{}", who.user);
    app.to_get(&path).bearer(&who.token).send().await.refused(404, "application_not_found");
    let path = format!("/v1/applications/{}/{listing}", who.user);
    app.to_get(&path).bearer(&who.token).send().await.refused(404, "application_not_found");
    let path = format!("/v1/listings/{listing}/applicants");
    assert_eq!(app.to_get(&path).key(app.operator()).send().await.json(200), json!([]));
}

async fn erasure_is_immediate(app: &App) {
    let known = known(app).await;
    erase(app, &known.who.token, &known.who.user).await.only_message(200);
    is_forgotten(app, &known).await;
    erase(app, &known.who.token, &known.who.user).await.only_message(200);
    is_forgotten(app, &known).await;
}

async fn concurrent_erasures_all_complete(app: &App) {
    let people = join_all((0..12).map(async |_| {
        let who = app.someone().await;
        let made = app.verified(&who.token, "", &applicant("Lovelace")).await;
        (who, made)
    }))
    .await;
    let erased = join_all(people.iter().map(|(who, _)| erase(app, &who.token, &who.user))).await;
    for ((who, made), answer) in people.iter().zip(erased) {
        answer.only_message(200);
        app.validate(&who.token, &made.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
    }
}

async fn erased_user_can_start_again(app: &App) {
    let known = known(app).await;
    let Known { who, listing, .. } = &known;
    erase(app, &who.token, &who.user).await.only_message(200);
    is_forgotten(app, &known).await;
    let again = app.verified(&who.token, "", &applicant("Byron")).await;
    assert_ne!(again.token, known.made.token);
    // The old case has neither owner nor name any more: its token is never minted again.
    let other = app.identity(&who.token, &known.case, "w").await.status(200);
    assert!(other.text() != known.made.token && other.text() != again.token);
    assert_eq!(app.validate(&who.token, &again.id, "Ada", "Byron").await.status(200).text(), again.token);
    app.apply(&who.token, &who.user, &[listing]).await;
    app.flags_become(&who.user, listing, [true; 4]).await;
    let reference = app.reference(&who.user, listing).await;
    assert_ne!(reference, known.reference, "the chain does not know that it is the same person");
    assert_eq!(app.flags_on_chain(&known.reference, listing).await, None);
}

async fn only_the_person_and_the_operator_erase(app: &App) {
    let bob = app.someone().await;
    let root = app.token(&["--sub", &unique("root"), "--scope", "admin"]);
    for who in 0..3 {
        let known = known(app).await;
        let path = format!("/v1/users/{}/personal-data", known.who.user);
        for key in [&bob.key, &known.who.key, app.operator()] {
            app.request(Method::DELETE, &path).key(key).send().await.refused(401, "unauthenticated");
        }
        app.delete(&path).await.refused(401, "unauthenticated");
        erase(app, &bob.token, &known.who.user).await.refused(403, "forbidden");
        app.validate(&bob.token, &known.made.id, "Ada", "Lovelace").await.status(200);
        match who {
            0 => erase(app, &root, &known.who.user).await.only_message(200),
            1 => erase(app, &known.who.token, &known.who.user).await.only_message(200),
            _ => drop(app.prints(&["erase", "--user", &known.who.user])),
        }
        is_forgotten(app, &known).await;
    }
}

async fn erased_persons_keys_are_revoked(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    let second = app.new_key(&["--user", &ada.user]);
    let works =
        async |key: &str| app.to_get("/stage/listings/user/nobody").key(key).send().await.status == 404;
    for key in [&ada.key, &second, &bob.key] {
        assert!(works(key).await);
    }
    erase(app, &ada.token, &ada.user).await.only_message(200);
    for key in [&ada.key, &second] {
        let refused = app.to_get("/stage/listings/user/nobody").key(key).send().await;
        refused.refused(401, "unauthenticated");
    }
    assert!(works(&bob.key).await, "another person's key");
    let listed = app.to_get("/v1/keys").bearer(&ada.token).send().await.json(200);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert!(listed.as_array().unwrap().iter().all(|key| key["revokedAt"].is_string()), "{listed}");
    // A returning user makes new ones.
    assert!(works(&app.sign_in(&ada.user).await.key).await);
}

async fn unknown_user_can_be_erased(app: &App) {
    let ada = app.someone().await;
    erase(app, &ada.token, &ada.user).await.only_message(200);
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
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

async fn erasure_works_on_a_real_node(engine: Engine) {
    let app = Options::new(engine).anvil().start().await;
    erased_user_can_start_again(&app).await;
    erase_command_works_while_the_server_runs(&app).await;
}
