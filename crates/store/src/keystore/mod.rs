//! The keystore: one wrapped key per person, stored separately so that backups can leave it out. Erasing a key makes
//! the person's data unreadable everywhere. `portico-app` wraps and unwraps the keys.

pub(crate) mod moving;
pub(crate) mod relocation;
pub(crate) mod store;

pub use relocation::Moved;
pub use store::{Erasure, Keystore, Master, PersonId, Rotation, Wrapped};
