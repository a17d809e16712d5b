//! A key per person. Everything personal is sealed with it; destroying it erases the person in every copy of the
//! database.

mod deployment;
mod instance;
mod person_keys;
mod rotation;
mod sealing;

pub use deployment::{KeystoreMark, Secrets, check_place, mark, place};
pub use person_keys::Keystore;
pub use portico_store::keystore::Moved;
pub use sealing::{PersonKey, Root};
