//! The service in this process: its router is called directly, on either engine and with either profile.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http;
use portico_api::basemap::Basemap;
use portico_api::console::Console;
use portico_api::{AllowedHosts, Limits, Metrics, Service, router};
use portico_app::budgets::Budgets;
use portico_app::chain::ChainWriter;
use portico_app::clock::{CalendarClock, Clock as _, SystemClock};
use portico_app::consents::Consents;
use portico_app::keystore::{Keystore, Root};
use portico_app::screening::Bureaus;
use portico_app::tokens::{NewToken, Tokens};
use portico_app::vault::{ROOT_BYTES, Vault, sandbox_key};
use portico_app::{AccessTable, Actor, Builder, CallContext, Parts, Portico, Profile};
use portico_chain::contracts::Contracts;
use portico_chain::deploy::DeployOptions;
use portico_chain::embedded::{Embedded, Genesis, Seconds, U256};
use portico_chain::remote::Remote;
use portico_chain::signer::Key;
use portico_chain::writer::{self, NoFailpoints, Writer};
use portico_chain::{AnyNode, setup};
use portico_domain::keys::KeyScope;
use portico_domain::{AccountId, Text, UserId};
use portico_screening::config::BuildContext;
use portico_screening::{BureauConfig, ScreeningConfig};
use portico_store::{Db, Location, Role};
use reqwest::header::{HeaderMap, HeaderValue};
use secrecy::SecretSlice;
use serde_json::json;
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::{Anvil, Bureau, Engine, RUNTIME, Request, until};

/// A call from the command line.
pub(crate) const OPERATOR: CallContext = CallContext::new(Actor::Operator);
/// Where the service believes to be.
const ADDRESS: &str = "127.0.0.1:8080";
/// Of the embedded chain.
const CHAIN_KEY: &str = "0707070707070707070707070707070707070707070707070707070707070707";

/// An external node, and the key that signs for it.
#[derive(Debug, Clone)]
pub(crate) struct NodeOptions {
    pub(crate) url: String,
    pub(crate) key: String,
}

/// How a service differs from a sandbox on an embedded chain.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) engine: Engine,
    pub(crate) profile: Profile,
    /// `None`: the profile's own.
    pub(crate) access: Option<AccessTable>,
    /// `None`: the embedded chain.
    pub(crate) node: Option<NodeOptions>,
    pub(crate) budgets: Budgets,
    pub(crate) consents: BTreeMap<String, String>,
    pub(crate) screening: ScreeningConfig,
    pub(crate) bureaus: BTreeMap<String, BureauConfig>,
    pub(crate) limits: Limits,
    pub(crate) hosts: AllowedHosts,
    pub(crate) origins: Vec<String>,
    pub(crate) trusted_hops: usize,
    pub(crate) basemap: Option<PathBuf>,
}

impl Options {
    pub(crate) fn new(engine: Engine) -> Self {
        let hosts = ["localhost", "127.0.0.1", "::1"].map(String::from);
        Self {
            engine,
            profile: Profile::Sandbox,
            access: None,
            node: None,
            budgets: Budgets::default(),
            consents: BTreeMap::new(),
            screening: ScreeningConfig::default(),
            bureaus: BTreeMap::new(),
            limits: Limits::default(),
            hosts: AllowedHosts { names: Some(hosts.into()), any_address: false },
            origins: Vec::new(),
            trusted_hops: 0,
            basemap: None,
        }
    }

    /// With the profile `live`, on a chain of a real node, asking a bureau on this machine.
    pub(crate) fn live(self) -> Self {
        let live = Self { profile: Profile::Live, ..self };
        live.bureau(Bureau::shared()).anvil()
    }

    /// On a real node, with a new funded key.
    pub(crate) fn anvil(self) -> Self {
        let anvil = Anvil::shared();
        Self { node: Some(NodeOptions { url: anvil.url.clone(), key: anvil.new_key() }), ..self }
    }

    /// All checks are routed to this bureau.
    pub(crate) fn bureau(self, bureau: &Bureau) -> Self {
        let name = "loopback".to_owned();
        let to = || Some(name.clone());
        let screening = ScreeningConfig {
            eviction: to(),
            income: to(),
            soft_credit: to(),
            criminal_background: to(),
            ..self.screening
        };
        Self { screening, bureaus: BTreeMap::from([(name.clone(), bureau.config())]), ..self }
    }

