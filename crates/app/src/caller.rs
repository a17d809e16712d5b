//! Who calls, and with which idempotency key. Every public method of a service takes a [`CallContext`].

use std::net::IpAddr;

use portico_domain::keys::KeyScope;
use portico_domain::{KeyId, Tenant, UserId};

use crate::error::{Error, Result};

/// The caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    Anonymous,
    User {
        user: UserId,
        /// The token's account; the user if the token names none.
        tenant: Tenant,
        /// May act for others.
        admin: bool,
    },
    /// The command line.
    Operator,
    /// A program with an API key.
    Key {
        id: KeyId,
        scope: KeyScope,
    },
}

impl Actor {
    /// On whose behalf the caller acts, if known.
    pub fn tenant(&self) -> Option<Tenant> {
        match self {
            Self::User { tenant, .. } => Some(tenant.clone()),
            Self::Key { scope: KeyScope::Account(account), .. } => Some(Tenant::Account(account.clone())),
            Self::Key { scope: KeyScope::User(user), .. } => Some(Tenant::User(user.clone())),
            Self::Anonymous | Self::Operator | Self::Key { scope: KeyScope::Operator, .. } => None,
        }
    }

    /// A signed-in administrator, or a key without an owner.
    pub fn is_operator(&self) -> bool {
        matches!(
            self,
            Self::Operator | Self::User { admin: true, .. } | Self::Key { scope: KeyScope::Operator, .. }
        )
    }

    /// By their own token. A key that acts for a user is not the user.
    pub(crate) fn is_signed_in_as(&self, user: &UserId) -> bool {
        matches!(self, Self::User { user: own, .. } if own == user)
    }

    /// By a token, or by a key that is bound to the user.
    pub(crate) fn is_user(&self, user: &UserId) -> bool {
        matches!(self, Self::User { user: own, .. } | Self::Key { scope: KeyScope::User(own), .. } if own == user)
    }

    /// Stable across calls and versions; part of the scope of idempotency keys.
    pub fn name(&self) -> String {
        match self {
            Self::Anonymous => "anonymous".into(),
            Self::Operator => "operator".into(),
            Self::User { user, tenant: Tenant::Account(account), .. }
                if account.as_str() == user.as_str() =>
            {
                format!("user\0{user}\0account\0{account}")
            }
            Self::User { user, tenant, .. } => format!("user\0{user}\0{}", tenant.name()),
            Self::Key { id, .. } => format!("key\0{id}"),
        }
    }
}

/// In every profile.
pub(crate) fn require_operator(actor: &Actor) -> Result<()> {
    if actor.is_operator() { Ok(()) } else { Err(Error::Forbidden("this is for the operator")) }
}

#[derive(Debug, Clone)]
pub struct CallContext {
    pub actor: Actor,
    /// The idempotency key, if the caller sent one.
    pub idempotency_key: Option<IdempotencyKey>,
    /// The caller's network, where one is known: what an anonymous caller uses is counted by it.
    pub network: Option<IpAddr>,
}

impl CallContext {
    pub const fn new(actor: Actor) -> Self {
        Self { actor, idempotency_key: None, network: None }
    }
}

/// Both parts are digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// Caller, route and key.
    pub scope: [u8; 32],
    pub fingerprint: [u8; 32],
}
