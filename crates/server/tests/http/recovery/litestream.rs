//! A database that Litestream copies continuously comes back from the copy.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use reqwest::Method;

use super::{Instance, On, is_delivered, is_proved, record, stop};
use crate::support::{Engine, applicant, run, until};

fn litestream() -> Command {
    let program = std::env::var("PORTICO_LITESTREAM").unwrap_or_else(|_| {
        panic!(
            "PORTICO_LITESTREAM is not set: use `make test`, or scripts/need litestream and \
             ~/.cache/portico/tools/litestream/bin/litestream"
        )
    });
    let mut command = Command::new(program);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Copies until it is dropped.
struct Replication(Child);

impl Replication {
    fn start(database: &Path, replica: &str) -> Self {
        let mut command = litestream();
        Self(command.arg("replicate").arg(database).arg(replica).spawn().unwrap())
    }
}

impl Drop for Replication {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Restores the copy into a new file, if it has a copy of this listing.
fn restored_with(listing: &str, replica: &str, file: &Path) -> Option<()> {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", file.display()));
    }
    let status = litestream().args(["restore", "-o"]).arg(file).arg(replica).status().unwrap();
    if !status.success() {
        return None;
    }
    let connection = rusqlite::Connection::open(file).unwrap();
    let sql = "SELECT count(*) FROM listings WHERE id = ?1";
    let found: i64 = connection.query_row(sql, [listing], |row| row.get(0)).unwrap();
    (found == 1).then_some(())
}

#[test]
fn lost_database_comes_back_from_a_continuous_copy() {
    run(async {
        let instance = Instance::new(Engine::Sqlite, On::Anvil).await;
        let app = instance.start().await;
        let file = instance.data().join("portico.db");
        let replica = format!("file://{}", instance.path("replica"));
        let replication = Replication::start(&file, &replica);
        let (gone, stays) = (app.someone().await, app.someone().await);
        let erased = app.verified(&gone.token, "", &applicant("Lovelace")).await;
        let kept = app.verified(&stays.token, "", &applicant("Lovelace")).await;
        for number in 0..50 {
            record(&app, &format!("ash-{number}"), 1000).await;
        }
        let restored = instance.folder.path().join("restored.db");
        until("everything is copied", 30, async || restored_with("ash-49", &replica, &restored)).await;
        drop(replication);
        // After the copy; only the keystore knows it.
        let path = format!("/v1/users/{}/personal-data", gone.user);
        app.request(Method::DELETE, &path).bearer(&gone.token).send().await.only_message(200);
        is_delivered(&app).await;
        stop(app).await;
        // The disk is lost, and the keystore and the keys are elsewhere.
        std::fs::remove_file(&file).unwrap();
        std::fs::rename(&restored, &file).unwrap();

        let said = instance.prints(&["restore", "--in-place"]);
        assert!(said.contains("1 erasures since the backup are applied"), "{said}");
        let app = instance.start().await;
        for number in 0..50 {
            is_proved(&app, &format!("ash-{number}")).await;
        }
        app.validate(&stays.token, &kept.id, "Ada", "Lovelace").await.status(200);
        app.validate(&gone.token, &erased.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
        is_delivered(&app).await;
        stop(app).await;
    });
}
