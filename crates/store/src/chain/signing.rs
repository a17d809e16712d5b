//! What is signed, and who signs it.

use std::sync::Arc;

use portico_records::ItemKind;

use crate::engine::error::Result;
use crate::engine::sql::row;
use crate::engine::word::Word;

pub type Address = [u8; 20];

/// An item as it goes into a contract call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionedItem {
    pub key: Word,
    pub version: i64,
    pub payload: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedTransaction {
    pub hash: Word,
    pub raw: Vec<u8>,
    /// Per gas, in wei.
    pub max_fee: i64,
    /// Per gas, in wei; part of `max_fee`.
    pub tip: i64,
}

row!(VersionedItem { key, version, payload });

/// Signs a contract call inside the transaction that takes its nonce. Signing is deterministic, so that a unit of
/// work can be retried.
pub trait Sign: Send + Sync + std::fmt::Debug + 'static {
    fn sign(&self, nonce: i64, kind: ItemKind, items: &[VersionedItem]) -> Result<SignedTransaction>;
}

pub type Signer = Arc<dyn Sign>;
