//! The whole writer against Anvil.
//!
//! `PORTICO_LONG=1` runs outages and reorganisations in full length; the default is a short version.

mod fees;
mod outages;
mod proxy;
mod reorgs;
mod replicas;

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::Address;
use portico_chain::contracts::Contracts;
use portico_chain::deploy::DeployOptions;
use portico_chain::reconcile::{ReconcileSummary, reconcile};
use portico_chain::remote::Remote;
use portico_chain::signer::Key;
use portico_chain::writer::{Engine, NoFailpoints, Writer, WriterSettings};
use portico_chain::{Error, Result, setup};
use portico_domain::ListingId;
use portico_store::chain::{AcceptedListing, NewRecord, Word};
use portico_store::{ChangeContext, Db, DeleteListing};
use serde_json::json;
use tempfile::TempDir;

use crate::node_fixture::{Anvil, FEE_CAP, now, run, sqlite, until};
use crate::samples;

const DEFAULT_DEADLINE: Duration = Duration::from_secs(30);
const CONFIRMATIONS: u64 = 12;

fn is_long() -> bool {
    std::env::var("PORTICO_LONG").is_ok_and(|long| long == "1")
}

/// Shorter than the defaults.
fn settings() -> WriterSettings {
    WriterSettings {
        replace: Duration::from_secs(1),
        lease_timeout: Duration::from_secs(2),
        ..WriterSettings::default()
    }
}

/// One process of the service.
struct Portico {
    writer: Writer<Remote>,
    db: Db,
    contracts: Contracts,
}

/// Deploys contracts that both keys may use.
async fn contracts(anvil: &Anvil, db: &Db) -> Contracts {
    let node = Remote::new(vec![anvil.url.clone()], CONFIRMATIONS).unwrap();
    let options =
        DeployOptions { chain_id: Some(31337), deploy: true, fee_cap: FEE_CAP, ..DeployOptions::default() };
    setup::establish(&node, db, &[samples::key(1), samples::key(2)], &options).await.unwrap().1
}

impl Portico {
    /// Waits until the writer has seen the chain, unless the node is unreachable.
    async fn start(
        urls: &[&str],
        db: &Db,
        keys: Vec<Key>,
        contracts: Contracts,
        settings: WriterSettings,
    ) -> Self {
        let urls = urls.iter().map(|url| (*url).to_owned()).collect();
        let node = Remote::new(urls, CONFIRMATIONS).unwrap();
        let engine =
            Engine::new(node, db.clone(), keys, (31337, contracts), settings, Arc::new(NoFailpoints));
        let _ = engine.follow(now()).await;
        Self { writer: Writer::start(engine, now()), db: db.clone(), contracts }
    }

    async fn record(&self, id: &str) -> Result<AcceptedListing> {
        self.writer.record(samples::record(id, digest(id), now())).await
    }

    async fn record_for(&self, id: &str, payer: Option<Word>) -> Result<AcceptedListing> {
        self.writer.record(NewRecord { payer, ..samples::record(id, digest(id), now()) }).await
    }

    async fn delete(&self, id: &str) {
        let by = ChangeContext { account: None, at: now() };
        let owner = samples::listing(id).user;
        let op = DeleteListing { id: ListingId::stored(id), owner, by };
        self.db.write(op).await.unwrap();
        self.writer.wake();
    }

    /// Compares the database with the chain.
    async fn compared(&self) -> Result<ReconcileSummary> {
        reconcile(self.writer.engine().node(), &self.db, self.contracts, None, |_| ()).await
    }

    /// Whether everything that was accepted is on the chain. Checks the database first, to spare a busy node.
    async fn agrees(&self, items: u64) -> bool {
        let backlog = self.db.chain_backlog().await.unwrap();
        if backlog.waiting + backlog.signed > 0 {
            return false;
        }
        let agreed = ReconcileSummary { compared: items, ..ReconcileSummary::default() };
        self.compared().await.is_ok_and(|found| found == agreed)
    }

    async fn until_it_agrees(&self, items: u64, limit: Duration) {
        let give_up = tokio::time::Instant::now() + limit;
        while !self.agrees(items).await {
            if tokio::time::Instant::now() >= give_up {
                let (found, status) = (self.compared().await, self.writer.status());
                panic!(
                    "database and chain do not agree on {items} items after {limit:?}: {found:?}, {status:?}"
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// A unique digest.
fn digest(id: &str) -> Word {
    alloy_primitives::keccak256(id).0
}

/// The number of mined transactions of an account.
async fn used(anvil: &Anvil, account: Address) -> u64 {
    number(&anvil.ask("eth_getTransactionCount", json!([account, "latest"])).await)
}

fn number(hexadecimal: &serde_json::Value) -> u64 {
    u64::from_str_radix(hexadecimal.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

/// Transactions in Anvil's pool.
async fn pending(anvil: &Anvil) -> u64 {
    number(&anvil.ask("txpool_status", json!([])).await["pending"])
}

/// A node, contracts on it, and an empty database.
struct Scene {
    anvil: Anvil,
    db: Db,
    contracts: Contracts,
    _folder: TempDir,
}

impl Scene {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (anvil, db) = (Anvil::start(&[]).await, sqlite(&folder, "portico.db").await);
        let contracts = contracts(&anvil, &db).await;
        Self { anvil, db, contracts, _folder: folder }
    }

    /// A process that reaches the node directly.
    async fn portico(&self) -> Portico {
        self.portico_at(&[&self.anvil.url], settings()).await
    }

    async fn portico_at(&self, urls: &[&str], settings: WriterSettings) -> Portico {
        Portico::start(urls, &self.db, vec![samples::key(1)], self.contracts, settings).await
    }

    /// From now on only tests mine blocks.
    async fn stop_mining(&self) {
        self.anvil.ask("evm_setAutomine", json!([false])).await;
    }

    async fn mine(&self, blocks: u64) {
        self.anvil.ask("anvil_mine", json!([format!("{blocks:#x}")])).await;
    }
}
