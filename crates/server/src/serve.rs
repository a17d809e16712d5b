//! Putting the parts together and running them.

use std::io::{IsTerminal, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use portico_api::{Limits, Metrics, Service};
use portico_app::clock::{RandomIds, SystemClock};
use portico_app::keystore::{Keystore, Root};
use portico_app::readiness::WriteProof;
use portico_app::vault::Vault;
use portico_app::{Actor, Call, Portico, Profile};
use portico_store::{AdoptDeployment, Db, Location, Role};
use secrecy::SecretSlice;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

use crate::chain_config::ChainUrl;
use crate::config::Config;
use crate::{chain, console, listen};

/// A call of whoever works at the command line.
const OPERATOR: Call = Call { actor: Actor::Operator, once: None };
/// How often what is no longer kept is removed.
const TIDY_INTERVAL: Duration = Duration::from_mins(10);
/// Lines of the log that may wait to be written.
const BUFFERED_LOG_LINES: usize = 10_000;
/// How often flags are looked for that nobody has attested yet.
const ATTEST_INTERVAL: Duration = Duration::from_secs(1);

/// Runs the service until it is told to stop. Long work runs on `background`.
pub async fn serve(config: Config, json: bool, background: Handle) -> Result<()> {
    let _log = log(&config.log)?;
    let _lock = config.data.lock()?;
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Server)?;
    let app = application(&config, Role::Server, &root).await?;
    let profile = app.profile;
    prepare(&app).await?;
    let listener = TcpListener::bind(config.listen).await;
    let listener = listener.with_context(|| format!("{} cannot be listened on", config.listen))?;
    let address = listener.local_addr()?;
    // From here on a signal is heard, so that a supervisor that waits for the banner may stop us at once.
    let stop = stop_signal()?;
    announce(&config, profile, address, json)?;
    let console = console::console(&config, profile);
    let service = Arc::new(Service {
        console,
        app,
        background,
        metrics: Metrics::default(),
        limits: Limits { in_flight: config.max_in_flight, rate: config.rate_limit, ..Limits::default() },
        hosts: config.hosts,
        origins: config.origins,
        trusted_hops: config.trusted_hops,
    });
    let db = service.app.db.clone();
    let router = portico_api::router(&service);
    let mut tasks = JoinSet::new();
    tasks.spawn(tidy(service.clone()));
    tasks.spawn(attest(service.clone()));
    let served = tokio::select! {
        served = listen::serve(listener, router, config.max_connections, stop) => served,
        // Whoever supervises the process starts it again.
        Some(_) = tasks.join_next() => bail!("a background task has ended, which it must not"),
        () = chain_ended(&service.app) => bail!("the chain's writer has ended, which it must not"),
    };
    tasks.abort_all();
    if let Ok(chain) = service.app.chain() {
        chain.release().await;
    }
    // Both are one file each after an orderly stop.
    scrub(&service.app).await?;
    db.close().context("the database could not be tidied up")?;
    served
}

async fn chain_ended(app: &Portico) {
    match app.chain() {
        Ok(chain) => chain.ended().await,
        Err(_) => std::future::pending().await,
    }
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
    fits(app.keystore()?).await?;
    adopt(app, Some(app.profile)).await?;
    scrub(app).await?;
    let applied = app.apply_erasures().await.context("erasures could not be applied")?;
    if applied > 0 {
        tracing::info!(applied, "people who were erased since the database was saved are erased again");
    }
    let ended = app.end_orphaned_applications().await.context("applications could not be ended")?;
    if ended > 0 {
        tracing::info!(ended, "applications to listings that do not exist have ended");
    }
    Ok(())
}

/// Empties the keystore's log, so that no key that was destroyed is left in it. While somebody else reads the keystore
/// that cannot be done; it is tried again every few minutes.
async fn scrub(app: &Portico) -> Result<()> {
    if let Err(error) = app.keystore()?.scrub().await {
        tracing::warn!(%error, "the keystore's log could not be emptied");
    }
    Ok(())
}

/// Records in the database which profile and keystore it belongs to, unless that is recorded.
async fn adopt(app: &Portico, profile: Option<Profile>) -> Result<()> {
    let op = AdoptDeployment { profile: profile.map(Profile::name), keystore: app.keystore()?.id().await? };
    let (wanted_profile, wanted_keystore) = (op.profile, op.keystore.clone());
    let recorded = app.db.write(op).await.context("the database cannot be written")?;
    let other_profile = wanted_profile.is_some_and(|wanted| recorded.profile.as_deref() != Some(wanted));
    if other_profile || recorded.keystore != Some(wanted_keystore) {
        bail!("another server has taken this database meanwhile, with another profile or keystore");
    }
    Ok(())
}

