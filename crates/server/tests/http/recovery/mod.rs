//! Backups and what comes back from them: with the commands, by hand, and under load.

mod commands;
mod drill;
mod litestream;
mod refusals;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Anvil, App, Engine, Options, on_chain, portico, until, with};

/// A data folder with its settings, for servers and commands in turn.
#[derive(Debug)]
struct Instance {
    engine: Engine,
    folder: tempfile::TempDir,
    database: Option<String>,
    environment: BTreeMap<String, String>,
}

/// Where its records go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    EmbeddedChain,
    Anvil,
}

impl Instance {
    async fn new(engine: Engine, on: On) -> Self {
        let folder = tempfile::Builder::new().prefix("portico-recovery-").tempdir().unwrap();
        let mut environment = BTreeMap::new();
        if on == On::Anvil {
            let anvil = Anvil::shared();
            environment.insert("PORTICO_CHAIN".into(), anvil.url.clone());
            environment.insert("PORTICO_CHAIN_KEY".into(), anvil.new_key());
        }
        if engine == Engine::Postgres {
            // A dump has no keystore in it, but the database's own would be in the same place.
            environment
                .insert("PORTICO_KEYSTORE".into(), format!("sqlite:{}/keys.db", folder.path().display()));
        }
        Self { engine, database: engine.database().await, folder, environment }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    async fn start(&self) -> App {
        let mut options = Options::new(self.engine).data(&self.data());
        for (name, value) in &self.environment {
            options = options.env(name, value);
        }
        if let Some(url) = &self.database {
            options = options.database(url);
        }
        let app = options.start().await;
        until("the server is ready", 30, async || (app.get("/readyz").await.status == 200).then_some(()))
            .await;
        app
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = portico();
        command.args(arguments).arg("--data").arg(self.data()).envs(&self.environment);
        command.args(self.database.iter().flat_map(|url| ["--database", url.as_str()]));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The output of a command that must succeed.
    #[track_caller]
    fn prints(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// The error of a command that must fail.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], reasons: &[&str]) {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        let said = String::from_utf8(output.stderr).unwrap();
        for reason in reasons {
            assert!(said.contains(reason), "{arguments:?}: {reason} in {said}");
        }
    }
}

async fn stop(mut app: App) {
    app.signal("TERM");
    assert!(app.ended().await);
}

async fn record(app: &App, id: &str, rent: u32) -> Value {
    let body = with(on_chain(id, "landlord"), json!({"monthlyPayment": rent}));
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201)
}

/// The database and the chain agree about a listing.
async fn is_proved(app: &App, id: &str) {
    let what = format!("{id} is on the chain");
    let proof = until(&what, 30, async || {
        let answer = app.get(&format!("/v1/listings/{id}/proof")).await;
        (answer.status != 503).then_some(answer)
    });
    let proof = proof.await.json(200);
    assert_eq!(proof["matches"], true, "{proof}");
}

/// Nothing is left to be sent.
async fn is_delivered(app: &App) {
    until("everything is on the chain", 60, async || {
        let queue = app.get("/v1/chain/status").await.json(200)["queue"].clone();
        (queue["waiting"] == 0 && queue["signed"] == 0).then_some(())
    })
    .await;
}

/// A new anchor of the audit log may be on its way.
#[track_caller]
fn agrees_with_the_chain(instance: &Instance) {
    let compared = instance.prints(&["chain", "reconcile"]);
    assert!(compared.contains(" 0 unknown to the database,"), "{compared}");
    assert!(compared.ends_with(" 0 different, 0 refused by the chain"), "{compared}");
}

fn replaced_folders(data: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("replaced-")).collect()
}
