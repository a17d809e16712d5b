//! The command line: output and precedence of settings.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::server::ENCRYPTION_KEY;
use crate::support::{App, Engine, Options, listing, on_both_engines, on_chain, portico, run, unique, until};

on_both_engines! {
own:
    migrate_command_migrates,
    demonstration_data_belongs_to_the_instance_and_its_key;
}

/// The output of a finished command.
fn told(output: Output) -> (bool, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn serve(folder: &Path) -> Command {
    let mut command = portico();
    command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--data"]).arg(folder.join("data"));
    command
}

/// Asserts that a server refuses to start; returns the reason.
#[track_caller]
fn refuses(mut command: Command, reasons: &[&str]) -> String {
    let (success, out, err) = told(command.output().unwrap());
    assert!(!success && out.is_empty(), "{command:?} prints {out}");
    for reason in reasons {
        assert!(err.contains(reason), "{reason} in {err}");
    }
    err
}

/// Killed on drop.
pub(crate) struct Running(pub(crate) Child);
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn banner_shows_urls_and_first_commands() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut command = portico();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
    let mut server = Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    let (version, rest) = first.strip_prefix("Portico ").unwrap().split_once(" is listening on ").unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let url = rest.strip_suffix(" (sandbox)").unwrap();
    let banner: Vec<String> = lines.take_while(|line| !line.contains("token --sub")).collect();
    let banner = banner.join("\n");
    for line in [
        &format!("{url}/docs/"),
        &format!("{url}/openapi.json"),
        "SQLite",
        &format!("data       {}", data.display()),
        &format!("portico key create --name operator --data {}", data.display()),
    ] {
        assert!(banner.contains(line), "{line} in\n{banner}");
    }
}

#[test]
fn json_banner_has_the_same_facts() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let mut command = serve(folder.path());
        let mut server = Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
        let line = BufReader::new(server.0.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        let url = line["url"].as_str().unwrap();
        let expected = json!({
            "url": url, "docs": format!("{url}/docs/"), "openapi": format!("{url}/openapi.json"), "profile": "sandbox",
            "data": folder.path().join("data"), "version": env!("CARGO_PKG_VERSION"), "pid": server.0.id(),
            "rpc": format!("{url}/rpc"), "admin": null,
        });
        assert_eq!(line, expected);
    });
}

#[test]
fn live_start_reports_all_missing_settings() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = serve(folder.path());
    command.args(["--profile", "live"]);
    refuses(command, &["chain", "encryption_key", "PORTICO_ENCRYPTION_KEY"]);
    let mut command = serve(folder.path());
    command.args(["--profile", "live", "--chain", "embedded", "--encryption-key", ENCRYPTION_KEY]);
    let err = refuses(command, &["chain"]);
    assert!(!err.contains("encryption_key") && !err.contains(ENCRYPTION_KEY), "{err}");
    let mut command = serve(folder.path());
    command
        .args(["--profile", "live", "--chain", "http://127.0.0.1:1"])
        .env("PORTICO_ENCRYPTION_KEY", "short-secret");
    let err = refuses(command, &["encryption_key", "64 hexadecimal digits"]);
    assert!(!err.contains("short-secret"), "{err}");
    assert!(!folder.path().join("data").exists(), "nothing is made before it is right");
}

#[test]
fn sandbox_stays_on_loopback() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let mut command = portico();
        command.args(["serve", "--listen", address, "--json", "--data"]).arg(folder.path().join("data"));
        refuses(command, &["loopback", "--allow-open"]);
    }
}

#[test]
fn all_configuration_errors_are_reported_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = portico();
    command.args([
        "serve",
        "--listen",
        "nowhere",
        "--database",
        "mysql://x",
        "--country",
        "",
        "--chain",
        "ftp://x",
    ]);
    command.args(["--issuer", "https://id.example", "--encryption-key", "x", "--data"]).arg(folder.path());
    refuses(command, &["listen", "database", "country", "chain", "issuer", "encryption_key"]);
}

