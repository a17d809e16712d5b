//! Child processes: commands that run to their end, and servers that are killed when their guard is dropped.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::process::{Child, Command};

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Runs a command and returns what it has printed, trimmed.
pub(super) async fn output(command: &mut Command) -> Result<String> {
    let name = command.as_std().get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn();
    let output = child.with_context(|| format!("{name} does not start"))?.wait_with_output().await?;
    ensure!(output.status.success(), "{name} failed: {}", output.status);
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// This program, for one of its other commands. What opens a database runs in its own process, because the threads of a
/// `Db` outlive it and would take part in the next measurement.
pub(super) fn this_program() -> Result<Command> {
    Ok(Command::new(std::env::current_exe()?))
}

/// A background process. Dropping it kills it; `stop` lets it finish first.
pub(super) struct Process {
    child: Child,
    pid: u32,
    log: PathBuf,
}

impl Process {
    /// Starts a server, whose output goes to a log, and waits until `find_url` finds its address in a line of it.
    pub(super) async fn start(
        command: &mut Command,
        log: &Path,
        find_url: impl Fn(&str) -> Option<String>,
    ) -> Result<(Self, String)> {
        let file = File::create(log)?;
        command.stdin(Stdio::null()).stderr(file.try_clone()?).stdout(file).kill_on_drop(true);
        let name = command.as_std().get_program().to_string_lossy().into_owned();
        let child = command.spawn().with_context(|| format!("{name} does not start"))?;
        let pid = child.id().context("a child that was not waited for has an id")?;
        let mut process = Self { child, pid, log: log.to_owned() };
        loop {
            let text = std::fs::read_to_string(log)?;
            // A line without its end may be half of an address.
            let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
            if let Some(url) = lines.find_map(&find_url) {
                return Ok((process, url));
            }
            process.poll_running().await?;
        }
    }

    /// Waits for a moment; fails if the process has ended. For loops that wait for a condition.
    pub(super) async fn poll_running(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the process ended with {status}:\n{}", std::fs::read_to_string(&self.log)?);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        Ok(())
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Asks the process to end and waits until it has.
    pub(super) async fn stop(mut self) -> Result<ExitStatus> {
        output(Command::new("kill").arg(self.pid.to_string())).await?;
        Ok(self.child.wait().await?)
    }
}
