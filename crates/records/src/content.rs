//! The content of items, and its encoding in the database.

use alloy_primitives::Address;
use portico_domain::chain::{Passes, Terms};
use portico_domain::{Credit, Income, Timestamp};

use crate::item_kind::ItemKind;
use crate::word::Word;

/// Encoded in a few bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Listing {
        terms: Terms,
        digest: Word,
    },
    RetiredListing,
    Identity {
        holder: Address,
        /// The name commitment; zero before a verification.
        commitment: Word,
    },
    RevokedIdentity,
    /// `None`: the flags are cleared.
    Check {
        listing: Word,
        applicant: Word,
        flags: Option<CheckFlags>,
    },
    Anchor {
        head: Word,
    },
}

/// What is attested of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckFlags {
    pub passes: Passes,
    /// From then on nothing is attested any more. The chain has whole seconds.
    pub expires_at: Timestamp,
}

const MICROS_PER_SECOND: i64 = 1_000_000;

impl CheckFlags {
    /// As the contract has them: bits, and seconds since 1970.
    pub fn from_record(bits: u8, expires_at: u64) -> Self {
        let seconds = i64::try_from(expires_at).unwrap_or(i64::MAX);
        let expires_at = Timestamp::from_micros(seconds.saturating_mul(MICROS_PER_SECOND));
        Self { passes: Passes::from_bits(bits), expires_at }
    }

    /// Seconds since 1970.
    pub fn expiry_seconds(&self) -> u64 {
        u64::try_from(self.expires_at.micros().div_euclid(MICROS_PER_SECOND)).unwrap_or(0)
    }
}

/// The bytes are not an item of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{length} bytes are no content of {}", kind.contract())]
pub struct DecodeError {
    kind: ItemKind,
    length: usize,
}

impl DecodeError {
    pub(crate) fn new(kind: ItemKind, bytes: &[u8]) -> Self {
        Self { kind, length: bytes.len() }
    }
}

impl Content {
    pub fn kind(&self) -> ItemKind {
        match self {
            Self::Listing { .. } | Self::RetiredListing => ItemKind::Listing,
            Self::Identity { .. } | Self::RevokedIdentity => ItemKind::Identity,
            Self::Check { .. } => ItemKind::Check,
            Self::Anchor { .. } => ItemKind::Anchor,
        }
    }

    pub fn is_deleted(&self) -> bool {
        matches!(self, Self::RetiredListing | Self::RevokedIdentity | Self::Check { flags: None, .. })
    }

    /// The end of flags; other content stays.
    #[must_use]
    pub fn cleared(self) -> Self {
        match self {
            Self::Check { listing, applicant, .. } => Self::Check { listing, applicant, flags: None },
            other => other,
        }
    }

    /// The encoding in the database.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::RetiredListing | Self::RevokedIdentity => Vec::new(),
            Self::Listing { terms, digest } => {
                let numbers = [
                    terms.min_credit().units(),
                    terms.pref_credit().units(),
                    terms.min_income().units(),
                    terms.pref_income().units(),
                ];
                let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
                bytes.extend(digest);
                bytes
            }
            Self::Identity { holder, commitment } => [holder.as_slice(), commitment].concat(),
            Self::Check { listing, applicant, flags } => {
                let mut bytes = [*listing, *applicant].concat();
                if let Some(flags) = flags {
                    bytes.push(flags.passes.bits());
                    bytes.extend(flags.expiry_seconds().to_be_bytes());
                }
                bytes
            }
            Self::Anchor { head } => head.to_vec(),
        }
    }

    pub fn decode(kind: ItemKind, bytes: &[u8]) -> Result<Self, DecodeError> {
        let wrong = || DecodeError::new(kind, bytes);
        let word = |at: usize| -> Result<Word, DecodeError> {
            bytes.get(at..at + 32).and_then(|word| word.try_into().ok()).ok_or_else(wrong)
        };
        let number = |at: usize| -> Result<i64, DecodeError> {
            let eight = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
            eight.map(i64::from_be_bytes).ok_or_else(wrong)
        };
        Ok(match (kind, bytes.len()) {
            (ItemKind::Listing, 0) => Self::RetiredListing,
            (ItemKind::Listing, 64) => {
                let credit = |at| number(at).map(|points| Some(Credit::from_units(points)));
                let income = |at| number(at).map(|cents| Some(Income::from_units(cents)));
                let terms = Terms::new((credit(0)?, credit(8)?), (income(16)?, income(24)?));
                Self::Listing { terms: terms.map_err(|_| wrong())?, digest: word(32)? }
            }
            (ItemKind::Identity, 0) => Self::RevokedIdentity,
            (ItemKind::Identity, 52) => {
                Self::Identity { holder: Address::from_slice(&bytes[..20]), commitment: word(20)? }
            }
            (ItemKind::Check, 64) => Self::Check { listing: word(0)?, applicant: word(32)?, flags: None },
            (ItemKind::Check, 73) => {
                let flags = Some(CheckFlags::from_record(bytes[64], number(65)?.unsigned_abs()));
                Self::Check { listing: word(0)?, applicant: word(32)?, flags }
            }
            (ItemKind::Anchor, 32) => Self::Anchor { head: word(0)? },
            _ => return Err(wrong()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        let credit = (Some(Credit::from_units(620)), Some(Credit::from_units(700)));
        Terms::new(credit, (Some(Income::from_units(4_000_050)), None)).unwrap()
    }

    fn one_of_each() -> Vec<Content> {
        vec![
            Content::Listing { terms: terms(), digest: [7; 32] },
            Content::RetiredListing,
            Content::Identity { holder: Address::repeat_byte(3), commitment: [9; 32] },
            Content::RevokedIdentity,
            Content::Check {
                listing: [1; 32],
                applicant: [2; 32],
                flags: Some(CheckFlags::from_record(5, 1_800_000_000)),
            },
            Content::Check { listing: [1; 32], applicant: [2; 32], flags: None },
            Content::Anchor { head: [4; 32] },
        ]
    }

    #[test]
    fn content_round_trips_through_the_database() {
        for content in one_of_each() {
            assert_eq!(Content::decode(content.kind(), &content.encode()).unwrap(), content);
        }
    }
}