#[test]
fn unknown_config_key_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("portico.toml");
    let with_file = |content: &str| {
        std::fs::write(&file, content).unwrap();
        let mut command = serve(folder.path());
        command.arg("--config").arg(&file);
        command
    };
    let name = file.display().to_string();
    refuses(with_file("country = \"CA\"\nlisen = \"127.0.0.1:1\"\n"), &["lisen", &name]);
    refuses(with_file("rate_limit = \"many\"\n"), &["rate_limit", &name]);
    refuses(with_file("country = \n"), &[&name]);
    std::fs::remove_file(&file).unwrap();
    let mut command = serve(folder.path());
    command.arg("--config").arg(&file);
    refuses(command, &[&name]);
}

#[test]
fn flag_overrides_environment_overrides_file() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("portico.toml");
        std::fs::write(&file, "country = \"File\"\nmax_in_flight = 5\n").unwrap();
        let file = file.display().to_string();
        let country = async |options: Options| {
            let app = options.start().await;
            app.add_listing(listing("oak", "ada")).await;
            let record = app.to_get("/stage/listing/oak").key(app.operator()).send().await.json(200);
            record["Country"]["S"].as_str().unwrap().to_owned()
        };
        let base = || Options::new(Engine::Sqlite);
        let with_file = || base().flags(&["--config", &file]);
        let with_environment = || with_file().env("PORTICO_COUNTRY", "Environment");
        assert_eq!(country(base()).await, "US");
        assert_eq!(country(with_file()).await, "File");
        assert_eq!(country(base().env("PORTICO_CONFIG", &file)).await, "File");
        assert_eq!(country(with_environment()).await, "Environment");
        assert_eq!(country(with_environment().flags(&["--country", "Flag"])).await, "Flag");
        assert_eq!(country(base().env("PORTICO_NONSENSE", "1")).await, "US", "unknown variables are ignored");
    });
}

#[test]
fn openapi_command_matches_the_served_document() {
    run(async {
        for (profile, options) in
            [("sandbox", Options::new(Engine::Sqlite)), ("live", Options::new(Engine::Sqlite).live())]
        {
            let app = options.start().await;
            let (success, out, err) =
                told(portico().args(["openapi", "--profile", profile]).output().unwrap());
            assert!(success && err.is_empty(), "{err}");
            let printed: Value = serde_json::from_str(&out).unwrap();
            assert_eq!(printed, app.get("/openapi.json").await.json(200), "{profile}");
        }
    });
}

#[test]
fn a_token_is_alone_on_stdout() {
    let app = App::shared(Engine::Sqlite);
    let (success, out, err) = told(app.command(&["token", "--sub", "ada"]));
    assert!(success && err.is_empty(), "{err}");
    assert_eq!((out.lines().count(), out.trim_end().split('.').count()), (1, 3), "{out}");
    run(async { app.to_get("/v1/keys").bearer(out.trim_end()).send().await.json(200) });
}

#[test]
fn token_can_be_issued_before_first_start() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let mut command = portico();
        command.args(["token", "--sub", "ada", "--data"]).arg(&data);
        let (success, token, err) = told(command.output().unwrap());
        assert!(success, "{err}");
        let app = Options::new(Engine::Sqlite).data(&data).start().await;
        app.to_get("/v1/keys").bearer(token.trim_end()).send().await.json(200);
    });
}

#[test]
fn token_has_user_and_lifetime() {
    let app = App::shared(Engine::Sqlite);
    for wrong in [
        &["--sub", ""][..],
        &["--sub", "ada", "--ttl", "soon"],
        &["--sub", "ada", "--ttl", "0s"],
        &["--sub", "ada", "--ttl", "-1h"],
        &["--sub", "ada", "--scope", "root"],
        &["--sub", "ada", "--account", " "],
        &[],
    ] {
        let (success, out, err) = told(app.command(&[&["token"], wrong].concat()));
        assert!(!success && out.is_empty() && !err.is_empty(), "{wrong:?}: {out}{err}");
    }
}

