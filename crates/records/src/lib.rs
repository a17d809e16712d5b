//! What the chain records: the kinds of items with their keys, contents and digests. Pure functions, without a
//! database or a node: the store encodes items with them inside its transactions, and `portico-chain` builds contract
//! calls from the same encoding.

mod commitment;
mod content;
mod digest;
mod item;
mod item_kind;
mod word;

pub use commitment::{CheckFlags, Commitment};
pub use content::{Content, DecodeError};
pub use digest::{PublicContent, content_digest, listing_digest, public_content};
pub use item::{
    DesiredItem, held_token, listing_item, listing_key, listing_terms, retired_listing, revoked_token,
    token_commitment, token_key,
};
pub use item_kind::ItemKind;
pub use word::{Token, Word};
