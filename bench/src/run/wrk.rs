//! The load generator: wrk with the scripts in `bench/peers/wrk`, which describe their environment variables.

use std::process::id;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result};
use tokio::process::Command;

use super::process;

const SCRIPTS: &str = "bench/peers/wrk";
/// Long enough for caches to fill in most cases.
pub(super) const WARM_UP_SECONDS: u64 = 4;

/// A load on one server.
#[derive(Clone)]
pub(super) struct Wrk {
    script: &'static str,
    url: String,
    connections: u32,
    /// Rows that requests choose from. Posts derive the number of their users from it.
    rows: u64,
    /// Each is an optional variable of the scripts.
    variables: Vec<(&'static str, String)>,
}

/// What wrk has measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) per_second: f64,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) errors: u64,
}

impl Wrk {
    /// GETs of a path in which `{i}` is a random row.
    pub(super) fn read(url: &str, connections: u32, path: &str) -> Self {
        Self::new("read.lua", url, connections).set("WRK_PATH", path)
    }

    /// POSTs of new listings.
    pub(super) fn write(url: &str, connections: u32) -> Self {
        Self::new("write.lua", url, connections)
    }

    fn new(script: &'static str, url: &str, connections: u32) -> Self {
        Self { script, url: url.to_owned(), connections, rows: 100_000, variables: Vec::new() }
    }

    pub(super) fn rows(self, rows: u64) -> Self {
        Self { rows: rows.max(1), ..self }
    }

    /// Text that every body must hold; checked while warming up.
    pub(super) fn expect(self, text: &str) -> Self {
        self.set("WRK_WANT", text)
    }

    pub(super) fn key(self, key: &str) -> Self {
        self.set("WRK_KEY", key)
    }

    pub(super) fn body(self, path: &str, body: &str) -> Self {
        self.set("WRK_PATH", path).set("WRK_BODY", body)
    }

    fn set(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// Fills caches, and checks every response, which costs wrk too much time for a measurement. Returns the number
    /// of wrong ones.
    pub(super) async fn warm_up(&self, seconds: u64) -> Result<u64> {
        Ok(self.execute(seconds, true).await?.errors)
    }

    /// Measures. Only failed requests and error statuses count as errors.
    pub(super) async fn measure(&self, seconds: u64) -> Result<Sample> {
        self.execute(seconds, false).await
    }

    /// Measures after a warm-up, whose wrong responses count as errors too.
    pub(super) async fn warm_up_and_measure(&self, warm_up_seconds: u64, seconds: u64) -> Result<Sample> {
        let wrong = self.warm_up(warm_up_seconds).await?;
        let sample = self.measure(seconds).await?;
        Ok(Sample { errors: sample.errors + wrong, ..sample })
    }

    async fn execute(&self, seconds: u64, check_responses: bool) -> Result<Sample> {
        // Makes the ids of every run unique.
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let run = format!("{}-{}", id(), RUNS.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new("wrk");
        for name in ["WRK_PATH", "WRK_WANT", "WRK_KEY", "WRK_BODY", "WRK_LOOK", "WRK_PEER", "WRK_OP"] {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().cloned()).env("WRK_LIB", SCRIPTS).env("WRK_RUN", run);
        command.env("ROWS", self.rows.to_string());
        if check_responses {
            command.env("WRK_LOOK", "1");
        }
        command.args(["-t", "1", "-c", &self.connections.to_string(), "--timeout", "10s"]);
        command.args(["-d", &format!("{seconds}s"), "-s", &format!("{SCRIPTS}/{}", self.script), &self.url]);
        let printed = process::output(&mut command).await?;
        Sample::parse(&printed).with_context(|| format!("no result from wrk:\n{printed}"))
    }
}

impl Sample {
    /// Reads the line of `report.lua`:
    /// RESULT, peer, operation, requests per second, p50 in ms, p99 in ms, errors; separated by tabs.
    fn parse(printed: &str) -> Option<Self> {
        let mut fields = printed.lines().find_map(|line| line.strip_prefix("RESULT\t"))?.split('\t').skip(2);
        let mut number = || fields.next()?.parse().ok();
        let (per_second, p50_ms, p99_ms) = (number()?, number()?, number()?);
        Some(Self { per_second, p50_ms, p99_ms, errors: fields.next()?.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_line_is_found_among_others() {
        let printed = "Running 1s test @ http://127.0.0.1:1\n  9 requests in 1.00s\n\
                       RESULT\tserver\trequest\t32165\t1.91\t4.05\t3\n";
        let expected = Sample { per_second: 32165.0, p50_ms: 1.91, p99_ms: 4.05, errors: 3 };
        assert_eq!(Sample::parse(printed), Some(expected));
    }

    #[test]
    fn incomplete_result_is_none() {
        assert_eq!(Sample::parse("RESULT\tserver\trequest\t32165\t1.91\t4.05"), None);
        assert_eq!(Sample::parse("RESULT\tserver\trequest\tnan?\t1.91\t4.05\t0"), None);
        assert_eq!(Sample::parse("unable to connect"), None);
    }
}
