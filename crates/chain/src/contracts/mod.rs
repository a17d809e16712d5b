//! The contracts: their interfaces, code and items.

mod calls;
mod content;
mod digest;
mod item_kind;

use alloy_primitives::{B256, keccak256};
use alloy_sol_types::SolValue;
use portico_domain::{ListingId, Timestamp};
use portico_store::chain::{DesiredItem, Word};

pub(crate) use calls::written;
pub use calls::{calldata, items_in_call, rejected, stale};
pub use content::{CheckFlags, Content};
pub use digest::{PublicContent, content_digest, listing_digest, public_content};
pub use item_kind::{Contracts, ItemKind};

pub mod registry {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        ListingRegistry,
        "../../contracts/artifacts/ListingRegistry.json"
    );
    pub use IListingRegistry::{Item, Record};
    pub use ListingRegistry::*;
}

pub mod identity {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        IdentityToken,
        "../../contracts/artifacts/IdentityToken.json"
    );
    pub use IIdentityToken::{Identity, Item};
    pub use IdentityToken::*;
}

pub mod checks {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        ApplicationChecks,
        "../../contracts/artifacts/ApplicationChecks.json"
    );
    pub use ApplicationChecks::*;
    pub use IApplicationChecks::{Item, Pair, Record};
}

pub mod anchor {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        AuditAnchor,
        "../../contracts/artifacts/AuditAnchor.json"
    );
    pub use AuditAnchor::*;
    pub use IAuditAnchor::{Anchor, Item};
}

pub fn listing_key(id: &ListingId) -> Word {
    keccak256(id.as_str()).0
}

/// The applicant is a random reference.
pub fn check_key(listing: &Word, applicant: &Word) -> Word {
    keccak256((B256::from(*listing), B256::from(*applicant)).abi_encode()).0
}

/// Clears the flags of an ended application.
pub fn cleared_check(listing: &ListingId, applicant: &Word, at: Timestamp) -> DesiredItem {
    let listing = listing_key(listing);
    let content = Content::Check { listing, applicant: *applicant, flags: None };
    content.desired(check_key(&listing, applicant), at)
}

/// The token's number.
pub fn token_key(token: &[u8; 16]) -> Word {
    let mut key = Word::default();
    key[16..].copy_from_slice(token);
    key
}
