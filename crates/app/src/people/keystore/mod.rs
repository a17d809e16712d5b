//! A key per person. Everything personal is sealed with it; destroying it erases the person in every copy of the
//! database.

mod instance;
mod person_keys;
mod rotation;
mod sealing;

pub use person_keys::{DestroyedKey, Keystore};
pub use portico_store::keystore::Moved;
pub use sealing::{PersonKey, Root};
