//! A key per person. Everything personal is sealed with it; whoever destroys it has erased the person, in every
//! copy of the database.
//!
//! The instance's root secret wraps master keys, a master key wraps the keys of people. Rotating makes a new
//! master key and wraps every key anew, while servers go on reading.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hmac;
use portico_domain::{Timestamp, UserId};
use portico_store::Location;
use portico_store::keystore::{Erasure, Master, Rotation, Wrapped};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretSlice};

use crate::{Error, Result};

const KEY_BYTES: usize = 32;
/// Enough to tell keys apart.
const ID_BYTES: usize = 8;
/// Keys that are wrapped anew in one transaction.
const REWRAP_BATCH: i64 = 256;
/// Passes that find no key to wrap although some are left, before a rotation gives up.
const FRUITLESS_PASSES: u32 = 3;
/// Another rotation began later.
const SUPERSEDED: Error = Error::RotationSuperseded;
/// The name of the seed of custody addresses; no user's name begins so.
const CUSTODY: &str = "custody";

type Bytes32 = Zeroizing<[u8; KEY_BYTES]>;

fn broken<E>(_: E) -> Error {
    Error::Bug("a sealed value could not be made or opened".into())
}

fn random_key() -> Result<Bytes32> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    aws_lc_rs::rand::fill(&mut *key).map_err(broken)?;
    Ok(key)
}

/// Seals and opens with one key. The context says where a value belongs: it opens nowhere else.
struct Sealer(RandomizedNonceKey);

impl Sealer {
    fn new(key: &[u8]) -> Result<Self> {
        RandomizedNonceKey::new(&AES_256_GCM, key).map(Self).map_err(broken)
    }

    /// The nonce, then the ciphertext with its tag.
    fn seal(&self, context: &[&[u8]], plain: &[u8]) -> Result<Vec<u8>> {
        let mut body = plain.to_vec();
        let nonce = self.0.seal_in_place_append_tag(Aad::from(joined(context)), &mut body).map_err(broken)?;
        Ok([nonce.as_ref().as_slice(), &body].concat())
    }

    fn open(&self, context: &[&[u8]], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let (nonce, body) = sealed.split_at_checked(NONCE_LEN).ok_or(()).map_err(broken)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(broken)?;
        let mut body = Zeroizing::new(body.to_vec());
        let plain = self.0.open_in_place(nonce, Aad::from(joined(context)), &mut body).map_err(broken)?;
        let length = plain.len();
        body.truncate(length);
        Ok(body)
    }
}

/// Where one part ends and the next begins counts.
fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().flat_map(|part| [&(part.len() as u64).to_be_bytes()[..], part].concat()).collect()
}

fn derived(secret: &[u8], purpose: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), purpose)
}

/// What the instance's root secret gives for the keystore.
pub struct Root {
    id: Vec<u8>,
    sealer: Sealer,
}

impl Root {
    /// Derives it from the root secret.
    pub fn new(secret: &SecretSlice<u8>) -> Result<Self> {
        let secret = secret.expose_secret();
        Ok(Self {
            id: derived(secret, b"portico keystore id v1").as_ref()[..ID_BYTES].to_vec(),
            sealer: Sealer::new(derived(secret, b"portico keystore v1").as_ref())?,
        })
    }

    fn wrap(&self, id: &[u8], key: &[u8], at: Timestamp) -> Result<Master> {
        let wrapped = self.sealer.seal(&[b"master", id], key)?;
        Ok(Master { id: id.to_vec(), root: self.id.clone(), wrapped, created_at: at })
    }
}

pub struct Keystore {
    store: portico_store::keystore::Keystore,
    root: Root,
    /// Master keys that were opened before.
    opened: Mutex<HashMap<Vec<u8>, Arc<Sealer>>>,
}

impl std::fmt::Debug for Keystore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keystore")
    }
}

pub struct PersonKey {
    sealer: Sealer,
    digests: hmac::Key,
}

impl std::fmt::Debug for PersonKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PersonKey")
    }
}

impl PersonKey {
    fn new(key: &[u8]) -> Result<Self> {
        Ok(Self {
            sealer: Sealer::new(derived(key, b"portico person v1").as_ref())?,
            digests: hmac::Key::new(hmac::HMAC_SHA256, derived(key, b"portico tags v1").as_ref()),
        })
    }

    /// Seals a value for one place: table, row and column.
    pub fn seal(&self, place: &[&[u8]], plain: &[u8]) -> Result<Vec<u8>> {
        self.sealer.seal(place, plain)
    }

    /// Opens what was sealed for this place.
    pub fn open(&self, place: &[&[u8]], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        self.sealer.open(place, sealed)
    }

