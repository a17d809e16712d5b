//! Proof that somebody controls a wallet: the signature of a key (EIP-191), or of a contract account (EIP-1271).

use std::sync::LazyLock;
use std::time::Duration;

use alloy_primitives::{Address, B256, Bytes, keccak256};
use alloy_sol_types::{SolCall, sol};
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId, Signature};
use secp256k1::{Message, Secp256k1, VerifyOnly};

use crate::node::Node;
use crate::{Error, Result};

/// Enough for a passkey that is verified in Solidity, and a bound for a hostile contract.
const CONTRACT_GAS: u64 = 3_000_000;
const CONTRACT_TIMEOUT: Duration = Duration::from_secs(5);

static SECP: LazyLock<Secp256k1<VerifyOnly>> = LazyLock::new(Secp256k1::verification_only);

sol! {
    function isValidSignature(bytes32 hash, bytes signature) external view returns (bytes4);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    Valid,
    /// Well-formed, but not the wallet's.
    Foreign,
    /// No key makes such a signature; the text says why.
    Malformed(&'static str),
}

/// Whether the wallet signed the hash. A key's signature also counts for an account with code: only an account that
/// delegates to code (EIP-7702) has both, and its key still controls it.
pub async fn verify<N: Node>(node: &N, wallet: Address, hash: B256, signature: &[u8]) -> Result<Proof> {
    let by_key = match recover(hash, signature) {
        Ok(signer) if signer == wallet => return Ok(Proof::Valid),
        Ok(_) => Proof::Foreign,
        Err(why) => Proof::Malformed(why),
    };
    if node.code(wallet).await?.is_empty() {
        return Ok(by_key);
    }
    Ok(if accepts(node, wallet, hash, signature).await? { Proof::Valid } else { Proof::Foreign })
}

/// The account whose key signed.
fn recover(hash: B256, signature: &[u8]) -> Result<Address, &'static str> {
    let Some((&v, compact)) = signature.split_last().filter(|(_, compact)| compact.len() == 64) else {
        return Err("must be 65 bytes long: r, s and v");
    };
    let id = match v {
        0 | 27 => RecoveryId::Zero,
        1 | 28 => RecoveryId::One,
        _ => return Err("must end with a v of 27 or 28"),
    };
    let out_of_range = "must have an r and an s in the range of the curve";
    let plain = Signature::from_compact(compact).map_err(|_| out_of_range)?;
    let mut normal = plain;
    normal.normalize_s();
    // The other s is valid for the same message: anyone who sees a signature could derive a second one.
    if normal != plain {
        return Err("must have an s in the lower half of the range (EIP-2)");
    }
    let signature = RecoverableSignature::from_compact(compact, id).map_err(|_| out_of_range)?;
    let key = SECP.recover_ecdsa(Message::from_digest(hash.0), &signature).map_err(|_| out_of_range)?;
    Ok(Address::from_slice(&keccak256(&key.serialize_uncompressed()[1..])[12..]))
}

/// Asks a contract account. It may be hostile: gas and time are bounded, and everything but the one right answer is
/// a refusal.
async fn accepts<N: Node>(node: &N, account: Address, hash: B256, signature: &[u8]) -> Result<bool> {
    let data = isValidSignatureCall { hash, signature: Bytes::copy_from_slice(signature) }.abi_encode();
    let call = node.call_with_gas(account, data.into(), CONTRACT_GAS);
    match tokio::time::timeout(CONTRACT_TIMEOUT, call).await {
        Err(_) => Err(Error::Unreachable("a contract account did not answer in time".into())),
        Ok(Err(Error::Reverted(_) | Error::Refused(_))) => Ok(false),
        Ok(answer) => Ok(is_magic_value(&answer?)),
    }
}

/// The selector of `isValidSignature` as a `bytes4`, padded to a word.
fn is_magic_value(answer: &[u8]) -> bool {
    let (selector, padding) = answer.split_at(answer.len().min(4));
    selector == isValidSignatureCall::SELECTOR && padding == [0; 28]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::{U256, eip191_hash_message, hex, uint};
    use secp256k1::SecretKey;

    const ORDER: U256 = uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);

    /// By the first account of development nodes.
    fn signed(hash: B256) -> [u8; 65] {
        let secret = hex!("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
        let secret = SecretKey::from_byte_array(secret).unwrap();
        let signed = Secp256k1::signing_only().sign_ecdsa_recoverable(Message::from_digest(hash.0), &secret);
        let (id, compact) = signed.serialize_compact();
        let mut signature = [27; 65];
        signature[..64].copy_from_slice(&compact);
        signature[64] += u8::from(i32::from(id) == 1);
        signature
    }

    #[test]
    fn signer_of_a_message_is_recovered() {
        let hash = eip191_hash_message("hello");
        let mut signature = signed(hash);
        let signer = Address::from(hex!("f39fd6e51aad88f6f4ce6ab8827279cfffb92266"));
        assert_eq!(recover(hash, &signature), Ok(signer));
        assert_ne!(recover(eip191_hash_message("hallo"), &signature), Ok(signer));
        signature[64] -= 27;
        assert_eq!(recover(hash, &signature), Ok(signer));
    }

    #[test]
    fn malformed_signature_is_refused() {
        let hash = eip191_hash_message("hello");
        let good = signed(hash);
        for length in [0, 64, 66] {
            let wrong: Vec<u8> = good.iter().copied().cycle().take(length).collect();
            assert!(recover(hash, &wrong).unwrap_err().contains("65 bytes"), "{length}");
        }
        for v in [2, 26, 29, 37, 255] {
            let mut wrong = good;
            wrong[64] = v;
            assert!(recover(hash, &wrong).unwrap_err().contains("27 or 28"), "{v}");
        }
        let mut malleable = good;
        let s = ORDER - U256::from_be_slice(&good[32..64]);
        malleable[32..64].copy_from_slice(&s.to_be_bytes::<32>());
        malleable[64] = 27 + 28 - good[64];
        assert!(recover(hash, &malleable).unwrap_err().contains("EIP-2"));
        for part in [0..32, 32..64] {
            for value in [U256::ZERO, ORDER] {
                let mut wrong = good;
                wrong[part.clone()].copy_from_slice(&value.to_be_bytes::<32>());
                assert!(recover(hash, &wrong).is_err());
            }
        }
    }

    #[test]
    fn only_the_padded_selector_is_the_magic_value() {
        let mut word = [0; 32];
        word[..4].copy_from_slice(&hex!("1626ba7e"));
        assert!(is_magic_value(&word));
        for wrong in [&word[..4], &word[..31], &[], &[0; 32], &[1; 32], &[word, word].concat()] {
            assert!(!is_magic_value(wrong), "{wrong:?}");
        }
    }
}
