//! The key of the audit log's hashes. It is kept in the keystore, not in the database.

use std::sync::{Arc, OnceLock};

use aws_lc_rs::hmac;

/// Keys the hashes of entries. Does not print.
#[derive(Clone)]
pub struct AuditKey {
    key: hmac::Key,
    /// The log's key on the chain.
    log: [u8; 32],
}

/// Set once the key is known.
pub(crate) type AuditKeyCell = Arc<OnceLock<AuditKey>>;

impl std::fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AuditKey")
    }
}

impl AuditKey {
    pub fn new(key: &[u8], log: [u8; 32]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key), log }
    }

    /// The log's key on the chain.
    pub fn log(&self) -> [u8; 32] {
        self.log
    }

    pub(crate) fn sign(&self, message: &[u8]) -> hmac::Tag {
        hmac::sign(&self.key, message)
    }

    pub(crate) fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        hmac::verify(&self.key, message, tag).is_ok()
    }
}
