//! Keys, the master keys that wrap them, and the erasures of keys.

use portico_domain::Timestamp;

use super::moving::check_not_moving;
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::location::Location;
use crate::engine::sql::{
    FromColumn, Op, Param, Row, Sql, Tx, Weight, dialects, params, row, select, sql, statements,
};

/// Wrapped by a root secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Master {
    pub id: Vec<u8>,
    /// The root secret that opens it.
    pub root: Vec<u8>,
    pub wrapped: Vec<u8>,
    /// The newest master key wraps new keys.
    pub created_at: Timestamp,
}

/// The database's id for a person: random, and mapped to the user only in the keystore. Destroying the key makes it
/// unlinkable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PersonId(pub [u8; 16]);

impl FromColumn for PersonId {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        Ok(<[u8; 16]>::nullable(row, column)?.map(Self))
    }
}

impl<'a> From<&'a PersonId> for Param<'a> {
    fn from(person: &'a PersonId) -> Self {
        Self::Bytes(&person.0)
    }
}

/// A person's key, wrapped by a master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    pub id: PersonId,
    pub name: String,
    /// The master key that opens it.
    pub master: Vec<u8>,
    pub wrapped: Vec<u8>,
}

/// The record of a destroyed key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// Its number among all erasures.
    pub seq: i64,
    pub name: String,
    pub at: Timestamp,
}

row!(Master { id, root, wrapped, created_at });
row!(Wrapped { id, name, master, wrapped });
row!(Erasure { seq, name, at });

static MASTERS: Sql = select::<Master>("SELECT {columns} FROM masters ORDER BY created_at, id");
static KEY: Sql = select::<Wrapped>("SELECT {columns} FROM keys WHERE name = ?1");
static KEY_OF: Sql = select::<Wrapped>("SELECT {columns} FROM keys WHERE id = ?1");
static UNDER_OLDER: Sql = select::<Wrapped>(
    "SELECT {columns} FROM keys WHERE name > ?2 AND master IN \
     (SELECT id FROM masters WHERE created_at < (SELECT max(created_at) FROM masters WHERE id = ?1)) \
     ORDER BY name LIMIT ?3",
);
static ERASURES: Sql =
    select::<Erasure>("SELECT {columns} FROM erasures WHERE seq > ?1 ORDER BY seq LIMIT ?2");
static LAST_ERASURE: Sql = sql("SELECT coalesce(max(seq), 0) FROM erasures");
static ERASURES_OF: Sql = select::<Erasure>("SELECT {columns} FROM erasures WHERE name = ?1 ORDER BY seq");
static IDENTITY: Sql = sql("SELECT id FROM keystore");
static NEWEST: Sql = sql("SELECT id, created_at FROM masters ORDER BY created_at DESC, id DESC LIMIT 1");
pub(super) static ADD_MASTER: Sql =
    sql("INSERT INTO masters (id, root, wrapped, created_at) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (id, root) DO NOTHING");
/// Waits for running inserts and blocks new ones; `SQLite` has a single writer anyway.
static LOCK_KEYS: Sql =
    dialects("UPDATE masters SET created_at = created_at WHERE 0", "LOCK TABLE masters IN EXCLUSIVE MODE");
static LOCK_MASTER: Sql = dialects(
    "SELECT created_at FROM masters WHERE id = ?1",
    "SELECT created_at FROM masters WHERE id = ?1 FOR SHARE",
);
static KEY_UNDER_ANOTHER: Sql = sql("SELECT name FROM keys WHERE master <> ?1 LIMIT 1");
static DROP_MASTERS: Sql = sql("DELETE FROM masters WHERE id <> ?1");
pub(super) static ADD: Sql =
    sql("INSERT INTO keys (name, master, wrapped, id) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) DO NOTHING");
static REWRAP: Sql =
    sql("UPDATE keys SET master = ?2, wrapped = ?3 WHERE name = ?1 AND master = ?4 AND wrapped = ?5");
static ERASE: Sql = select::<Wrapped>("DELETE FROM keys WHERE name = ?1 RETURNING {columns}");
/// Numbered above the person's earlier erasures, even if the replicas' clocks disagree.
static ADD_ERASURE: Sql = dialects(
    "INSERT INTO erasures (seq, name, at) VALUES (?1, ?2, ?3) RETURNING seq",
    "INSERT INTO erasures (seq, name, at) VALUES \
     (greatest(?1, (SELECT coalesce(max(seq), 0) + 1 FROM erasures WHERE name = ?2)), ?2, ?3) RETURNING seq",
);

/// Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Keystore(pub(super) Db);

/// One master key, in one row per root secret that opens it. Master keys have a strict order of age, independent of
/// clocks: of several rotations the newest wins.
struct AddMaster(Vec<Master>);

impl Op for AddMaster {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        check_not_moving(tx).await?;
        tx.exec(&LOCK_KEYS, &[]).await?;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// Its master key is the only one and wraps every key.
    Done,
    /// Older master keys still wrap some keys.
    KeysLeft,
    /// A newer rotation continues instead.
    Superseded,
}

struct FinishRotation {
    master: Vec<u8>,
}

