//! The servers that take part: Portico, and the helpers it is compared with or talks to.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;
use tokio::process::Command;

use super::http::Http;
use super::options::Common;
use super::process::{self, Process};

/// A running Portico with its data folder. Dropping it kills it.
pub(super) struct Server {
    process: Process,
    pub(super) url: String,
    pub(super) http: Http,
    data: PathBuf,
    binary: PathBuf,
}

/// A field of `/proc/PID/status`.
#[derive(Clone, Copy)]
pub(super) enum Memory {
    Resident,
    Peak,
}

impl Server {
    /// Starts Portico on a data folder and waits until it is ready.
    pub(super) async fn start(common: &Common, data: &Path, flags: &[&str]) -> Result<Self> {
        Self::start_with(common, data, |command| _ = command.args(flags)).await
    }

    /// The same with other changes to the command, such as secrets in its environment.
    pub(super) async fn start_with(
        common: &Common,
        data: &Path,
        change: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        let binary = common.binary("portico");
        let mut command = Command::new(&binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--log", "warn", "--data"]).arg(data);
        change(&mut command);
        let log = common.work.join("server.log");
        let (mut process, url) = Process::start(&mut command, &log, url_in_json).await?;
        let http = Http::new(&url)?;
        while http.get("/readyz").await.is_err() {
            process.poll_running().await?;
        }
        Ok(Self { process, url, http, data: data.into(), binary })
    }

    /// Ends it in good order: what is measured next finds the files as a stopped server leaves them.
    pub(super) async fn stop(self) -> Result<()> {
        self.process.stop().await.map(drop)
    }

    /// In megabytes.
    pub(super) fn memory(&self, field: Memory) -> Result<i64> {
        let name = match field {
            Memory::Resident => "VmRSS:",
            Memory::Peak => "VmHWM:",
        };
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.pid()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such field")?;
        let kilobytes: i64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok((kilobytes + 512) / 1024)
    }

    pub(super) async fn create_key(&self) -> Result<String> {
        self.tool(&["key", "create", "--name", "bench"]).await
    }

    pub(super) async fn create_token(&self, subject: &str) -> Result<String> {
        self.tool(&["token", "--sub", subject]).await
    }

    async fn tool(&self, arguments: &[&str]) -> Result<String> {
        process::output(Command::new(&self.binary).args(arguments).arg("--data").arg(&self.data)).await
    }
}

fn url_in_json(line: &str) -> Option<String> {
    let started: Value = serde_json::from_str(line).ok()?;
    started["url"].as_str().map(str::to_owned)
}

/// Any other server. Dropping it kills it.
pub(super) struct Helper {
    process: Process,
    pub(super) url: String,
}

impl Helper {
    /// The bare axum server.
    pub(super) async fn bare_server(common: &Common) -> Result<Self> {
        Self::start(common, "hello", &mut Command::new(common.binary("hello"))).await
    }

    /// A bureau that answers after two seconds.
    pub(super) async fn slow_bureau(common: &Common) -> Result<Self> {
        Self::start(common, "bureau", process::this_program()?.args(["bureau", "--delay-ms", "2000"])).await
    }

    pub(super) async fn anvil(common: &Common, binary: &Path) -> Result<Self> {
        Self::start(common, "anvil", Command::new(binary).args(["--port", "0"])).await
    }

    async fn start(common: &Common, name: &str, command: &mut Command) -> Result<Self> {
        let find_url = |line: &str| match line.strip_prefix("Listening on ") {
            Some(address) => Some(format!("http://{address}")),
            None => line.starts_with("http://").then(|| line.to_owned()),
        };
        let (process, url) =
            Process::start(command, &common.work.join(format!("{name}.log")), find_url).await?;
        Ok(Self { process, url })
    }

    pub(super) async fn stop(self) -> Result<()> {
        self.process.stop().await.map(drop)
    }
}
