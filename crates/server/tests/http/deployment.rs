//! The keystore and profile that a database belongs to.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::cli::Running;
use crate::support::server::ENCRYPTION_KEY;
use crate::support::{App, Engine, Options, applicant, on_both_engines, portico, unique, until};

on_both_engines! {
    own:
        missing_keystore_fails_start,
        lost_keystore_is_replaced_by_command,
        live_database_does_not_open_as_sandbox,
        sandbox_database_does_not_open_as_live,
        commands_take_the_recorded_profile,
        keys_and_tokens_of_a_sandbox_do_not_work_live;
}

async fn stop(mut app: App) -> App {
    app.signal("TERM");
    assert!(app.ended().await);
    app
}

/// Runs a command on the data of a stopped server.
fn command(app: &App, keystore: &Path, arguments: &[&str]) -> Command {
    let mut command = portico();
    command.args(arguments).arg("--data").arg(&app.data);
    command.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
    command.arg("--keystore").arg(format!("sqlite:{}", keystore.display()));
    command
}

/// The error of a command that must fail.
async fn refusal(mut command: Command) -> String {
    let mut process = Running(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let child = &mut process.0;
    let status = until("the command ends", 60, || std::future::ready(child.try_wait().unwrap())).await;
    assert!(!status.success(), "{command:?}");
    let mut said = String::new();
    process.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

/// A stopped server with a result and its keystore in a file.
struct Stopped {
    folder: tempfile::TempDir,
    keystore: std::path::PathBuf,
    app: App,
    bearer: String,
    id: String,
}

impl Stopped {
    async fn new(engine: Engine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let keystore = folder.path().join("people.db");
        let flag = format!("sqlite:{}", keystore.display());
        let data = folder.path().join("data");
        let app = Options::new(engine).data(&data).flags(&["--keystore", &flag]).start().await;
        let ada = app.someone().await;
        let id = app.verified(&ada.token, "", &applicant("Lovelace")).await.id;
        Self { folder, keystore, app: stop(app).await, bearer: ada.token, id }
    }

    async fn start(&self) -> App {
        let flag = format!("sqlite:{}", self.keystore.display());
        let options = Options::new(self.app.engine).data(&self.app.data).flags(&["--keystore", &flag]);
        self.app.database.iter().fold(options, |options, url| options.database(url)).start().await
    }

    fn serve(&self) -> Command {
        command(&self.app, &self.keystore, &["serve", "--listen", "127.0.0.1:0"])
    }

    async fn read(&self, app: &App) -> u16 {
        app.to_get(&format!("/v1/verifications/{}", self.id)).bearer(&self.bearer).send().await.status
    }

    /// Moves the keystore away; returns its path.
    fn remove_keystore(&self) -> std::path::PathBuf {
        let moved = self.folder.path().join("moved.db");
        self.forget_log();
        std::fs::rename(&self.keystore, &moved).unwrap();
        moved
    }

    /// Puts it back.
    fn restore_keystore(&self, moved: &Path) {
        self.forget_log();
        std::fs::rename(moved, &self.keystore).unwrap();
    }

    /// Removes the log of another keystore: after an orderly stop this one has none.
    fn forget_log(&self) {
        for end in ["-wal", "-shm"] {
            // They may not exist.
            let _ = std::fs::remove_file(format!("{}{end}", self.keystore.display()));
        }
    }
}

async fn missing_keystore_fails_start(engine: Engine) {
    let stopped = Stopped::new(engine).await;
    let moved = stopped.remove_keystore();
    for command in [
        stopped.serve(),
        command(&stopped.app, &stopped.keystore, &["erase", "--user", "ada"]),
        command(&stopped.app, &stopped.keystore, &["encryption", "rotate"]),
    ] {
        let said = refusal(command).await;
        assert!(said.contains("the keystore of this database is missing"), "{said}");
        assert!(said.contains("--keystore") && said.contains("replace-keystore"), "{said}");
        assert!(!stopped.keystore.exists(), "none is made in its place");
    }
    // Nor does the keystore of another database work.
    let other = Stopped::new(engine).await;
    std::fs::copy(&other.keystore, &stopped.keystore).unwrap();
    let said = refusal(stopped.serve()).await;
    assert!(said.contains("belongs to another database"), "{said}");
    stopped.restore_keystore(&moved);
    assert_eq!(stopped.read(&stopped.start().await).await, 200);
}

async fn lost_keystore_is_replaced_by_command(engine: Engine) {
    let stopped = Stopped::new(engine).await;
    let replace = || command(&stopped.app, &stopped.keystore, &["encryption", "replace-keystore"]);
    assert!(refusal(replace()).await.contains("nothing to replace"));
    stopped.remove_keystore();
    let output = replace().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().contains("1 people were erased"));
    let app = stopped.start().await;
    assert_eq!(stopped.read(&app).await, 404);
    let listed = app.to_get("/v1/verifications").bearer(&stopped.bearer).send().await;
    assert_eq!(listed.json(200), json!([]));
    let again = app.verified(&stopped.bearer, "", &applicant("Byron")).await;
    app.validate(&stopped.bearer, &again.id, "Ada", "Byron").await.status(200);
}

fn serve(app: &App, arguments: &[&str]) -> Command {
    let mut command = portico();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&app.data).args(arguments);
    command.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
    command.env("PORTICO_ENCRYPTION_KEY", ENCRYPTION_KEY);
    command
}