#[test]
fn key_create_prints_only_the_key() {
    let app = App::shared(Engine::Sqlite);
    let (name, user, account) = (unique("name"), unique("user"), unique("account"));
    let create = |more: &[&str]| {
        let (success, out, err) = told(app.command(&[&["key", "create", "--name", &name], more].concat()));
        assert!(success && err.is_empty(), "{err}");
        assert_eq!(out.lines().count(), 1, "{out}");
        out.trim_end().to_owned()
    };
    let keys = [create(&[]), create(&["--user", &user]), create(&["--account", &account])];
    let id = |key: &str| key.split('_').nth(1).unwrap().to_owned();
    app.prints(&["key", "revoke", &id(&keys[1])]);
    let list = app.prints(&["key", "list"]);
    let scopes = ["operator".to_owned(), format!("user {user}"), format!("account {account}")];
    for (key, (scope, state)) in keys.iter().zip(scopes.iter().zip(["valid", "revoked", "valid"])) {
        assert!(key.starts_with("test_"), "{key}");
        let line = list.lines().find(|line| line.starts_with(&id(key))).unwrap();
        assert!([name.as_str(), scope, state].iter().all(|part| line.contains(part)), "{line}");
        assert!(!list.contains(key.splitn(3, '_').nth(2).unwrap()), "the secret is never shown again");
    }
    for wrong in [&["key", "revoke", "0000000000000000"][..], &["key", "revoke", ""]] {
        let (success, out, err) = told(app.command(wrong));
        assert!(!success && out.is_empty() && !err.is_empty(), "{wrong:?}: {err}");
    }
    let both = ["key", "create", "--name", "x", "--user", "a", "--account", "b"];
    assert!(!app.command(&both).status.success(), "a key is bound to one of them");
}

#[test]
fn commands_work_with_live_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("live.toml");
    let data = folder.path().join("data");
    // Only the server needs the listen address and the bureaus' secrets.
    let settings = format!(
        "profile = \"live\"\nlisten = \"0.0.0.0:8080\"\nchain = \"http://127.0.0.1:1\"\ndata = {:?}\n\
         [bureaus.acme]\nurl = \"http://127.0.0.1:1\"\nsecret_env = \"PORTICO_TEST_NO_SUCH_SECRET\"\n",
        data.display().to_string()
    );
    std::fs::write(&file, settings).unwrap();
    let command = |arguments: &[&str]| {
        let mut command = portico();
        command.args(arguments).arg("--config").arg(&file).env("PORTICO_ENCRYPTION_KEY", ENCRYPTION_KEY);
        told(command.output().unwrap())
    };
    let (success, token, err) = command(&["token", "--sub", "ada"]);
    assert!(success, "token: {err}");
    assert_eq!(token.trim_end().split('.').count(), 3);
    let (success, key, err) = command(&["key", "create", "--name", "operator"]);
    assert!(success, "key create: {err}");
    assert!(key.starts_with("live_"), "{key}");
    assert!(!data.join("encryption.key").exists(), "the key that was given is used");
}

#[test]
fn commands_need_no_server_flags() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("open.toml");
    std::fs::write(&file, "listen = \"0.0.0.0:8080\"\n").unwrap();
    for arguments in
        [&["token", "--sub", "ada"][..], &["key", "create", "--name", "ci"], &["migrate", "status"]]
    {
        let mut command = portico();
        command.args(arguments).arg("--config").arg(&file).arg("--data").arg(folder.path().join("data"));
        let (success, _, err) = told(command.output().unwrap());
        assert!(success, "{arguments:?}: {err}");
    }
}

#[test]
fn invalid_origin_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = serve(folder.path());
    command.args(["--cors-origin", "*"]);
    refuses(command, &["cors_origin", "*"]);
}

