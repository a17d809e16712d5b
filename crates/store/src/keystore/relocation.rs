//! Moving a keystore to another place. Every step may be interrupted and run again.
//!
//! The old keystore takes no changes from the first step on. The new one gets the old one's id only when it holds the
//! same, so that no server uses half a copy; the old one is removed after that.

use super::store::{ADD, ADD_MASTER, Erasure, Keystore, Master, Wrapped};
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::location::Location;
use crate::engine::sql::{Op, Sql, Tx, Weight, select, sql, statements};

const PAGE_ROWS: i64 = 256;

static FROZEN: Sql = sql("SELECT moving FROM keystore");
static FREEZE: Sql = sql("UPDATE keystore SET moving = ?1");
static TAKE_ID: Sql = sql("UPDATE keystore SET id = ?1, moving = 0");
static KEYS: Sql = select::<Wrapped>("SELECT {columns} FROM keys WHERE name > ?1 ORDER BY name LIMIT ?2");
static ADD_ERASURE: Sql =
    sql("INSERT INTO erasures (seq, name, at) VALUES (?1, ?2, ?3) ON CONFLICT (seq) DO NOTHING");
static CLEAR: [Sql; 3] = [sql("DELETE FROM keys"), sql("DELETE FROM masters"), sql("DELETE FROM erasures")];

/// The id of a copy that is not complete.
fn copy_of(id: &str) -> String {
    format!("copy of {id}")
}

struct Freeze(bool);

impl Op for Freeze {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&FREEZE, &[self.0.into()]).await.map(drop)
    }
}

/// The name under which a copy is known.
struct TakeId(String);

impl Op for TakeId {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&TAKE_ID, &[self.0.as_str().into()]).await.map(drop)
    }
}

#[derive(Default)]
struct Import {
    masters: Vec<Master>,
    keys: Vec<Wrapped>,
    erasures: Vec<Erasure>,
}

impl Op for Import {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for Master { id, root, wrapped, created_at } in &self.masters {
            let params = [id[..].into(), root[..].into(), wrapped[..].into(), (*created_at).into()];
            tx.exec(&ADD_MASTER, &params).await?;
        }
        for Wrapped { id, name, master, wrapped } in &self.keys {
            let params = [name.as_str().into(), master[..].into(), wrapped[..].into(), id.into()];
            tx.exec(&ADD, &params).await?;
        }
        for Erasure { seq, name, at } in &self.erasures {
            tx.exec(&ADD_ERASURE, &[(*seq).into(), name.as_str().into(), (*at).into()]).await?;
        }
        Ok(())
    }
}

struct Clear;

impl Op for Clear {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for sql in &CLEAR {
            tx.exec(sql, &[]).await?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// The new place has this many keys.
    Copied(u64),
    /// An earlier run had copied everything.
    Before,
}

const OLDER_COPY: &str = "an older copy of this keystore is there: move it away, or name another place";

impl Keystore {
    /// Whether it is being moved elsewhere, and takes no changes.
    pub async fn is_moving(&self) -> Result<bool> {
        Ok(self.0.one::<(bool,)>(&FROZEN, &[]).await?.is_some_and(|(moving,)| moving))
    }

    /// Copies everything to another place and proves it. From here on this keystore takes no changes, and the other
    /// one has its id. `Conflict`-free: run again, it goes on where it was. Fails, and takes changes again, if the other
    /// place has a copy that no earlier run made: it may lack keys, and have keys that were erased.
    pub async fn copy_to(&self, target: &Self) -> Result<Moved> {
        let id = self.id().await?;
        let was_moving = self.is_moving().await?;
        self.0.write(Freeze(true)).await?;
        match target.id().await? {
            // One place under two names.
            same if same == id && target.is_moving().await? => {
                self.0.write(Freeze(was_moving)).await?;
                return Err(Error::Unavailable("this is where the keystore is".into()));
            }
            // An earlier run copied everything only if it also froze this keystore.
            same if same == id && was_moving && self.is_covered_by(target).await? => {
                return Ok(Moved::Before);
            }
            same if same == id => {
                self.0.write(Freeze(was_moving)).await?;
                return Err(Error::Unavailable(OLDER_COPY.into()));
            }
            other if other == copy_of(&id) || target.masters().await?.is_empty() => {
                target.0.write(TakeId(copy_of(&id))).await?;
            }
            _ => {
                self.0.write(Freeze(was_moving)).await?;
                return Err(Error::Unavailable("there is another keystore".into()));
            }
        }
        let copied = self.each_page(async |page| target.0.write(page).await).await?;
        self.each_page(async |page| target.holds(&page).await).await?;
        target.0.write(TakeId(id)).await?;
        Ok(Moved::Copied(copied))
    }

    /// Returns the number of keys.
    async fn each_page(&self, mut page: impl AsyncFnMut(Import) -> Result<()>) -> Result<u64> {
        page(Import { masters: self.masters().await?, ..Import::default() }).await?;
        let (mut after, mut count) = (String::new(), 0);
        loop {
            let keys: Vec<Wrapped> =
                self.0.read(&KEYS, &[after.as_str().into(), PAGE_ROWS.into()], Weight::Scan).await?;
            let Some(last) = keys.last() else { break };
            after.clone_from(&last.name);
            count += keys.len() as u64;
            page(Import { keys, ..Import::default() }).await?;
        }
        let mut after = 0;
        loop {
            let erasures = self.erasures_after(after, PAGE_ROWS).await?;
            let Some(last) = erasures.last() else { return Ok(count) };
            after = last.seq;
            page(Import { erasures, ..Import::default() }).await?;
        }
    }

    /// Whether nothing is lost if this keystore is removed: the other one knows every erasure, and has every key that it
    /// has not erased since. A server may have used it since it was copied, and wrapped its keys by another master key.
    async fn is_covered_by(&self, target: &Self) -> Result<bool> {
        let mut is_covered = true;
        self.each_page(async |page| {
            for key in &page.keys {
                let copy = target.key(&key.name).await?;
                let known = self.erasures_of(&key.name).await?.len();
                is_covered &= copy.is_some_and(|copy| copy.id == key.id)
                    || target.erasures_of(&key.name).await?.len() > known;
            }
            for erasure in &page.erasures {
                is_covered &= target.erasures_of(&erasure.name).await?.contains(erasure);
            }
            Ok(())
        })
        .await?;
        Ok(is_covered)
    }

    async fn holds(&self, page: &Import) -> Result<()> {
        let mut equal = page.masters.is_empty() || self.masters().await? == page.masters;
        for key in &page.keys {
            equal &= self.key(&key.name).await?.as_ref() == Some(key);
        }
        if let (Some(first), Ok(count)) = (page.erasures.first(), i64::try_from(page.erasures.len())) {
            equal &= self.erasures_after(first.seq - 1, count).await? == page.erasures;
        }
        if equal { Ok(()) } else { Err(Error::Bug("the copy of the keystore differs from it".into())) }
    }

    /// Removes what was moved. Nothing of it is left in a file; of a schema, `PostgreSQL` deletes the files.
    pub async fn remove(self, location: &Location) -> Result<()> {
        if !self.is_moving().await? {
            return Err(Error::Bug("a keystore that was not moved is not removed".into()));
        }
        self.0.write(Clear).await?;
        self.0.forget().await?;
        drop(self);
        Db::remove_keystore(location).await
    }
}

statements! { FROZEN, FREEZE, TAKE_ID, KEYS, ADD_ERASURE, CLEAR[0], CLEAR[1], CLEAR[2] }
