//! What is refused, and what a refusal leaves as it was.

use std::path::Path;

use serde_json::{Value, json};

use super::{Instance, On, agrees_with_the_chain, is_proved, record, replaced_folders, stop};
use crate::support::{Engine, Raw, applicant, run};

fn change_manifest(backup: &str, change: impl FnOnce(&mut Value)) {
    let path = Path::new(backup).join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    std::fs::write(&path, manifest.to_string()).unwrap();
}

fn copy_folder(from: &str, to: &str) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, Path::new(to).join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn damaged_backup_is_refused_and_nothing_changes() {
    run(async {
        let instance = Instance::new(Engine::Sqlite, On::EmbeddedChain).await;
        let app = instance.start().await;
        record(&app, "ash", 1000).await;
        let backup = instance.path("backup");
        instance.prints(&["backup", "create", &backup]);
        instance.refuses(&["backup", "create", &backup], &["not empty"]);
        instance.refuses(&["restore", &backup], &["another portico is using"]);
        record(&app, "oak", 1000).await;
        stop(app).await;

        let refused = |name: &str, spoil: &dyn Fn(&str), fault: &str| {
            let spoiled = instance.path(name);
            copy_folder(&backup, &spoiled);
            spoil(&spoiled);
            for arguments in [&["backup", "verify", &spoiled][..], &["restore", &spoiled]] {
                instance.refuses(arguments, &[fault]);
            }
        };
        let flip = |name: &'static str| {
            move |folder: &str| {
                let path = Path::new(folder).join(name);
                let mut bytes = std::fs::read(&path).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                std::fs::write(&path, bytes).unwrap();
            }
        };
        refused(
            "half",
            &|folder| std::fs::remove_file(Path::new(folder).join("manifest.json")).unwrap(),
            "no complete backup",
        );
        refused("database", &flip("portico.db"), "portico.db is damaged");
        refused("chain", &flip("chain.db"), "chain.db is damaged");
        refused(
            "short",
            &|folder| std::fs::write(Path::new(folder).join("chain.db"), b"").unwrap(),
            "chain.db is damaged",
        );
        refused(
            "missing",
            &|folder| std::fs::remove_file(Path::new(folder).join("chain.db")).unwrap(),
            "chain.db cannot be read",
        );
        let newer = |folder: &str| {
            change_manifest(folder, |manifest| manifest["database"]["migration"] = 9999.into());
        };
        refused("newer", &newer, "made by a newer portico");
        let format = |folder: &str| change_manifest(folder, |manifest| manifest["format"] = 2.into());
        refused("format", &format, "format 2");
        let other = |folder: &str| {
            change_manifest(folder, |manifest| manifest["database"]["auditSeq"] = 77.into());
        };
        refused("other", &other, "not the database that the manifest describes");
        let outside = |folder: &str| {
            change_manifest(folder, |manifest| manifest["files"][0]["name"] = "../data/portico.db".into());
        };
        refused("outside", &outside, "not part of a backup");

        assert_eq!(replaced_folders(&instance.data()).len(), 0);
        let app = instance.start().await;
        for id in ["ash", "oak"] {
            app.get(&format!("/v1/listings/{id}")).await.status(200);
        }
        stop(app).await;
    });
}

#[test]
fn backup_holds_no_key() {
    run(async {
        let instance = Instance::new(Engine::Sqlite, On::EmbeddedChain).await;
        let app = instance.start().await;
        let ada = app.someone().await;
        app.verified(&ada.token, "", &applicant("Lovelace")).await;
        let backup = instance.path("backup");
        instance.prints(&["backup", "create", &backup]);
        let keys = rusqlite::Connection::open(instance.data().join("keys.db")).unwrap();
        let mut secrets: Vec<Vec<u8>> = Vec::new();
        for sql in ["SELECT wrapped FROM keys", "SELECT wrapped FROM masters"] {
            let mut statement = keys.prepare(sql).unwrap();
            secrets.extend(statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap));
        }
        for name in ["issuer.key", "encryption.key", "chain.key"] {
            let text = std::fs::read_to_string(instance.data().join(name)).unwrap();
            secrets.push(hex::decode(text.trim()).unwrap());
            secrets.push(text.trim().into());
        }
        assert!(secrets.len() >= 9, "{}", secrets.len());
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&backup).unwrap() {
            let path = entry.unwrap().path();
            names.push(path.file_name().unwrap().to_string_lossy().into_owned());
            let bytes = std::fs::read(&path).unwrap();
            for secret in &secrets {
                assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{}", path.display());
            }
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
        names.sort();
        assert_eq!(names, ["chain.db", "manifest.json", "portico.db"]);
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&backup).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o700);
        stop(app).await;
    });
}

