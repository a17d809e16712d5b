//! What the instance keeps for itself: keys that survive a change of the root secret.

use aws_lc_rs::hmac;
use portico_domain::Timestamp;
use portico_store::audit::AuditKey;
use portico_store::chain::Word;
use secrecy::SecretSlice;
use secrecy::zeroize::Zeroizing;

use super::person_keys::Keystore;
use super::sealing::{KEY_BYTES, broken, random, random_key};
use crate::error::Result;

/// The names of these keys; no user's name is one of them.
const AUDIT: &str = "audit";
/// Stored once the log is keyed.
const AUDIT_BEGUN: &str = "audit begun";
const INSTANCE: &str = "instance";
const LOG_NAME: &[u8] = b"portico audit log v1";

/// A key, then the log's name.
fn audit_key(stored: &[u8]) -> Result<AuditKey> {
    let (key, log) = stored.split_at_checked(KEY_BYTES).ok_or(()).map_err(broken)?;
    Ok(AuditKey::new(key, Word::try_from(log).map_err(broken)?))
}

impl Keystore {
    /// The key of the audit log, if a server has made one.
    pub async fn audit_key(&self) -> Result<Option<AuditKey>> {
        self.find(AUDIT).await?.map(|(_, stored)| audit_key(&stored)).transpose()
    }

    /// The key of the audit log, which is made on first use. A log that has entries keeps its name; that of a new one
    /// is derived from the key, so that nobody can choose it.
    pub async fn audit_key_or_new(&self, at: Timestamp, log: Option<Word>) -> Result<AuditKey> {
        let make = || {
            let key = random_key()?;
            let mut stored = Zeroizing::new(key.to_vec());
            match log {
                Some(log) => stored.extend(log),
                None => {
                    stored.extend(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &*key), LOG_NAME).as_ref());
                }
            }
            Ok(stored)
        };
        let (_, stored) = self.find_or_make(AUDIT, at, make).await?;
        audit_key(&stored)
    }

    /// Whether the log was keyed.
    pub async fn audit_has_begun(&self) -> Result<bool> {
        Ok(self.store.key(AUDIT_BEGUN).await?.is_some())
    }

    pub async fn note_audit_begun(&self, at: Timestamp) -> Result<()> {
        self.find_or_make(AUDIT_BEGUN, at, random).await.map(drop)
    }

    /// The secret of the instance, which is made on first use.
    pub async fn instance_secret(&self, at: Timestamp) -> Result<SecretSlice<u8>> {
        Ok(self.find_or_make(INSTANCE, at, random).await?.1.to_vec().into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::person_keys::tests::{AT, keystore};
    use super::super::sealing::Root;
    use super::*;
    use secrecy::ExposeSecret as _;

    #[tokio::test]
    async fn keys_of_the_instance_survive_another_root_secret() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (keystore(&folder, 1).await, keystore(&folder, 2).await);
        let log = old.audit_key_or_new(AT, None).await.unwrap().log();
        let secret = old.instance_secret(AT).await.unwrap();
        let root = Root::new(&vec![2; 32].into()).unwrap();
        old.rotate(Timestamp::from_micros(2), Some(&root), |_| ()).await.unwrap();
        assert_eq!(new.audit_key().await.unwrap().unwrap().log(), log);
        let kept = new.instance_secret(AT).await.unwrap();
        assert_eq!(kept.expose_secret(), secret.expose_secret());
    }

    #[tokio::test]
    async fn an_existing_log_keeps_its_name_and_the_first_key_stays() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keystore(&folder, 1).await;
        assert!(keys.audit_key().await.unwrap().is_none());
        assert_eq!(keys.audit_key_or_new(AT, Some([7; 32])).await.unwrap().log(), [7; 32]);
        assert_eq!(keys.audit_key_or_new(AT, Some([8; 32])).await.unwrap().log(), [7; 32]);
    }
}
