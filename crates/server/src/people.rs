//! Commands about personal data: erasure, key rotation, verification of the audit log.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use portico_app::audit::Anchor;
use portico_app::{Database, Location, Portico, Role, keystore};
use portico_domain::UserId;

use crate::application::admin_of;
use crate::config::Config;
use crate::data::DataFolder;
use crate::database::{OPERATOR, database, keystore_location};
use crate::{chain, open_with_secrets, tell, with_replacement_keystore};

pub(crate) async fn erase(config: &Config, user: &str) -> Result<()> {
    let user = UserId::parse(user).map_err(|fault| anyhow::anyhow!("--user {fault}"))?;
    // Only a person's key tells which flags on the chain are theirs.
    let app = open_with_secrets(config).await?;
    app.people.erase(&OPERATOR, &user).await.context("the person could not be erased")?;
    tell("erased; a running server, or the next start, revokes and clears what is on the chain");
    Ok(())
}

pub(crate) async fn rotate(config: &Config, new_key: Option<&Path>) -> Result<String> {
    config.data.create()?;
    let root = config.data.root_secret(config.encryption_key.as_ref())?;
    let database = database(config, Role::Tool).await?;
    let keystore = database.keystore(&keystore_location(config), &root).await?;
    let also = new_key.map(DataFolder::root_secret_in).transpose()?;
    let shows = std::io::stderr().is_terminal();
    let progress = |rotated: u64| {
        if shows {
            let _ = write!(std::io::stderr(), "\r{rotated} keys");
        }
    };
    let rotated = database.rotate_keystore(&OPERATOR, &keystore, also.as_ref(), progress).await?;
    if shows {
        tell("");
    }
    Ok(format!("{rotated} keys are wrapped by a new master key"))
}

pub(crate) async fn replace_keystore(config: &Config) -> Result<String> {
    config.data.create()?;
    let app = with_replacement_keystore(config).await?;
    let erased =
        app.people.replace_keystore(&OPERATOR).await.context("the keystore could not be replaced")?;
    Ok(format!(
        "the keystore is this database's own from now on; {erased} people were erased, whose data nobody could read any more"
    ))
}

/// `portico encryption move`.
pub(crate) async fn move_keystore(config: &Config, to: &Location) -> Result<String> {
    let _lock = config.data.lock(&config.database)?;
    let root = config.data.root_secret(config.encryption_key.as_ref())?;
    let (database, from) = (database(config, Role::Tool).await?, keystore_location(config));
    database.move_keystore(&OPERATOR, &config.database, (&from, to), &root).await?;
    Ok(format!("the keystore is in {}: name that with --keystore from now on", keystore::place(to)))
}

pub(crate) async fn verify_audit(config: &Config) -> Result<String> {
    let database = database(config, Role::Tool).await?;
    let app = admin_of(config, database.clone()).await?;
    if database.lacks_audit_key().await? {
        bail!(
            "the entries are keyed, and the key is in the keystore: give the encryption key (PORTICO_ENCRYPTION_KEY) \
             and, if it is not in its usual place, --keystore"
        );
    }
    let anchor = match audit_anchor(config, &database, &app).await {
        Ok(anchor) => anchor,
        Err(error) => {
            tell(&format!("the log's end is not compared with the chain: {error:#}"));
            Anchor::Unknown
        }
    };
    let found = app.audit.inspect(&OPERATOR, anchor, |_| ()).await?;
    for fault in &found.faults {
        tell(&fault.to_string());
    }
    let anchored = match found.anchored {
        Some(place) => format!("anchored on the chain at entry {place}"),
        None => "not anchored".into(),
    };
    if found.faults.is_empty() {
        let keyed = if found.keyed || found.entries == 0 { "" } else { "; not keyed yet" };
        return Ok(format!("{} entries, none altered; {anchored}{keyed}", found.entries));
    }
    bail!("{} entries, {} faults; {anchored}", found.entries, found.fault_count)
}

async fn audit_anchor(config: &Config, database: &Database, app: &Portico) -> Result<Anchor> {
    if !database.has_chain().await? {
        return Ok(Anchor::Missing);
    }
    let chain = chain::admin(config, database, config.data.chain()).await?;
    Ok(chain.audit_anchor(&app.audit.log(&OPERATOR).await?).await?)
}
