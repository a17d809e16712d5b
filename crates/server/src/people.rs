//! Commands about people's data: erasing somebody, changing keys, and whether the audit log is whole.

use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use portico_app::Actor;
use portico_app::audit::Anchor;
use portico_app::clock::{Clock as _, SystemClock};
use portico_app::keystore::{Keystore, Root};
use portico_domain::UserId;
use portico_store::audit::{Append, Entry};
use portico_store::{Db, Role};

use crate::config::Config;
use crate::data::Data;
use crate::{admin, chain};

/// `portico erase`.
pub(crate) async fn erase(config: &Config, user: &str) -> Result<()> {
    let user = UserId::parse(user).map_err(|fault| anyhow::anyhow!("--user {fault}"))?;
    let (app, call) = admin(config).await?;
    app.erase_person(&call, &user).await.context("the person could not be erased")?;
    eprintln!("erased; a running server, or the next start, revokes and clears what is on the chain");
    Ok(())
}

/// `portico encryption rotate`.
pub(crate) async fn rotate(config: &Config, new_key: Option<&Path>) -> Result<String> {
    config.data.create()?;
    let root = config.data.root_secret(config.encryption_key.as_ref(), Role::Server)?;
    let keystore = Keystore::open(&config.keystore, Root::new(&root)?).await;
    let keystore = keystore.context("the keystore cannot be opened")?;
    if !keystore.fits().await? {
        bail!("the encryption key does not open this keystore: give the one it was made with");
    }
    let also = new_key.map(|path| Ok::<_, anyhow::Error>(Root::new(&Data::root_secret_in(path)?)?));
    let also = also.transpose()?;
    let shows = std::io::stderr().is_terminal();
    let progress = |rotated: u64| {
        if shows {
            eprint!("\r{rotated} keys");
        }
    };
    // First on record: whoever rotates uses every key there is.
    let db = Db::open(&config.database, Role::Tool).await.context("the database cannot be opened")?;
    let entry = Entry {
        at: SystemClock.now(),
        actor: Actor::Operator.recorded_as(),
        action: "encryption.rotated",
        subject: "every person's key".into(),
        detail: if also.is_some() { "for another root secret too".into() } else { String::new() },
    };
    db.write(Append(entry)).await.context("the rotation could not be put on record")?;
    let rotated = keystore.rotate(SystemClock.now(), also.as_ref(), progress).await?;
    if shows {
        eprintln!();
    }
    Ok(format!("{rotated} keys are wrapped by a new master key"))
}

/// `portico audit verify`.
pub(crate) async fn verify_audit(config: &Config) -> Result<String> {
    let (app, _) = admin(config).await?;
    let anchor = match chain::audit_anchor(config, &app.db).await {
        Ok(anchor) => anchor,
        Err(error) => {
            eprintln!("the log's end is not compared with the chain: {error:#}");
            Anchor::Unknown
        }
    };
    let found = app.inspect_audit(anchor, |_| ()).await?;
    for fault in &found.faults {
        eprintln!("{fault}");
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
