//! Rows that several sections share.

use anyhow::{Context as _, Result};

use super::Bench;
use super::rounds::{Round, middle};
use super::wrk::{Sample, WARM_UP_SECONDS, Wrk};

const READ_ROUNDS: usize = 5;

impl Bench {
    /// The rate of reads, as a ratio of the bare server.
    pub(super) async fn read_row(&self, name: &str, load: &Wrk) -> Result<()> {
        self.read_row_after(WARM_UP_SECONDS, name, load).await
    }

    /// The same after a warm-up of another length.
    pub(super) async fn read_row_after(&self, warm_up_seconds: u64, name: &str, load: &Wrk) -> Result<()> {
        let bare = Wrk::read(&self.bare_server.url, self.common.connections, "/?{i}");
        let seconds = self.common.seconds.div_ceil(3);
        let mut errors = load.warm_up(warm_up_seconds).await?;
        let mut rounds = Vec::new();
        for _ in 0..READ_ROUNDS {
            let (measured, base) = (load.measure(seconds).await?, bare.measure(seconds).await?);
            errors += measured.errors;
            rounds.push(Round { ratio: measured.per_second / base.per_second, measured, base });
        }
        report_errors(name, errors);
        let Round { ratio, measured, base } = middle(&mut rounds).context("no rounds")?;
        let compared = format!("{ratio:.2}× of hello ({:.0}/s)", base.per_second);
        self.rate_row(name, measured, &compared);
        Ok(())
    }

    /// A rate with its latencies.
    pub(super) fn rate_row(&self, name: &str, sample: &Sample, compared: &str) {
        let Sample { per_second, p50_ms, p99_ms, .. } = sample;
        let cells = [format!("{per_second:.0}/s"), format!("{p50_ms:.2}"), format!("{p99_ms:.2}")];
        self.table.row([name, &cells[0], compared, &cells[1], &cells[2]]);
    }

    /// A figure without latencies.
    pub(super) fn figure_row(&self, name: &str, figure: &str, compared: &str) {
        self.table.row([name, figure, compared, "", ""]);
    }
}

/// A figure with errors in it means little: the reader has to know.
pub(super) fn report_errors(name: &str, errors: u64) {
    if errors > 0 {
        eprintln!("{name}: {errors} errors");
    }
}
