//! The keystore: a key per person, wrapped; in a place of its own, which backups leave out. What is erased
//! here is unreadable everywhere. This module keeps wrapped bytes; `portico-app` wraps and unwraps them.

use portico_domain::Timestamp;

use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, dialects, sql};
use crate::{Db, Location, Result};

/// A master key, wrapped by a root secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Master {
    /// Which one.
    pub id: Vec<u8>,
    /// Which root secret opens it.
    pub root: Vec<u8>,
    /// The key.
    pub wrapped: Vec<u8>,
    /// Since when; the newest wraps new keys.
    pub created_at: Timestamp,
}

/// A person's key, wrapped by a master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    /// Whose.
    pub name: String,
    /// Which master key opens it.
    pub master: Vec<u8>,
    /// The key.
    pub wrapped: Vec<u8>,
}

/// That somebody's key was destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// Its place among all of them.
    pub seq: i64,
    /// Whose.
    pub name: String,
    /// When.
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
static NOT_UNDER: Sql =
    sql("SELECT name, master, wrapped FROM keys WHERE master <> ?1 AND name > ?2 ORDER BY name LIMIT ?3");
static ERASURES: Sql = sql("SELECT seq, name, at FROM erasures WHERE seq > ?1 ORDER BY seq LIMIT ?2");
static ADD_MASTER: Sql = sql("INSERT INTO masters (id, root, wrapped, created_at) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (id, root) DO NOTHING");
/// Whoever adds a key is waited for, and nobody adds one meanwhile; `SQLite` has one writer anyway.
static ALONE: Sql =
    dialects("UPDATE masters SET created_at = created_at WHERE 0", "LOCK TABLE masters IN EXCLUSIVE MODE");
static HOLD: Sql = dialects(
    "SELECT created_at FROM masters WHERE id = ?1",
    "SELECT created_at FROM masters WHERE id = ?1 FOR SHARE",
);
static DROP_MASTER: Sql = sql("DELETE FROM masters WHERE id <> ?1 \
     AND NOT EXISTS (SELECT 1 FROM keys WHERE keys.master = masters.id)");
static ADD: Sql =
    sql("INSERT INTO keys (name, master, wrapped) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING");
static REWRAP: Sql =
    sql("UPDATE keys SET master = ?2, wrapped = ?3 WHERE name = ?1 AND master = ?4 AND wrapped = ?5");
static ERASE: Sql = sql("DELETE FROM keys WHERE name = ?1");
static NOTE: Sql = sql("INSERT INTO erasures (seq, name, at) VALUES (?1, ?2, ?3) RETURNING seq");

/// A keystore. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Keystore(Db);

struct AddMaster(Master);

impl Op for AddMaster {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let Master { id, root, wrapped, created_at } = &self.0;
        let params = [id[..].into(), root[..].into(), wrapped[..].into(), (*created_at).into()];
        tx.exec(&ADD_MASTER, &params).await.map(drop)
    }
}

struct DropMasters {
    keep: Vec<u8>,
}

impl Op for DropMasters {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&ALONE, &[]).await?;
        tx.exec(&DROP_MASTER, &[self.keep[..].into()]).await.map(drop)
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

struct Rewrap(Vec<(Wrapped, Wrapped)>);

impl Op for Rewrap {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for (before, after) in &self.0 {
            let params = [
                before.name.as_str().into(),
                after.master[..].into(),
                after.wrapped[..].into(),
                before.master[..].into(),
                before.wrapped[..].into(),
            ];
            tx.exec(&REWRAP, &params).await?;
        }
        Ok(())
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
    /// Opens a keystore and brings it to this version's shape.
    pub async fn open(location: &Location) -> Result<Self> {
        Db::open_keystore(location).await.map(Self)
    }

    /// All master keys, oldest first.
    pub async fn masters(&self) -> Result<Vec<Master>> {
        self.0.read(&MASTERS, &[], Weight::Point).await
    }

    /// Adds a master key, or a way to open one by another root secret.
    pub async fn add_master(&self, master: Master) -> Result<()> {
        self.0.write(AddMaster(master)).await
    }

    /// Removes the master keys that wrap nothing any more, except one.
    pub async fn drop_masters_but(&self, keep: &[u8]) -> Result<()> {
        self.0.write(DropMasters { keep: keep.to_vec() }).await?;
        self.0.forget().await
    }

    /// A key.
    pub async fn key(&self, name: &str) -> Result<Option<Wrapped>> {
        self.0.one(&KEY, &[name.into()]).await
    }

    /// Adds a key, unless there is one of that name; false: its master key is gone.
    pub async fn add(&self, key: Wrapped) -> Result<bool> {
        self.0.write(Add(key)).await
    }

    /// Keys that another master key wraps, by name.
    pub async fn keys_not_under(&self, master: &[u8], after: &str, limit: i64) -> Result<Vec<Wrapped>> {
        self.0.read(&NOT_UNDER, &[master.into(), after.into(), limit.into()], Weight::Scan).await
    }

    /// Puts keys in the place of what they were before; whatever has changed in between stays as it is.
    pub async fn rewrap(&self, changes: Vec<(Wrapped, Wrapped)>) -> Result<()> {
        self.0.write(Rewrap(changes)).await
    }

    /// Destroys a key for good and notes whose it was; answers with the note's place among all erasures.
    pub async fn erase(&self, name: &str, at: Timestamp) -> Result<i64> {
        let place = self.0.write(Erase { name: name.into(), at }).await?;
        self.0.forget().await?;
        Ok(place)
    }

    /// Makes sure that no key that was destroyed is left in a log, as after a crash.
    pub async fn forget(&self) -> Result<()> {
        self.0.forget().await
    }

    /// Erasures after a place.
    pub async fn erasures_after(&self, seq: i64, limit: i64) -> Result<Vec<Erasure>> {
        self.0.read(&ERASURES, &[seq.into(), limit.into()], Weight::Scan).await
    }
}