    pub(crate) async fn start(self) -> App {
        // In memory where that is possible: syncing takes most of the time.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let database = self.engine.database().await;
        self.start_on(Data { folder, database }).await
    }

    async fn start_on(self, data: Data) -> App {
        let running = Running::start(&self, &data).await;
        App {
            database: data.database.clone(),
            data: data.folder.path().into(),
            options: self,
            kept: Some(data),
            running,
            operator: OnceLock::new(),
            _remover: None,
        }
    }
}

/// What outlives a restart.
#[derive(Debug)]
struct Data {
    folder: TempDir,
    database: Option<String>,
}

/// Everything that a process would hold.
#[derive(Debug)]
struct Running {
    service: Arc<Service>,
    router: Router,
    /// `None`: the node is another process.
    embedded: Option<Embedded>,
    tasks: tokio::task::JoinSet<()>,
}

impl Running {
    async fn start(options: &Options, data: &Data) -> Self {
        let folder = data.folder.path();
        let location = match &data.database {
            None => Location::Sqlite(folder.join("portico.db")),
            Some(url) => Location::parse(url).unwrap(),
        };
        let db = Db::open(&location, Role::Server).await.unwrap();
        let clock = CalendarClock::new(Arc::new(SystemClock));
        clock.set_ahead(db.clock_ahead().await.unwrap());
        let (chain, embedded) = open_chain(options, data, &db, &clock).await;
        let app = application(options, data, db, clock, chain).await;
        prepare(&app, options.profile).await;
        let mut console = json!({
            "profile": options.profile.name(), "chain": {"rpc": null}, "country": "US",
        });
        if embedded.is_some() && options.profile == Profile::Sandbox {
            console["chain"]["rpc"] = json!("/rpc");
        }
        let service = Arc::new(Service {
            app,
            metrics: Metrics::default(),
            limits: options.limits,
            is_https: false,
            hosts: options.hosts.clone(),
            origins: options.origins.clone(),
            trusted_hops: options.trusted_hops,
            background: RUNTIME.handle().clone(),
            console: Console { find: |_| None, config: console, connect: None },
            basemap: Basemap::new(options.basemap.clone().unwrap_or_else(|| folder.join("basemap.pmtiles"))),
        });
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn_on(record_flags(service.clone()), RUNTIME.handle());
        tasks.spawn_on(tidy(service.clone()), RUNTIME.handle());
        Self { router: router(&service), service, embedded, tasks }
    }
}

async fn application(
    options: &Options,
    data: &Data,
    db: Db,
    clock: CalendarClock,
    chain: ChainWriter,
) -> Portico {
    let root: SecretSlice<u8> = vec![7; ROOT_BYTES].into();
    let keys = Location::Sqlite(data.folder.path().join("keys.db"));
    let keystore = Keystore::open(&keys, Root::new(&root).unwrap()).await.unwrap();
    assert!(keystore.verify_root_key().await.unwrap());
    let instance = keystore.instance_secret(SystemClock.now()).await.unwrap();
    if let Some(key) = keystore.audit_key().await.unwrap() {
        db.use_audit_key(key);
    }
    // Tests sign tokens with it.
    std::fs::write(data.folder.path().join("issuer.key"), "07".repeat(ROOT_BYTES)).unwrap();
    let sandbox_key = sandbox_key(&instance);
    let context =
        BuildContext { sandbox_key: &sandbox_key, now: Arc::new(|| SystemClock.now()), env: &|_: &str| None };
    let screening = options.screening.build(&options.bureaus, &context).unwrap();
    Builder::new(Parts {
        db,
        profile: options.profile,
        vault: Vault::new(&instance).unwrap(),
        tokens: Tokens::new(&root, None, options.profile).unwrap(),
        bureaus: Bureaus::new(screening),
    })
    .access(options.access.unwrap_or(options.profile.into()))
    .clock(clock)
    .keystore(keystore)
    .consents(Consents::new(&options.consents).unwrap())
    .budgets(options.budgets)
    .chain(chain)
    .build()
}

