//! A key per person. Everything personal is sealed with it; destroying it erases the person in every copy of the
//! database.
//!
//! The instance's root secret wraps master keys, a master key wraps the keys of people. Rotating makes a new
//! master key and wraps every key anew, while servers go on reading.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use portico_domain::{Timestamp, UserId};
use portico_store::Location;
use portico_store::keystore::{Erasure, Master, Moved, PersonId, Wrapped};
use secrecy::SecretSlice;
use secrecy::zeroize::Zeroizing;

use super::sealing::{ID_BYTES, NewKeyBytes, Sealer, random, random_bytes, random_key};
use super::sealing::{PersonKey, Root};
use crate::error::{Error, Result};

/// The name of the seed of custody addresses; no user's name begins so.
const CUSTODY: &str = "custody";

pub struct Keystore {
    pub(super) store: portico_store::keystore::Keystore,
    pub(super) root: Root,
    /// Master keys that were opened before.
    pub(super) opened: Mutex<HashMap<Vec<u8>, Arc<Sealer>>>,
}

impl std::fmt::Debug for Keystore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keystore")
    }
}

fn name_of(user: &UserId) -> String {
    format!("user {user}")
}

impl Keystore {
    pub async fn open(location: &Location, root: Root) -> Result<Self> {
        let store = portico_store::keystore::Keystore::open(location).await?;
        Ok(Self { store, root, opened: Mutex::default() })
    }

    /// Whether there is a keystore, without making one.
    pub async fn exists(location: &Location) -> Result<bool> {
        Ok(portico_store::keystore::Keystore::exists(location).await?)
    }

    /// Whether the root secret is the right one for this keystore.
    pub async fn verify_root_key(&self) -> Result<bool> {
        let masters = self.store.masters().await?;
        Ok(masters.is_empty() || masters.iter().any(|master| self.root.unwrap(master).is_ok()))
    }

