//! Signing keys and the transactions they sign.

use alloy_consensus::{SignableTransaction, Transaction as _, TxEip1559, TxEnvelope};
use alloy_eips::eip2718::{Decodable2718, Encodable2718};
use alloy_primitives::{Address, Bytes, Signature, TxKind, U256, keccak256};
use portico_records::ItemKind;
use portico_store::chain::{Sign, SignedTransaction, VersionedItem};
use secp256k1::{Message, Secp256k1, SecretKey, SignOnly};
use secrecy::{ExposeSecret, SecretString};

use crate::contracts::{Contracts, calldata};
use crate::{Error, Result};

/// A private key and its account. It does not print.
#[derive(Clone)]
pub struct Key {
    secret: SecretKey,
    secp: std::sync::Arc<Secp256k1<SignOnly>>,
    address: Address,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", self.address)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.secret.non_secure_erase();
    }
}

impl Key {
    /// Parses 64 hexadecimal digits, with or without `0x`.
    pub fn parse(text: &SecretString) -> Result<Self> {
        let wrong =
            || Error::Setup("a chain key must be 64 hexadecimal digits and a valid secp256k1 key".into());
        let text = text.expose_secret().trim();
        let bytes: [u8; 32] = alloy_primitives::hex::decode_to_array(text).map_err(|_| wrong())?;
        Self::from_bytes(bytes).ok_or_else(wrong)
    }

    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        let secret = SecretKey::from_byte_array(bytes).ok()?;
        let secp = Secp256k1::signing_only();
        let public = secret.public_key(&secp).serialize_uncompressed();
        let address = Address::from_slice(&keccak256(&public[1..])[12..]);
        Some(Self { secret, secp: std::sync::Arc::new(secp), address })
    }

    pub fn address(&self) -> Address {
        self.address
    }

    pub fn sign(&self, transaction: TxEip1559) -> SignedTransaction {
        let (max_fee, tip) = (transaction.max_fee_per_gas, transaction.max_priority_fee_per_gas);
        let message = Message::from_digest(transaction.signature_hash().0);
        let signed = self.secp.sign_ecdsa_recoverable(message, &self.secret);
        let (id, bytes) = signed.serialize_compact();
        let signature = Signature::from_bytes_and_parity(&bytes, i32::from(id) == 1);
        let signed = transaction.into_signed(signature);
        let as_wei = |fee: u128| i64::try_from(fee).unwrap_or(i64::MAX);
        let hash = signed.hash().0;
        let raw = TxEnvelope::from(signed).encoded_2718();
        SignedTransaction { hash, raw, max_fee: as_wei(max_fee), tip: as_wei(tip) }
    }
}

/// The calldata of a transaction that was signed here.
pub fn data_of(raw: &[u8]) -> Result<Bytes> {
    let transaction = TxEnvelope::decode_2718(&mut &*raw)
        .map_err(|error| Error::Bug(format!("one of our transactions cannot be decoded: {error}")))?;
    Ok(transaction.input().clone())
}

/// The price per gas, in wei.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// The total, tip included.
    pub max_fee: u64,
    pub tip: u64,
}

impl Price {
    /// The minimum that replaces a transaction of this price: both fees × 1.125, rounded up.
    #[must_use]
    pub fn raised(self) -> Self {
        let raise = |fee: u64| fee.saturating_add(fee.div_ceil(8)).max(fee.saturating_add(1));
        Self { max_fee: raise(self.max_fee), tip: raise(self.tip) }
    }

    #[must_use]
    pub fn capped(self, cap: u64) -> Self {
        Self { max_fee: self.max_fee.min(cap), tip: self.tip.min(cap) }
    }

    pub fn of(signed: &SignedTransaction) -> Self {
        Self { max_fee: signed.max_fee.unsigned_abs(), tip: signed.tip.unsigned_abs() }
    }
}

/// Gas of a call without items.
const BASE_GAS: u64 = 60_000;

/// Base plus a fixed amount per item, never estimated.
pub fn gas(kind: ItemKind, items: usize) -> u64 {
    // The highest gas use of one item in a batch, with a reserve.
    let per_item = match kind {
        ItemKind::Listing => 55_000,
        ItemKind::Identity => 110_000,
        ItemKind::Check => 32_000,
        ItemKind::Anchor => 52_000,
    };
    BASE_GAS + per_item * items as u64
}

/// Signs contract calls on one chain at one price.
#[derive(Debug, Clone)]
pub struct CallSigner {
    pub key: Key,
    pub chain_id: u64,
    pub contracts: Contracts,
    pub price: Price,
}

