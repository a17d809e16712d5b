//! The chain: the contracts' client, written once over a small [`Node`] trait; the nodes; and the writer that
//! makes database and chain agree.
//!
//! Delivery is at least once into contracts that take every version of an item once. So the database says what
//! is wanted, and whatever is lost on the way is simply sent again.

mod any;
pub mod contracts;
pub mod custody;
pub mod deploy;
pub mod embedded;
mod error;
pub mod node;
pub mod reads;
pub mod reconcile;
pub mod remote;
pub mod signer;
pub mod writer;

pub use any::AnyNode;
pub use error::{Error, Result};
pub use node::Node;
