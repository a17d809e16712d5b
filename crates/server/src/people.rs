//! Commands about personal data: erasure, key rotation, verification of the audit log.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use portico_app::audit::Anchor;
use portico_app::clock::{Clock as _, SystemClock};
use portico_app::keystore::Root;
use portico_app::{Actor, Error};
use portico_domain::UserId;
use portico_store::audit::{Append, Entry};
use portico_store::{Db, Role};

use crate::config::Config;
use crate::data::Data;
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
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Server)?;
    let db = Db::open(&config.database, Role::Tool).await.context("the database cannot be opened")?;
    let keystore = own_keystore(config, &db, &root).await?;
    if !keystore.fits().await? {
        bail!("the encryption key does not open this keystore: give the one it was made with");
    }
    let also = new_key.map(|path| Ok::<_, anyhow::Error>(Root::new(&Data::root_secret_in(path)?)?));
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

pub(crate) async fn verify_audit(config: &Config) -> Result<String> {
    let (app, call) = admin(config).await?;
    let db = Db::open(&config.database, Role::Tool).await.context("the database cannot be opened")?;
    let anchor = match chain::audit_anchor(config, &db).await {
        Ok(anchor) => anchor,
        Err(error) => {
            tell(&format!("the log's end is not compared with the chain: {error:#}"));
            Anchor::Unknown
        }
    };
    let found = app.audit.inspect(&call, anchor, |_| ()).await?;
    for fault in &found.faults {
        tell(fault);
    }
    let anchored = match found.anchored {
        Some(place) => format!("anchored on the chain at entry {place}"),
        None => "not anchored".into(),
    };
    if found.faults.is_empty() {
        return Ok(format!("{} entries, none altered; {anchored}", found.entries));
    }
    bail!("{} entries, {} faults; {anchored}", found.entries, found.faults.len())
}
