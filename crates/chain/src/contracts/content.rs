//! The content of items, and its encoding in the database.

use alloy_primitives::Address;
use portico_domain::chain::{Passes, Terms};
use portico_domain::{Credit, Income, Timestamp};
use portico_store::chain::{DesiredItem, Word};

use super::ItemKind;
use crate::{Error, Result};

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
        passes: Option<Passes>,
    },
    Anchor {
        head: Word,
    },
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
        matches!(self, Self::RetiredListing | Self::RevokedIdentity | Self::Check { passes: None, .. })
    }

    pub fn desired(&self, key: Word, at: Timestamp) -> DesiredItem {
        let (kind, payload, deleted) = (self.kind().number(), self.encode(), self.is_deleted());
        DesiredItem { kind, key, payload, deleted, salt: None, above: 0, at }
    }

    /// The end of flags; other content stays.
    #[must_use]
    pub fn cleared(self) -> Self {
        match self {
            Self::Check { listing, applicant, .. } => Self::Check { listing, applicant, passes: None },
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
            Self::Check { listing, applicant, passes } => {
                let mut bytes = [*listing, *applicant].concat();
                bytes.extend(passes.map(Passes::bits));
                bytes
            }
            Self::Anchor { head } => head.to_vec(),
        }
    }

    pub fn decode(kind: ItemKind, bytes: &[u8]) -> Result<Self> {
        let wrong = || Error::Bug(format!("an item of {} is {} bytes long", kind.contract(), bytes.len()));
        let word = |at: usize| -> Result<Word> {
            bytes.get(at..at + 32).and_then(|word| word.try_into().ok()).ok_or_else(wrong)
        };
        let number = |at: usize| -> Result<i64> {
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
            (ItemKind::Check, 64 | 65) => Self::Check {
                listing: word(0)?,
                applicant: word(32)?,
                passes: bytes.get(64).map(|bits| Passes::from_bits(*bits)),
            },
            (ItemKind::Anchor, 32) => Self::Anchor { head: word(0)? },
            _ => return Err(wrong()),
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn terms() -> Terms {
        let credit = (Some(Credit::from_units(620)), Some(Credit::from_units(700)));
        Terms::new(credit, (Some(Income::from_units(4_000_050)), None)).unwrap()
    }

    pub(in crate::contracts) fn one_of_each() -> Vec<Content> {
        vec![
            Content::Listing { terms: terms(), digest: [7; 32] },
            Content::RetiredListing,
            Content::Identity { holder: Address::repeat_byte(3), commitment: [9; 32] },
            Content::RevokedIdentity,
            Content::Check { listing: [1; 32], applicant: [2; 32], passes: Some(Passes::from_bits(5)) },
            Content::Check { listing: [1; 32], applicant: [2; 32], passes: None },
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
