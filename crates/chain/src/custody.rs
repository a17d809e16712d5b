//! Custody addresses for people without a wallet: hardened BIP-32 keys of one seed at random indices, so that an
//! address reveals nothing about its owner.

use alloy_primitives::Address;
use aws_lc_rs::hmac;
use secp256k1::{Scalar, SecretKey};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretSlice};

use crate::signer::Key;
use crate::{Error, Result};

const HARDENED: u32 = 1 << 31;
/// `m/44'/60'`: Ethereum accounts (BIP-44).
const ROOT: [u32; 2] = [44, 60];

type Half = Zeroizing<[u8; 32]>;

/// The address at an index: `m/44'/60'/high'/low'`, both 31 bits of the index.
pub fn address(seed: &SecretSlice<u8>, place: u64) -> Result<Address> {
    let broken = || Error::Bug("a custody key could not be derived".into());
    let (mut key, mut chain) = halves(b"Bitcoin seed", seed.expose_secret());
    for index in ROOT.into_iter().chain([low_31(place >> 31), low_31(place)]) {
        (key, chain) = child(&key, &chain, index).ok_or_else(broken)?;
    }
    Key::from_bytes(*key).map(|key| key.address()).ok_or_else(broken)
}

fn low_31(place: u64) -> u32 {
    u32::try_from(place & u64::from(HARDENED - 1)).unwrap_or(0)
}

fn halves(key: &[u8], data: &[u8]) -> (Half, Half) {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA512, key), data);
    let (mut left, mut right) = (Half::default(), Half::default());
    left.copy_from_slice(&tag.as_ref()[..32]);
    right.copy_from_slice(&tag.as_ref()[32..]);
    (left, right)
}

fn child(key: &Half, chain: &Half, index: u32) -> Option<(Half, Half)> {
    let mut data = Zeroizing::new(vec![0]);
    data.extend_from_slice(&**key);
    data.extend_from_slice(&(index | HARDENED).to_be_bytes());
    let (tweak, next) = halves(&**chain, &data);
    let mut parent = SecretKey::from_byte_array(**key).ok()?;
    let child = parent.add_tweak(&Scalar::from_be_bytes(*tweak).ok()?).ok()?;
    parent.non_secure_erase();
    Some((Zeroizing::new(child.secret_bytes()), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_derived_as_bip_32_says() {
        // Test vector 1 of BIP-32, chain m/0'.
        let seed = alloy_primitives::hex!("000102030405060708090a0b0c0d0e0f");
        let (key, chain) = halves(b"Bitcoin seed", &seed);
        let (key, chain) = child(&key, &chain, 0).unwrap();
        let hex = |half: &Half| alloy_primitives::hex::encode(**half);
        assert_eq!(hex(&key), "edb2e14f9ee77d26dd93b4ecede8d16ed408ce149b6cd80b0715a2d911a0afea");
        assert_eq!(hex(&chain), "47fdacbd0f1097043b78c63c20c34ef4ed9a111d980047ad16282c7ae6236141");
    }

    #[test]
    fn every_index_has_a_different_address() {
        let seed: SecretSlice<u8> = vec![7; 32].into();
        let at = |place| address(&seed, place).unwrap();
        assert_eq!(at(1), at(1));
        assert_ne!(at(1), at(2));
        assert_ne!(at(1), at(1 | 1 << 31));
    }
}
