//! The two nodes under test, new for every test, with funded accounts and one without funds.

use std::future::Future;
use std::io::{BufRead as _, BufReader};
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use portico_chain::contracts::Contracts;
use portico_chain::deploy::DeployOptions;
use portico_chain::embedded::{Embedded, Genesis, U256};
use portico_chain::node::{Node, Receipt};
use portico_chain::remote::Remote;
use portico_chain::signer::{CallSigner, Key, Price};
use portico_chain::writer::{Engine, NoFailpoints, WriterSettings};
use portico_chain::{AnyNode, setup};
use portico_domain::Timestamp;
use portico_store::backup::SqliteSnapshot;
use portico_store::chain::Word;
use portico_store::{Db, Location, Role};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::samples;

/// Boxed, because compiling a runtime for each test is slow.
pub(crate) type Test = fn(NodeFixture) -> Pin<Box<dyn Future<Output = ()>>>;

pub(crate) const FEE_CAP: u64 = 500_000_000_000;
/// A hundred ether, in wei.
const FUNDS: &str = "0x56bc75e2d63100000";

pub(crate) fn now() -> Timestamp {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap())
}

/// A node and an empty database.
pub(crate) struct NodeFixture {
    pub(crate) node: AnyNode,
    pub(crate) db: Db,
    /// Has funds, like the stranger.
    pub(crate) key: Key,
    pub(crate) stranger: Key,
    pub(crate) poor: Key,
    /// How far the embedded node's clock is ahead, in seconds.
    ahead: Arc<AtomicU64>,
    folder: TempDir,
    anvil: Option<Anvil>,
}

pub(crate) fn on_embedded(test: Test) {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let rich = |number| (samples::key(number).address(), FUNDS.parse::<U256>().unwrap());
        let genesis = Genesis { chain_id: 31337, timestamp: 1_760_000_000, alloc: vec![rich(1), rich(2)] };
        let ahead = Arc::new(AtomicU64::new(0));
        let clock = ahead.clone();
        let seconds = Arc::new(move || {
            u64::try_from(now().micros() / 1_000_000).unwrap() + clock.load(Ordering::Relaxed)
        });
        let node = Embedded::open(&folder.path().join("chain.db"), &genesis, seconds).unwrap();
        let fixture = NodeFixture::new(AnyNode::Embedded(node), folder, None).await;
        test(NodeFixture { ahead, ..fixture }).await;
    });
}

pub(crate) fn on_anvil(test: Test) {
    run(async {
        let anvil = Anvil::start(&[]).await;
        let node = AnyNode::Remote(Remote::new(vec![anvil.url.clone()], 0).unwrap());
        test(NodeFixture::new(node, tempfile::tempdir().unwrap(), Some(anvil)).await).await;
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

impl NodeFixture {
    async fn new(node: AnyNode, folder: TempDir, anvil: Option<Anvil>) -> Self {
        let db = sqlite(&folder, "portico.db").await;
        let [key, stranger, poor] = [1, 2, 9].map(samples::key);
        Self { node, db, key, stranger, poor, ahead: Arc::default(), folder, anvil }
    }

    pub(crate) async fn other_database(&self) -> Db {
        self.database("other").await
    }

    pub(crate) async fn database(&self, name: &str) -> Db {
        sqlite(&self.folder, &format!("{name}.db")).await
    }

    /// A database as it is now, under another name.
    pub(crate) async fn backup(&self, name: &str) -> Db {
        let copy = self.folder.path().join(format!("{name}.db"));
        let snapshot = SqliteSnapshot::open(&self.folder.path().join("portico.db")).unwrap();
        snapshot.copy_to(&copy, |_, _| ()).unwrap();
        self.database(name).await
    }

    /// Time passes. The embedded chain gets no new block; Anvil answers at the time of its latest block.
    pub(crate) async fn wait(&self, seconds: u64) {
        self.ahead.fetch_add(seconds, Ordering::Relaxed);
        if let Some(anvil) = &self.anvil {
            anvil.ask("evm_increaseTime", json!([seconds])).await;
            anvil.ask("evm_mine", json!([])).await;
        }
    }

    /// Only `key` may record.
    pub(crate) async fn deployed(&self) -> Contracts {
        let keys = [self.key.clone()];
        setup::establish(&self.node, &self.db, &keys, &self.options(true)).await.unwrap().1
    }

    pub(crate) fn options(&self, deploy: bool) -> DeployOptions {
        let is_embedded = matches!(self.node, AnyNode::Embedded(_));
        DeployOptions { deploy, is_embedded, fee_cap: FEE_CAP, ..DeployOptions::default() }
    }

    /// Signs at the current price.
    pub(crate) async fn signer(&self, key: &Key, contracts: Contracts) -> CallSigner {
        let fees = self.node.fees().await.unwrap();
        let price = Price { max_fee: fees.base * 2 + fees.tip, tip: fees.tip };
        CallSigner { key: key.clone(), chain_id: self.node.chain_id().await.unwrap(), contracts, price }
    }

    /// Polls for the receipt: Anvil responds shortly before the block is mined.
    pub(crate) async fn mined(&self, hash: Word) -> Receipt {
        until("a transaction is mined", Duration::from_secs(10), || async {
            self.node.receipt(hash.into()).await.unwrap().is_some()
        })
        .await;
        self.node.receipt(hash.into()).await.unwrap().unwrap()
    }

    /// The writer's engine, as the only process on this node.
    pub(crate) fn engine(self, contracts: Contracts) -> (Engine<AnyNode>, Db, impl Sized) {
        let engine = self.engine_on(&self.db, contracts);
        (engine, self.db, (self.folder, self.anvil))
    }

    /// The same for another database.
    pub(crate) fn engine_on(&self, db: &Db, contracts: Contracts) -> Engine<AnyNode> {
        self.engine_with(db, contracts, &self.key)
    }

    /// The same with another key.
    pub(crate) fn engine_with(&self, db: &Db, contracts: Contracts, key: &Key) -> Engine<AnyNode> {
        let node = match (&self.node, &self.anvil) {
            (AnyNode::Embedded(node), _) => AnyNode::Embedded(node.clone()),
            (AnyNode::Remote(_), Some(anvil)) => {
                AnyNode::Remote(Remote::new(vec![anvil.url.clone()], 0).unwrap())
            }
            (AnyNode::Remote(_), None) => panic!("a remote node is Anvil"),
        };
        let settings = WriterSettings { is_only_process: true, ..WriterSettings::default() };
        let keys = vec![key.clone()];
        Engine::new(node, db.clone(), keys, (31337, contracts), settings, Arc::new(NoFailpoints))
    }
}

pub(crate) async fn sqlite(folder: &TempDir, name: &str) -> Db {
    Db::open(&Location::Sqlite(folder.path().join(name)), Role::Tool).await.unwrap()
}

/// Follows until nothing waits or is in flight.
pub(crate) async fn follow_all<N: Node>(engine: &Engine<N>, db: &Db) {
    until("everything is on the chain", Duration::from_secs(20), || async {
        engine.follow(now()).await.unwrap();
        let backlog = db.chain_backlog().await.unwrap();
        backlog.waiting + backlog.signed == 0
    })
    .await;
}

/// Polls until the condition holds or the test's time is over.
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

/// An Anvil process. It ends with this value, or with the test process.
pub(crate) struct Anvil {
    pub(crate) url: String,
    client: reqwest::Client,
    keeper: Child,
}

impl Anvil {
    /// On a free port, with funds for the tests' two keys.
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        /// Kills the node when its standard input closes.
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
        // Drains the rest of its output.
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