#[test]
fn wrong_keystore_profile_and_key_are_refused() {
    run(async {
        let instance = Instance::new(Engine::Sqlite, On::EmbeddedChain).await;
        let app = instance.start().await;
        let (ada, bob) = (app.someone().await, app.someone().await);
        for who in [&ada, &bob] {
            app.verified(&who.token, "", &applicant("Lovelace")).await;
        }
        stop(app).await;
        let old_keys = instance.path("old-keys.db");
        std::fs::copy(instance.data().join("keys.db"), &old_keys).unwrap();
        instance.prints(&["erase", "--user", &ada.user]);
        let backup = instance.path("backup");
        instance.prints(&["backup", "create", &backup]);

        let other = Instance::new(Engine::Sqlite, On::EmbeddedChain).await;
        let keys = format!("sqlite:{}", instance.data().join("keys.db").display());
        other.refuses(&["restore", &backup], &["keystore of this backup is missing"]);
        stop(other.start().await).await;
        other.refuses(&["restore", &backup], &["belongs to another database"]);
        other.refuses(&["restore", &backup, "--keystore", &keys], &["does not open this keystore"]);
        instance.refuses(
            &["restore", &backup, "--keystore", &format!("sqlite:{old_keys}")],
            &["older copy than the backup"],
        );
        instance.refuses(&["restore", &backup, "--profile", "live"], &["backup of a sandbox instance"]);
        let wrong = "1".repeat(64);
        instance.refuses(&["restore", &backup, "--encryption-key", &wrong], &["does not open this keystore"]);
        instance.refuses(&["restore", &backup, "--chain", "http://127.0.0.1:9"], &["has an embedded chain"]);
        std::fs::rename(instance.data().join("chain.key"), instance.path("chain.key")).unwrap();
        instance.refuses(&["restore", &backup], &["chain.key is missing"]);
        std::fs::rename(instance.path("chain.key"), instance.data().join("chain.key")).unwrap();
        assert_eq!(replaced_folders(&instance.data()).len(), 0);
        instance.prints(&["restore", &backup]);
        stop(instance.start().await).await;
    });
}

#[test]
fn nothing_uses_a_data_folder_while_a_restore_is_incomplete() {
    run(async {
        let instance = Instance::new(Engine::Sqlite, On::EmbeddedChain).await;
        let app = instance.start().await;
        record(&app, "ash", 1000).await;
        let backup = instance.path("backup");
        instance.prints(&["backup", "create", &backup]);
        stop(app).await;
        // As if the machine had stopped when the old database was moved away.
        let (data, staging) = (instance.data(), instance.data().join(".restore-1"));
        std::fs::create_dir(&staging).unwrap();
        std::fs::copy(Path::new(&backup).join("portico.db"), staging.join("portico.db")).unwrap();
        let kept_at = data.join("replaced-now");
        std::fs::create_dir(&kept_at).unwrap();
        std::fs::rename(data.join("portico.db"), kept_at.join("portico.db")).unwrap();
        let manifest: Value =
            serde_json::from_slice(&std::fs::read(Path::new(&backup).join("manifest.json")).unwrap())
                .unwrap();
        let plan = json!({
            "backup": manifest["id"], "staging": [staging],
            "moves": [{"staged": staging.join("portico.db"), "place": data.join("portico.db"), "kept_at": kept_at.join("portico.db")}],
        });
        std::fs::write(data.join("restore.json"), plan.to_string()).unwrap();
        for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["key", "list"], &["migrate", "up"]] {
            instance.refuses(arguments, &["was interrupted"]);
        }
        assert!(!data.join("portico.db").exists(), "nothing made a new one");
        let said = instance.prints(&["restore", &backup]);
        assert!(said.contains("interrupted restore") && said.contains("is complete"), "{said}");
        let app = instance.start().await;
        app.get("/v1/listings/ash").await.status(200);
        stop(app).await;
    });
}

/// Regression: the database was replaced already when this came out.
#[test]
fn tampered_audit_log_leaves_postgres_as_it_was() {
    run(async {
        let instance = Instance::new(Engine::Postgres, On::EmbeddedChain).await;
        let app = instance.start().await;
        let ada = app.someone().await;
        for name in ["laptop", "phone"] {
            let new_key = app.to_post("/v1/keys", &json!({"name": name})).bearer(&ada.token);
            new_key.send().await.status(201);
        }
        let (intact, tampered) = (instance.path("intact"), instance.path("tampered"));
        instance.prints(&["backup", "create", &intact]);
        let raw = Raw::open(&app).await;
        let changed = raw.change("UPDATE audit SET action = 'key.revoked' WHERE action = 'key.created'", &[]);
        assert!(changed.await.unwrap() >= 2);
        drop(raw);
        instance.prints(&["backup", "create", &tampered]);
        stop(app).await;
        instance.prints(&["restore", &intact]);
        let app = instance.start().await;
        record(&app, "elm", 1000).await;
        stop(app).await;
        for _ in 0..2 {
            instance
                .refuses(&["restore", &tampered], &["audit log in the backup is not intact", "as it was"]);
        }
        let app = instance.start().await;
        is_proved(&app, "elm").await;
        stop(app).await;
        agrees_with_the_chain(&instance);
        instance.prints(&["restore", &intact]);
        let app = instance.start().await;
        app.get("/v1/listings/elm").await.refused(404, "listing_not_found");
        stop(app).await;
    });
}
