//! The chain: a client for the contracts over a small [`Node`] trait, the nodes, and the writer that keeps database
//! and chain consistent.
//!
//! Delivery is at least once, into contracts that accept every version of an item once. The database holds the
//! desired state, and whatever is lost on the way is sent again.

mod any;
pub mod binding;
pub mod block_cache;
pub mod catch_up;
pub mod contracts;
pub mod custody;
pub mod deploy;
pub mod embedded;
mod error;
pub mod node;
pub mod orphans;
pub mod reads;
pub mod reconcile;
pub mod remote;
pub mod retry;
pub mod setup;
pub mod signer;
pub mod wallet;
pub mod writer;

pub use any::AnyNode;
pub use error::{Error, Result};
pub use node::Node;
