//! Wallets that claim tokens.

use alloy_primitives::{Address, eip191_hash_message, keccak256};
use secp256k1::{Message, Secp256k1, SecretKey};
use serde_json::{Value, json};

use super::{Answer, number};
use crate::support::App;

/// A wallet with a key.
pub(crate) struct Wallet {
    secret: SecretKey,
    /// With its checksum.
    pub(crate) address: String,
}

impl Wallet {
    pub(crate) fn new() -> Self {
        let secret = SecretKey::from_byte_array(keccak256(number().to_be_bytes()).0).unwrap();
        let public = secret.public_key(&Secp256k1::new()).serialize_uncompressed();
        let address = Address::from_slice(&keccak256(&public[1..])[12..]);
        Self { secret, address: address.to_string() }
    }

    /// As `personal_sign` does.
    pub(crate) fn sign(&self, message: &str) -> String {
        let digest = Message::from_digest(eip191_hash_message(message).0);
        let (id, compact) = Secp256k1::new().sign_ecdsa_recoverable(digest, &self.secret).serialize_compact();
        let v = 27 + u8::try_from(i32::from(id)).unwrap();
        hex::encode_prefixed([&compact[..], &[v]].concat())
    }
}

impl App {
    /// The message by which a wallet claims a token; a query starts with `?`.
    pub(crate) async fn claim_message(&self, bearer: &str, token: &str, query: &str) -> Answer {
        self.to_get(&format!("/v1/identities/{token}/claim{query}")).bearer(bearer).send().await
    }

    pub(crate) async fn claim(&self, bearer: &str, token: &str, nonce: &Value, signature: &str) -> Answer {
        let body = json!({"nonce": nonce, "signature": signature});
        self.to_post(&format!("/v1/identities/{token}/claim"), &body).bearer(bearer).send().await
    }
}
