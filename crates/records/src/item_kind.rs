//! Kinds of items.

use crate::word::{Token, Word};

/// Each kind has its own contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemKind {
    /// Terms and digest.
    Listing = 0,
    /// A soulbound token.
    Identity = 1,
    /// The commitment to an application's flags.
    Check = 2,
    /// The head of the audit log.
    Anchor = 3,
}

impl ItemKind {
    /// In deployment order.
    pub const ALL: [Self; 4] = [Self::Listing, Self::Identity, Self::Check, Self::Anchor];

    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i64 == number)
    }

    pub fn contract(self) -> &'static str {
        match self {
            Self::Listing => "ListingRegistry",
            Self::Identity => "IdentityToken",
            Self::Check => "ApplicationChecks",
            Self::Anchor => "AuditAnchor",
        }
    }

    /// Whether an end on the chain outlives what an older copy of the database says. A listing's does not: the database
    /// has the listing.
    pub fn ends_for_good(self) -> bool {
        matches!(self, Self::Identity | Self::Check)
    }

    /// The number of a token, from its key.
    pub fn token_of(self, key: &Word) -> Option<Token> {
        (self == Self::Identity).then(|| key[16..].try_into().ok()).flatten()
    }
}
