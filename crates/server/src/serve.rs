//! Starts the service, runs its background tasks and shuts it down.

use std::io::{IsTerminal, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use portico_api::{Limits, Metrics, Service};
use portico_app::{Location, Role};
use portico_app::{Portico, Profile};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

use crate::application::{adopt_deployment, application};
use crate::config::ChainUrl;
use crate::config::Config;
use crate::connections::Connections;
use crate::tls::Tls;
use crate::{console, data, listen};

/// Between two deletions of expired data.
const TIDY_INTERVAL: Duration = Duration::from_mins(10);
const ADMIN_CONNECTIONS: usize = 64;
/// Files, and connections to databases, nodes and bureaus.
const OTHER_OPEN_FILES: usize = 512;
const BUFFERED_LOG_LINES: usize = 10_000;
/// On Linux and macOS: a write would make a file larger than allowed.
const SIGXFSZ: i32 = 25;
/// Between two searches for flags to record.
const FLAGS_INTERVAL: Duration = Duration::from_secs(1);

/// Serves until SIGTERM or SIGINT. Long work runs on `background`.
pub async fn serve(config: Config, json: bool, background: Handle) -> Result<()> {
    let _log = log(config.settings.log.as_deref().unwrap_or_default())?;
    for flag in &config.exposed_secrets {
        tracing::warn!(
            flag,
            "a secret on the command line is in the process list: use a file or the environment"
        );
    }
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    raise_file_limit(config.listen.max_connections);
    let _lock = config.data.lock(&config.database)?;
    tighten(&config);
    let root = config.data.root_secret(config.encryption_key.as_ref())?;
    let app = application(&config, Role::Server, &root).await?;
    let profile = app.profile();
    prepare(&app).await?;
    let listener = listen::bind(config.listen.address)?;
    let admin = match config.listen.admin {
        Some(address) => Some(listen::bind(address)?),
        None => None,
    };
    let tls =
        config.listen.tls.clone().map(Tls::open).transpose().context("TLS is not possible")?.map(Arc::new);
    // Before the banner: a supervisor may send a signal as soon as it reads that.
    let stop = stop_signal()?;
    let mut tasks = JoinSet::new();
    if let Some(tls) = &tls {
        tasks.spawn(tls.clone().reload_on(signal(SignalKind::hangup())?));
    }
    let admin_address = admin.as_ref().map(TcpListener::local_addr).transpose()?;
    announce(&config, profile, (listener.local_addr()?, admin_address), json)?;
    let console = console::console(&config, profile);
    let service = Arc::new(Service {
        console,
        basemap: config.basemap,
        app,
        background,
        metrics: Metrics::default(),
        limits: Limits {
            in_flight: config.settings.max_in_flight,
            response_bytes: config.settings.max_response_memory.saturating_mul(1 << 20),
            rate: config.settings.rate_limit,
            ..Limits::default()
        },
        is_https: tls.is_some(),
        hosts: config.hosts,
        origins: config.settings.cors_origin,
        trusted_hops: config.settings.trusted_hops,
    });
    let router = portico_api::router(&service);
    tasks.spawn(tidy(service.clone()));
    tasks.spawn(record_flags(service.clone()));
    tasks.spawn(discover_issuer(service.clone()));
    if let Some(admin) = admin {
        tasks.spawn(serve_admin(admin, service.clone()));
    }
    let connections =
        Connections::new(config.listen.max_connections, config.listen.max_connections_per_address);
    let served = tokio::select! {
        served = listen::serve(listener, router, connections, tls, stop) => served,
        // The supervisor restarts the process.
        Some(_) = tasks.join_next() => bail!("a background task has ended, which it must not"),
        () = service.app.maintenance.chain_ended() => bail!("the chain's writer has ended, which it must not"),
    };
    tasks.abort_all();
    service.app.maintenance.close().await.context("the database could not be closed")?;
    served
}

/// Until the process ends, so that a drain can be watched.
async fn serve_admin(listener: TcpListener, service: Arc<Service>) {
    let connections = Connections::new(ADMIN_CONNECTIONS, 0);
    let router = portico_api::admin_router(&service);
    if let Err(error) = listen::serve(listener, router, connections, None, std::future::pending()).await {
        tracing::error!(%error, "the listener for health and metrics has ended");
    }
}

/// Every connection is an open file, and the usual limit is lower than that of connections.
fn raise_file_limit(max_connections: usize) {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    let needed = (max_connections + OTHER_OPEN_FILES) as u64;
    if let Some(current) = current.filter(|current| *current < needed) {
        tracing::warn!(
            current,
            needed,
            "fewer files can be open than --max-connections needs: raise the limit (ulimit -n)"
        );
    }
}

/// Tools may have left files that others can read. Files that this process makes are its owner's
/// only: see `run`.
fn tighten(config: &Config) {
    let mut tightened = config.data.tighten();
    for location in [Some(&config.database), config.keystore.as_ref()] {
        if let Some(Location::Sqlite(path)) = location {
            for end in ["", "-wal", "-shm"] {
                let file = PathBuf::from(format!("{}{end}", path.display()));
                tightened = tightened.and_then(|count| Ok(count + usize::from(data::tighten(&file, 0o600)?)));
            }
        }
    }
    match tightened {
        Ok(0) => {}
        Ok(count) => {
            tracing::warn!(count, "files and folders of data were open to others, and no longer are");
        }
        Err(error) => tracing::warn!(%error, "the data may be open to others: its modes cannot be changed"),
    }
}

/// Checks and repairs that must finish before the first request.
async fn prepare(app: &Portico) -> Result<()> {
    adopt_deployment(app, Some(app.profile())).await?;
    app.maintenance.key_audit_log().await.context("the audit log could not be keyed")?;
    if let Err(error) = app.maintenance.scrub_keystore().await {
        tracing::warn!(%error, "the keystore's log could not be emptied");
    }
    let applied = app.maintenance.apply_erasures().await.context("erasures could not be applied")?;
    if applied > 0 {
        tracing::info!(applied, "people who were erased since the database was saved are erased again");
    }
    let orphaned = app.maintenance.delete_orphaned_applications().await;
    let orphaned = orphaned.context("applications of erased people could not be deleted")?;
    if orphaned > 0 {
        tracing::info!(orphaned, "applications of people who were erased are deleted");
    }
    Ok(())
}

/// Records flags left over from a crash or an error, and clears those whose application is closed.
async fn record_flags(service: Arc<Service>) {
    let maintenance = &service.app.maintenance;
    loop {
        match maintenance.record_flags().await {
            // There may be more.
            Ok(stored) if stored > 0 => {}
            Ok(_) => tokio::time::sleep(FLAGS_INTERVAL).await,
            Err(error) => {
                tracing::warn!(%error, "flags could not be recorded; they will be");
                tokio::time::sleep(FLAGS_INTERVAL * 5).await;
            }
        }
    }
}

/// Never ends: a task that does stops the service.
async fn discover_issuer(service: Arc<Service>) {
    service.app.maintenance.discover_issuer().await;
    std::future::pending::<()>().await;
}

async fn tidy(service: Arc<Service>) {
    let mut every = tokio::time::interval(TIDY_INTERVAL);
    loop {
        every.tick().await;
        if let Err(error) = service.app.maintenance.tidy().await {
            tracing::warn!(%error, "what is no longer kept could not be removed");
        }
    }
}

/// Logs to stderr: compact on a terminal, JSON otherwise. A separate thread writes the lines, so that a slow reader, a
/// full disk or a closed pipe loses log lines but never delays or fails a request.
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
        // The list of spans has the current one.
        builder.json().flatten_event(true).with_current_span(false).init();
    }
    Ok(guard)
}

fn stop_signal() -> Result<impl Future<Output = ()>> {
    // Caught once, a file that may not grow (`ulimit -f`) fails a write as a full disk does, instead of ending the
    // process.
    drop(signal(SignalKind::from_raw(SIGXFSZ))?);
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    })
}

/// Prints the banner: the URLs and the first commands.
fn announce(
    config: &Config,
    profile: Profile,
    (address, admin): (SocketAddr, Option<SocketAddr>),
    json: bool,
) -> Result<()> {
    let scheme = if config.listen.tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{address}");
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
            "rpc": rpc, "admin": admin.map(|admin| format!("http://{admin}")),
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
