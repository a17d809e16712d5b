//! The content of items, and its encoding in the database.

use alloy_primitives::Address;
use portico_domain::chain::Terms;
use portico_domain::{Credit, Income};

use crate::commitment::Commitment;
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
    Check(Commitment),
    ClearedCheck,
    Anchor {
        head: Word,
    },
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
            Self::Check(_) | Self::ClearedCheck => ItemKind::Check,
            Self::Anchor { .. } => ItemKind::Anchor,
        }
    }

    pub fn is_deleted(&self) -> bool {
        matches!(self, Self::RetiredListing | Self::RevokedIdentity | Self::ClearedCheck)
    }

    /// The encoding in the database.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::RetiredListing | Self::RevokedIdentity | Self::ClearedCheck => Vec::new(),
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
            Self::Check(Commitment { hash, expiry_day }) => [&hash[..], &expiry_day.to_be_bytes()].concat(),
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
            (ItemKind::Check, 0) => Self::ClearedCheck,
            (ItemKind::Check, 24) => {
                let (hash, day) = bytes.split_at(20);
                let hash = hash.try_into().map_err(|_| wrong())?;
                let expiry_day = u32::from_be_bytes(day.try_into().map_err(|_| wrong())?);
                Self::Check(Commitment { hash, expiry_day })
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
            Content::Check(Commitment { hash: [5; 20], expiry_day: 20_800 }),
            Content::ClearedCheck,
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
