//! API keys: whom they may act for. The secret itself never comes here.

use crate::{AccountId, KeyId, Label, Timestamp, UserId};

/// Whom a key may act for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyScope {
    /// The operator's: for all.
    Operator,
    /// For the users of one account.
    Account(AccountId),
    User(UserId),
}

/// A key as it is listed: everything but the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    /// What it is for, in words.
    pub name: Label,
    /// Whom it may act for.
    pub scope: KeyScope,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}
