//! Tenants: which account a user belongs to.

use portico_domain::{Tenant, Timestamp, UserId};

use crate::engine::counters::{ChangeContext, record};
use crate::engine::db::Db;
use crate::engine::error::Result;
use crate::engine::sql::{Op, Sql, Tx, sql, statements};

static JOIN: Sql = sql(
    "INSERT INTO members (user_id, account) VALUES (?1, ?2) ON CONFLICT (user_id) DO UPDATE SET account = excluded.account",
);
static TENANT_OF: Sql = sql("SELECT account FROM members WHERE user_id = ?1");

/// Stores for which tenant a user's token is.
#[derive(Debug)]
pub struct JoinTenant {
    pub user: UserId,
    pub tenant: Tenant,
    pub at: Timestamp,
}

impl Op for JoinTenant {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let account = self.tenant.stored();
        tx.exec(&JOIN, &[(&self.user).into(), account.as_str().into()]).await?;
        let by = ChangeContext { account: Some(self.tenant.clone()), at: self.at };
        record(tx, &by, "account.joined", &account, &[]).await
    }
}

impl Db {
    /// The tenant that the user's last token was for; users are tenants of their own until then.
    pub async fn tenant_of(&self, user: &UserId) -> Result<Tenant> {
        let named = self.one::<(Option<Tenant>,)>(&TENANT_OF, &[user.into()]).await?;
        Ok(named.and_then(|(tenant,)| tenant).unwrap_or_else(|| Tenant::User(user.clone())))
    }
}

statements! { JOIN, TENANT_OF }