/// As the server does before its first request.
async fn prepare(app: &Portico, profile: Profile) {
    assert!(app.maintenance.adopt_deployment(Some(profile)).await.unwrap());
    app.maintenance.key_audit_log().await.unwrap();
    app.maintenance.apply_erasures().await.unwrap();
    app.maintenance.delete_orphaned_applications().await.unwrap();
}

/// As the server does all the time.
async fn record_flags(service: Arc<Service>) {
    loop {
        let maintenance = &service.app.maintenance;
        if !matches!(maintenance.record_flags().await, Ok(1..)) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn tidy(service: Arc<Service>) {
    let mut every = tokio::time::interval(Duration::from_mins(10));
    loop {
        every.tick().await;
        service.app.maintenance.tidy().await.unwrap_or_default();
    }
}

async fn open_chain(
    options: &Options,
    data: &Data,
    db: &Db,
    clock: &CalendarClock,
) -> (ChainWriter, Option<Embedded>) {
    let key = options.node.as_ref().map_or(CHAIN_KEY, |node| &node.key);
    let keys = vec![Key::parse(&key.to_owned().into()).unwrap()];
    let embedded = match options.node {
        Some(_) => None,
        None => Some(open_embedded(&data.folder.path().join("chain.db"), &keys[0], clock).await),
    };
    let node = match (&embedded, &options.node) {
        (None, Some(node)) => AnyNode::Remote(Remote::new(vec![node.url.clone()], 1).unwrap()),
        (embedded, _) => AnyNode::Embedded(embedded.clone().unwrap()),
    };
    let is_embedded = embedded.is_some();
    let settings =
        writer::WriterSettings { is_only_process: is_embedded, ..writer::WriterSettings::default() };
    let deploy_options = DeployOptions {
        chain_id: None,
        contracts: None,
        deploy: true,
        owner: None,
        is_embedded,
        fee_cap: settings.fee_cap,
    };
    let found = setup::establish(&node, db, &keys, &deploy_options).await.unwrap();
    let engine = writer::Engine::new(node, db.clone(), keys, found, settings, Arc::new(NoFailpoints));
    engine.follow(SystemClock.now()).await.unwrap();
    (Writer::start(engine, SystemClock.now()), embedded)
}

/// After a restart the former writer's tasks may hold the file for another moment.
async fn open_embedded(file: &Path, key: &Key, clock: &CalendarClock) -> Embedded {
    let alloc = vec![(key.address(), U256::from(10).pow(U256::from(27)))];
    let genesis = Genesis { chain_id: 31337, timestamp: 1_767_225_600, alloc };
    let clock = clock.clone();
    let seconds: Seconds = Arc::new(move || u64::try_from(clock.now().micros() / 1_000_000).unwrap());
    until("the chain's file is free", 10, async || Embedded::open(file, &genesis, seconds.clone()).ok()).await
}

/// A running service.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) data: PathBuf,
    pub(crate) database: Option<String>,
    options: Options,
    kept: Option<Data>,
    running: Running,
    operator: OnceLock<String>,
    /// Of a shared service.
    _remover: Option<Child>,
}

/// Nobody drops what all tests share: a shell removes the folder when this process ends, however it does.
fn remove_at_exit(folder: &Path) -> Child {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"trap '' INT TERM; read _; rm -rf "$1""#, "sh"]).arg(folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

impl App {
    /// The service that all tests of an engine share.
    pub(crate) fn shared(engine: Engine) -> &'static Self {
        static SQLITE: OnceLock<App> = OnceLock::new();
        static POSTGRES: OnceLock<App> = OnceLock::new();
        let app = match engine {
            Engine::Sqlite => &SQLITE,
            Engine::Postgres => &POSTGRES,
        };
        app.get_or_init(|| {
            let app = now(Options::new(engine).start());
            Self { _remover: Some(remove_at_exit(&app.data)), ..app }
        })
    }

    /// `127.0.0.1:PORT`.
    #[expect(clippy::unused_self, reason = "as for a server process, which each has another")]
    pub(crate) fn address(&self) -> &'static str {
        ADDRESS
    }

    pub(crate) fn target(&self) -> Target {
        Target(self.running.router.clone())
    }

    /// The use cases.
    pub(crate) fn tool(&self) -> &Portico {
        &self.running.service.app
    }

    pub(crate) fn is_live(&self) -> bool {
        self.options.profile == Profile::Live
    }

    /// Ends everything as a process does at SIGTERM, and starts it again on the same data.
    pub(crate) async fn restart(self) -> Self {
        let Self { options, kept, running, .. } = self;
        let Running { service, mut tasks, router, embedded } = running;
        tasks.shutdown().await;
        service.app.maintenance.close().await.unwrap();
        drop((router, embedded, service));
        options.start_on(kept.unwrap()).await
    }

    /// A token, with flags as of the command.
    pub(crate) fn token(&self, flags: &[&str]) -> String {
        let flags = parse(flags);
        let token = NewToken {
            user: UserId::parse(flags["--sub"]).unwrap(),
            account: flags.get("--account").map(|account| AccountId::parse(account).unwrap()),
            admin: flags.contains_key("--scope"),
            ttl: flags.get("--ttl").map_or(Duration::from_hours(1), |ttl| seconds(ttl)),
        };
        now(self.tool().keys.issue_token(&OPERATOR, &token)).unwrap()
    }

    /// A key, with flags as of the command.
    pub(crate) fn new_key(&self, flags: &[&str]) -> String {
        let flags = parse(flags);
        let scope = match (flags.get("--user"), flags.get("--account")) {
            (Some(user), _) => KeyScope::User(UserId::parse(user).unwrap()),
            (None, Some(account)) => KeyScope::Account(AccountId::parse(account).unwrap()),
            (None, None) => KeyScope::Operator,
        };
        let expires_at = flags.get("--ttl").map(|ttl| SystemClock.now().plus(seconds(ttl)));
        let keys = &self.tool().keys;
        let key = now(keys.create(&OPERATOR, Text::stored("test"), scope, expires_at)).unwrap();
        key.expose_secret().unwrap().to_owned()
    }

    /// The operator's key.
    pub(crate) fn operator(&self) -> &str {
        self.operator.get_or_init(|| self.new_key(&[]))
    }

    /// The chain and the contracts.
    pub(crate) async fn chain(&self) -> (AnyNode, Contracts) {
        let status = self.get("/v1/chain/status").await.json(200);
        let node = match (&self.running.embedded, &self.options.node) {
            (None, Some(node)) => AnyNode::Remote(Remote::new(vec![node.url.clone()], 1).unwrap()),
            (embedded, _) => AnyNode::Embedded(embedded.clone().unwrap()),
        };
        let contracts = ["listingRegistry", "identityToken", "applicationChecks", "auditAnchor"]
            .map(|name| status["contracts"][name].as_str().unwrap().parse().unwrap());
        (node, Contracts(contracts))
    }
}