/// Attests flags that were left to be attested, as after a crash.
async fn attest(service: Arc<Service>) {
    loop {
        match service.app.attest(None).await {
            // There may be more.
            Ok(settled) if settled > 0 => {}
            Ok(_) => tokio::time::sleep(ATTEST_INTERVAL).await,
            Err(error) => {
                tracing::warn!(%error, "flags could not be attested; they will be");
                tokio::time::sleep(ATTEST_INTERVAL * 5).await;
            }
        }
    }
}

async fn tidy(service: Arc<Service>) {
    let mut every = tokio::time::interval(TIDY_INTERVAL);
    loop {
        every.tick().await;
        if let Err(error) = service.app.tidy().await {
            tracing::warn!(%error, "what is no longer kept could not be removed");
        }
    }
}

/// The application for a command beside the server that needs no keys of people, and a call on behalf of the
/// operator.
pub async fn admin(config: &Config) -> Result<(Portico, Call)> {
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Tool)?;
    let db = database(config, Role::Tool).await?;
    Ok((assemble(config, Role::Tool, &root, db, None).await?, OPERATOR))
}

/// Likewise, for a command that erases people.
pub(crate) async fn with_keystore(config: &Config) -> Result<(Portico, Call)> {
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Tool)?;
    Ok((application(config, Role::Tool, &root).await?, OPERATOR))
}

/// Likewise, for a command that seals what people are to read later.
pub(crate) async fn insider(config: &Config) -> Result<Portico> {
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Server)?;
    let app = application(config, Role::Tool, &root).await?;
    fits(app.keystore()?).await?;
    adopt(&app, None).await?;
    Ok(app)
}

/// Likewise, for taking another keystore in the place of one that was lost.
pub(crate) async fn with_another_keystore(config: &Config) -> Result<Portico> {
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Server)?;
    let db = database(config, Role::Tool).await?;
    let keystore = Keystore::open(&config.keystore, Root::new(&root)?).await;
    let keystore = keystore.context("the keystore cannot be opened")?;
    fits(&keystore).await?;
    if db.deployment().await?.keystore == Some(keystore.id().await?) {
        bail!("this is the database's own keystore: there is nothing to replace");
    }
    assemble(config, Role::Tool, &root, db, Some(keystore)).await
}

async fn database(config: &Config, role: Role) -> Result<Db> {
    if let Location::Sqlite(_) = &config.database {
        config.data.create()?;
    }
    Db::open(&config.database, role).await.context("the database cannot be opened")
}

async fn application(config: &Config, role: Role, root: &SecretSlice<u8>) -> Result<Portico> {
    let db = database(config, role).await?;
    let keystore = own_keystore(config, &db, root).await?;
    assemble(config, role, root, db, Some(keystore)).await
}

async fn assemble(
    config: &Config,
    role: Role,
    root: &SecretSlice<u8>,
    db: Db,
    keystore: Option<Keystore>,
) -> Result<Portico> {
    let profile = profile(config, &db, role).await?;
    let chain = match role {
        Role::Server => Some(chain::open(config, profile, &db).await?),
        Role::Tool => None,
    };
    Ok(Portico {
        db,
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        vault: Arc::new(Vault::new(root)?),
        keystore,
        bureaus: config.bureaus(root, role)?,
        retention_days: config.retention_days.into(),
        tokens: config.data.tokens(config.issuer.clone(), profile)?,
        profile,
        country: config.country.clone(),
        chain,
        write_proof: WriteProof::default(),
    })
}

/// The profile of this database: the one that its first server ran with. A server has to be asked for that one,
/// so that nobody opens people's data to everybody by leaving out a flag; commands beside it take it.
async fn profile(config: &Config, db: &Db, role: Role) -> Result<Profile> {
    let recorded = db.deployment().await?.profile;
    let recorded = [Profile::Sandbox, Profile::Live]
        .into_iter()
        .find(|profile| recorded.as_deref() == Some(profile.name()));
    let asked = match role {
        Role::Server => Some(config.profile.unwrap_or(Profile::Sandbox)),
        Role::Tool => config.profile,
    };
    match (recorded, asked) {
        (None, asked) => Ok(asked.unwrap_or(Profile::Sandbox)),
        (Some(recorded), None) => Ok(recorded),
        (Some(recorded), Some(asked)) if recorded == asked => Ok(recorded),
        (Some(Profile::Live), Some(_)) => {
            bail!("this database belongs to a live instance: add --profile live (or PORTICO_PROFILE=live)")
        }
        (Some(Profile::Sandbox), Some(_)) => bail!(
            "this database belongs to a sandbox, where anybody can act as anybody: a live instance needs a \
             database of its own (--database, or another --data)"
        ),
    }
}

