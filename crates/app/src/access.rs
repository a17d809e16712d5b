//! Who acts, and for whom they may act. Which operation is open to whom at all is the surface's table; whose
//! things they are is decided here, on every object.

use portico_domain::keys::KeyScope;
use portico_domain::{AccountId, KeyId, UserId};
use portico_store::JoinAccount;

use crate::{Error, Portico, Result};

/// Who makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    Anonymous,
    User {
        user: UserId,
        /// The token's account; the subject's own if the token names none.
        account: AccountId,
        /// May act for others.
        admin: bool,
    },
    /// Whoever works at the command line.
    Operator,
    /// A program with an API key.
    Key {
        /// The key's public part.
        id: KeyId,
        /// Whom it may act for.
        scope: KeyScope,
    },
}

impl Actor {
    /// The account on whose behalf this happens, if one is known.
    pub fn account(&self) -> Option<AccountId> {
        match self {
            Self::User { account, .. } | Self::Key { scope: KeyScope::Account(account), .. } => {
                Some(account.clone())
            }
            Self::Key { scope: KeyScope::User(user), .. } => Some(AccountId::stored(user.as_str())),
            Self::Anonymous | Self::Operator | Self::Key { scope: KeyScope::Operator, .. } => None,
        }
    }

    /// Whether this is the operator: a signed-in administrator, or a key that is bound to nobody.
    pub fn is_operator(&self) -> bool {
        matches!(
            self,
            Self::Operator | Self::User { admin: true, .. } | Self::Key { scope: KeyScope::Operator, .. }
        )
    }

    /// A name for the caller that is the same on every call; for scopes of idempotency keys.
    pub fn name(&self) -> String {
        match self {
            Self::Anonymous => "anonymous".into(),
            Self::Operator => "operator".into(),
            Self::User { user, account, .. } => format!("user\0{user}\0{account}"),
            Self::Key { id, .. } => format!("key\0{id}"),
        }
    }
}

const NOT_YOURS: Error = Error::Forbidden("this belongs to someone else");

impl Portico {
    /// Refuses a caller who may not act for the user. Where nobody need sign in, nobody is refused.
    pub async fn may_act_for(&self, actor: &Actor, user: &UserId) -> Result<()> {
        let allowed = match actor {
            Actor::Anonymous
            | Actor::Operator
            | Actor::User { admin: true, .. }
            | Actor::Key { scope: KeyScope::Operator, .. } => true,
            Actor::User { user: own, .. } | Actor::Key { scope: KeyScope::User(own), .. } => own == user,
            Actor::Key { scope: KeyScope::Account(account), .. } => {
                self.db.account_of(user).await? == *account
            }
        };
        if allowed { Ok(()) } else { Err(NOT_YOURS) }
    }

    /// Keeps in mind which account a user's token names, for the keys that are bound to that account.
    pub(crate) async fn remember_account(&self, actor: &Actor) -> Result<()> {
        if let Actor::User { user, account, .. } = actor
            && self.db.account_of(user).await? != *account
        {
            let (user, account) = (user.clone(), account.clone());
            self.db.write(JoinAccount { user, account, at: self.clock.now() }).await?;
        }
        Ok(())
    }
}
