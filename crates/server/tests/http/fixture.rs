//! An instance of every release opens with this version, and has everything that it had.
//!
//! `scripts/fixture` makes the archives. Those of releases are in `tests/fixtures`; one is made with the binary under test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{App, Engine, Options, listing, new_database, on_both_engines, portico, unique, until};

on_both_engines! {
    own:
        instance_of_every_release_opens;
}

#[track_caller]
fn output(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Of releases, on this engine.
fn archives(engine: Engine) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let end = format!("-{}.tar.gz", name(engine));
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path());
    files.filter(|path| path.to_str().is_some_and(|path| path.ends_with(&end))).collect()
}

fn name(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "sqlite",
        Engine::Postgres => "postgres",
    }
}

/// An archive of this version.
async fn made(engine: Engine, folder: &Path) -> PathBuf {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/fixture");
    let archive = folder.join("made.tar.gz");
    let mut command = Command::new(script);
    command.arg(env!("CARGO_BIN_EXE_portico")).arg(&archive).args(engine.database().await);
    output(&mut command);
    archive
}

async fn instance_of_every_release_opens(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    let mut archives = archives(engine);
    archives.push(made(engine, folder.path()).await);
    for (number, archive) in archives.iter().enumerate() {
        let folder = folder.path().join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        output(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&folder));
        opens(engine, &folder).await;
    }
}

async fn opens(engine: Engine, folder: &Path) {
    let expected = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    assert_eq!(expected["engine"], name(engine));
    let data = folder.join("data");
    let mut options = Options::new(engine).data(&data);
    let mut settings = vec!["--data".to_owned(), data.to_str().unwrap().to_owned()];
    if engine == Engine::Postgres {
        let database = new_database().await;
        settings.extend(["--database".to_owned(), database.clone()]);
        output(portico().arg("restore").arg(folder.join("backup")).args(&settings));
        options = options.database(&database);
    }
    let mut app = options.start().await;
    has_everything(&app, &expected).await;
    // It is in use again.
    app.add_listing(listing(&unique("new"), "ada")).await;
    app.signal("TERM");
    assert!(app.ended().await);
    let audit = output(portico().args(["audit", "verify"]).args(&settings));
    assert!(audit.contains("none altered; anchored on the chain"), "{audit}");
}

async fn has_everything(app: &App, expected: &Value) {
    let text = |member: &str| expected[member].as_str().unwrap();
    let (ada, ben) = (app.sign_in(text("owner")).await, app.sign_in(text("applicant")).await);
    let (home, verification) = (text("listing"), text("verification"));
    let proof = until("the record can be proved", 30, async || {
        let answer = app.get(&format!("/v1/listings/{home}/proof")).await;
        (answer.status != 503).then_some(answer)
    });
    assert_eq!(proof.await.json(200)["matches"], true);
    let terms = app.to_get(&format!("/stage/listing/requirements/{home}")).key(&ada.key).send().await;
    assert_eq!(terms.json(200)["minCreditScore"], 620);

    let report = app.to_get(&format!("/v1/verifications/{verification}")).bearer(&ben.token).send().await;
    let report = report.json(200);
    let checks: Vec<&Value> = report["checks"].as_array().unwrap().iter().map(|one| &one["check"]).collect();
    assert_eq!(checks, ["income", "softCredit"]);
    let path = format!("/v1/applications/{}/{home}", text("applicant"));
    for reader in [&ada, &ben] {
        let application = app.to_get(&path).bearer(&reader.token).send().await.json(200);
        assert_eq!(application["status"], "submitted", "{application}");
    }
    let portfolios = app.get(&format!("/v1/user-portfolios/{}", text("owner"))).await.json(200);
    assert_eq!(
        (&portfolios[0]["name"], &portfolios[0]["totalAllocation"]),
        (&json!("Balanced"), &json!(100))
    );
}
