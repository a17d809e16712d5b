//! Commands about personal data: erasure, key rotation, verification of the audit log.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use portico_app::audit::Anchor;
use portico_app::clock::{Clock as _, SystemClock};
use portico_app::keystore::{Keystore, Root};
use portico_app::{Actor, Error};
use portico_domain::UserId;
use portico_store::audit::{Append, Entry};
use portico_store::{Db, Location, Role};

use crate::application::{keystore_location, keystore_place};
use crate::config::Config;
use crate::data::DataFolder;
use crate::{admin, chain, own_keystore, tell, with_keystore, with_replacement_keystore};

pub(crate) async fn erase(config: &Config, user: &str) -> Result<()> {
    let user = UserId::parse(user).map_err(|fault| anyhow::anyhow!("--user {fault}"))?;
    let (app, call) = with_keystore(config).await?;
    app.people.erase(&call, &user).await.context("the person could not be erased")?;
    tell("erased; a running server, or the next start, revokes and clears what is on the chain");
    Ok(())
}

pub(crate) async fn rotate(config: &Config, new_key: Option<&Path>) -> Result<String> {
    config.data.create()?;
    let root = config.data.root_secret(config.encryption_key.as_ref())?;
    let db = Db::open(&config.database, Role::Tool).await.context("the database cannot be opened")?;
    let keystore = own_keystore(config, &db, &root).await?;
    if !keystore.verify_root_key().await? {
        bail!("the encryption key does not open this keystore: give the one it was made with");
    }
    if let Some(key) = keystore.audit_key().await? {
        db.use_audit_key(key);
    }
    let also = new_key.map(|path| Ok::<_, anyhow::Error>(Root::new(&DataFolder::root_secret_in(path)?)?));
    let also = also.transpose()?;
    let shows = std::io::stderr().is_terminal();
    let progress = |rotated: u64| {
        if shows {
            let _ = write!(std::io::stderr(), "\r{rotated} keys");
        }
    };
    // Audited before it starts: a rotation uses every key.
    let entry = Entry {
        at: SystemClock.now(),
        actor: Actor::Operator.audit_name(),
        action: "encryption.rotated",
        subject: "every person's key".into(),
        detail: if also.is_some() { "for another root secret too".into() } else { String::new() },
    };
    db.write(Append(entry)).await.context("the rotation could not be put on record")?;
    let rotated = match keystore.rotate(SystemClock.now(), also.as_ref(), progress).await {
        Err(Error::RotationSuperseded) => bail!(
            "another rotation began after this one and goes on in its place. No key is lost; run this again when \
             that one has ended"
        ),
        rotated => rotated?,
    };
    if shows {
        tell("");
    }
    Ok(format!("{rotated} keys are wrapped by a new master key"))
}

pub(crate) async fn replace_keystore(config: &Config) -> Result<String> {
    config.data.create()?;
    let (app, call) = with_replacement_keystore(config).await?;
    let erased = app.people.replace_keystore(&call).await.context("the keystore could not be replaced")?;
    Ok(format!(
        "the keystore is this database's own from now on; {erased} people were erased, whose data nobody could read any more"
    ))
}

/// `portico encryption move`: every step may be interrupted and run again.
pub(crate) async fn move_keystore(config: &Config, to: &Location) -> Result<String> {
    let _lock = config.data.lock(&config.database)?;
    let root = config.data.root_secret(config.encryption_key.as_ref())?;
    let db = Db::open(&config.database, Role::Tool).await.context("the database cannot be opened")?;
    let known = db.deployment().await?.keystore;
    let from = keystore_location(config);
    if from == *to {
        bail!("this is where the keystore is");
    }
    if config.database.shares_cluster(to).await.context("the clusters cannot be told apart")? {
        bail!(
            "this is the PostgreSQL cluster of the database, whose files keep erased keys: name another one"
        );
    }
    let open = async |location: &Location| {
        let keystore = Keystore::open(location, Root::new(&root)?).await;
        keystore.with_context(|| format!("the keystore at {} cannot be opened", keystore_place(location)))
    };
    if !Keystore::exists(&from).await.context("the keystore cannot be read")? {
        if Keystore::exists(to).await? && known == Some(open(to).await?.id().await?) {
            return Ok(moved_to(to));
        }
        bail!("there is no keystore at {}: name it with --keystore", keystore_place(&from));
    }
    let keystore = open(&from).await?;
    if known != Some(keystore.id().await?) {
        bail!("the keystore at {} belongs to another database", keystore_place(&from));
    }
    if !keystore.verify_root_key().await? {
        bail!("the encryption key does not open this keystore: give the one it was made with");
    }
    let target = open(to).await?;
    keystore.copy_to(&target).await.context("the keystore could not be copied")?;
    if !target.verify_root_key().await? {
        bail!("the copy does not open");
    }
    if let Some(key) = target.audit_key().await? {
        db.use_audit_key(key);
    }
    let entry = Entry {
        at: SystemClock.now(),
        actor: Actor::Operator.audit_name(),
        action: "encryption.keystore_moved",
        subject: "every person's key".into(),
        detail: String::new(),
    };
    db.write(Append(entry)).await.context("the move could not be put on record")?;
    keystore.remove(&from).await.context("the old keystore could not be removed: run this again")?;
    Ok(moved_to(to))
}

fn moved_to(to: &Location) -> String {
    format!("the keystore is in {}: name that with --keystore from now on", keystore_place(to))
}

pub(crate) async fn verify_audit(config: &Config) -> Result<String> {
    let (app, call) = admin(config).await?;
    let db = Db::open(&config.database, Role::Tool).await.context("the database cannot be opened")?;
    if db.audit_head().await?.keyed && !app.audit.knows_key() {
        bail!(
            "the entries are keyed, and the key is in the keystore: give the encryption key (PORTICO_ENCRYPTION_KEY) \
             and, if it is not in its usual place, --keystore"
        );
    }
    let anchor = match chain::audit_anchor(config, &db, &app.audit.log(&call).await?).await {
        Ok(anchor) => anchor,
        Err(error) => {
            tell(&format!("the log's end is not compared with the chain: {error:#}"));
            Anchor::Unknown
        }
    };
    let found = app.audit.inspect(&call, anchor, |_| ()).await?;
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
