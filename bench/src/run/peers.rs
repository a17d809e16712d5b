//! The table of peers: Fastify, PocketBase and Portico with the same rows and durability. `bench/peers/run` installs and
//! measures the peers.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result};
use tokio::process::Command;

use super::options::{Common, PeersOptions};
use super::process;
use super::rounds::{Round, middle};
use super::server::Server;
use super::table::Table;

const ROUNDS: usize = 5;
const SCRIPT: &str = "bench/peers/run";

struct Peers {
    common: Common,
    rows: u64,
    table: Table<7>,
}

/// A line of `bench/peers/run`: peer, operation, requests per second, p50 in ms, p99 in ms, errors; separated by tabs.
#[derive(Clone, Debug, PartialEq)]
struct PeerResult {
    per_second: f64,
    fields: [String; 6],
}

pub(super) async fn run(options: PeersOptions) -> Result<()> {
    let PeersOptions { rows, common } = options;
    common.prepare()?;
    let file = common.work.join("peer-rows.db");
    process::output(script(rows).arg("rows").arg(&file)).await?;
    let titles = ["server", "operation", "requests/s", "Portico takes", "p50 ms", "p99 ms", "errors"];
    let peers = Peers { common, rows, table: Table::begin(titles) };
    for operation in ["read", "write"] {
        peers.operation(operation, &file).await?;
    }
    Ok(())
}

impl Peers {
    async fn operation(&self, operation: &str, rows: &Path) -> Result<()> {
        let (mut fastify, mut pocketbase, mut portico) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            // One right after the other, because the machine is not equally fast all the time.
            let first = self.peer("fastify", operation).await?;
            let own = self.portico(operation, rows).await?;
            let last = self.peer("pocketbase", operation).await?;
            fastify.push(round(&own, first));
            pocketbase.push(round(&own, last));
            portico.push(own);
        }
        for rounds in [&mut fastify, &mut pocketbase] {
            let counted = middle(rounds).context("no rounds")?.clone();
            let (least, most) = (rounds[0].ratio, rounds[rounds.len() - 1].ratio);
            let compared = format!("{:.1}× of it ({least:.1} to {most:.1})", counted.ratio);
            self.row(&counted.base, &compared);
        }
        portico.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
        self.row(&portico[portico.len() / 2], "");
        Ok(())
    }

    async fn peer(&self, name: &str, operation: &str) -> Result<PeerResult> {
        let mut command = script(self.rows);
        command.env("PEERS", name).arg(operation).args(self.length_and_connections());
        PeerResult::parse(&process::output(command.stderr(Stdio::null())).await?)
    }

    async fn portico(&self, operation: &str, rows: &Path) -> Result<PeerResult> {
        let data = self.common.empty_folder("peer")?;
        let database = format!("sqlite:{}", data.join("portico.db").display());
        process::output(process::this_program()?.arg("copy").arg(rows).arg(database)).await?;
        let server = Server::start(&self.common, &data, &[]).await?;
        let mut command = script(self.rows);
        command.env("PEER_NAME", "portico").args(["load", &server.url, operation]);
        let result = process::output(command.args(self.length_and_connections())).await?;
        server.stop().await?;
        PeerResult::parse(&result)
    }

    fn length_and_connections(&self) -> [String; 2] {
        [self.common.seconds.div_ceil(2).to_string(), self.common.connections.to_string()]
    }

    fn row(&self, result: &PeerResult, compared: &str) {
        let [peer, operation, per_second, p50, p99, errors] = &result.fields;
        self.table.row([peer, operation, per_second, compared, p50, p99, errors]);
    }
}

fn script(rows: u64) -> Command {
    let mut command = Command::new(SCRIPT);
    command.env("ROWS", rows.to_string());
    command
}

fn round(portico: &PeerResult, peer: PeerResult) -> Round<PeerResult> {
    Round { ratio: portico.per_second / peer.per_second, measured: portico.clone(), base: peer }
}

impl PeerResult {
    fn parse(printed: &str) -> Result<Self> {
        let fields: Vec<String> = printed.split('\t').map(str::to_owned).collect();
        let fields: [String; 6] =
            fields.try_into().ok().with_context(|| format!("no result from {SCRIPT}: {printed}"))?;
        Ok(Self { per_second: fields[2].parse()?, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_of_a_peer_has_six_fields() {
        let result = PeerResult::parse("fastify\tread\t9000\t6.10\t12.50\t0").unwrap();
        assert_eq!((result.per_second, result.fields[0].as_str()), (9000.0, "fastify"));
        assert!(PeerResult::parse("fastify\tread\t9000").is_err());
        assert!(PeerResult::parse("").is_err());
    }
}
