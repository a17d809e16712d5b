//! The keys in memory: what the root secret gives, what a person's key seals.

use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hmac;
use portico_domain::Timestamp;
use portico_store::Seal;
use portico_store::chain::Word;
use portico_store::keystore::{Master, PersonId};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretSlice};

use crate::error::{Error, Result};

pub(super) const KEY_BYTES: usize = 32;
/// Enough to tell keys apart.
pub(super) const ID_BYTES: usize = 8;

type Bytes32 = Zeroizing<[u8; KEY_BYTES]>;

pub(super) fn broken<E>(_: E) -> Error {
    Error::Bug("a sealed value could not be made or opened".into())
}

/// A new key.
pub(super) type NewKeyBytes = Result<Zeroizing<Vec<u8>>>;

/// As a person's key is made.
pub(super) fn random() -> NewKeyBytes {
    Ok(Zeroizing::new(random_key()?.to_vec()))
}

pub(super) fn random_key() -> Result<Bytes32> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    aws_lc_rs::rand::fill(&mut *key).map_err(broken)?;
    Ok(key)
}

pub(super) fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).map_err(broken)?;
    Ok(bytes)
}

/// Seals and opens with one key. The context says where a value belongs: it opens nowhere else.
pub(super) struct Sealer(RandomizedNonceKey);

impl Sealer {
    pub(super) fn new(key: &[u8]) -> Result<Self> {
        RandomizedNonceKey::new(&AES_256_GCM, key).map(Self).map_err(broken)
    }

    /// The nonce, then the ciphertext with its tag.
    pub(super) fn seal(&self, context: &[&[u8]], plain: &[u8]) -> Result<Vec<u8>> {
        let mut body = plain.to_vec();
        let nonce = self.0.seal_in_place_append_tag(Aad::from(joined(context)), &mut body).map_err(broken)?;
        Ok([nonce.as_ref().as_slice(), &body].concat())
    }

    pub(super) fn open(&self, context: &[&[u8]], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
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

    pub(super) fn wrap(&self, id: &[u8], key: &[u8], at: Timestamp) -> Result<Master> {
        let wrapped = self.sealer.seal(&[b"master", id], key)?;
        Ok(Master { id: id.to_vec(), root: self.id.clone(), wrapped, created_at: at })
    }

    pub(super) fn unwrap(&self, master: &Master) -> Result<Sealer> {
        if master.root != self.id {
            return Err(broken(()));
        }
        Sealer::new(&self.sealer.open(&[b"master", &master.id], &master.wrapped)?)
    }
}

/// Cloning is cheap.
#[derive(Clone)]
pub struct PersonKey {
    id: PersonId,
    sealer: Arc<Sealer>,
    digests: hmac::Key,
}

impl std::fmt::Debug for PersonKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PersonKey")
    }
}

impl PersonKey {
    pub(super) fn new(id: PersonId, key: &[u8]) -> Result<Self> {
        Ok(Self {
            id,
            sealer: Arc::new(Sealer::new(derived(key, b"portico person v1").as_ref())?),
            digests: hmac::Key::new(hmac::HMAC_SHA256, derived(key, b"portico tags v1").as_ref()),
        })
    }

    /// The person's id in the database.
    pub fn id(&self) -> PersonId {
        self.id
    }

    /// A keyed digest: equal for equal values, and meaningless without this key.
    pub fn digest(&self, parts: &[&[u8]]) -> Word {
        let mut digest = Word::default();
        digest.copy_from_slice(hmac::sign(&self.digests, &joined(parts)).as_ref());
        digest
    }

    /// Seals a value for one place: table, row and column.
    pub fn seal(&self, place: &[&[u8]], plain: &[u8]) -> Result<Vec<u8>> {
        self.sealer.seal(place, plain)
    }

    /// Opens what was sealed for this place.
    pub fn open(&self, place: &[&[u8]], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        self.sealer.open(place, sealed)
    }
}

impl Seal for PersonKey {
    fn seal(&self, context: &[u8], plain: &[u8]) -> portico_store::Result<Vec<u8>> {
        self.seal(&[context], plain).map_err(|error| unsealed(&error))
    }

    fn open(&self, context: &[u8], sealed: &[u8]) -> portico_store::Result<Vec<u8>> {
        Ok(self.open(&[context], sealed).map_err(|error| unsealed(&error))?.to_vec())
    }
}

fn unsealed(error: &Error) -> portico_store::Error {
    portico_store::Error::Bug(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keystore_does_not_print_its_secrets() {
        assert_eq!(format!("{:?}", PersonKey::new(PersonId([2; 16]), &[1; 32]).unwrap()), "PersonKey");
    }
}