async fn demonstration_data_belongs_to_the_instance_and_its_key(engine: Engine) {
    const OTHER: &str = "0000000000000000000000000000000000000000000000000000000000000007";
    let folder = tempfile::tempdir().unwrap();
    let (data, database) = (folder.path().join("data"), engine.database().await);
    let seed = |environment: &[(&str, &str)]| {
        let mut command = portico();
        command.args(["seed", "--demo", "--data"]).arg(&data).envs(environment.iter().copied());
        if let Some(url) = &database {
            command.args(["--database", url]);
        }
        told(command.output().unwrap())
    };
    let own = ("PORTICO_ENCRYPTION_KEY", ENCRYPTION_KEY);
    let (success, _, err) = seed(&[own, ("PORTICO_PROFILE", "live")]);
    assert!(!success && err.contains("sandbox only"), "{err}");
    let (success, out, err) = seed(&[own]);
    assert!(success && out.starts_with("360 listings"), "{out}{err}");
    assert!(!data.join("encryption.key").exists(), "the key that was given is used");
    let (success, _, err) = seed(&[("PORTICO_ENCRYPTION_KEY", OTHER)]);
    assert!(!success && err.contains("does not open this keystore"), "{err}");
    let (success, out, err) = seed(&[own]);
    assert!(success && out.starts_with("0 listings"), "{out}{err}");
    let options = Options::new(engine).data(&data).env(own.0, own.1);
    let options = if let Some(url) = &database { options.database(url) } else { options };
    let app = options.start().await;
    let totals = app.get("/v1/listings/stats/overview").await.json(200);
    assert_eq!(totals["totalListings"], 360, "{totals}");
}

async fn migrate_command_migrates(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    let (data, database) = (folder.path().join("data"), engine.database().await);
    let migrate = |what: &str| {
        let mut command = portico();
        command.args(["migrate", what, "--data"]).arg(&data);
        if let Some(url) = &database {
            command.args(["--database", url]);
        }
        told(command.output().unwrap())
    };
    for _ in 0..2 {
        let (success, out, err) = migrate("up");
        assert!(success && out.contains("up to date"), "{out}{err}");
        let (success, out, err) = migrate("status");
        assert!(success && out.contains("up to date"), "{out}{err}");
    }
    let options = Options::new(engine).data(&data);
    let options = if let Some(url) = &database { options.database(url) } else { options };
    let app = options.start().await;
    app.get("/readyz").await.status(200);
    assert!(app.prints(&["migrate", "status"]).contains("up to date"), "also while the server runs");
}

#[test]
fn older_copy_of_embedded_chain_is_refused() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let options = || Options::new(Engine::Sqlite).data(&data);
        let (old, new) = (folder.path().join("old.db"), folder.path().join("new.db"));
        for (id, copy) in [("oak", &old), ("elm", &new)] {
            let mut app = options().start().await;
            app.to_post("/stage/listings", &on_chain(id, "ada")).key(app.operator()).send().await.json(201);
            let database = rusqlite::Connection::open(data.join("portico.db")).unwrap();
            until("all is final", 20, async || {
                let open = "SELECT count(*) FROM chain_batches WHERE state < 2";
                (database.query_row(open, [], |row| row.get::<_, i64>(0)).unwrap() == 0).then_some(())
            })
            .await;
            drop(database);
            app.signal("TERM");
            assert!(app.ended().await);
            let chain = rusqlite::Connection::open(data.join("chain.db")).unwrap();
            chain.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
        }
        std::fs::copy(&old, data.join("chain.db")).unwrap();
        refuses(serve(folder.path()), &["chain.db is older than the database"]);
        std::fs::copy(&new, data.join("chain.db")).unwrap();
        let app = options().start().await;
        assert_eq!(app.get("/v1/listings/elm/proof").await.json(200)["matches"], true);
    });
}

#[test]
fn database_of_another_state_is_refused() {
    run(async {
        let mut app = Options::new(Engine::Sqlite).start().await;
        app.signal("TERM");
        assert!(app.ended().await);
        let database = rusqlite::Connection::open(app.data.join("portico.db")).unwrap();
        database.execute("UPDATE portico_migrations SET sha256 = 'another'", []).unwrap();
        drop(database);
        let backup = app.data.with_file_name("backup");
        for arguments in [
            &["serve", "--listen", "127.0.0.1:0", "--json"][..],
            &["migrate", "up"],
            &["migrate", "status"],
            &["key", "list"],
            &["backup", "create", backup.to_str().unwrap()],
        ] {
            let (success, out, err) = told(app.command(arguments));
            assert!(!success && out.is_empty(), "{arguments:?}: {out}");
            assert!(err.contains("step 1 (initial) differs") && err.contains("empty --data folder"), "{err}");
        }
        assert!(!backup.exists());
    });
}

