//! Builds the application from its configuration, for the server and for commands.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use portico_app::clock::{CalendarClock, Clock as _, SystemClock};
use portico_app::keystore::{Keystore, Root};
use portico_app::vault::{Vault, sandbox_key};
use portico_app::{Actor, Builder, Call, Parts, Portico, Profile};
use portico_store::{Db, Location, Role};
use secrecy::SecretSlice;

use crate::chain;
use crate::config::Config;
use crate::data::random_secret;

/// A call from the command line.
pub(crate) const OPERATOR: Call = Call::new(Actor::Operator);
const WRONG_ROOT_KEY: &str = "the encryption key does not open this keystore: give the one it was made with \
     (PORTICO_ENCRYPTION_KEY, or encryption.key in the data folder)";

/// Records the keystore and profile that the database belongs to, unless they are recorded.
pub(crate) async fn adopt_deployment(app: &Portico, profile: Option<Profile>) -> Result<()> {
    if app.maintenance.adopt_deployment(profile).await.context("the database cannot be written")? {
        return Ok(());
    }
    bail!("another server has taken this database meanwhile, with another profile or keystore")
}

/// The application for a command without the keystore, and a call on behalf of the operator. If the keystore can be
/// opened, the command's audit entries are keyed; if not, they wait for a server.
pub async fn admin(config: &Config) -> Result<(Portico, Call)> {
    let db = database(config, Role::Tool).await?;
    if let Err(error) = use_audit_key(config, &db).await {
        tracing::debug!(%error, "without the key of the audit log");
    }
    Ok((assemble(config, Role::Tool, None, db).await?, OPERATOR))
}

/// Makes nothing that is not there.
async fn use_audit_key(config: &Config, db: &Db) -> Result<()> {
    let known = db.deployment().await?.keystore;
    let root = config.data.existing_root_secret(config.encryption_key.as_ref())?;
    // A server begins to key the log, with an entry that says so.
    if db.audit_head().await?.keyed
        && let (Some(known), Some(root)) = (known, root)
        && let location = keystore_location(config)
        && Keystore::exists(&location).await?
    {
        let keystore = Keystore::open(&location, Root::new(&root)?).await?;
        if keystore.id().await? == known
            && let Some(key) = keystore.audit_key().await?
        {
            db.use_audit_key(key);
        }
    }
    Ok(())
}

/// The application for a command that erases people. Only a person's key tells which flags on the chain are theirs.
pub(crate) async fn with_keystore(config: &Config) -> Result<(Portico, Call)> {
    Ok((open_with_secrets(config).await?, OPERATOR))
}

/// The application for a command that seals data for the server to read.
pub(crate) async fn open_with_secrets(config: &Config) -> Result<Portico> {
    let root = config.data.root_secret(config.encryption_key.as_ref())?;
    let app = application(config, Role::Tool, &root).await?;
    adopt_deployment(&app, None).await?;
    Ok(app)
}

/// The application for replacing a lost keystore.
pub(crate) async fn with_replacement_keystore(config: &Config) -> Result<(Portico, Call)> {
    let root = config.data.root_secret(config.encryption_key.as_ref())?;
    let db = database(config, Role::Tool).await?;
    let location = keystore_location(config);
    let keystore = Keystore::open(&location, Root::new(&root)?).await;
    let keystore = keystore.context("the keystore cannot be opened")?;
    if !keystore.verify_root_key().await.context("the keystore cannot be read")? {
        bail!(WRONG_ROOT_KEY);
    }
    if db.deployment().await?.keystore == Some(keystore.id().await?) {
        bail!("this is the database's own keystore: there is nothing to replace");
    }
    let secrets = secrets(&db, keystore).await?;
    Ok((assemble(config, Role::Tool, Some(secrets), db).await?, OPERATOR))
}

async fn database(config: &Config, role: Role) -> Result<Db> {
    if let Location::Sqlite(_) = &config.database {
        config.data.create()?;
    }
    Db::open(&config.database, role).await.context("the database cannot be opened")
}

pub(crate) async fn application(config: &Config, role: Role, root: &SecretSlice<u8>) -> Result<Portico> {
    let db = database(config, role).await?;
    // First: another profile's instance has another encryption key.
    let profile = profile(config, &db, role).await?;
    let keystore = own_keystore(config, &db, root).await?;
    if role == Role::Server {
        check_keystore_place(config, profile).await?;
    }
    let secrets = secrets(&db, keystore).await?;
    assemble(config, role, Some(secrets), db).await
}

/// The keystore, and the instance's secret from it.
pub(crate) struct Secrets {
    keystore: Keystore,
    instance: SecretSlice<u8>,
}

/// Fails if the root secret does not open the keystore.
pub(crate) async fn secrets(db: &Db, keystore: Keystore) -> Result<Secrets> {
    if !keystore.verify_root_key().await.context("the keystore cannot be read")? {
        bail!(WRONG_ROOT_KEY);
    }
    let instance = keystore.instance_secret(SystemClock.now()).await?;
    if let Some(key) = keystore.audit_key().await? {
        db.use_audit_key(key);
    }
    Ok(Secrets { keystore, instance })
}

