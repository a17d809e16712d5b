//! Putting the parts together and running them.

use std::io::{IsTerminal, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use portico_api::{Limits, Metrics, Service};
use portico_app::clock::{RandomIds, SystemClock};
use portico_app::keystore::{Keystore, Root};
use portico_app::vault::Vault;
use portico_app::{Actor, Call, Portico, Profile};
use portico_store::{Db, Location, Role};
use secrecy::SecretSlice;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::chain::ChainUrl;
use crate::config::Config;
use crate::{chain, console, listen};

/// How often what is no longer kept is removed.
const TIDY: Duration = Duration::from_mins(10);
/// How often flags are looked for that nobody has attested yet.
const ATTEST: Duration = Duration::from_secs(1);

/// Runs the service until it is told to stop; what others must not wait behind, aside.
pub async fn serve(config: Config, json: bool, aside: Handle) -> Result<()> {
    log(&config.log)?;
    let _lock = config.data.lock()?;
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Server)?;
    let app = application(&config, Role::Server, &root).await?;
    prepare(&app).await?;
    let listener = TcpListener::bind(config.listen).await;
    let listener = listener.with_context(|| format!("{} cannot be listened on", config.listen))?;
    let address = listener.local_addr()?;
    // From here on a signal is heard, so that a supervisor that waits for the banner may stop us at once.
    let stop = stop_signal()?;
    announce(&config, address, json)?;
    let console = console::console(&config);
    let service = Service {
        console,
        app,
        aside,
        metrics: Metrics::default(),
        limits: Limits { in_flight: config.max_in_flight, rate: config.rate_limit, ..Limits::default() },
        hosts: config.hosts,
        origins: config.origins,
        trusted_hops: config.trusted_hops,
    };
    let db = service.app.db.clone();
    let edge = portico_api::build(service)?;
    let tasks = [tokio::spawn(tidy(edge.clone())), tokio::spawn(attest(edge.clone()))];
    let stopped = edge.clone();
    let served = listen::serve(listener, edge, config.max_connections, stop).await;
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    if let Ok(chain) = stopped.app().chain() {
        chain.release().await;
    }
    db.close().context("the database could not be tidied up")?;
    served
}

/// What has to be true before anything is sealed.
async fn fits(keystore: &Keystore) -> Result<()> {
    if !keystore.fits().await.context("the keystore cannot be read")? {
        bail!(
            "the encryption key does not open this keystore: give the one it was made with \
             (PORTICO_ENCRYPTION_KEY, or encryption.key in the data folder)"
        );
    }
    Ok(())
}

/// What has to be true before anybody is answered.
async fn prepare(app: &Portico) -> Result<()> {
    fits(&app.keystore).await?;
    let followed = app.follow_erasures().await.context("erasures could not be followed")?;
    if followed > 0 {
        tracing::info!(followed, "people who were erased since the database was saved are erased again");
    }
    Ok(())
}

/// Attests flags that were left to be attested, as after a crash.
async fn attest(edge: portico_api::Edge) {
    loop {
        match edge.app().attest(None).await {
            // There may be more.
            Ok(settled) if settled > 0 => {}
            Ok(_) => tokio::time::sleep(ATTEST).await,
            Err(error) => {
                tracing::warn!(%error, "flags could not be attested; they will be");
                tokio::time::sleep(ATTEST * 5).await;
            }
        }
    }
}

async fn tidy(edge: portico_api::Edge) {
    let mut every = tokio::time::interval(TIDY);
    loop {
        every.tick().await;
        if let Err(error) = edge.app().tidy().await {
            tracing::warn!(%error, "what is no longer kept could not be removed");
        }
    }
}

/// The application for a command beside the server, and a call on behalf of the operator.
pub async fn admin(config: &Config) -> Result<(Portico, Call)> {
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Tool)?;
    Ok((application(config, Role::Tool, &root).await?, Call { actor: Actor::Operator, once: None }))
}

/// Likewise, for a command that seals what people are to read later.
pub(crate) async fn insider(config: &Config) -> Result<Portico> {
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Server)?;
    let app = application(config, Role::Tool, &root).await?;
    fits(&app.keystore).await?;
    Ok(app)
}

async fn application(config: &Config, role: Role, root: &SecretSlice<u8>) -> Result<Portico> {
    if let Location::Sqlite(_) = &config.database {
        config.data.create()?;
    }
    let db = Db::open(&config.database, role).await.context("the database cannot be opened")?;
    let chain = match role {
        Role::Server => Some(chain::open(config, &db).await?),
        Role::Tool => None,
    };
    let keystore = Keystore::open(&config.keystore, Root::new(root)?).await;
    Ok(Portico {
        db,
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        vault: Arc::new(Vault::new(root)?),
        keystore: keystore.context("the keystore cannot be opened")?,
        bureaus: config.bureaus(root, role)?,
        retention_days: config.retention_days.into(),
        tokens: config.data.tokens(config.issuer.clone())?,
        profile: config.profile,
        country: config.country.clone(),
        chain,
    })
}

/// Pretty on a terminal, JSON otherwise; always to stderr, so that stdout is for answers.
fn log(level: &str) -> Result<()> {
    let filter = EnvFilter::try_new(level).with_context(|| format!("log: {level} is no level or filter"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if std::io::stderr().is_terminal() {
        builder.compact().init();
    } else {
        builder.json().flatten_event(true).init();
    }
    Ok(())
}

fn stop_signal() -> Result<impl Future<Output = ()>> {
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    })
}

/// Says where the service is and how to begin.
fn announce(config: &Config, address: SocketAddr, json: bool) -> Result<()> {
    let url = format!("http://{address}");
    let data = config.data.path().display();
    let (profile, database) = (
        match config.profile {
            Profile::Sandbox => "sandbox",
            Profile::Live => "live",
        },
        match &config.database {
            Location::Sqlite(path) => format!("SQLite, {}", path.display()),
            Location::Postgres(_) => "PostgreSQL".to_owned(),
        },
    );
    let rpc = match (&config.chain.url, config.profile) {
        (ChainUrl::Embedded, Profile::Sandbox) => Some(format!("{url}/rpc")),
        _ => None,
    };
    let mut out = std::io::stdout().lock();
    if json {
        let line = serde_json::json!({
            "url": url, "profile": profile, "data": config.data.path(), "version": env!("CARGO_PKG_VERSION"),
            "docs": format!("{url}/docs/"), "openapi": format!("{url}/openapi.json"), "pid": std::process::id(),
            "rpc": rpc,
        });
        writeln!(out, "{line}")?;
    } else {
        writeln!(
            out,
            "Portico {version} is listening on {url} ({profile})\n\n  \
             reference  {url}/docs/\n  document   {url}/openapi.json\n  database   {database}\n  chain      {chain}\n  data       {data}\n\n  \
             a key      portico key create --name operator --data {data}{more}\n  \
             a token    portico token --sub ada --data {data}\n",
            version = env!("CARGO_PKG_VERSION"),
            chain = rpc.as_ref().map_or("remote".to_owned(), |rpc| format!("embedded, read-only at {rpc}")),
            more = match (config.profile, &config.database) {
                (Profile::Sandbox, Location::Sqlite(_)) => "",
                (Profile::Sandbox, Location::Postgres(_)) => " --database postgres://…",
                (Profile::Live, Location::Sqlite(_)) => " --profile live",
                (Profile::Live, Location::Postgres(_)) => " --profile live --database postgres://…",
            },
        )?;
    }
    out.flush()?;
    Ok(())
}