impl Op for FinishRotation {
    type Out = Rotation;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Rotation> {
        check_not_moving(tx).await?;
        tx.exec(&LOCK_KEYS, &[]).await?;
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
        check_not_moving(tx).await?;
        let Wrapped { id, name, master, wrapped } = &self.0;
        if tx.one::<(i64,)>(&LOCK_MASTER, &[master[..].into()]).await?.is_none() {
            return Ok(false);
        }
        tx.exec(&ADD, &[name.as_str().into(), master[..].into(), wrapped[..].into(), id.into()]).await?;
        Ok(true)
    }
}

struct Rewrap {
    master: Vec<u8>,
    changes: Vec<(Wrapped, Wrapped)>,
}

impl Op for Rewrap {
    /// False: the master key no longer exists, and nothing changed.
    type Out = bool;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool> {
        check_not_moving(tx).await?;
        // Without its master key, nothing that is wrapped here could be opened again.
        if tx.one::<(i64,)>(&LOCK_MASTER, &[self.master[..].into()]).await?.is_none() {
            return Ok(false);
        }
        for (before, after) in &self.changes {
            let params = params![
                before.name.as_str(),
                &after.master[..],
                &after.wrapped[..],
                &before.master[..],
                &before.wrapped[..]
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
    type Out = (i64, Option<Wrapped>);
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(i64, Option<Wrapped>)> {
        check_not_moving(tx).await?;
        let destroyed = tx.one(&ERASE, &[self.name.as_str().into()]).await?;
        // Also for a person without a key: a backup may bring their data back, which then has to be erased.
        let note = [tx.context().seq(), self.name.as_str().into(), self.at.into()];
        let place: Option<(i64,)> = tx.one(&ADD_ERASURE, &note).await?;
        Ok((place.map_or(0, |(place,)| place), destroyed))
    }
}

impl Keystore {
    /// Creates or migrates the keystore.
    pub async fn open(location: &Location) -> Result<Self> {
        Db::open_keystore(location).await.map(Self)
    }

    /// Does not create one.
    pub async fn exists(location: &Location) -> Result<bool> {
        Db::has_keystore(location).await
    }

    /// The keystore's own id.
    pub async fn id(&self) -> Result<String> {
        let id: Option<(String,)> = self.0.one(&IDENTITY, &[]).await?;
        id.map(|(id,)| id).ok_or_else(|| Error::Bug("the keystore has no id".into()))
    }

    /// Oldest first.
    pub async fn masters(&self) -> Result<Vec<Master>> {
        self.0.read(&MASTERS, &[], Weight::Point).await
    }

    /// Wrapped by every root secret that may open it.
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

    pub async fn key_of(&self, person: &PersonId) -> Result<Option<Wrapped>> {
        self.0.one(&KEY_OF, &[person.into()]).await
    }

    /// Keeps an existing key of that name. False: its master key no longer exists.
    pub async fn add(&self, key: Wrapped) -> Result<bool> {
        self.0.write(Add(key)).await
    }

    /// By name.
    pub async fn keys_under_older(&self, master: &[u8], after: &str, limit: i64) -> Result<Vec<Wrapped>> {
        self.0.read(&UNDER_OLDER, &[master.into(), after.into(), limit.into()], Weight::Scan).await
    }

    /// Replaces wrapped keys; keys that changed meanwhile stay. False: the master key no longer exists, and nothing
    /// changed.
    pub async fn rewrap(&self, master: &[u8], changes: Vec<(Wrapped, Wrapped)>) -> Result<bool> {
        self.0.write(Rewrap { master: master.to_vec(), changes }).await
    }

    /// Destroys a key and records the erasure; returns the erasure's number and what was destroyed. The key may stay in
    /// the log until [`Keystore::scrub`].
    pub async fn erase(&self, name: &str, at: Timestamp) -> Result<(i64, Option<Wrapped>)> {
        self.0.write(Erase { name: name.into(), at }).await
    }

    /// Removes destroyed keys from the log.
    pub async fn scrub(&self) -> Result<()> {
        self.0.forget().await
    }

    /// The number of the last erasure; 0: there was none.
    pub async fn last_erasure(&self) -> Result<i64> {
        Ok(self.0.one::<(i64,)>(&LAST_ERASURE, &[]).await?.map_or(0, |(seq,)| seq))
    }

    pub async fn erasures_after(&self, seq: i64, limit: i64) -> Result<Vec<Erasure>> {
        self.0.read(&ERASURES, &[seq.into(), limit.into()], Weight::Scan).await
    }

    pub async fn erasures_of(&self, name: &str) -> Result<Vec<Erasure>> {
        self.0.read(&ERASURES_OF, &[name.into()], Weight::Point).await
    }
}

statements! {
    MASTERS, KEY, KEY_OF, UNDER_OLDER, ERASURES, LAST_ERASURE, ERASURES_OF, IDENTITY, NEWEST, ADD_MASTER,
    LOCK_KEYS, LOCK_MASTER, KEY_UNDER_ANOTHER, DROP_MASTERS, ADD, REWRAP, ERASE, ADD_ERASURE
}