#[test]
fn newer_database_is_refused() {
    run(async {
        let mut app = Options::new(Engine::Sqlite).start().await;
        app.signal("TERM");
        assert!(app.ended().await);
        let database = rusqlite::Connection::open(app.data.join("portico.db")).unwrap();
        database.execute("INSERT INTO portico_migrations VALUES (999, 'later', '')", []).unwrap();
        drop(database);
        let (success, out, err) = told(app.command(&["serve", "--listen", "127.0.0.1:0", "--json"]));
        assert!(!success && out.is_empty() && err.contains("999") && err.contains("newer"), "{err}");
        assert!(app.prints(&["migrate", "status"]).contains("999"));
    });
}

#[test]
fn completions_help_and_version_are_printed() {
    let print = |arguments: &[&str]| {
        let (success, out, err) = told(portico().args(arguments).output().unwrap());
        assert!(success && err.is_empty(), "{arguments:?}: {err}");
        out
    };
    let completions = print(&["completions", "bash"]);
    assert!(
        completions.contains("complete -F _portico") && completions.contains("--listen"),
        "{completions}"
    );
    assert_eq!(print(&["--version"]).trim(), format!("portico {}", env!("CARGO_PKG_VERSION")));
    for command in ["serve", "token", "key", "openapi", "migrate", "completions"] {
        assert!(print(&["--help"]).contains(command), "{command}");
        assert!(print(&[command, "--help"]).contains("Usage"), "{command}");
    }
    let (success, _, err) = told(portico().args(["serve", "--nonsense"]).output().unwrap());
    assert!(!success && err.contains("--nonsense"), "{err}");
}

#[test]
fn help_does_not_show_secrets_of_the_environment() {
    let mut command = portico();
    command.args(["serve", "--help"]);
    command.env("PORTICO_ENCRYPTION_KEY", "sEcReT").env("PORTICO_DATABASE", "postgres://a:sEcReT@b/c");
    let (_, out, err) = told(command.env("PORTICO_CHAIN", "https://x/sEcReT").output().unwrap());
    assert!(
        out.contains("PORTICO_ENCRYPTION_KEY") && !out.contains("sEcReT") && !err.contains("sEcReT"),
        "{out}"
    );
}

#[test]
fn data_folder_is_readable_only_by_its_owner() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("deep/data");
        // Even with a permissive umask.
        let script = r#"umask 000; exec "$@""#;
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(portico().get_program());
        command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--data"]).arg(&data);
        let mut server = Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
        let line = BufReader::new(server.0.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        assert!(line.contains("url"), "{line}");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&data), 0o700);
        for key in ["issuer.key", "encryption.key"] {
            assert_eq!(mode(&data.join(key)), 0o600, "{key}");
        }
    });
}

#[test]
fn damaged_key_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("issuer.key"), "not a key").unwrap();
    let err = refuses(serve(folder.path()), &["issuer.key"]);
    assert!(!err.contains("not a key"), "{err}");
}

#[test]
fn commands_take_canonical_users_and_accounts() {
    let (app, name) = (App::shared(Engine::Sqlite), unique("quentin"));
    for (before, after) in [("", "\u{a0}"), ("\u{202e}", ""), ("", "\u{200b}"), ("", "e\u{301}")] {
        let wrong = format!("{before}{name}{after}");
        for command in [
            &["token", "--sub", &wrong][..],
            &["token", "--sub", "ada", "--account", &wrong],
            &["key", "create", "--name", "n", "--user", &wrong],
            &["key", "create", "--name", "n", "--account", &wrong],
            &["erase", "--user", &wrong],
        ] {
            let output = app.command(command);
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && output.stdout.is_empty(), "{command:?}");
            assert!(err.contains(&format!("{} must ", command[command.len() - 2])), "{err}");
            assert!(!err.contains(&name), "{err}");
        }
    }
}
