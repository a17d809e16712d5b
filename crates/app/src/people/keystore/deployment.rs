//! The keystore of a database: opening the right one, rotating its keys, moving it.

use portico_store::Location;
use secrecy::SecretSlice;

use super::person_keys::Keystore;
use super::sealing::Root;
use crate::caller::{CallContext, require_operator};
use crate::clock::{Clock as _, SystemClock};
use crate::database::{Database, failed};
use crate::error::{Error, Result};
use crate::profile::Profile;

const WRONG_ROOT_KEY: &str = "the encryption key does not open this keystore: give the one it was made with \
     (PORTICO_ENCRYPTION_KEY, or encryption.key in the data folder)";
const EVERY_KEY: &str = "every person's key";

/// The keystore, and the instance's secret from it.
#[derive(Debug)]
pub struct Secrets {
    pub keystore: Keystore,
    pub instance: SecretSlice<u8>,
}

/// Tells a keystore and its state from others.
#[derive(Debug)]
pub struct KeystoreMark {
    pub id: String,
    /// The number of the last erasure.
    pub erasures: i64,
}

fn refuse<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::Setup(why.into()))
}

/// How messages name a keystore's place.
pub fn place(location: &Location) -> String {
    match location {
        Location::Sqlite(path) => path.display().to_string(),
        Location::Postgres(_) => "the schema portico_keys of a PostgreSQL database".into(),
    }
}

async fn open(location: &Location, root: &SecretSlice<u8>) -> Result<Keystore> {
    let opened = Keystore::open(location, Root::new(root)?).await;
    opened.map_err(|error| {
        Error::Setup(format!("the keystore at {} cannot be opened: {error}", place(location)))
    })
}

async fn exists(location: &Location) -> Result<bool> {
    Keystore::exists(location).await.map_err(failed("the keystore cannot be read"))
}

async fn check_root_key(keystore: &Keystore) -> Result<()> {
    if keystore.verify_root_key().await? { Ok(()) } else { refuse(WRONG_ROOT_KEY) }
}

/// The keystore at a place, if there is one. Needs no key.
pub async fn mark(call: &CallContext, location: &Location) -> Result<Option<KeystoreMark>> {
    require_operator(&call.actor)?;
    if !exists(location).await? {
        return Ok(None);
    }
    let opened = portico_store::keystore::Keystore::open(location).await;
    let store = opened.map_err(failed("the keystore cannot be opened"))?;
    Ok(Some(KeystoreMark { id: store.id().await?, erasures: store.last_erasure().await? }))
}

/// PostgreSQL's files keep what is deleted: the keystore of a live instance is elsewhere than its data, and so are the
/// backups of either. `is_named`: the configuration names the keystore's place.
pub async fn check_place(
    profile: Profile,
    database: &Location,
    keystore: &Location,
    is_named: bool,
) -> Result<()> {
    let needs = "a live instance on PostgreSQL needs --keystore: a file (with one replica), or a database of another \
         PostgreSQL cluster";
    let is_live = profile == Profile::Live;
    if is_live && !is_named && matches!(database, Location::Postgres(_)) {
        return refuse(needs);
    }
    if !shares_cluster(database, keystore).await? {
        return Ok(());
    }
    if is_live {
        return refuse(format!(
            "the keystore is in the PostgreSQL cluster of the database, whose files keep erased keys: {needs}"
        ));
    }
    tracing::warn!(
        "the keystore is in the PostgreSQL cluster of the database, whose files and backups keep erased keys: move it \
         with `portico encryption move`"
    );
    Ok(())
}

async fn shares_cluster(database: &Location, keystore: &Location) -> Result<bool> {
    database.shares_cluster(keystore).await.map_err(failed("the clusters cannot be told apart"))
}

impl Database {
    /// The keystore of this database. Never creates a new one for a database with sealed data, which would then be
    /// unreadable.
    pub async fn keystore(&self, location: &Location, root: &SecretSlice<u8>) -> Result<Keystore> {
        let (known, place) = (self.0.deployment().await?.keystore, place(location));
        let advice = "Put it back, or name its place with --keystore. If it is lost for good, \
             `portico encryption replace-keystore` begins a new one, and erases everybody who was screened";
        if known.is_some() && !exists(location).await? {
            return refuse(format!(
                "the keystore of this database is missing: it is not at {place}. {advice}"
            ));
        }
        let keystore = open(location, root).await?;
        if keystore.is_moving().await? {
            return refuse(format!(
                "the keystore at {place} is being moved elsewhere: run `portico encryption move` to its end"
            ));
        }
        if known.is_some() && known != Some(keystore.id().await?) {
            return refuse(format!("the keystore at {place} belongs to another database. {advice}"));
        }
        Ok(keystore)
    }

