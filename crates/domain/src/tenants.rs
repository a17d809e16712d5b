//! Tenants: an account or a single user. Members share a pipeline, cases and what they learn about applicants.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{AccountId, UserId};

/// A user whose token names no account, or the users whose tokens name the same one. Both are named freely, so a user
/// and an account of the same name are two tenants.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Tenant {
    User(UserId),
    Account(AccountId),
}

const USER: &str = "user:";
const ACCOUNT: &str = "account:";

impl Tenant {
    /// As callers know it: the user or the account.
    pub fn name(&self) -> &str {
        match self {
            Self::User(user) => user.as_str(),
            Self::Account(account) => account.as_str(),
        }
    }

    /// The stored form, with its kind: `user:ada`, `account:acme`.
    pub fn stored(&self) -> String {
        match self {
            Self::User(user) => format!("{USER}{user}"),
            Self::Account(account) => format!("{ACCOUNT}{account}"),
        }
    }

    /// `None`: this is no stored tenant.
    pub fn from_stored(text: &str) -> Option<Self> {
        match (text.strip_prefix(USER), text.strip_prefix(ACCOUNT)) {
            (Some(user), _) => Some(Self::User(UserId::stored(user))),
            (None, Some(account)) => Some(Self::Account(AccountId::stored(account))),
            (None, None) => None,
        }
    }
}

impl Serialize for Tenant {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.stored())
    }
}

impl<'de> Deserialize<'de> for Tenant {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Self::from_stored(&text).ok_or_else(|| serde::de::Error::custom("not a stored tenant"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_account_of_one_name_are_stored_apart() {
        for name in ["acme", "user:acme", "account:acme", ""] {
            let tenants = [Tenant::User(UserId::stored(name)), Tenant::Account(AccountId::stored(name))];
            assert_ne!(tenants[0], tenants[1]);
            assert_ne!(tenants[0].stored(), tenants[1].stored());
            for tenant in tenants {
                assert_eq!(Tenant::from_stored(&tenant.stored()), Some(tenant.clone()));
                assert_eq!(tenant.name(), name);
            }
        }
        assert_eq!(Tenant::from_stored("acme"), None);
    }
}
