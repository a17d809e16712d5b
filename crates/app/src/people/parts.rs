//! What identifies people and limits what they use.

use crate::people::keystore::Keystore;
use crate::people::limits::{Budgets, ChainReaders};
use crate::people::tokens::Tokens;

#[derive(Debug)]
pub(crate) struct PeopleParts {
    /// `None` in commands that need no keys.
    pub(crate) keystore: Option<Keystore>,
    pub(crate) tokens: Tokens,
    pub(crate) budgets: Budgets,
    pub(crate) chain_readers: ChainReaders,
}