    /// The secrets of this database's keystore, or of another one. Fails if the root secret does not open it.
    pub async fn secrets(&self, keystore: Keystore) -> Result<Secrets> {
        check_root_key(&keystore).await?;
        let instance = keystore.instance_secret(SystemClock.now()).await?;
        self.use_audit_key_of(&keystore).await?;
        Ok(Secrets { keystore, instance })
    }

    async fn use_audit_key_of(&self, keystore: &Keystore) -> Result<()> {
        if let Some(key) = keystore.audit_key().await? {
            self.0.use_audit_key(key);
        }
        Ok(())
    }

    /// Lets a command without the keystore key its audit entries. Makes nothing that is not there.
    pub async fn use_audit_key(&self, location: &Location, root: Option<&SecretSlice<u8>>) -> Result<()> {
        let known = self.0.deployment().await?.keystore;
        // A server begins to key the log, with an entry that says so.
        if let (Some(_), Some(root), true) = (&known, root, self.0.audit_head().await?.keyed)
            && exists(location).await?
        {
            let keystore = open(location, root).await?;
            if known == Some(keystore.id().await?) {
                self.use_audit_key_of(&keystore).await?;
            }
        }
        Ok(())
    }

    /// Opens a keystore that replaces this database's own.
    pub async fn replacement_keystore(&self, location: &Location, root: &SecretSlice<u8>) -> Result<Secrets> {
        let keystore = open(location, root).await?;
        check_root_key(&keystore).await?;
        if self.0.deployment().await?.keystore == Some(keystore.id().await?) {
            return refuse("this is the database's own keystore: there is nothing to replace");
        }
        self.secrets(keystore).await
    }

    /// Wraps every key by a new master key, which `also` opens as well; returns how many.
    pub async fn rotate_keystore(
        &self,
        call: &CallContext,
        keystore: &Keystore,
        also: Option<&SecretSlice<u8>>,
        progress: impl FnMut(u64),
    ) -> Result<u64> {
        check_root_key(keystore).await?;
        self.use_audit_key_of(keystore).await?;
        let also = also.map(Root::new).transpose()?;
        let detail = if also.is_some() { "for another root secret too" } else { "" };
        // Audited before it starts: a rotation uses every key.
        self.append(call, "encryption.rotated", EVERY_KEY, detail.into()).await?;
        keystore.rotate(SystemClock.now(), also.as_ref(), progress).await
    }

    /// Moves the keystore. Every step may be interrupted and run again.
    pub async fn move_keystore(
        &self,
        call: &CallContext,
        database: &Location,
        (from, to): (&Location, &Location),
        root: &SecretSlice<u8>,
    ) -> Result<()> {
        let known = self.0.deployment().await?.keystore;
        if from == to {
            return refuse("this is where the keystore is");
        }
        if shares_cluster(database, to).await? {
            return refuse(
                "this is the PostgreSQL cluster of the database, whose files keep erased keys: name another one",
            );
        }
        if !exists(from).await? {
            if exists(to).await? && known == Some(open(to, root).await?.id().await?) {
                return Ok(());
            }
            return refuse(format!("there is no keystore at {}: name it with --keystore", place(from)));
        }
        let keystore = open(from, root).await?;
        if known != Some(keystore.id().await?) {
            return refuse(format!("the keystore at {} belongs to another database", place(from)));
        }
        check_root_key(&keystore).await?;
        let target = open(to, root).await?;
        keystore.copy_to(&target).await.map_err(failed("the keystore could not be copied"))?;
        if !target.verify_root_key().await? {
            return refuse("the copy does not open");
        }
        self.use_audit_key_of(&target).await?;
        self.append(call, "encryption.keystore_moved", EVERY_KEY, String::new()).await?;
        let removed = keystore.remove(from).await;
        removed.map_err(failed("the old keystore could not be removed: run this again"))
    }
}