/// Waits on another thread, since the caller may be inside the runtime already.
fn now<T: Send>(work: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|scope| scope.spawn(|| RUNTIME.block_on(work)).join().unwrap())
}

fn parse<'a>(flags: &[&'a str]) -> HashMap<&'a str, &'a str> {
    let (pairs, rest) = flags.as_chunks::<2>();
    assert!(rest.is_empty(), "every flag has a value");
    pairs.iter().map(|[flag, value]| (*flag, *value)).collect()
}

/// `2s`, `15m`, `90d`.
fn seconds(text: &str) -> Duration {
    let (number, unit) = text.split_at(text.len() - 1);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        other => panic!("{other} is no unit"),
    };
    Duration::from_secs(number.parse::<u64>().unwrap() * unit)
}

/// Where requests go.
#[derive(Debug, Clone)]
pub(crate) struct Target(Router);

impl Target {
    /// As a client and the server's HTTP library would hand the request over.
    pub(crate) async fn send(self, request: Request) -> (u16, HeaderMap, Vec<u8>) {
        let Request { method, path, mut headers, body, .. } = request;
        let url = reqwest::Url::parse(&format!("http://{ADDRESS}{path}")).unwrap();
        let target = url.query().map_or(url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        headers.entry("host").or_insert(HeaderValue::from_static(ADDRESS));
        if let Some(body) = &body {
            headers.insert("content-length", body.len().into());
        }
        let mut request = http::Request::new(Body::from(body.unwrap_or_default()));
        *request.method_mut() = method;
        *request.uri_mut() = target.parse().unwrap();
        *request.headers_mut() = headers;
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))));
        let (head, body) = self.0.oneshot(request).await.unwrap().into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        (head.status.as_u16(), head.headers, body.into())
    }
}
