//! Builds the application from its configuration, for the server and for commands.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use portico_app::clock::{CalendarClock, RandomIds, SystemClock, SystemRandomness};
use portico_app::keystore::{Keystore, Root};
use portico_app::readiness::WriteProof;
use portico_app::vault::Vault;
use portico_app::{Actor, Call, Core, Portico, Profile};
use portico_store::{Db, Location, Role};
use secrecy::SecretSlice;

use crate::chain;
use crate::config::Config;

/// A call from the command line.
const OPERATOR: Call = Call { actor: Actor::Operator, idempotency_key: None };
const WRONG_ROOT_KEY: &str = "the encryption key does not open this keystore: give the one it was made with \
     (PORTICO_ENCRYPTION_KEY, or encryption.key in the data folder)";

/// Fails if the root secret does not open the keystore.
pub(crate) async fn verify_root_key(app: &Portico) -> Result<()> {
    if app.maintenance.verify_root_key().await.context("the keystore cannot be read")? {
        return Ok(());
    }
    bail!(WRONG_ROOT_KEY)
}

/// Records the keystore and profile that the database belongs to, unless they are recorded.
pub(crate) async fn adopt_deployment(app: &Portico, profile: Option<Profile>) -> Result<()> {
    if app.maintenance.adopt_deployment(profile).await.context("the database cannot be written")? {
        return Ok(());
    }
    bail!("another server has taken this database meanwhile, with another profile or keystore")
}

/// The application for a command without the keystore, and a call on behalf of the operator.
pub async fn admin(config: &Config) -> Result<(Portico, Call)> {
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Tool)?;
    let db = database(config, Role::Tool).await?;
    Ok((assemble(config, Role::Tool, &root, db, None).await?, OPERATOR))
}

/// The application for a command that erases people. Only a person's key tells which flags on the chain are theirs.
pub(crate) async fn with_keystore(config: &Config) -> Result<(Portico, Call)> {
    Ok((open_with_secrets(config).await?, OPERATOR))
}

/// The application for a command that seals data for the server to read.
pub(crate) async fn open_with_secrets(config: &Config) -> Result<Portico> {
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Server)?;
    let app = application(config, Role::Tool, &root).await?;
    verify_root_key(&app).await?;
    adopt_deployment(&app, None).await?;
    Ok(app)
}

/// The application for replacing a lost keystore.
pub(crate) async fn with_replacement_keystore(config: &Config) -> Result<(Portico, Call)> {
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Server)?;
    let db = database(config, Role::Tool).await?;
    let keystore = Keystore::open(&config.keystore, Root::new(&root)?).await;
    let keystore = keystore.context("the keystore cannot be opened")?;
    if !keystore.fits().await.context("the keystore cannot be read")? {
        bail!(WRONG_ROOT_KEY);
    }
    if db.deployment().await?.keystore == Some(keystore.id().await?) {
        bail!("this is the database's own keystore: there is nothing to replace");
    }
    Ok((assemble(config, Role::Tool, &root, db, Some(keystore)).await?, OPERATOR))
}

async fn database(config: &Config, role: Role) -> Result<Db> {
    if let Location::Sqlite(_) = &config.database {
        config.data.create()?;
    }
    Db::open(&config.database, role).await.context("the database cannot be opened")
}

pub(crate) async fn application(config: &Config, role: Role, root: &SecretSlice<u8>) -> Result<Portico> {
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
    let clock = CalendarClock::new(Arc::new(SystemClock));
    clock.set_ahead(db.clock_ahead().await?);
    let chain = match role {
        Role::Server => Some(chain::open(config, profile, &db, clock.clone()).await?),
        Role::Tool => None,
    };
    Ok(Portico::new(Core {
        db,
        clock,
        ids: Arc::new(RandomIds),
        randomness: Arc::new(SystemRandomness),
        vault: Arc::new(Vault::new(root)?),
        keystore,
        bureaus: config.bureaus(root, role)?,
        consents: config.consents.clone(),
        retention_days: config.retention_days.into(),
        tokens: config.data.tokens(config.issuer.clone(), profile)?,
        profile,
        country: config.country.clone(),
        chain,
        write_proof: WriteProof::default(),
    }))
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

/// The keystore of this database. Never creates a new one for a database with sealed data, which would then be
/// unreadable.
pub(crate) async fn own_keystore(config: &Config, db: &Db, root: &SecretSlice<u8>) -> Result<Keystore> {
    let known = db.deployment().await?.keystore;
    let sealed = known.is_some() || db.has_sealed_data().await?;
    let location = match &config.keystore {
        Location::Sqlite(path) => path.display().to_string(),
        Location::Postgres(_) => "the schema portico_keys of its PostgreSQL database".into(),
    };
    let advice = "Put it back, or name its place with --keystore. If it is lost for good, \
         `portico encryption replace-keystore` begins a new one, and erases everybody who was screened";
    if sealed && !Keystore::exists(&config.keystore).await.context("the keystore cannot be read")? {
        bail!("the keystore of this database is missing: it is not at {location}. {advice}");
    }
    let keystore = Keystore::open(&config.keystore, Root::new(root)?).await;
    let keystore = keystore.context("the keystore cannot be opened")?;
    match known {
        Some(known) if known != keystore.id().await? => {
            bail!("the keystore at {location} belongs to another database. {advice}")
        }
        None if sealed && keystore.is_empty().await? => {
            bail!("the keystore of this database is missing: the one at {location} is empty. {advice}")
        }
        _ => Ok(keystore),
    }
}
