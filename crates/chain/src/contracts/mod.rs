//! The contracts, as this program speaks to them: their interface, their code, and the items that go in.

mod calls;
mod content;
mod digest;
mod kind;

use alloy_primitives::{B256, keccak256};
use alloy_sol_types::SolValue;
use portico_domain::{ListingId, Timestamp};
use portico_store::chain::{DesiredItem, Word};

pub use calls::{calldata, carried, rejected};
pub use content::Content;
pub use digest::{listing_digest, public_content};
pub use kind::{Contracts, Kind};

/// The listing registry.
pub mod registry {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        ListingRegistry,
        "../../contracts/artifacts/ListingRegistry.json"
    );
    pub use IListingRegistry::{Item, Record};
    pub use ListingRegistry::*;
}

/// The identity token.
pub mod identity {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        IdentityToken,
        "../../contracts/artifacts/IdentityToken.json"
    );
    pub use IIdentityToken::{Identity, Item};
    pub use IdentityToken::*;
}

/// The application checks.
pub mod checks {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        ApplicationChecks,
        "../../contracts/artifacts/ApplicationChecks.json"
    );
    pub use ApplicationChecks::*;
    pub use IApplicationChecks::{Item, Pair, Record};
}

/// The anchor of the audit log.
pub mod anchor {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        AuditAnchor,
        "../../contracts/artifacts/AuditAnchor.json"
    );
    pub use AuditAnchor::*;
    pub use IAuditAnchor::{Anchor, Item};
}

/// By what the chain knows a listing.
pub fn listing_key(id: &ListingId) -> Word {
    keccak256(id.as_str()).0
}

/// By what the chain knows the flags of an applicant (a random reference) for a listing.
pub fn check_key(listing: &Word, applicant: &Word) -> Word {
    keccak256((B256::from(*listing), B256::from(*applicant)).abi_encode()).0
}

/// What is wanted on the chain of the flags of an application that has ended.
pub fn cleared_check(listing: &ListingId, applicant: &Word, at: Timestamp) -> DesiredItem {
    let listing = listing_key(listing);
    let content = Content::Check { listing, applicant: *applicant, passes: None };
    content.wanted(check_key(&listing, applicant), at)
}

/// By what the chain knows a token: its number.
pub fn token_key(token: &[u8; 16]) -> Word {
    let mut key = Word::default();
    key[16..].copy_from_slice(token);
    key
}
