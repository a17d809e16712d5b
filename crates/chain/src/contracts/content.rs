//! What an item says, and how the database keeps it.

use alloy_primitives::Address;
use portico_domain::chain::{Passes, Terms};
use portico_domain::{Credit, Income, Timestamp};
use portico_store::chain::{DesiredItem, Word};

use super::Kind;
use crate::{Error, Result};

/// What an item says. In the database it is a few bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A listing's terms and the digest of its content.
    Listing {
        /// What it asks for.
        terms: Terms,
        digest: Word,
    },
    /// A listing that is gone.
    RetiredListing,
    Identity {
        holder: Address,
        /// The commitment to the name; zero while nothing is verified.
        commitment: Word,
    },
    /// A token that is gone.
    RevokedIdentity,
    /// The flags of an application; none: they are cleared.
    Check { listing: Word, applicant: Word, passes: Option<Passes> },
    /// The head of the audit log.
    Anchor { head: Word },
}

impl Content {
    /// The kind of the item.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Listing { .. } | Self::RetiredListing => Kind::Listing,
            Self::Identity { .. } | Self::RevokedIdentity => Kind::Identity,
            Self::Check { .. } => Kind::Check,
            Self::Anchor { .. } => Kind::Anchor,
        }
    }

    /// Whether the item is to be gone.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::RetiredListing | Self::RevokedIdentity | Self::Check { passes: None, .. })
    }

    /// What the database is told to want of a key.
    pub fn wanted(&self, key: Word, at: Timestamp) -> DesiredItem {
        let (kind, payload, gone) = (self.kind().number(), self.encode(), self.is_gone());
        DesiredItem { kind, key, payload, gone, salt: None, above: 0, at }
    }

    /// The bytes that are kept in the database.
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

    /// Reads what [`encode`](Self::encode) has written.
    pub fn decode(kind: Kind, bytes: &[u8]) -> Result<Self> {
        let wrong = || Error::Bug(format!("an item of {} is {} bytes long", kind.contract(), bytes.len()));
        let word = |at: usize| -> Result<Word> {
            bytes.get(at..at + 32).and_then(|word| word.try_into().ok()).ok_or_else(wrong)
        };
        let number = |at: usize| -> Result<i64> {
            let eight = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
            eight.map(i64::from_be_bytes).ok_or_else(wrong)
        };
        Ok(match (kind, bytes.len()) {
            (Kind::Listing, 0) => Self::RetiredListing,
            (Kind::Listing, 64) => {
                let credit = |at| number(at).map(|points| Some(Credit::from_units(points)));
                let income = |at| number(at).map(|cents| Some(Income::from_units(cents)));
                let terms = Terms::new((credit(0)?, credit(8)?), (income(16)?, income(24)?));
                Self::Listing { terms: terms.map_err(|_| wrong())?, digest: word(32)? }
            }
            (Kind::Identity, 0) => Self::RevokedIdentity,
            (Kind::Identity, 52) => {
                Self::Identity { holder: Address::from_slice(&bytes[..20]), commitment: word(20)? }
            }
            (Kind::Check, 64 | 65) => Self::Check {
                listing: word(0)?,
                applicant: word(32)?,
                passes: bytes.get(64).map(|bits| Passes::from_bits(*bits)),
            },
            (Kind::Anchor, 32) => Self::Anchor { head: word(0)? },
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
    fn every_content_survives_the_database() {
        for content in one_of_each() {
            assert_eq!(Content::decode(content.kind(), &content.encode()).unwrap(), content);
        }
    }
}
