//! The benchmark tables: `run` compares the server with a bare axum server, `peers` with other products.
//!
//! Rates are compared in alternating rounds of both servers, because the machine is not equally fast all the time. The
//! round with the middle ratio counts.

mod chain;
mod database;
mod engines;
mod http;
mod options;
mod peers;
mod process;
mod rounds;
mod rows;
mod screening;
mod server;
mod small;
mod table;
mod wrk;

use std::future::Future;

use anyhow::{Result, bail};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use options::{PeersOptions, RunOptions};

use database::Database;
use options::{Common, Section};
use server::Helper;
use table::Table;

/// What every section of the main table needs.
struct Bench {
    common: Common,
    rows: u64,
    table: Table<5>,
    /// Runs during the whole benchmark.
    bare_server: Helper,
}

/// Prints the main table.
pub(crate) async fn run(options: RunOptions) -> Result<()> {
    until_interrupted(Box::pin(run_sections(options))).await
}

/// Prints the table of peers.
pub(crate) async fn peers(options: PeersOptions) -> Result<()> {
    until_interrupted(Box::pin(peers::run(options))).await
}

/// Dropping the benchmark kills every process that it has started.
async fn until_interrupted(benchmark: impl Future<Output = Result<()>>) -> Result<()> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        outcome = benchmark => outcome,
        _ = interrupt.recv() => bail!("interrupted"),
        _ = terminate.recv() => bail!("terminated"),
    }
}

async fn run_sections(options: RunOptions) -> Result<()> {
    options.common.prepare()?;
    let (anvil, postgres) = (options.anvil_if_needed()?, options.postgres_if_needed()?);
    let bare_server = Helper::bare_server(&options.common).await?;
    let title = format!("{} listings, {} connections", options.rows, options.common.connections);
    let table = Table::begin([&title, "figure", "ratio", "p50 ms", "p99 ms"]);
    let selected = |section| options.selects(section);
    let (small, screening, sqlite) =
        (selected(Section::Small), selected(Section::Screening), selected(Section::Sqlite));
    let bench = Bench { rows: options.rows, common: options.common, table, bare_server };
    if small {
        bench.small().await?;
    }
    if screening {
        bench.screening().await?;
    }
    if let Some(anvil) = anvil {
        bench.chain(&anvil).await?;
    }
    if sqlite {
        bench.engine(&Database::sqlite(&bench.common, bench.rows).await?).await?;
    }
    if let Some(server) = postgres {
        bench.engine(&Database::postgres(&bench.common, &server, bench.rows).await?).await?;
    }
    Ok(())
}
