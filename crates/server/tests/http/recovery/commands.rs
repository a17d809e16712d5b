//! The commands on the data of a server, and a restore by hand.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Instance, On, agrees_with_the_chain, is_delivered, is_proved, record, replaced_folders, stop};
use crate::support::{App, Cell, Engine, Raw, applicant, listing, run, unique, with};

#[test]
fn sqlite_backup_is_restored_with_its_embedded_chain() {
    run(backup_is_restored(Engine::Sqlite, On::EmbeddedChain));
}

#[test]
fn sqlite_backup_is_restored_on_a_real_node() {
    run(backup_is_restored(Engine::Sqlite, On::Anvil));
}

#[test]
fn postgres_backup_is_restored_with_its_embedded_chain() {
    run(backup_is_restored(Engine::Postgres, On::EmbeddedChain));
}

#[test]
fn postgres_backup_is_restored_on_a_real_node() {
    run(backup_is_restored(Engine::Postgres, On::Anvil));
}

#[test]
fn sqlite_keys_that_were_revoked_stay_revoked() {
    run(keys_that_were_revoked_stay_revoked(Engine::Sqlite));
}

#[test]
fn postgres_keys_that_were_revoked_stay_revoked() {
    run(keys_that_were_revoked_stay_revoked(Engine::Postgres));
}

/// Also says what nobody can know.
async fn keys_that_were_revoked_stay_revoked(engine: Engine) {
    let instance = Instance::new(engine, On::EmbeddedChain).await;
    let app = instance.start().await;
    let ada = app.someone().await;
    let make = async |name: &str| {
        let made = app.to_post("/v1/keys", &json!({"name": name})).bearer(&ada.token).send().await.json(201);
        let text = |member: &str| made[member].as_str().unwrap().to_owned();
        (text("id"), text("apiKey"))
    };
    let ((lost, lost_key), (kept, kept_key)) = (make("lost").await, make("kept").await);
    app.add_listing(listing("elm", "landlord")).await;
    app.apply(&ada.token, &ada.user, &["elm"]).await;
    let backup = instance.path("backup");
    instance.prints(&["backup", "create", &backup]);
    let path = format!("/v1/keys/{lost}");
    app.request(Method::DELETE, &path).bearer(&ada.token).send().await.only_message(200);
    stop(app).await;

    let said = instance.prints(&["restore", &backup]);
    assert!(said.contains("1 API keys that were revoked since the backup are revoked again"), "{said}");
    assert!(said.contains("1 applications are shared"), "{said}");
    assert!(!said.contains("VALID AGAIN"), "{said}");
    let app = instance.start().await;
    let answers = async |key: &str| app.to_get("/listings").key(key).send().await.status;
    assert_eq!((answers(&lost_key).await, answers(&kept_key).await), (401, 200));
    let sql = "SELECT actor, detail FROM audit WHERE action = 'key.revoked' AND subject = ?1";
    let entries = Raw::open(&app).await.rows(sql, &[Cell::Text(lost.clone())]).await;
    assert_eq!(entries.len(), 1);
    assert!(entries[0][1].text().starts_with("again, after the restore of backup "), "{entries:?}");
    stop(app).await;

    let not_known = |said: &str| {
        assert!(said.contains("VALID AGAIN") && said.contains("`portico key list`"), "{said}");
        assert!(said.contains(&kept) && !said.contains(&kept_key), "{said}");
    };
    not_known(&instance.prints(&["restore", "--in-place"]));
    if engine == Engine::Sqlite {
        std::fs::write(instance.data().join("portico.db"), "damaged").unwrap();
        let said = instance.prints(&["restore", &backup]);
        not_known(&said);
        assert!(said.contains("cannot be read") && said.contains(&lost), "{said}");
    }
}

async fn erase(app: &App, user: &str) {
    let path = format!("/v1/users/{user}/personal-data");
    let root = app.token(&["--sub", "root", "--scope", "admin"]);
    app.request(Method::DELETE, &path).bearer(&root).send().await.only_message(200);
}