async fn live_database_does_not_open_as_sandbox(engine: Engine) {
    let app = stop(Options::new(engine).live().start().await).await;
    for arguments in [&[][..], &["--profile", "sandbox"], &["--allow-open"]] {
        let said = refusal(serve(&app, arguments)).await;
        assert!(said.contains("belongs to a live instance") && said.contains("--profile live"), "{said}");
    }
}

async fn sandbox_database_does_not_open_as_live(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let options = || Options::new(engine).data(&data);
    let app = stop(options().anvil().start().await).await;
    let live = Options::new(engine).live();
    let said = live.refused_on(&app);
    assert!(said.contains("belongs to a sandbox"), "{said}");
}

async fn commands_take_the_recorded_profile(engine: Engine) {
    let app = Options::new(engine).live().start().await;
    let command = |arguments: &[&str]| {
        let mut command = portico();
        command.args(arguments).arg("--data").arg(&app.data);
        command.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
        command
    };
    let printed = |arguments: &[&str]| {
        let output = command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let key = printed(&["key", "create", "--name", "x"]);
    assert!(key.starts_with("live_"));
    app.to_get("/stage/savedListings/ada").key(&key).send().await.status(200);
    let token = printed(&["token", "--sub", "ada"]);
    app.to_get("/v1/verifications").bearer(&token).send().await.status(200);
    for arguments in [
        &["key", "create", "--name", "x", "--profile", "sandbox"][..],
        &["token", "--sub", "ada", "--profile", "sandbox"],
        &["seed", "--demo", "--profile", "sandbox"],
    ] {
        let said = refusal(command(arguments)).await;
        assert!(said.contains("belongs to a live instance"), "{said}");
    }
    assert!(refusal(command(&["seed", "--demo"])).await.contains("for the sandbox only"));
}

/// Credentials that a sandbox issued with the same keys.
async fn keys_and_tokens_of_a_sandbox_do_not_work_live(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let app = Options::new(engine).data(&data).start().await;
    let ada = app.sign_in(&unique("ada")).await;
    let raw = crate::support::Raw::open(&app).await;
    raw.change("UPDATE deployment SET profile = 'live'", &[]).await.unwrap();
    raw.change("DELETE FROM chain", &[]).await.unwrap();
    drop(raw);
    let app = stop(app).await;
    let root = std::fs::read_to_string(data.join("encryption.key")).unwrap();
    let live = Options::new(engine).live().env("PORTICO_ENCRYPTION_KEY", root.trim()).data(&data);
    let live = app.database.iter().fold(live, |options, url| options.database(url)).start().await;
    live.to_get("/v1/verifications").bearer(&ada.token).send().await.refused(401, "unauthenticated");
    live.to_get("/stage/savedListings/ada").key(&ada.key).send().await.refused(401, "unauthenticated");
    let own = live.someone().await;
    live.to_get("/v1/verifications").bearer(&own.token).send().await.status(200);
}
