//! The keystore: a key per person, wrapped; in a place of its own, which backups leave out. What is erased
//! here is unreadable everywhere. This module keeps wrapped bytes; `portico-app` wraps and unwraps them.

use portico_domain::Timestamp;

use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, dialects, sql};
use crate::{Db, Error, Location, Result};

/// A master key, wrapped by a root secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Master {
    pub id: Vec<u8>,
    /// Which root secret opens it.
    pub root: Vec<u8>,
    pub wrapped: Vec<u8>,
    /// Since when; the newest wraps new keys.
    pub created_at: Timestamp,
}

/// A person's key, wrapped by a master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    pub name: String,
    /// Which master key opens it.
    pub master: Vec<u8>,
    pub wrapped: Vec<u8>,
}

/// That somebody's key was destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// Its place among all of them.
    pub seq: i64,
    pub name: String,
    pub at: Timestamp,
}

impl FromRow for Master {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { id: c.get()?, root: c.get()?, wrapped: c.get()?, created_at: c.get()? })
    }
}
impl FromRow for Wrapped {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { name: c.get()?, master: c.get()?, wrapped: c.get()? })
    }
}
impl FromRow for Erasure {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { seq: c.get()?, name: c.get()?, at: c.get()? })
    }
}

static MASTERS: Sql = sql("SELECT id, root, wrapped, created_at FROM masters ORDER BY created_at, id");
static KEY: Sql = sql("SELECT name, master, wrapped FROM keys WHERE name = ?1");
static UNDER_OLDER: Sql = sql("SELECT name, master, wrapped FROM keys WHERE name > ?2 AND master IN \
     (SELECT id FROM masters WHERE created_at < (SELECT max(created_at) FROM masters WHERE id = ?1)) \
     ORDER BY name LIMIT ?3");
static ERASURES: Sql = sql("SELECT seq, name, at FROM erasures WHERE seq > ?1 ORDER BY seq LIMIT ?2");
static ERASURES_OF: Sql = sql("SELECT seq, name, at FROM erasures WHERE name = ?1 ORDER BY seq");
static IDENTITY: Sql = sql("SELECT id FROM keystore");
static NEWEST: Sql = sql("SELECT id, created_at FROM masters ORDER BY created_at DESC, id DESC LIMIT 1");
static ADD_MASTER: Sql = sql("INSERT INTO masters (id, root, wrapped, created_at) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (id, root) DO NOTHING");
/// Whoever adds a key is waited for, and nobody adds one meanwhile; `SQLite` has one writer anyway.
static ALONE: Sql =
    dialects("UPDATE masters SET created_at = created_at WHERE 0", "LOCK TABLE masters IN EXCLUSIVE MODE");
static HOLD: Sql = dialects(
    "SELECT created_at FROM masters WHERE id = ?1",
    "SELECT created_at FROM masters WHERE id = ?1 FOR SHARE",
);
static KEY_UNDER_ANOTHER: Sql = sql("SELECT name FROM keys WHERE master <> ?1 LIMIT 1");
static DROP_MASTERS: Sql = sql("DELETE FROM masters WHERE id <> ?1");
static ADD: Sql =
    sql("INSERT INTO keys (name, master, wrapped) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING");
static REWRAP: Sql =
    sql("UPDATE keys SET master = ?2, wrapped = ?3 WHERE name = ?1 AND master = ?4 AND wrapped = ?5");
static ERASE: Sql = sql("DELETE FROM keys WHERE name = ?1");
static NOTE: Sql = sql("INSERT INTO erasures (seq, name, at) VALUES (?1, ?2, ?3) RETURNING seq");

/// A keystore. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Keystore(Db);

/// One master key, in one row for every root secret that opens it. Master keys have a strict order of age, whatever
/// the clocks of those who make them say: of several rotations the youngest one wins.
struct AddMaster(Vec<Master>);

impl Op for AddMaster {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&ALONE, &[]).await?;
        let newest: Option<(Vec<u8>, Timestamp)> = tx.one(&NEWEST, &[]).await?;
        for Master { id, root, wrapped, created_at } in &self.0 {
            let created_at = match &newest {
                Some((_, newest)) => created_at.after(*newest),
                None => *created_at,
            };
            let params = [id[..].into(), root[..].into(), wrapped[..].into(), created_at.into()];
            tx.exec(&ADD_MASTER, &params).await?;
        }
        Ok(())
    }
}

/// How far a rotation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// Its master key wraps every key, and is the only one.
    Done,
    /// Some keys are still wrapped by older master keys.
    KeysLeft,
    /// Another rotation has begun since, and goes on in its place.
    Superseded,
}

struct FinishRotation {
    master: Vec<u8>,
}

impl Op for FinishRotation {
    type Out = Rotation;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Rotation> {
        tx.exec(&ALONE, &[]).await?;
        let newest: Option<(Vec<u8>, Timestamp)> = tx.one(&NEWEST, &[]).await?;
        if newest.is_none_or(|(id, _)| id != self.master) {
            return Ok(Rotation::Superseded);
        }
        if tx.one::<(String,)>(&KEY_UNDER_ANOTHER, &[self.master[..].into()]).await?.is_some() {
            return Ok(Rotation::KeysLeft);
        }
        tx.exec(&DROP_MASTERS, &[self.master[..].into()]).await?;
        Ok(Rotation::Done)
    }
}

