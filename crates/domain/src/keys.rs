//! API keys and their scopes. Secrets are not part of the domain.

use crate::{AccountId, KeyId, Label, Timestamp, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyScope {
    /// Everything.
    Operator,
    /// The users of one account.
    Account(AccountId),
    User(UserId),
}

/// A key without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    pub name: Label,
    pub scope: KeyScope,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}