async fn backup_is_restored(engine: Engine, on: On) {
    let instance = Instance::new(engine, on).await;
    let app = instance.start().await;
    let (gone, stays) = (app.someone().await, app.someone().await);
    let erased = app.verified(&gone.token, "", &applicant("Lovelace")).await;
    let kept = app.verified(&stays.token, "", &applicant("Lovelace")).await;
    let revoked =
        app.verified(&stays.token, &format!("?caseId={}", unique("case")), &applicant("Lovelace")).await;
    for made in [&erased, &kept, &revoked] {
        app.minted(&made.token).await;
    }
    for id in ["ash", "oak"] {
        record(&app, id, 1000).await;
    }
    is_delivered(&app).await;
    // A server that starts anchors the audit log.
    stop(app).await;
    let app = instance.start().await;
    is_delivered(&app).await;

    let backup = instance.path("backup");
    let said = instance.prints(&["backup", "create", &backup]);
    assert!(said.contains("is complete"), "{said}");
    assert!(instance.prints(&["backup", "verify", &backup]).contains("is intact"));

    // What comes later is lost, except for ends.
    record(&app, "elm", 1000).await;
    record(&app, "fir", 1000).await;
    app.delete("/listings/oak").await;
    app.request(Method::DELETE, "/listings/oak").key(app.operator()).send().await;
    erase(&app, &gone.user).await;
    let path = format!("/v1/identities/{}", revoked.token);
    app.request(Method::DELETE, &path).bearer(&stays.token).send().await.only_message(200);
    app.burned(&revoked.token).await;
    app.burned(&erased.token).await;
    is_delivered(&app).await;
    stop(app).await;

    let said = instance.prints(&["restore", &backup]);
    assert!(said.contains("is restored") && said.contains("1 erasures since the backup"), "{said}");
    match (engine, on) {
        (Engine::Postgres, On::Anvil) => assert!(said.contains("in the schema portico_replaced_"), "{said}"),
        _ => assert_eq!(replaced_folders(&instance.data()).len(), 1),
    }

    let app = instance.start().await;
    for id in ["ash", "oak"] {
        is_proved(&app, id).await;
    }
    for id in ["elm", "fir"] {
        app.get(&format!("/v1/listings/{id}")).await.status(404);
    }
    app.validate(&gone.token, &erased.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
    app.validate(&stays.token, &kept.id, "Ada", "Lovelace").await.status(200);
    app.burned(&erased.token).await;
    if on == On::Anvil {
        app.burned(&revoked.token).await;
        app.validate(&stays.token, &revoked.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
    }
    // The same id with other content.
    record(&app, "elm", 2000).await;
    is_proved(&app, "elm").await;
    is_on_record(&app).await;
    is_delivered(&app).await;
    stop(app).await;

    if on == On::Anvil {
        instance.refuses(&["chain", "reconcile"], &["1 unknown to the database", "0 different"]);
        instance.prints(&["chain", "reconcile", "--repair"]);
        let app = instance.start().await;
        is_delivered(&app).await;
        stop(app).await;
    }
    agrees_with_the_chain(&instance);
}

/// The restore is an entry of the audit log that names the backup.
async fn is_on_record(app: &App) {
    let sql = "SELECT action, detail FROM audit WHERE action = ?1";
    let rows = Raw::open(app).await.rows(sql, &[Cell::Text("database.restored".into())]).await;
    let details: Vec<&str> = rows.iter().map(|row| row[1].text()).collect();
    assert_eq!(details.len(), 1, "{details:?}");
    assert!(details[0].starts_with("backup ") && details[0].contains(" supersedes "), "{details:?}");
}

/// As it was documented before there were commands: the database of an older time, on the chain as it is.
#[test]
fn database_that_was_put_back_by_hand_agrees_with_the_chain() {
    run(async {
        let instance = Instance::new(Engine::Sqlite, On::EmbeddedChain).await;
        let app = instance.start().await;
        record(&app, "ash", 1000).await;
        let edit = async |app: &App, rent: u32| {
            let read = app.get("/v1/listings/ash").await;
            let tag = read.header("etag").to_owned();
            let body: Value = json!({"monthlyRent": rent});
            app.request(Method::PATCH, "/v1/listings/ash")
                .key(app.operator())
                .header("if-match", &tag)
                .json(&body)
                .send()
                .await
        };
        let file = instance.data().join("portico.db");
        let copy = instance.folder.path().join("copy.db");
        let into = format!("VACUUM INTO '{}'", copy.display());
        rusqlite::Connection::open(&file).unwrap().execute_batch(&into).unwrap();
        record(&app, "oak", 1000).await;
        edit(&app, 3000).await.status(200);
        is_delivered(&app).await;
        stop(app).await;
        for name in ["portico.db-wal", "portico.db-shm", "portico.search.db"] {
            let _ = std::fs::remove_file(instance.data().join(name));
        }
        std::fs::copy(&copy, &file).unwrap();

        let app = instance.start().await;
        app.logs("has caught up with the chain").await;
        is_proved(&app, "ash").await;
        // The chain has a record of it, and the database not.
        let made = with(crate::support::on_chain("oak", "landlord"), json!({"monthlyPayment": 2000}));
        app.to_post("/stage/listings", &made).key(app.operator()).send().await.json(201);
        is_proved(&app, "oak").await;
        edit(&app, 4000).await.status(200);
        is_proved(&app, "ash").await;
        stop(app).await;
        agrees_with_the_chain(&instance);
    });
}