    /// Tells other values from the same ones, and does not tell which they are: it has only 16 bits, so that
    /// even with this key thousands of numbers of a person fit.
    pub fn tag(&self, parts: &[&[u8]]) -> i64 {
        let tag = hmac::sign(&self.digests, &joined(parts));
        tag.as_ref().iter().take(2).fold(0, |tag, byte| tag << 8 | i64::from(*byte))
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
    pub async fn fits(&self) -> Result<bool> {
        let masters = self.store.masters().await?;
        Ok(masters.is_empty() || masters.iter().any(|master| self.unwrap_master(master).is_ok()))
    }

    fn unwrap_master(&self, master: &Master) -> Result<Sealer> {
        if master.root != self.root.id {
            return Err(broken(()));
        }
        Sealer::new(&self.root.sealer.open(&[b"master", &master.id], &master.wrapped)?)
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
        if let Some(sealer) = self.remembered(id) {
            return Ok(sealer);
        }
        for master in self.store.masters().await?.iter().filter(|master| master.id == id) {
            if let Ok(sealer) = self.unwrap_master(master) {
                return Ok(self.remember(id, sealer));
            }
        }
        Err(Error::Unavailable("the encryption key does not open this keystore".into()))
    }

    /// The newest master key; the first one is made here.
    async fn newest_master(&self, at: Timestamp) -> Result<(Vec<u8>, Arc<Sealer>)> {
        let newest = self.store.masters().await?.into_iter().next_back();
        let id = match newest {
            Some(master) => master.id,
            None => self.new_master(at, None).await?,
        };
        let sealer = self.master(&id).await?;
        Ok((id, sealer))
    }

    async fn new_master(&self, at: Timestamp, also: Option<&Root>) -> Result<Vec<u8>> {
        let (id, key) = (random_key()?[..ID_BYTES].to_vec(), random_key()?);
        let roots = also.into_iter().chain([&self.root]);
        let wrapped: Result<Vec<Master>> = roots.map(|root| root.wrap(&id, &*key, at)).collect();
        self.store.add_master(wrapped?).await?;
        Ok(id)
    }

    async fn unwrap(&self, key: &Wrapped) -> Result<Zeroizing<Vec<u8>>> {
        let master = self.master(&key.master).await?;
        master.open(&[b"key", key.name.as_bytes(), &key.master], &key.wrapped)
    }

    async fn find(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let mut stored = self.store.key(name).await?;
        while let Some(key) = stored {
            match self.unwrap(&key).await {
                Ok(opened) => return Ok(Some(opened)),
                Err(error) => {
                    // A rotation may have wrapped it anew, and removed the master key, in between.
                    stored = self.store.key(name).await?;
                    if stored.as_ref() == Some(&key) {
                        return Err(error);
                    }
                }
            }
        }
        Ok(None)
    }

    async fn find_or_make(&self, name: &str, at: Timestamp) -> Result<Zeroizing<Vec<u8>>> {
        loop {
            if let Some(key) = self.find(name).await? {
                return Ok(key);
            }
            let (id, master) = self.newest_master(at).await?;
            let wrapped = master.seal(&[b"key", name.as_bytes(), &id], &*random_key()?)?;
            self.store.add(Wrapped { name: name.into(), master: id, wrapped }).await?;
        }
    }

    /// Somebody's key, if there is one.
    pub async fn person(&self, user: &UserId) -> Result<Option<PersonKey>> {
        let key = self.find(&name_of(user)).await?;
        key.map(|key| PersonKey::new(&key)).transpose()
    }

    /// Somebody's key, which is made on first use.
    pub async fn person_or_new(&self, user: &UserId, at: Timestamp) -> Result<PersonKey> {
        PersonKey::new(&self.find_or_make(&name_of(user), at).await?)
    }

    /// What custody addresses are derived from.
    pub async fn custody_seed(&self, at: Timestamp) -> Result<SecretSlice<u8>> {
        Ok(self.find_or_make(CUSTODY, at).await?.to_vec().into())
    }

    /// Destroys somebody's key. From here on nobody reads what it sealed, wherever a copy of that may be.
    /// Answers with the erasure's place among all of them. The key may be in a log until [`Keystore::scrub`].
    pub async fn erase(&self, user: &UserId, at: Timestamp) -> Result<i64> {
        Ok(self.store.erase(&name_of(user), at).await?)
    }

    /// Makes sure that no key that was destroyed is left in a log.
    pub async fn scrub(&self) -> Result<()> {
        Ok(self.store.scrub().await?)
    }

    /// Tells this keystore from others.
    pub async fn id(&self) -> Result<String> {
        Ok(self.store.id().await?)
    }

    /// Whether it holds no key yet.
    pub async fn is_empty(&self) -> Result<bool> {
        Ok(self.store.masters().await?.is_empty())
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

    /// Wraps every key by a new master key, and removes the old ones. If another root secret is given, it opens
    /// the new master key as well, so that the next start may use it.
    ///
    /// Of several rotations at the same time the one that began last wins; the others end with a conflict.
    pub async fn rotate(
        &self,
        at: Timestamp,
        also: Option<&Root>,
        mut progress: impl FnMut(u64),
    ) -> Result<u64> {
        let id = self.new_master(at, also).await?;
        let master = self.master(&id).await?;
        let (mut rotated, mut fruitless) = (0, 0);
        loop {
            let before = rotated;
            self.rewrap_older(&id, &master, &mut rotated, &mut progress).await?;
            match self.store.finish_rotation(&id).await? {
                Rotation::Done => return Ok(rotated),
                Rotation::Superseded => return Err(SUPERSEDED),
                // A key may have been made meanwhile, by a server that did not know the new master key yet.
                Rotation::KeysLeft if rotated > before => fruitless = 0,
                Rotation::KeysLeft if fruitless < FRUITLESS_PASSES => fruitless += 1,
                Rotation::KeysLeft => {
                    return Err(Error::Bug("some keys are wrapped by a master key that is gone".into()));
                }
            }
        }
    }

    /// Wraps the keys of all older master keys by this one.
    async fn rewrap_older(
        &self,
        id: &[u8],
        master: &Sealer,
        rotated: &mut u64,
        progress: &mut impl FnMut(u64),
    ) -> Result<()> {
        let mut after = String::new();
        loop {
            let keys = self.store.keys_under_older(id, &after, REWRAP_BATCH).await?;
            let Some(last) = keys.last() else { return Ok(()) };
            after.clone_from(&last.name);
            let mut changes = Vec::with_capacity(keys.len());
            for before in keys {
                // If it cannot be opened, another rotation may have taken its master key away: the next pass
                // finds it where it is then.
                let Ok(key) = self.unwrap(&before).await else { continue };
                let wrapped = master.seal(&[b"key", before.name.as_bytes(), id], &key)?;
                let after = Wrapped { name: before.name.clone(), master: id.to_vec(), wrapped };
                changes.push((before, after));
            }
            *rotated += changes.len() as u64;
            if !self.store.rewrap(id, changes).await? {
                return Err(SUPERSEDED);
            }
            progress(*rotated);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_micros(1);

    async fn keystore(folder: &tempfile::TempDir, root: u8) -> Keystore {
        let location = Location::Sqlite(folder.path().join("keys.db"));
        Keystore::open(&location, Root::new(&vec![root; 32].into()).unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn what_was_sealed_opens_with_the_same_key_in_the_same_place_only() {
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
    async fn after_an_erasure_a_new_key_does_not_open_what_the_old_one_sealed() {
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
    async fn somebody_is_erased_although_a_thread_has_just_read_a_key() {
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

    #[tokio::test]
    async fn rotation_keeps_every_value_readable_for_those_who_opened_the_keystore_before() {
        let folder = tempfile::tempdir().unwrap();
        let (server, tool) = (keystore(&folder, 1).await, keystore(&folder, 1).await);
        let users: Vec<UserId> = (0..600).map(|n| UserId::stored(format!("user-{n}"))).collect();
        let mut sealed = Vec::new();
        for user in &users {
            sealed.push(server.person_or_new(user, AT).await.unwrap().seal(&[], b"secret").unwrap());
        }
        let before = server.store.masters().await.unwrap();
        assert_eq!(tool.rotate(Timestamp::from_micros(2), None, |_| ()).await.unwrap(), 600);
        let after = server.store.masters().await.unwrap();
        assert_eq!((before.len(), after.len()), (1, 1));
        assert_ne!(before, after);
        for (user, sealed) in users.iter().zip(&sealed) {
            let key = server.person(user).await.unwrap().unwrap();
            assert_eq!(**key.open(&[], sealed).unwrap(), *b"secret");
        }
    }

    #[tokio::test]
    async fn another_root_secret_opens_the_keystore_only_after_a_rotation_that_named_it() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (keystore(&folder, 1).await, keystore(&folder, 2).await);
        let ada = UserId::stored("ada");
        old.person_or_new(&ada, AT).await.unwrap();
        assert!(!new.fits().await.unwrap());
        assert!(new.person(&ada).await.is_err());
        let root = Root::new(&vec![2; 32].into()).unwrap();
        old.rotate(Timestamp::from_micros(2), Some(&root), |_| ()).await.unwrap();
        assert!(new.fits().await.unwrap() && old.fits().await.unwrap());
        assert!(new.person(&ada).await.unwrap().is_some());
    }

    #[test]
    fn a_keystore_does_not_print_its_secrets() {
        assert_eq!(format!("{:?}", PersonKey::new(&[1; 32]).unwrap()), "PersonKey");
    }
}