impl CallSigner {
    pub fn transaction(&self, nonce: u64, to: TxKind, gas_limit: u64, input: Bytes) -> TxEip1559 {
        TxEip1559 {
            chain_id: self.chain_id,
            nonce,
            gas_limit,
            max_fee_per_gas: self.price.max_fee.into(),
            max_priority_fee_per_gas: self.price.tip.into(),
            to,
            value: U256::ZERO,
            access_list: alloy_eips::eip2930::AccessList::default(),
            input,
        }
    }

    /// Signs the same transaction again at this signer's price.
    pub fn again(&self, raw: &[u8]) -> Result<SignedTransaction> {
        let wrong = || Error::Bug("one of our transactions cannot be decoded".into());
        let before = TxEnvelope::decode_2718(&mut &*raw).map_err(|_| wrong())?;
        let kind = before.kind();
        Ok(self.key.sign(self.transaction(before.nonce(), kind, before.gas_limit(), before.input().clone())))
    }

    /// A transaction that only uses up a nonce.
    pub fn filler(&self, nonce: u64) -> SignedTransaction {
        self.key.sign(self.transaction(nonce, TxKind::Call(self.key.address()), 21_000, Bytes::new()))
    }
}

impl Sign for CallSigner {
    fn sign(
        &self,
        nonce: i64,
        kind: ItemKind,
        items: &[VersionedItem],
    ) -> portico_store::Result<SignedTransaction> {
        let bug = |error: Error| portico_store::Error::Bug(error.to_string());
        let data = calldata(kind, items).map_err(bug)?;
        let to = TxKind::Call(self.contracts.of(kind));
        Ok(self.key.sign(self.transaction(nonce.unsigned_abs(), to, gas(kind, items.len()), data)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};

    /// The first account of development nodes.
    const KNOWN: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

    fn signer(price: Price) -> CallSigner {
        let key = Key::parse(&SecretString::from(KNOWN)).unwrap();
        CallSigner { key, chain_id: 31337, contracts: Contracts([Address::repeat_byte(1); 4]), price }
    }

    #[test]
    fn key_derives_its_known_account() {
        let key = Key::parse(&SecretString::from(KNOWN)).unwrap();
        assert_eq!(key.address().to_string(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    }

    #[test]
    fn invalid_key_is_refused_without_being_shown() {
        for wrong in ["", "0x12", &"0".repeat(64), &"g".repeat(64)] {
            let error = Key::parse(&SecretString::from(wrong)).unwrap_err().to_string();
            assert!(error.contains("64 hexadecimal digits"), "{error}");
        }
    }

    #[test]
    fn signer_is_recovered_from_the_signature() {
        let signer = signer(Price { max_fee: 100, tip: 1 });
        let signed = signer.filler(7);
        let envelope = TxEnvelope::decode_2718(&mut signed.raw.as_slice()).unwrap();
        assert_eq!(envelope.hash().0, signed.hash);
        let signature = envelope.signature();
        let id = if signature.v() { RecoveryId::One } else { RecoveryId::Zero };
        let compact = &signature.as_bytes()[..64];
        let recoverable = RecoverableSignature::from_compact(compact, id).unwrap();
        let message = Message::from_digest(envelope.signature_hash().0);
        let public = Secp256k1::new().recover_ecdsa(message, &recoverable).unwrap().serialize_uncompressed();
        assert_eq!(Address::from_slice(&keccak256(&public[1..])[12..]), signer.key.address());
        assert_eq!((envelope.nonce(), envelope.chain_id()), (7, Some(31337)));
    }

    #[test]
    fn a_replacement_carries_the_same_call_at_a_higher_price() {
        let first = signer(Price { max_fee: 100, tip: 1 });
        let items = [VersionedItem { key: [1; 32], version: 1, payload: vec![] }];
        let before = first.sign(3, ItemKind::Listing, &items).unwrap();
        let second = signer(Price::of(&before).raised());
        let after = second.again(&before.raw).unwrap();
        assert_eq!(data_of(&before.raw).unwrap(), data_of(&after.raw).unwrap());
        assert_eq!((after.max_fee, after.tip), (113, 2));
        assert_ne!(before.hash, after.hash);
    }

    #[test]
    fn the_same_call_signed_twice_is_the_same_transaction() {
        let signer = signer(Price { max_fee: 100, tip: 1 });
        assert_eq!(signer.filler(3), signer.filler(3));
    }
}
