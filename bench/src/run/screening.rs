//! The section `screening`: many applicants verified at once by a slow bureau, and what other clients notice of it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::future::join_all;
use reqwest::header::AUTHORIZATION;
use serde_json::json;

use super::Bench;
use super::rows::report_errors;
use super::server::{Helper, Memory, Server};
use super::wrk::{WARM_UP_SECONDS, Wrk};

const PEOPLE: usize = 200;
const READ_CONNECTIONS: u32 = 8;
const NAME: &str = "verified at once, bureau of 2 s";

impl Bench {
    pub(super) async fn screening(&self) -> Result<()> {
        let data = self.common.empty_folder("screening")?;
        let bureau = Helper::slow_bureau(&self.common).await?;
        let config = self.write_screening_config(&bureau.url)?;
        let server = Server::start(&self.common, &data, &["--config", &config.to_string_lossy()]).await?;
        create_pipeline_and_listing(&server).await?;
        let mut tokens = Vec::new();
        for n in 1..=PEOPLE {
            tokens.push(server.create_token(&format!("person-{n}")).await?);
        }
        let reads = Wrk::read(&server.url, READ_CONNECTIONS, "/listings?listingId=bench-{i}").rows(1);
        let before = reads.warm_up_and_measure(WARM_UP_SECONDS, self.common.seconds).await?;
        let memory_before = server.memory(Memory::Resident)?;
        let wrong = reads.warm_up(WARM_UP_SECONDS).await?;
        let (during, (verified, took)) =
            tokio::join!(reads.measure(self.common.seconds), verify_while_others_read(&server, &tokens));
        let during = during?;
        report_errors(NAME, before.errors + wrong + during.errors);
        let noticed = format!(
            "reads' p99 {:.2}× of {:.2} ms; {:+} MB at most",
            during.p99_ms / before.p99_ms,
            before.p99_ms,
            server.memory(Memory::Peak)? - memory_before,
        );
        let (name, took) = (format!("{verified} of {PEOPLE} {NAME}"), format!("{:.1} s", took.as_secs_f64()));
        self.table.row([&name, &took, &noticed, "", &format!("{:.2}", during.p99_ms)]);
        server.stop().await?;
        bureau.stop().await
    }

    fn write_screening_config(&self, bureau_url: &str) -> Result<PathBuf> {
        let path = self.common.work.join("screening.toml");
        let config = format!(
            r#"[bureaus.slow]
url = "{bureau_url}"
secret = "0123456789abcdef0123456789abcdef"
signed_answers = false
[screening]
eviction = "slow"
income = "slow"
soft_credit = "slow"
criminal_background = "slow"
"#
        );
        std::fs::write(&path, config)?;
        Ok(path)
    }
}

async fn create_pipeline_and_listing(server: &Server) -> Result<()> {
    let bearer = bearer(&server.create_token("landlord").await?);
    let pipeline = json!({
        "ClientId": "all", "EvictionCheck": true, "IncomeCheck": true, "SoftCreditCheck": true,
        "CriminalBackgroundCheck": true, "CountryIdentifier": "US",
    });
    server.http.post("/verificationPipeline", Some((AUTHORIZATION, &bearer)), pipeline.to_string()).await?;
    let listing = json!({
        "listingId": "bench-0", "userId": "u", "streetAddress": "1 Oak", "city": "Austin", "state": "TX",
        "postalCode": "1",
    });
    server.http.post("/listings", None, listing.to_string()).await
}

/// Verifies everybody at once, when the reads have been measured for a second. Returns the number of successes, and how
/// long all of them took.
async fn verify_while_others_read(server: &Server, tokens: &[String]) -> (usize, Duration) {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let started = Instant::now();
    let requests = tokens.iter().zip(1..).map(|(token, n)| verify(server, token, n));
    let outcomes = join_all(requests).await;
    (outcomes.iter().filter(|outcome| outcome.is_ok()).count(), started.elapsed())
}

async fn verify(server: &Server, token: &str, n: usize) -> Result<()> {
    let person = json!({
        "FirstName": format!("Ann{n}"), "LastName": "Example", "DateOfBirth": "1990-05-17", "SSN": "900-00-0720",
        "OpenBankingToken": format!("token-{n}"),
    });
    let path = "/verifyRentalRequirements?clientId=all";
    server.http.post(path, Some((AUTHORIZATION, &bearer(token))), person.to_string()).await
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}
