//! API keys and their scopes. Secrets are not part of the domain.

use serde::Serialize;
use strum::{EnumString, IntoStaticStr, VariantNames};
use utoipa::ToSchema;

use crate::{AccountId, FaultCode, KeyId, Label, Timestamp, UserId, ValidationError, validation};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyScope {
    /// Everything.
    Operator,
    /// The users of one account.
    Account(AccountId),
    User(UserId),
}

/// Whom a key acts for: everybody, an account's users, or one user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr, EnumString, VariantNames, ToSchema)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    Operator,
    Account,
    User,
}

impl ScopeKind {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub fn parse(name: &str) -> Result<Self, ValidationError> {
        validation::parse_name(name, FaultCode::UnknownScope)
    }
}

impl KeyScope {
    pub fn kind(&self) -> ScopeKind {
        match self {
            Self::Operator => ScopeKind::Operator,
            Self::Account(_) => ScopeKind::Account,
            Self::User(_) => ScopeKind::User,
        }
    }

    /// The account or the user that a key of this scope is bound to.
    pub fn owner(&self) -> Option<&str> {
        match self {
            Self::Operator => None,
            Self::Account(account) => Some(account.as_str()),
            Self::User(user) => Some(user.as_str()),
        }
    }
}

/// A filter for keys; absent conditions match every key.
#[derive(Debug, Clone, Default)]
pub struct KeyFilter {
    pub scope: Option<ScopeKind>,
    /// The account or the user that they are bound to.
    pub owner: Option<Label>,
}

/// A key without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub id: KeyId,
    pub name: Label,
    pub scope: KeyScope,
    pub created_at: Timestamp,
    /// From then on it is not accepted; `None`: it does not expire.
    pub expires_at: Option<Timestamp>,
    /// To about a minute.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

impl Key {
    /// Whether it is accepted.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
    }
}
