//! Builds the application from its configuration, for the server and for commands.

use anyhow::{Context as _, Result, bail};
use portico_app::keystore::{self, Secrets};
use portico_app::vault::{Vault, sandbox_key};
use portico_app::{Builder, CallContext, Database, Location, Parts, Portico, Profile, Role};
use secrecy::SecretSlice;

use crate::chain;
use crate::config::Config;
use crate::data::random_secret;
use crate::database::{OPERATOR, database, keystore_location, machine_clock};

/// Records the keystore and profile that the database belongs to, unless they are recorded.
pub(crate) async fn adopt_deployment(app: &Portico, profile: Option<Profile>) -> Result<()> {
    if app.maintenance.adopt_deployment(profile).await.context("the database cannot be written")? {
        return Ok(());
    }
    bail!("another server has taken this database meanwhile, with another profile or keystore")
}

/// The application for a command without the keystore, and a call on behalf of the operator.
pub async fn admin(config: &Config) -> Result<(Portico, CallContext)> {
    Ok((admin_of(config, database(config, Role::Tool).await?).await?, OPERATOR))
}

/// The same for an opened database. If the keystore can be opened, the command's audit entries are keyed; if not, they
/// wait for a server.
pub(crate) async fn admin_of(config: &Config, database: Database) -> Result<Portico> {
    let keyed = async {
        let root = config.data.existing_root_secret(config.encryption_key.as_ref())?;
        Ok::<_, anyhow::Error>(database.use_audit_key(&keystore_location(config), root.as_ref()).await?)
    };
    if let Err(error) = keyed.await {
        tracing::debug!(%error, "without the key of the audit log");
    }
    assemble(config, Role::Tool, None, database).await
}

/// The application for a command that seals data for the server to read.
pub(crate) async fn open_with_secrets(config: &Config) -> Result<Portico> {
    let root = config.data.root_secret(config.encryption_key.as_ref())?;
    let app = application(config, Role::Tool, &root).await?;
    adopt_deployment(&app, None).await?;
    Ok(app)
}

/// The application for replacing a lost keystore.
pub(crate) async fn with_replacement_keystore(config: &Config) -> Result<Portico> {
    let root = config.data.root_secret(config.encryption_key.as_ref())?;
    let database = database(config, Role::Tool).await?;
    let secrets = database.replacement_keystore(&keystore_location(config), &root).await?;
    assemble(config, Role::Tool, Some(secrets), database).await
}

pub(crate) async fn application(config: &Config, role: Role, root: &SecretSlice<u8>) -> Result<Portico> {
    let database = database(config, role).await?;
    // First: another profile's instance has another encryption key.
    let profile = profile(config, &database, role).await?;
    let location = keystore_location(config);
    let keystore = database.keystore(&location, root).await?;
    if role == Role::Server {
        let is_named = config.keystore.is_some();
        keystore::check_place(profile, &config.database, &location, is_named).await?;
    }
    let secrets = database.secrets(keystore).await?;
    assemble(config, role, Some(secrets), database).await
}

/// Commands without the keystore get a random secret: they seal nothing that outlives them.
pub(crate) async fn assemble(
    config: &Config,
    role: Role,
    secrets: Option<Secrets>,
    database: Database,
) -> Result<Portico> {
    let profile = profile(config, &database, role).await?;
    let clock = machine_clock();
    clock.set_ahead(database.clock_ahead().await?);
    let chain = match role {
        Role::Server => Some(chain::connect(config, &database, clock.clone())?.start_writer(profile).await?),
        Role::Tool => None,
    };
    let (keystore, instance) = match secrets {
        Some(Secrets { keystore, instance }) => (Some(keystore), instance),
        None => (None, random_secret()?),
    };
    let mut builder = Builder::new(Parts {
        db: database.into(),
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
    .disclosures_per_person(config.settings.disclosures_per_person)
    .require_conditions(config.settings.require_conditions)
    .flag_interval_seconds(config.settings.chain_flag_interval)
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

/// A server must be started with the recorded profile; commands use it.
async fn profile(config: &Config, database: &Database, role: Role) -> Result<Profile> {
    let requested = match role {
        Role::Server => Some(config.profile.unwrap_or(Profile::Sandbox)),
        Role::Tool => config.profile,
    };
    Ok(database.check_profile(requested).await?)
}

/// The profile for a command that reads nothing else from the database, which may not exist yet.
pub(crate) async fn recorded_profile(config: &Config) -> Result<Profile> {
    match &config.database {
        Location::Sqlite(path) if !path.exists() => Ok(config.profile.unwrap_or(Profile::Sandbox)),
        _ => profile(config, &database(config, Role::Tool).await?, Role::Tool).await,
    }
}
