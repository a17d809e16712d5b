//! A server process of the real binary, and the client that talks to it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::{Anvil, Bureau, Engine, Request, run, until};

/// A command of the binary under test, without the `PORTICO_` variables of the environment.
pub(crate) fn portico() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portico"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PORTICO_") || name == "RUST_LOG") {
        command.env_remove(name);
    }
    command
}

/// The encryption key of live servers.
pub(crate) const ENCRYPTION_KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

#[derive(Debug)]
pub(crate) struct Options {
    engine: Engine,
    database: Option<String>,
    data: Option<PathBuf>,
    flags: Vec<String>,
    environment: Vec<(String, String)>,
    settings: Option<String>,
    stderr: Option<Stdio>,
    live: bool,
}

impl Options {
    pub(crate) fn new(engine: Engine) -> Self {
        Self {
            engine,
            database: None,
            data: None,
            flags: Vec::new(),
            environment: Vec::new(),
            settings: None,
            stderr: None,
            live: false,
        }
    }

    pub(crate) fn flags(mut self, flags: &[&str]) -> Self {
        self.flags.extend(flags.iter().map(|&flag| flag.to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// With this configuration file.
    pub(crate) fn settings(mut self, toml: &str) -> Self {
        self.settings = Some(toml.into());
        self
    }

    /// With the profile `live`, on a chain of a real node, asking a bureau on this machine.
    pub(crate) fn live(mut self) -> Self {
        self.live = true;
        self = self.env("PORTICO_ENCRYPTION_KEY", ENCRYPTION_KEY).settings(&Bureau::shared().settings());
        // Tests ask for more at once than people do.
        self.flags(&["--profile", "live"]).env("PORTICO_RATE_LIMIT", "0").anvil()
    }

    /// On a real node, with a new funded key.
    pub(crate) fn anvil(self) -> Self {
        let anvil = Anvil::shared();
        self.env("PORTICO_CHAIN", &anvil.url).env("PORTICO_CHAIN_KEY", &anvil.new_key())
    }

    pub(crate) fn database(mut self, url: &str) -> Self {
        self.database = Some(url.into());
        self
    }

    pub(crate) fn data(mut self, folder: &Path) -> Self {
        self.data = Some(folder.into());
        self
    }

    /// Logs there instead of to a file.
    pub(crate) fn stderr(mut self, to: Stdio) -> Self {
        self.stderr = Some(to);
        self
    }

    /// The error of a server that must not start on the data of another one.
    pub(crate) fn refused_on(self, app: &App) -> String {
        let mut command = portico();
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&app.data);
        command.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
        let file = app.data.join("settings.toml");
        std::fs::write(&file, self.settings.unwrap_or_default()).unwrap();
        command.arg("--config").arg(file).args(&self.flags).envs(self.environment);
        let output = command.output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }

    /// Starts the server and waits for its banner.
    pub(crate) async fn start(self) -> App {
        self.launch(false).await
    }

    async fn launch(mut self, shared: bool) -> App {
        let folder = tempfile::Builder::new().prefix("portico-http-").tempdir().unwrap();
        let data = self.data.take().unwrap_or_else(|| folder.path().join("data"));
        let database = match self.database.take() {
            None => self.engine.database().await,
            given => given,
        };
        if self.live {
            deploy(&data, database.as_deref(), &self.environment);
        }
        let log = folder.path().join("stderr");
        let mut command = if shared { keeper(folder.path()) } else { portico() };
        command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--data"]).arg(&data);
        if let Some(url) = &database {
            command.args(["--database", url]);
            // Live, it must be named.
            if self.live && !self.flags.iter().any(|flag| flag == "--keystore") {
                command.arg("--keystore").arg(format!("sqlite:{}", data.join("keys.db").display()));
            }
        }
        if let Some(settings) = self.settings {
            let file = folder.path().join("portico.toml");
            std::fs::write(&file, settings).unwrap();
            command.arg("--config").arg(file);
        }
        command.args(&self.flags).envs(self.environment);
        let stderr = self.stderr.take().unwrap_or_else(|| File::create(&log).unwrap().into());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let Ok(banner) = serde_json::from_str::<Value>(&line) else {
            panic!("the server did not start: {line}{}", std::fs::read_to_string(&log).unwrap());
        };
        let folder = if shared { Folder::Kept(folder.keep()) } else { Folder::Own(folder) };
        App {
            engine: self.engine,
            url: banner["url"].as_str().expect("the banner has a url").into(),
            admin: banner["admin"].as_str().map(Into::into),
            live: self.live,
            data,
            database,
            log,
            process: Some(Process {
                child,
                pid: banner["pid"].as_u64().expect("the banner has a pid"),
                folder,
            }),
            operator: OnceLock::new(),
        }
    }
}

/// Deploys the contracts, as an operator does before the first start of a live instance.
fn deploy(data: &Path, database: Option<&str>, environment: &[(String, String)]) {
    let mut command = portico();
    command.args(["chain", "deploy", "--data"]).arg(data).envs(environment.iter().cloned());
    if let Some(url) = database {
        command.args(["--database", url]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs the server until this process exits: nobody drops what all tests share. Closing the shell's standard input
/// ends it, also if the tests are killed.
fn keeper(folder: &Path) -> Command {
    const SCRIPT: &str =
        r#"folder=$1; shift; "$@" & trap '' TERM; read _; kill "$!"; wait; rm -rf "$folder""#;
    let server = portico();
    let mut command = Command::new("sh");
    for (name, value) in server.get_envs() {
        assert!(value.is_none(), "{} is only ever removed", name.display());
        command.env_remove(name);
    }
    command.args(["-c", SCRIPT, "sh"]).arg(folder).arg(server.get_program());
    command
}

#[derive(Debug)]
#[expect(dead_code, reason = "held, never read")]
enum Folder {
    Own(tempfile::TempDir),
    Kept(PathBuf),
}

#[derive(Debug)]
struct Process {
    child: Child,
    pid: u64,
    #[expect(dead_code, reason = "removed when it is dropped")]
    folder: Folder,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running server.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) url: String,
    /// The listener for health and metrics, if it has one.
    pub(crate) admin: Option<String>,
    pub(crate) data: PathBuf,
    pub(crate) database: Option<String>,
    live: bool,
    log: PathBuf,
    /// `None`: shared by all processes.
    process: Option<Process>,
    operator: OnceLock<String>,
}

static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| {
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(Duration::from_mins(1))
        .build()
        .unwrap()
});

impl App {
    /// The server that all tests of an engine share.
    pub(crate) fn shared(engine: Engine) -> &'static Self {
        static SQLITE: OnceLock<App> = OnceLock::new();
        static POSTGRES: OnceLock<App> = OnceLock::new();
        let app = match engine {
            Engine::Sqlite => &SQLITE,
            Engine::Postgres => &POSTGRES,
        };
        // On a separate thread, since the caller may already run inside the runtime.
        let launch = || {
            std::thread::scope(|scope| scope.spawn(|| run(Options::new(engine).launch(true))).join().unwrap())
        };
        app.get_or_init(|| Self::attached(engine).unwrap_or_else(launch))
    }

    /// The server that `scripts/with-servers` has started for all processes.
    fn attached(engine: Engine) -> Option<Self> {
        let description = match engine {
            Engine::Sqlite => std::env::var("PORTICO_TEST_SQLITE_SERVER"),
            Engine::Postgres => std::env::var("PORTICO_TEST_POSTGRES_SERVER"),
        };
        let server: Value =
            serde_json::from_str(&description.ok()?).expect("the server is described in JSON");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Some(Self {
            engine,
            url: text(&server["banner"]["url"]),
            admin: None,
            live: false,
            data: text(&server["banner"]["data"]).into(),
            database: Some(text(&server["database"])).filter(|url| !url.is_empty()),
            log: text(&server["log"]).into(),
            process: None,
            operator: OnceLock::from(text(&server["operator"])),
        })
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn address(&self) -> &str {
        self.url.split_once("://").expect("a url has a scheme").1
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Waits for a log line: a separate thread writes them.
    pub(crate) async fn logs(&self, text: &str) {
        until(&format!("{text:?} is logged"), 10, async || self.log().contains(text).then_some(())).await;
    }

    pub(crate) fn pid(&self) -> u64 {
        self.process.as_ref().expect("a server of the test's own").pid
    }

    /// Sends a signal, such as `TERM`.
    /// No file of the server grows beyond this; `None`: as large as they like.
    pub(crate) fn limit_files(&self, bytes: Option<u64>) {
        let process = self.process.as_ref().expect("shared servers have no limits");
        let limit = bytes.map_or("unlimited".into(), |bytes| bytes.to_string());
        let mut command = Command::new("prlimit");
        command.args(["--pid", &process.pid.to_string(), &format!("--fsize={limit}:unlimited")]);
        assert!(command.status().expect("prlimit is part of util-linux").success());
    }

    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.pid());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for the exit; returns whether it was successful.
    pub(crate) async fn ended(&mut self) -> bool {
        let child = &mut self.process.as_mut().expect("a server of the test's own").child;
        until("the server has ended", 40, || std::future::ready(child.try_wait().unwrap())).await.success()
    }

    /// Runs a command on the server's data.
    pub(crate) fn command(&self, arguments: &[&str]) -> Output {
        let mut command = portico();
        command.args(arguments).arg("--data").arg(&self.data);
        if let Some(url) = &self.database {
            command.args(["--database", url]);
        }
        if self.live {
            command.env("PORTICO_PROFILE", "live");
        }
        command.output().unwrap()
    }

    /// The output of a command that must succeed.
    #[track_caller]
    pub(crate) fn prints(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments);
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {err}");
        out.trim_end().to_owned()
    }

    /// A token from the command line.
    pub(crate) fn token(&self, arguments: &[&str]) -> String {
        self.prints(&[&["token"], arguments].concat())
    }

    /// A key from the command line.
    pub(crate) fn new_key(&self, arguments: &[&str]) -> String {
        self.prints(&[&["key", "create", "--name", "test"], arguments].concat())
    }

    /// The operator's key.
    pub(crate) fn operator(&self) -> &str {
        self.operator.get_or_init(|| self.new_key(&[]))
    }

    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    pub(crate) fn target(&self) -> Target {
        Target(self.url.clone())
    }
}

/// Where requests go.
#[derive(Debug, Clone)]
pub(crate) struct Target(String);

impl Target {
    pub(crate) async fn send(self, request: Request) -> (u16, HeaderMap, Vec<u8>) {
        let Request { method, path, headers, body, .. } = request;
        let sent = CLIENT.request(method, format!("{}{path}", self.0)).headers(headers);
        let sent = body.into_iter().fold(sent, reqwest::RequestBuilder::body);
        let answer = sent.send().await.unwrap_or_else(|error| panic!("{path}: {error:?}"));
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let body = answer.bytes().await.unwrap_or_else(|error| panic!("{path}: {error:?}"));
        (status, headers, body.into())
    }
}