/// The profile for a command that needs nothing else of the database, which may not be there yet.
pub(crate) async fn recorded_profile(config: &Config) -> Result<Profile> {
    match &config.database {
        Location::Sqlite(path) if !path.exists() => Ok(config.profile.unwrap_or(Profile::Sandbox)),
        _ => profile(config, &database(config, Role::Tool).await?, Role::Tool).await,
    }
}

/// The keystore that holds the keys of this database's people. An empty one is never taken for one that is
/// missing: what was sealed would seem to be gone, and could then really be lost.
pub(crate) async fn own_keystore(config: &Config, db: &Db, root: &SecretSlice<u8>) -> Result<Keystore> {
    let known = db.deployment().await?.keystore;
    let sealed = known.is_some() || db.has_sealed_data().await?;
    let place = match &config.keystore {
        Location::Sqlite(path) => path.display().to_string(),
        Location::Postgres(_) => "the schema portico_keys of its PostgreSQL database".into(),
    };
    let advice = "Put it back, or name its place with --keystore. If it is lost for good, \
         `portico encryption replace-keystore` begins a new one, and erases everybody who was screened";
    if sealed && !Keystore::exists(&config.keystore).await.context("the keystore cannot be read")? {
        bail!("the keystore of this database is missing: it is not at {place}. {advice}");
    }
    let keystore = Keystore::open(&config.keystore, Root::new(root)?).await;
    let keystore = keystore.context("the keystore cannot be opened")?;
    match known {
        Some(known) if known != keystore.id().await? => {
            bail!("the keystore at {place} belongs to another database. {advice}")
        }
        None if sealed && keystore.is_empty().await? => {
            bail!("the keystore of this database is missing: the one at {place} is empty. {advice}")
        }
        _ => Ok(keystore),
    }
}

/// Pretty on a terminal, JSON otherwise; always to stderr, so that stdout is for answers.
///
/// Lines are written by a thread of their own. Whoever logs never waits for a slow reader, and never fails because
/// of a full disk or a reader that has gone: then lines are lost, and nothing else.
fn log(level: &str) -> Result<WorkerGuard> {
    let filter = EnvFilter::try_new(level).with_context(|| format!("log: {level} is no level or filter"))?;
    let (writer, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(BUFFERED_LOG_LINES)
        .finish(std::io::stderr());
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).log_internal_errors(false);
    if std::io::stderr().is_terminal() {
        builder.compact().init();
    } else {
        builder.json().flatten_event(true).init();
    }
    Ok(guard)
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
fn announce(config: &Config, profile: Profile, address: SocketAddr, json: bool) -> Result<()> {
    let url = format!("http://{address}");
    let data = config.data.path().display();
    let database = match &config.database {
        Location::Sqlite(path) => format!("SQLite, {}", path.display()),
        Location::Postgres(_) => "PostgreSQL".to_owned(),
    };
    let rpc = match (&config.chain.url, profile) {
        (ChainUrl::Embedded, Profile::Sandbox) => Some(format!("{url}/rpc")),
        _ => None,
    };
    let mut out = std::io::stdout().lock();
    if json {
        let line = serde_json::json!({
            "url": url, "profile": profile.name(), "data": config.data.path(), "version": env!("CARGO_PKG_VERSION"),
            "docs": format!("{url}/docs/"), "openapi": format!("{url}/openapi.json"), "pid": std::process::id(),
            "rpc": rpc,
        });
        writeln!(out, "{line}")?;
    } else {
        writeln!(
            out,
            "Portico {version} is listening on {url} ({profile})\n\n  \
             console    {url}/console/\n  reference  {url}/docs/\n  document   {url}/openapi.json\n  database   {database}\n  chain      {chain}\n  data       {data}\n\n  \
             a key      portico key create --name operator --data {data}{more}\n  \
             a token    portico token --sub ada --data {data}\n",
            version = env!("CARGO_PKG_VERSION"),
            profile = profile.name(),
            chain = rpc.as_ref().map_or("remote".to_owned(), |rpc| format!("embedded, read-only at {rpc}")),
            more = match &config.database {
                Location::Sqlite(_) => "",
                Location::Postgres(_) => " --database postgres://…",
            },
        )?;
    }
    out.flush()?;
    Ok(())
}
