//! What the chain holds of an application's flags: a commitment that only its salt opens.

use alloy_primitives::keccak256;
use portico_domain::Timestamp;
use portico_domain::chain::Passes;

use crate::word::Word;

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// What is attested of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckFlags {
    pub passes: Passes,
    /// From the beginning of this UTC day on nothing is attested any more, in days since 1970.
    pub expiry_day: u32,
}

impl CheckFlags {
    /// They expire at the beginning of the day in which their findings do.
    pub fn expiring(passes: Passes, expires_at: Timestamp) -> Self {
        let day = expires_at.micros().div_euclid(DAY_MICROS);
        Self { passes, expiry_day: u32::try_from(day).unwrap_or(if day < 0 { 0 } else { u32::MAX }) }
    }

    pub fn expires_at(&self) -> Timestamp {
        Timestamp::from_micros(i64::from(self.expiry_day) * DAY_MICROS)
    }

    /// As the contract computes it: of the ABI encoding, the start of the hash. Each record has a new salt, so that
    /// nobody can tell whether its flags changed.
    pub fn commit(&self, key: &Word, salt: &Word) -> Commitment {
        let words = [*key, word(self.passes.bits().into()), word(self.expiry_day), *salt];
        let mut hash = [0; 20];
        hash.copy_from_slice(&keccak256(words.concat())[..20]);
        Commitment { hash, expiry_day: self.expiry_day }
    }
}

fn word(number: u32) -> Word {
    let mut word = Word::default();
    word[28..].copy_from_slice(&number.to_be_bytes());
    word
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commitment {
    pub hash: [u8; 20],
    pub expiry_day: u32,
}

impl Commitment {
    /// The flags among all possible ones to which the salt opens it.
    pub fn open(&self, key: &Word, salt: &Word) -> Option<CheckFlags> {
        (0..16)
            .map(|bits| CheckFlags { passes: Passes::from_bits(bits), expiry_day: self.expiry_day })
            .find(|flags| flags.commit(key, salt) == *self)
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{B256, U256};
    use alloy_sol_types::SolValue as _;

    use super::*;

    const KEY: Word = [1; 32];
    const SALT: Word = [2; 32];

    fn flags(bits: u8) -> CheckFlags {
        CheckFlags { passes: Passes::from_bits(bits), expiry_day: 20_800 }
    }

    #[test]
    fn commitment_is_the_start_of_the_hash_of_the_abi_encoding() {
        let encoded =
            (B256::from(KEY), U256::from(7), U256::from(20_800), B256::from(SALT)).abi_encode_params();
        assert_eq!(flags(7).commit(&KEY, &SALT).hash, keccak256(encoded)[..20]);
    }

    #[test]
    fn only_the_salt_opens_a_commitment() {
        for bits in 0..16 {
            let commitment = flags(bits).commit(&KEY, &SALT);
            assert_eq!(commitment.open(&KEY, &SALT), Some(flags(bits)));
            assert_eq!(commitment.open(&KEY, &[3; 32]), None);
            assert_eq!(commitment.open(&[3; 32], &SALT), None);
            let later = Commitment { expiry_day: 20_801, ..commitment };
            assert_eq!(later.open(&KEY, &SALT), None);
        }
    }

    #[test]
    fn flags_expire_at_the_beginning_of_a_day() {
        let expires_at = Timestamp::parse("2026-12-13T23:59:59Z").unwrap();
        let flags = CheckFlags::expiring(Passes::from_bits(1), expires_at);
        assert_eq!(flags.expires_at(), Timestamp::parse("2026-12-13T00:00:00Z").unwrap());
    }
}
