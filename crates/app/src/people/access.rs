//! Callers and their permissions. The HTTP layer rejects callers without credentials early, by its table; every use
//! case checks the rules here, whatever the surface.

use std::borrow::Cow;

use portico_domain::keys::KeyScope;
use portico_domain::{Tenant, UserId};
use portico_store::JoinTenant;

use crate::caller::{Actor, require_operator};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::profile::AccessTable;

const NOT_YOURS: Error = Error::Forbidden("this belongs to someone else");

impl Core {
    /// Only an open sandbox admits anonymous callers.
    pub(crate) fn allow_anonymous(&self) -> Result<()> {
        match self.access {
            AccessTable::Open => Ok(()),
            AccessTable::Live => {
                Err(Error::Unauthenticated(Cow::Borrowed("a bearer token or an API key is needed")))
            }
        }
    }

    pub(crate) async fn may_act_for(&self, actor: &Actor, user: &UserId) -> Result<()> {
        let allowed = match actor {
            Actor::Anonymous => return self.allow_anonymous(),
            Actor::Key { scope: KeyScope::Account(account), .. } => {
                self.db.tenant_of(user).await? == Tenant::Account(account.clone())
            }
            actor => actor.is_user(user) || actor.is_operator(),
        };
        if allowed { Ok(()) } else { Err(NOT_YOURS) }
    }

    /// What a person shares with others and learns from them: for themselves, by token or key, and for the operator. A
    /// key of an account reaches what the account owns, never what its members do for themselves.
    pub(crate) fn may_read_person(&self, actor: &Actor, user: &UserId) -> Result<()> {
        match actor {
            Actor::Anonymous => self.allow_anonymous(),
            actor if actor.is_user(user) || actor.is_operator() => Ok(()),
            _ => Err(NOT_YOURS),
        }
    }

    /// Data about all users: for the operator, and in an open sandbox for everyone.
    pub(crate) fn may_see_all_users(&self, actor: &Actor) -> Result<()> {
        match (self.access, actor) {
            (AccessTable::Live, Actor::Anonymous) => self.allow_anonymous(),
            (AccessTable::Live, actor) => require_operator(actor),
            (AccessTable::Open, _) => Ok(()),
        }
    }

    /// Predefined portfolios: for the operator, and in an open sandbox also for anonymous callers.
    pub(crate) fn may_edit_templates(&self, actor: &Actor) -> Result<()> {
        match actor {
            Actor::Anonymous => self.allow_anonymous(),
            actor => require_operator(actor),
        }
    }

    /// Call before reading a tenant's rows: an account named like the user may take over the user's own rows.
    pub(crate) async fn resolve_tenant(&self, actor: &Actor) -> Result<()> {
        match actor {
            Actor::User { user, tenant: Tenant::Account(account), .. }
                if account.as_str() == user.as_str() =>
            {
                self.remember_tenant(actor).await
            }
            _ => Ok(()),
        }
    }

    /// Stores for which tenant a user's token is, for the keys that are bound to an account.
    pub(crate) async fn remember_tenant(&self, actor: &Actor) -> Result<()> {
        if let Actor::User { user, tenant, .. } = actor
            && self.db.tenant_of(user).await? != *tenant
        {
            let (user, tenant) = (user.clone(), tenant.clone());
            self.db.write(JoinTenant { user, tenant, at: self.clock.now() }).await?;
        }
        Ok(())
    }
}

/// Anybody with a credential, also in a sandbox.
pub(crate) fn require_credential(actor: &Actor) -> Result<()> {
    match actor {
        Actor::Anonymous => {
            Err(Error::Unauthenticated(Cow::Borrowed("a bearer token or an API key is needed")))
        }
        _ => Ok(()),
    }
}

/// The user of a bearer token and the token's tenant.
pub(crate) fn signed_in(actor: &Actor) -> Result<(&UserId, &Tenant)> {
    match actor {
        Actor::User { user, tenant, .. } => Ok((user, tenant)),
        _ => Err(Error::Unauthenticated(Cow::Borrowed("a bearer token is needed"))),
    }
}
