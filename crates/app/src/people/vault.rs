//! Keys derived from the instance's secret: keyed digests and sealing. The secret is in the keystore and survives a
//! change of the root secret, so that a retry after it still finds the first reply.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hmac;
use portico_store::{Error, Result, Seal};
use secrecy::{ExposeSecret, SecretSlice};

/// Does not print its secrets.
pub struct Vault {
    digests: hmac::Key,
    answers: RandomizedNonceKey,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

pub const ROOT_BYTES: usize = 32;
const DIGEST_PURPOSE: &[u8] = b"portico digests v1";
const REPLY_PURPOSE: &[u8] = b"portico answers v1";
const SANDBOX_PURPOSE: &[u8] = b"portico sandbox bureau v1";

fn derived(secret: &SecretSlice<u8>, purpose: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret()), purpose)
}

/// The key of the values that the sandbox bureau makes up.
pub fn sandbox_key(instance: &SecretSlice<u8>) -> SecretSlice<u8> {
    derived(instance, SANDBOX_PURPOSE).as_ref().to_vec().into()
}

impl Vault {
    /// Each purpose has its own derived key.
    pub fn new(secret: &SecretSlice<u8>) -> Result<Self> {
        let (digests, answers) = (derived(secret, DIGEST_PURPOSE), derived(secret, REPLY_PURPOSE));
        Ok(Self {
            digests: hmac::Key::new(hmac::HMAC_SHA256, digests.as_ref()),
            answers: RandomizedNonceKey::new(&AES_256_GCM, answers.as_ref()).map_err(bug)?,
        })
    }

    /// A keyed digest. Different lists of parts never share one.
    pub fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.digests);
        for part in parts {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(context.sign().as_ref());
        digest
    }
}

fn bug(_: aws_lc_rs::error::Unspecified) -> Error {
    Error::Bug("a sealed value could not be made or opened".into())
}

impl Seal for Vault {
    /// Returns the nonce, then the ciphertext with its tag.
    fn seal(&self, context: &[u8], plain: &[u8]) -> Result<Vec<u8>> {
        let mut body = plain.to_vec();
        let nonce = self.answers.seal_in_place_append_tag(Aad::from(context), &mut body).map_err(bug)?;
        Ok([nonce.as_ref().as_slice(), &body].concat())
    }

    fn open(&self, context: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        let (nonce, body) =
            sealed.split_at_checked(NONCE_LEN).ok_or_else(|| bug(aws_lc_rs::error::Unspecified))?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(bug)?;
        let mut body = body.to_vec();
        let plain = self.answers.open_in_place(nonce, Aad::from(context), &mut body).map_err(bug)?;
        Ok(plain.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vault(byte: u8) -> Vault {
        Vault::new(&vec![byte; ROOT_BYTES].into()).unwrap()
    }

    #[test]
    fn opens_only_with_the_same_key_and_context() {
        let sealed = vault(1).seal(b"row 1", b"answer").unwrap();
        assert_eq!(vault(1).open(b"row 1", &sealed).unwrap(), b"answer");
        assert!(vault(1).open(b"row 2", &sealed).is_err());
        assert!(vault(2).open(b"row 1", &sealed).is_err());
        assert!(vault(1).open(b"row 1", &sealed[..5]).is_err());
    }

    #[test]
    fn digest_depends_on_part_boundaries() {
        let vault = vault(1);
        assert_ne!(vault.digest(&[b"ab", b"c"]), vault.digest(&[b"a", b"bc"]));
    }

    #[test]
    fn a_vault_does_not_print_its_secrets() {
        assert_eq!(format!("{:?}", vault(1)), "Vault");
    }
}
