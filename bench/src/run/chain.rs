//! The section `chain`: listings on the embedded chain and on Anvil, each with what it is compared with.

use std::path::Path;

use anyhow::{Context as _, Result};
use reqwest::header::HeaderName;
use serde_json::json;

use super::Bench;
use super::process;
use super::rounds::{Round, middle};
use super::rows::report_errors;
use super::server::{Helper, Server};
use super::wrk::{Sample, WARM_UP_SECONDS, Wrk};

const STAGE_ROUNDS: usize = 7;
const STAGE_WARM_UP_SECONDS: u64 = 3;
const STAGE_LISTING: &str = r#"{"id":"{id}","userId":"{user}","addressStreet":"{n} Maple Avenue Apt 12","addressCity":"Seattle","addressState":"WA","addressPostal":"98101","monthlyPayment":2450,"minCredit":620,"minIncome":55000}"#;

impl Bench {
    pub(super) async fn chain(&self, anvil: &Path) -> Result<()> {
        self.requirements_row().await?;
        // A listing is first stored and then recorded on the chain: with twice as many clients both batches are full.
        self.stage_row(self.common.connections).await?;
        let embedded = self.stage_row(2 * self.common.connections).await?;
        let single = self.direct_to_anvil(anvil, 1).await?;
        let compared = format!("the embedded chain takes {:.2}× of it", embedded / single);
        self.figure_row("Anvil, fresh, one listing a transaction", &format!("{single:.0}/s"), &compared);
        let batched = self.direct_to_anvil(anvil, 64).await?;
        self.anvil_row(anvil, batched).await
    }

    async fn requirements_row(&self) -> Result<()> {
        let server = Server::start(&self.common, &self.common.empty_folder("chain")?, &[]).await?;
        let key = server.create_key().await?;
        for n in 0..100 {
            let listing = json!({
                "id": format!("terms-{n}"), "userId": "u", "addressStreet": "1 Oak", "addressCity": "Austin",
                "addressState": "TX", "addressPostal": "1", "monthlyPayment": 1, "minCredit": 620,
            });
            let credentials = (HeaderName::from_static("x-api-key"), key.as_str());
            server.http.post("/stage/listings", Some(credentials), listing.to_string()).await?;
        }
        let path = "/stage/listing/requirements/terms-{i}";
        let load = Wrk::read(&server.url, self.common.connections, path).expect("minCreditScore");
        self.read_row("requirements from the embedded chain", &load.rows(100).key(&key)).await?;
        server.stop().await
    }

    /// POST /stage/listings compared with POST /listings, both on an empty database. Returns the rate of the former.
    async fn stage_row(&self, connections: u32) -> Result<f64> {
        let name = format!("POST /stage/listings, embedded chain, {connections} connections");
        let mut rounds = Vec::new();
        for _ in 0..STAGE_ROUNDS {
            let (base, measured) =
                (self.post_listings(connections).await?, self.post_stage(connections).await?);
            rounds.push(Round { ratio: measured.per_second / base.per_second, measured, base });
        }
        report_errors(&name, rounds.iter().map(|round| round.measured.errors + round.base.errors).sum());
        let Round { ratio, measured, base } = middle(&mut rounds).context("no rounds")?;
        let compared = format!("{ratio:.2}× of POST /listings with as many ({:.0}/s)", base.per_second);
        self.rate_row(&name, measured, &compared);
        Ok(measured.per_second)
    }

    async fn post_listings(&self, connections: u32) -> Result<Sample> {
        let server = Server::start(&self.common, &self.common.empty_folder("simple")?, &[]).await?;
        let sample = self.measure_round(&Wrk::write(&server.url, connections)).await?;
        server.stop().await?;
        Ok(sample)
    }

    async fn post_stage(&self, connections: u32) -> Result<Sample> {
        let server = Server::start(&self.common, &self.common.empty_folder("chain")?, &[]).await?;
        let sample = self.measure_round(&stage_load(&server, connections).await?).await?;
        server.stop().await?;
        Ok(sample)
    }

    async fn measure_round(&self, load: &Wrk) -> Result<Sample> {
        load.warm_up_and_measure(STAGE_WARM_UP_SECONDS, self.common.seconds.div_ceil(2)).await
    }

    /// Listings per second that a fresh Anvil takes in batches, without Portico.
    async fn direct_to_anvil(&self, anvil: &Path, batch: u32) -> Result<f64> {
        let node = Helper::anvil(&self.common, anvil).await?;
        let (batch, seconds) = (batch.to_string(), self.common.seconds.to_string());
        let arguments = ["node", &node.url, "--batch", &batch, "--seconds", &seconds];
        let rate = process::output(process::this_program()?.args(arguments)).await?.parse()?;
        node.stop().await?;
        Ok(rate)
    }

    async fn anvil_row(&self, anvil: &Path, batched: f64) -> Result<()> {
        let name = "POST /stage/listings, Anvil";
        let node = Helper::anvil(&self.common, anvil).await?;
        let chain_key = crate::chain::funded_key(&node.url).await?;
        let data = self.common.empty_folder("anvil")?;
        let server = Server::start_with(&self.common, &data, |command| {
            command.args(["--chain", &node.url]).env("PORTICO_CHAIN_KEY", chain_key);
        });
        let server = server.await?;
        let load = stage_load(&server, self.common.connections).await?;
        let sample = load.warm_up_and_measure(WARM_UP_SECONDS, self.common.seconds).await?;
        report_errors(name, sample.errors);
        let ratio = sample.per_second / batched;
        self.rate_row(name, &sample, &format!("{ratio:.2}× of its own batches of 64 ({batched:.0}/s)"));
        server.stop().await?;
        node.stop().await
    }
}

async fn stage_load(server: &Server, connections: u32) -> Result<Wrk> {
    let key = server.create_key().await?;
    Ok(Wrk::write(&server.url, connections).body("/stage/listings", STAGE_LISTING).key(&key))
}
