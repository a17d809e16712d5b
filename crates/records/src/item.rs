//! Items, their keys, and the states that the service wants them in.

use alloy_primitives::keccak256;
use portico_domain::chain::Terms;
use portico_domain::listings::Listing;
use portico_domain::{ListingId, Timestamp};

use crate::content::{Content, DecodeError};
use crate::digest::listing_digest;
use crate::item_kind::ItemKind;
use crate::word::{Token, Word};

/// The desired state of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesiredItem {
    pub kind: ItemKind,
    pub key: Word,
    pub payload: Vec<u8>,
    pub deleted: bool,
    pub salt: Option<Word>,
    /// The version must be above this one, whatever the database has.
    pub above: i64,
    pub at: Timestamp,
    /// By the machine's clock; it is not sent earlier. `None`: it may be sent at once.
    pub due_at: Option<Timestamp>,
}

impl Content {
    pub fn desired(&self, key: Word, at: Timestamp) -> DesiredItem {
        let (kind, payload, deleted) = (self.kind(), self.encode(), self.is_deleted());
        DesiredItem { kind, key, payload, deleted, salt: None, above: 0, at, due_at: None }
    }
}

pub fn listing_key(id: &ListingId) -> Word {
    keccak256(id.as_str()).0
}

/// The salt keeps equal listings apart.
pub fn listing_item(listing: &Listing, terms: Terms, salt: Word, at: Timestamp) -> DesiredItem {
    let content = Content::Listing { terms, digest: listing_digest(&salt, listing) };
    DesiredItem { salt: Some(salt), ..content.desired(listing_key(&listing.id), at) }
}

pub fn retired_listing(id: &ListingId, at: Timestamp) -> DesiredItem {
    Content::RetiredListing.desired(listing_key(id), at)
}

/// The terms of a listing that is not retired.
pub fn listing_terms(payload: &[u8]) -> Result<Terms, DecodeError> {
    match Content::decode(ItemKind::Listing, payload)? {
        Content::Listing { terms, .. } => Ok(terms),
        _ => Err(DecodeError::new(ItemKind::Listing, payload)),
    }
}

pub fn token_key(token: &Token) -> Word {
    let mut key = Word::default();
    key[16..].copy_from_slice(token);
    key
}

/// A token with its holder's address and its name commitment.
pub fn held_token(token: &Token, holder: [u8; 20], commitment: Word, at: Timestamp) -> DesiredItem {
    Content::Identity { holder: holder.into(), commitment }.desired(token_key(token), at)
}

pub fn revoked_token(token: &Token, at: Timestamp) -> DesiredItem {
    Content::RevokedIdentity.desired(token_key(token), at)
}

/// `None`: the token is revoked.
pub fn token_commitment(payload: &[u8]) -> Result<Option<Word>, DecodeError> {
    match Content::decode(ItemKind::Identity, payload)? {
        Content::Identity { commitment, .. } => Ok(Some(commitment)),
        _ => Ok(None),
    }
}
