//! The two nodes under test, each new for every test, with accounts that have funds and one that has none.

use std::future::Future;
use std::io::{BufRead as _, BufReader};
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use portico_chain::AnyNode;
use portico_chain::contracts::Contracts;
use portico_chain::deploy::{self, DeployOptions};
use portico_chain::embedded::{Embedded, Genesis, U256};
use portico_chain::node::{Node, Receipt};
use portico_chain::remote::Remote;
use portico_chain::signer::{CallSigner, Key, Price};
use portico_chain::writer::{Engine, Settings, Unwatched};
use portico_domain::Timestamp;
use portico_store::chain::Word;
use portico_store::{Db, Location, Role};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::samples;

/// A test, boxed: a runtime compiled for each of them would take its time.
pub(crate) type Test = fn(Ground) -> Pin<Box<dyn Future<Output = ()>>>;

pub(crate) const FEE_CAP: u64 = 500_000_000_000;
/// A hundred ether, in wei.
const FUNDS: &str = "0x56bc75e2d63100000";

/// The clock of these tests.
pub(crate) fn now() -> Timestamp {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap())
}

/// A node with an empty database beside it.
pub(crate) struct Ground {
    pub(crate) node: AnyNode,
    pub(crate) db: Db,
    /// Has funds, as has the stranger.
    pub(crate) key: Key,
    pub(crate) stranger: Key,
    pub(crate) poor: Key,
    folder: TempDir,
    anvil: Option<Anvil>,
}

pub(crate) fn on_embedded(test: Test) {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let rich = |number| (samples::key(number).address(), FUNDS.parse::<U256>().unwrap());
        let genesis = Genesis { chain_id: 31337, timestamp: 1_760_000_000, alloc: vec![rich(1), rich(2)] };
        let seconds = Arc::new(|| u64::try_from(now().micros() / 1_000_000).unwrap());
        let node = Embedded::open(&folder.path().join("chain.db"), &genesis, seconds).unwrap();
        test(Ground::new(AnyNode::Embedded(node), folder, None).await).await;
    });
}

pub(crate) fn on_anvil(test: Test) {
    run(async {
        let anvil = Anvil::start(&[]).await;
        let node = AnyNode::Remote(Remote::new(vec![anvil.url.clone()], 0).unwrap());
        test(Ground::new(node, tempfile::tempdir().unwrap(), Some(anvil)).await).await;
    });
}

pub(crate) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

impl Ground {
    async fn new(node: AnyNode, folder: TempDir, anvil: Option<Anvil>) -> Self {
        let db = sqlite(&folder, "portico.db").await;
        let [key, stranger, poor] = [1, 2, 9].map(samples::key);
        Self { node, db, key, stranger, poor, folder, anvil }
    }

    /// Another empty database.
    pub(crate) async fn other_database(&self) -> Db {
        sqlite(&self.folder, "other.db").await
    }

    /// Deploys the contracts; only the key may record.
    pub(crate) async fn deployed(&self) -> Contracts {
        let keys = [self.key.clone()];
        deploy::establish(&self.node, &self.db, &keys, &self.wanted(true)).await.unwrap().1
    }

    #[expect(clippy::unused_self, reason = "what this ground wants, whatever it is")]
    pub(crate) fn wanted(&self, deploy: bool) -> DeployOptions {
        DeployOptions { chain_id: None, contracts: None, deploy, fee_cap: FEE_CAP }
    }

    /// Somebody who signs at today's price.
    pub(crate) async fn signer(&self, key: &Key, contracts: Contracts) -> CallSigner {
        let fees = self.node.fees().await.unwrap();
        let price = Price { max_fee: fees.base * 2 + fees.tip, tip: fees.tip };
        CallSigner { key: key.clone(), chain_id: self.node.chain_id().await.unwrap(), contracts, price }
    }

    /// Where a transaction ended. Anvil answers a moment before it has mined.
    pub(crate) async fn mined(&self, hash: Word) -> Receipt {
        until("a transaction is mined", Duration::from_secs(10), || async {
            self.node.receipt(hash.into()).await.unwrap().is_some()
        })
        .await;
        self.node.receipt(hash.into()).await.unwrap().unwrap()
    }

    /// The writer's steps on this node, which it takes for one of its own.
    pub(crate) fn engine(self, contracts: Contracts) -> (Engine<AnyNode>, Db, impl Sized) {
        let settings = Settings { alone: true, ..Settings::default() };
        let (db, keys) = (self.db.clone(), vec![self.key]);
        let engine =
            Engine::new(self.node, db.clone(), keys, (31337, contracts), settings, Arc::new(Unwatched));
        (engine, db, (self.folder, self.anvil))
    }
}

pub(crate) async fn sqlite(folder: &TempDir, name: &str) -> Db {
    Db::open(&Location::Sqlite(folder.path().join(name)), Role::Tool).await.unwrap()
}

/// Follows until nothing waits or is on its way.
pub(crate) async fn follow_all<N: Node>(engine: &Engine<N>, db: &Db) {
    until("everything is on the chain", Duration::from_secs(20), || async {
        engine.follow(now()).await.unwrap();
        let backlog = db.chain_backlog().await.unwrap();
        backlog.waiting + backlog.signed == 0
    })
    .await;
}

/// Waits for something to become true, for as long as the test allows.
pub(crate) async fn until<F: Future<Output = bool>>(
    what: &str,
    limit: Duration,
    mut holds: impl FnMut() -> F,
) {
    let give_up = tokio::time::Instant::now() + limit;
    while !holds().await {
        assert!(tokio::time::Instant::now() < give_up, "{what}: not within {limit:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A real node of its own. It ends with this value, or with this process.
pub(crate) struct Anvil {
    pub(crate) url: String,
    client: reqwest::Client,
    keeper: Child,
}

impl Anvil {
    /// Starts one on a free port, with funds for the two keys of these tests.
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        /// Ends the node as soon as nobody holds the other end of its standard input.
        const KEEPER: &str = r#""$@" & exec >&-; read _; kill -KILL "$!""#;
        let program = std::env::var("PORTICO_ANVIL").unwrap_or_else(|_| {
            panic!(
                "PORTICO_ANVIL is not set: use `make test`, or run `scripts/need foundry` and set it to \
                 ~/.cache/portico/tools/bin/anvil"
            )
        });
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "sh", &program, "--port", "0", "--accounts", "1"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(keeper.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| line.unwrap().strip_prefix("Listening on ").map(str::to_owned));
        let url = format!("http://{}", address.expect("anvil says where it listens"));
        // Whatever else it says must go somewhere.
        std::thread::spawn(move || lines.for_each(drop));
        let anvil = Self { url, client: reqwest::Client::builder().no_proxy().build().unwrap(), keeper };
        for number in [1, 2] {
            anvil.ask("anvil_setBalance", json!([samples::key(number).address(), FUNDS])).await;
        }
        anvil
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let request = self.client.post(&self.url).header("content-type", "application/json").body(body);
        let answer = request.send().await.unwrap().bytes().await.unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }
}

impl Drop for Anvil {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