    fn remembered(&self, id: &[u8]) -> Option<Arc<Sealer>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn remember(&self, id: &[u8], sealer: Sealer) -> Arc<Sealer> {
        let sealer = Arc::new(sealer);
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_vec(), sealer.clone());
        sealer
    }

    /// The master key of an id.
    async fn master(&self, id: &[u8]) -> Result<Arc<Sealer>> {
        match self.remembered(id) {
            Some(sealer) => Ok(sealer),
            None => self.open_master(id, &self.store.masters().await?),
        }
    }

    fn open_master(&self, id: &[u8], masters: &[Master]) -> Result<Arc<Sealer>> {
        let opened = || {
            masters.iter().filter(|master| master.id == id).find_map(|master| self.root.unwrap(master).ok())
        };
        let sealer = self.remembered(id).or_else(|| opened().map(|sealer| self.remember(id, sealer)));
        sealer.ok_or_else(|| Error::Unavailable("the encryption key does not open this keystore".into()))
    }

    /// The newest master key; the first one is made here.
    async fn newest_master(&self, at: Timestamp) -> Result<(Vec<u8>, Arc<Sealer>)> {
        let masters = self.store.masters().await?;
        match masters.last() {
            Some(newest) => Ok((newest.id.clone(), self.open_master(&newest.id, &masters)?)),
            None => self.new_master(at, None).await,
        }
    }

    /// It is not read back: another rotation may have removed it already.
    pub(super) async fn new_master(
        &self,
        at: Timestamp,
        also: Option<&Root>,
    ) -> Result<(Vec<u8>, Arc<Sealer>)> {
        let (id, key) = (random_key()?[..ID_BYTES].to_vec(), random_key()?);
        let roots = also.into_iter().chain([&self.root]);
        let wrapped = roots.map(|root| root.wrap(&id, &*key, at)).collect::<Result<Vec<Master>>>()?;
        let sealer = self.open_master(&id, &wrapped)?;
        self.store.add_master(wrapped).await?;
        Ok((id, sealer))
    }

    pub(super) async fn unwrap(&self, key: &Wrapped) -> Result<Zeroizing<Vec<u8>>> {
        let master = self.master(&key.master).await?;
        master.open(&[b"key", key.name.as_bytes(), &key.master], &key.wrapped)
    }

    pub(super) async fn find(&self, name: &str) -> Result<Option<(PersonId, Zeroizing<Vec<u8>>)>> {
        let stored = self.store.key(name).await?;
        self.open_stored(stored).await
    }

    async fn open_stored(
        &self,
        mut stored: Option<Wrapped>,
    ) -> Result<Option<(PersonId, Zeroizing<Vec<u8>>)>> {
        while let Some(key) = stored {
            match self.unwrap(&key).await {
                Ok(opened) => return Ok(Some((key.id, opened))),
                Err(error) => {
                    // A rotation may have wrapped it anew, and removed the master key, in between.
                    stored = self.store.key(&key.name).await?;
                    if stored.as_ref() == Some(&key) {
                        return Err(error);
                    }
                }
            }
        }
        Ok(None)
    }

    pub(super) async fn find_or_make(
        &self,
        name: &str,
        at: Timestamp,
        make: impl Fn() -> NewKeyBytes,
    ) -> Result<(PersonId, Zeroizing<Vec<u8>>)> {
        loop {
            if let Some(key) = self.find(name).await? {
                return Ok(key);
            }
            let (id, master) = self.newest_master(at).await?;
            let wrapped = master.seal(&[b"key", name.as_bytes(), &id], &make()?)?;
            let person = PersonId(random_bytes()?);
            self.store.add(Wrapped { id: person, name: name.into(), master: id, wrapped }).await?;
        }
    }

    /// Somebody's key, if there is one.
    pub async fn person(&self, user: &UserId) -> Result<Option<PersonKey>> {
        let key = self.find(&name_of(user)).await?;
        key.map(|(id, key)| PersonKey::new(id, &key)).transpose()
    }

    /// Somebody's key, which is made on first use.
    pub async fn person_or_new(&self, user: &UserId, at: Timestamp) -> Result<PersonKey> {
        let (id, key) = self.find_or_make(&name_of(user), at, random).await?;
        PersonKey::new(id, &key)
    }

    /// The user behind an id, with their key; `None` after erasure.
    pub async fn person_of(&self, id: &PersonId) -> Result<Option<(UserId, PersonKey)>> {
        let stored = self.store.key_of(id).await?;
        let Some(user) = stored.as_ref().and_then(|key| key.name.strip_prefix("user ")).map(UserId::stored)
        else {
            return Ok(None);
        };
        let opened = self.open_stored(stored).await?;
        opened.map(|(id, key)| Ok((user, PersonKey::new(id, &key)?))).transpose()
    }

    /// What custody addresses are derived from.
    pub async fn custody_seed(&self, at: Timestamp) -> Result<SecretSlice<u8>> {
        Ok(self.find_or_make(CUSTODY, at, random).await?.1.to_vec().into())
    }

    /// Destroys a person's key, which makes everything it sealed unreadable in every copy.
    /// Returns the erasure's number, and whose applications it ends. The key may be in a log until [`Keystore::scrub`].
    pub async fn erase(&self, user: &UserId, at: Timestamp) -> Result<(i64, Option<PersonId>)> {
        let (erasure, destroyed) = self.store.erase(&name_of(user), at).await?;
        Ok((erasure, destroyed.map(|destroyed| destroyed.id)))
    }

    /// Makes sure that no key that was destroyed is left in a log.
    pub async fn scrub(&self) -> Result<()> {
        Ok(self.store.scrub().await?)
    }

    /// Whether it is being moved elsewhere, and takes no changes.
    pub async fn is_moving(&self) -> Result<bool> {
        Ok(self.store.is_moving().await?)
    }

    /// Copies everything to an empty keystore, which has this one's id from then on, and proves it. This one takes no
    /// changes any more.
    pub async fn copy_to(&self, target: &Self) -> Result<Moved> {
        Ok(self.store.copy_to(&target.store).await?)
    }

    /// Removes what was copied elsewhere.
    pub async fn remove(self, location: &Location) -> Result<()> {
        Ok(self.store.remove(location).await?)
    }

    /// Tells this keystore from others.
    pub async fn id(&self) -> Result<String> {
        Ok(self.store.id().await?)
    }

    /// All erasures of one person.
    pub async fn erasures_of(&self, user: &UserId) -> Result<Vec<Erasure>> {
        Ok(self.store.erasures_of(&name_of(user)).await?)
    }

    /// Erasures after a place, and whose.
    pub async fn erasures_after(&self, seq: i64, limit: i64) -> Result<Vec<(Erasure, UserId)>> {
        let erasures = self.store.erasures_after(seq, limit).await?;
        let whose = |erasure: Erasure| {
            let user = UserId::stored(erasure.name.strip_prefix("user ")?);
            Some((erasure, user))
        };
        Ok(erasures.into_iter().filter_map(whose).collect())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) const AT: Timestamp = Timestamp::from_micros(1);

    pub(in super::super) async fn keystore(folder: &tempfile::TempDir, root: u8) -> Keystore {
        let location = Location::Sqlite(folder.path().join("keys.db"));
        Keystore::open(&location, Root::new(&vec![root; 32].into()).unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn sealed_value_opens_only_with_same_key_and_place() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keystore(&folder, 1).await;
        let (ada, bob) = (UserId::stored("ada"), UserId::stored("bob"));
        let sealed = keys.person_or_new(&ada, AT).await.unwrap().seal(&[b"row", b"1"], b"secret").unwrap();
        let again = keys.person(&ada).await.unwrap().unwrap();
        assert_eq!(**again.open(&[b"row", b"1"], &sealed).unwrap(), *b"secret");
        assert!(again.open(&[b"row", b"2"], &sealed).is_err());
        assert!(again.open(&[b"row1", b""], &sealed).is_err());
        let other = keys.person_or_new(&bob, AT).await.unwrap();
        assert!(other.open(&[b"row", b"1"], &sealed).is_err());
    }

    #[tokio::test]
    async fn new_key_after_erasure_opens_no_old_value() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keystore(&folder, 1).await;
        let ada = UserId::stored("ada");
        let sealed = keys.person_or_new(&ada, AT).await.unwrap().seal(&[], b"secret").unwrap();
        keys.erase(&ada, AT).await.unwrap();
        assert!(keys.person(&ada).await.unwrap().is_none());
        assert!(keys.person_or_new(&ada, AT).await.unwrap().open(&[], &sealed).is_err());
        let erased = keys.erasures_after(0, 10).await.unwrap();
        assert_eq!(erased.into_iter().map(|(_, user)| user).collect::<Vec<_>>(), [ada]);
    }

    #[tokio::test]
    async fn an_erased_key_is_nowhere_in_the_files_of_the_keystore() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keystore(&folder, 1).await;
        let ada = UserId::stored("ada");
        keys.person_or_new(&ada, AT).await.unwrap();
        let wrapped = keys.store.key(&name_of(&ada)).await.unwrap().unwrap().wrapped;
        let holds = || {
            let files = std::fs::read_dir(folder.path()).unwrap();
            let bytes = files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap());
            bytes.collect::<Vec<u8>>().windows(wrapped.len()).any(|window| window == wrapped)
        };
        assert!(holds(), "the search works");
        keys.erase(&ada, AT).await.unwrap();
        keys.scrub().await.unwrap();
        assert!(!holds());
    }

    #[tokio::test]
    async fn erasure_works_while_a_thread_reads_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keystore(&folder, 1).await;
        let (ada, bob) = (UserId::stored("ada"), UserId::stored("bob"));
        keys.person_or_new(&ada, AT).await.unwrap();
        keys.person_or_new(&bob, AT).await.unwrap();
        assert!(keys.person(&ada).await.unwrap().is_some());
        keys.erase(&bob, AT).await.unwrap();
        keys.scrub().await.unwrap();
        let log = std::fs::metadata(folder.path().join("keys.db-wal")).unwrap();
        assert_eq!(log.len(), 0, "nothing of him is in the log");
        assert!(keys.person(&bob).await.unwrap().is_none());
    }
}