/// Commands without the keystore get a random secret: they seal nothing that outlives them.
pub(crate) async fn assemble(
    config: &Config,
    role: Role,
    secrets: Option<Secrets>,
    db: Db,
) -> Result<Portico> {
    let profile = profile(config, &db, role).await?;
    let clock = CalendarClock::new(Arc::new(SystemClock));
    clock.set_ahead(db.clock_ahead().await?);
    let chain = match role {
        Role::Server => Some(chain::open(config, profile, &db, clock.clone()).await?),
        Role::Tool => None,
    };
    let (keystore, instance) = match secrets {
        Some(Secrets { keystore, instance }) => (Some(keystore), instance),
        None => (None, random_secret()?),
    };
    let mut builder = Builder::new(Parts {
        db,
        profile,
        vault: Vault::new(&instance)?,
        tokens: config.data.tokens(config.issuer.clone(), profile)?,
        bureaus: config.bureaus(&sandbox_key(&instance), role)?,
    })
    .access(config.access(profile))
    .clock(clock)
    .country(config.country.clone())
    .consents(config.consents.clone())
    .retention_days(config.settings.retention_days)
    .budgets(config.budgets)
    .settings(config.effective.clone());
    if let Some(keystore) = keystore {
        builder = builder.keystore(keystore);
    }
    if let Some(chain) = chain {
        builder = builder.chain(chain);
    }
    Ok(builder.build())
}

/// The profile of this database, which its first server recorded. A server must be started with the same one, so that
/// a forgotten flag does not open a live database as a sandbox; commands use the recorded one.
async fn profile(config: &Config, db: &Db, role: Role) -> Result<Profile> {
    let recorded = db.deployment().await?.profile;
    let recorded = [Profile::Sandbox, Profile::Live]
        .into_iter()
        .find(|profile| recorded.as_deref() == Some(profile.name()));
    let requested = match role {
        Role::Server => Some(config.profile.unwrap_or(Profile::Sandbox)),
        Role::Tool => config.profile,
    };
    match (recorded, requested) {
        (None, requested) => Ok(requested.unwrap_or(Profile::Sandbox)),
        (Some(recorded), None) => Ok(recorded),
        (Some(recorded), Some(requested)) if recorded == requested => Ok(recorded),
        (Some(Profile::Live), Some(_)) => {
            bail!("this database belongs to a live instance: add --profile live (or PORTICO_PROFILE=live)")
        }
        (Some(Profile::Sandbox), Some(_)) => bail!(
            "this database belongs to a sandbox, where anybody can act as anybody: a live instance needs a \
             database of its own (--database, or another --data)"
        ),
    }
}

/// The profile for a command that reads nothing else from the database, which may not exist yet.
pub(crate) async fn recorded_profile(config: &Config) -> Result<Profile> {
    match &config.database {
        Location::Sqlite(path) if !path.exists() => Ok(config.profile.unwrap_or(Profile::Sandbox)),
        _ => profile(config, &database(config, Role::Tool).await?, Role::Tool).await,
    }
}

/// Where the keystore is: at `--keystore`, else in the data folder.
pub(crate) fn keystore_location(config: &Config) -> Location {
    config.keystore.clone().unwrap_or_else(|| Location::Sqlite(config.data.keystore()))
}

pub(crate) fn keystore_place(location: &Location) -> String {
    match location {
        Location::Sqlite(path) => path.display().to_string(),
        Location::Postgres(_) => "the schema portico_keys of a PostgreSQL database".into(),
    }
}

/// PostgreSQL's files keep what is deleted: the keystore of a live instance is elsewhere than its data, and so are the
/// backups of either.
async fn check_keystore_place(config: &Config, profile: Profile) -> Result<()> {
    let needs = "a live instance on PostgreSQL needs --keystore: a file (with one replica), or a database of another \
         PostgreSQL cluster";
    let is_live = profile == Profile::Live;
    if is_live && config.keystore.is_none() && matches!(config.database, Location::Postgres(_)) {
        bail!("{needs}");
    }
    let location = keystore_location(config);
    if !config.database.shares_cluster(&location).await.context("the clusters cannot be told apart")? {
        return Ok(());
    }
    if is_live {
        bail!(
            "the keystore is in the PostgreSQL cluster of the database, whose files keep erased keys: {needs}"
        );
    }
    tracing::warn!(
        "the keystore is in the PostgreSQL cluster of the database, whose files and backups keep erased keys: move it \
         with `portico encryption move`"
    );
    Ok(())
}

/// The keystore of this database. Never creates a new one for a database with sealed data, which would then be
/// unreadable.
pub(crate) async fn own_keystore(config: &Config, db: &Db, root: &SecretSlice<u8>) -> Result<Keystore> {
    let known = db.deployment().await?.keystore;
    let location = keystore_location(config);
    let place = keystore_place(&location);
    let advice = "Put it back, or name its place with --keystore. If it is lost for good, \
         `portico encryption replace-keystore` begins a new one, and erases everybody who was screened";
    if known.is_some() && !Keystore::exists(&location).await.context("the keystore cannot be read")? {
        bail!("the keystore of this database is missing: it is not at {place}. {advice}");
    }
    let keystore = Keystore::open(&location, Root::new(root)?).await;
    let keystore = keystore.context("the keystore cannot be opened")?;
    if keystore.is_moving().await? {
        bail!("the keystore at {place} is being moved elsewhere: run `portico encryption move` to its end");
    }
    match known {
        Some(known) if known != keystore.id().await? => {
            bail!("the keystore at {place} belongs to another database. {advice}")
        }
        _ => Ok(keystore),
    }
}
