//! Benchmarks of the release server, and the tools they are made of. `run` and `peers` print tables; the other
//! commands fill databases and measure what the server is compared with.

mod baseline;
mod bureau;
mod chain;
mod load;
mod run;
mod sample_data;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
enum Command {
    /// Measures the server under wrk against a bare axum server, and prints a Markdown table
    ///
    /// Figures are ratios within the run, because machines differ and are noisy. Run it in the repository's root,
    /// under scripts/with-postgres. All traffic stays on loopback.
    Run(run::RunOptions),
    /// Measures the server against PocketBase and Fastify, with the same rows and durability
    Peers(run::PeersOptions),
    /// Fills a database with listings and devices
    Load {
        database: String,
        #[arg(long, default_value_t = 1_000_000)]
        listings: i64,
        #[arg(long, default_value_t = 1_000_000)]
        devices: i64,
    },
    /// Fills a database with the listings of another server's file (bench/peers/run rows)
    Copy { rows: PathBuf, database: String },
    /// Inserts listings in a bare loop, 64 a transaction, with the schema, durability and bookkeeping of the
    /// service, and waits until all indexes hold them; prints rows per second
    Raw {
        file: PathBuf,
        #[arg(long, default_value_t = 8)]
        seconds: u64,
    },
    /// Records listings on a node directly, in transactions of `batch` listings, each followed to its receipt;
    /// prints listings per second
    Node {
        url: String,
        #[arg(long, default_value_t = 1)]
        batch: usize,
        #[arg(long, default_value_t = 6)]
        seconds: u64,
    },
    /// Prints a new private key that has funds on an Anvil node
    Fund { url: String },
    /// Serves a bureau that answers every check after a delay; prints its address
    Bureau {
        #[arg(long, default_value_t = 2000)]
        delay_ms: u64,
    },
    /// Searches for a text with LIKE and no index; prints milliseconds
    Scan { database: String, term: String },
}

#[tokio::main]
async fn main() -> Result<()> {
    match Command::parse() {
        Command::Run(options) => run::run(options).await?,
        Command::Peers(options) => run::peers(options).await?,
        Command::Load { database, listings, devices } => load::load(&database, listings, devices).await?,
        Command::Copy { rows, database } => load::copy(&rows, &database).await?,
        Command::Raw { file, seconds } => {
            println!("{:.0}", baseline::raw_inserts(&file, Duration::from_secs(seconds)).await?);
        }
        Command::Node { url, batch, seconds } => {
            let key = chain::funded_key(&url).await?;
            println!("{:.0}", chain::measure(&url, &key, batch, Duration::from_secs(seconds)).await?);
        }
        Command::Fund { url } => println!("{}", chain::funded_key(&url).await?),
        Command::Bureau { delay_ms } => bureau::serve(Duration::from_millis(delay_ms)).await?,
        Command::Scan { database, term } => println!("{:.2}", baseline::scan(&database, &term).await?),
    }
    Ok(())
}