struct Add(Wrapped);

impl Op for Add {
    type Out = bool;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool> {
        let Wrapped { name, master, wrapped } = &self.0;
        if tx.one::<(i64,)>(&HOLD, &[master[..].into()]).await?.is_none() {
            return Ok(false);
        }
        tx.exec(&ADD, &[name.as_str().into(), master[..].into(), wrapped[..].into()]).await?;
        Ok(true)
    }
}

struct Rewrap {
    master: Vec<u8>,
    changes: Vec<(Wrapped, Wrapped)>,
}

impl Op for Rewrap {
    /// False: the master key is gone, and nothing was changed.
    type Out = bool;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool> {
        // Without it whatever is wrapped here could never be opened again.
        if tx.one::<(i64,)>(&HOLD, &[self.master[..].into()]).await?.is_none() {
            return Ok(false);
        }
        for (before, after) in &self.changes {
            let params = [
                before.name.as_str().into(),
                after.master[..].into(),
                after.wrapped[..].into(),
                before.master[..].into(),
                before.wrapped[..].into(),
            ];
            tx.exec(&REWRAP, &params).await?;
        }
        Ok(true)
    }
}

struct Erase {
    name: String,
    at: Timestamp,
}

impl Op for Erase {
    type Out = i64;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<i64> {
        tx.exec(&ERASE, &[self.name.as_str().into()]).await?;
        // Also for somebody who has no key: what a backup brings back of them is to be forgotten.
        let note = [tx.seq(), self.name.as_str().into(), self.at.into()];
        let place: Option<(i64,)> = tx.one(&NOTE, &note).await?;
        Ok(place.map_or(0, |(place,)| place))
    }
}

impl Keystore {
    /// Opens a keystore and brings it to this version's shape; one that is not there is made.
    pub async fn open(location: &Location) -> Result<Self> {
        Db::open_keystore(location).await.map(Self)
    }

    /// Whether there is a keystore, without making one.
    pub async fn exists(location: &Location) -> Result<bool> {
        Db::has_keystore(location).await
    }

    /// Tells this keystore from others.
    pub async fn id(&self) -> Result<String> {
        let id: Option<(String,)> = self.0.one(&IDENTITY, &[]).await?;
        id.map(|(id,)| id).ok_or_else(|| Error::Bug("the keystore has no id".into()))
    }

    /// All master keys, oldest first.
    pub async fn masters(&self) -> Result<Vec<Master>> {
        self.0.read(&MASTERS, &[], Weight::Point).await
    }

    /// Adds a master key, wrapped by every root secret that is to open it.
    pub async fn add_master(&self, wrapped: Vec<Master>) -> Result<()> {
        self.0.write(AddMaster(wrapped)).await
    }

    /// Removes all other master keys, if this one is the newest and wraps every key.
    pub async fn finish_rotation(&self, master: &[u8]) -> Result<Rotation> {
        let rotation = self.0.write(FinishRotation { master: master.to_vec() }).await?;
        if rotation == Rotation::Done {
            self.0.forget().await?;
        }
        Ok(rotation)
    }

    pub async fn key(&self, name: &str) -> Result<Option<Wrapped>> {
        self.0.one(&KEY, &[name.into()]).await
    }

    /// Adds a key, unless there is one of that name; false: its master key is gone.
    pub async fn add(&self, key: Wrapped) -> Result<bool> {
        self.0.write(Add(key)).await
    }

    /// Keys that are wrapped by master keys older than this one, by name.
    pub async fn keys_under_older(&self, master: &[u8], after: &str, limit: i64) -> Result<Vec<Wrapped>> {
        self.0.read(&UNDER_OLDER, &[master.into(), after.into(), limit.into()], Weight::Scan).await
    }

    /// Puts keys under a master key in the place of what they were before; whatever has changed in between stays
    /// as it is. False: the master key is gone, and nothing was changed.
    pub async fn rewrap(&self, master: &[u8], changes: Vec<(Wrapped, Wrapped)>) -> Result<bool> {
        self.0.write(Rewrap { master: master.to_vec(), changes }).await
    }

    /// Destroys a key for good and notes whose it was; answers with the note's place among all erasures. Until
    /// [`Keystore::scrub`] the key may still be in the log.
    pub async fn erase(&self, name: &str, at: Timestamp) -> Result<i64> {
        self.0.write(Erase { name: name.into(), at }).await
    }

    /// Makes sure that no key that was destroyed is left in a log.
    pub async fn scrub(&self) -> Result<()> {
        self.0.forget().await
    }

    /// Erasures after a place.
    pub async fn erasures_after(&self, seq: i64, limit: i64) -> Result<Vec<Erasure>> {
        self.0.read(&ERASURES, &[seq.into(), limit.into()], Weight::Scan).await
    }

    /// All erasures of one name.
    pub async fn erasures_of(&self, name: &str) -> Result<Vec<Erasure>> {
        self.0.read(&ERASURES_OF, &[name.into()], Weight::Point).await
    }
}
