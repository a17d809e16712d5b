//! API keys (as digests) and users' accounts.

use portico_domain::keys::{Key, KeyScope};
use portico_domain::{AccountId, ErrorCode, KeyId, Text, Timestamp, UserId};

use crate::audit::{Entry, append};
use crate::counters::{ChangeContext, record};
use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, sql};
use crate::{Db, Error, Result};

static INSERT: Sql = sql(
    "INSERT INTO api_keys (seq, id, digest, name, scope, subject, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
);
static REVOKE: Sql = sql("UPDATE api_keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL");
macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT digest, id, name, scope, subject, created_at, revoked_at FROM api_keys", $rest)
    };
}
static GET: Sql = sql(select!(" WHERE id = ?1"));
static ALL: Sql = sql(select!(" ORDER BY seq"));
static OF_USER: Sql = sql(select!(" WHERE scope = 2 AND subject = ?1 ORDER BY seq"));
static COUNT_OF: Sql =
    sql("SELECT count(*) FROM api_keys WHERE scope = ?1 AND subject = ?2 AND revoked_at IS NULL");
/// Serializes key creation per subject.
static LOCK_SUBJECT: Sql = sql("INSERT INTO counters (scope, name, shard, n) VALUES (?1, ?2, 0, 0) \
     ON CONFLICT (scope, name, shard) DO UPDATE SET n = counters.n");
static JOIN: Sql = sql(
    "INSERT INTO members (user_id, account) VALUES (?1, ?2) ON CONFLICT (user_id) DO UPDATE SET account = excluded.account",
);
static ACCOUNT_OF: Sql = sql("SELECT account FROM members WHERE user_id = ?1");

#[derive(Debug, Clone)]
pub struct StoredKey {
    /// SHA-256 of the secret.
    pub digest: Vec<u8>,
    pub key: Key,
}

fn scope_columns(scope: &KeyScope) -> (i64, &str) {
    match scope {
        KeyScope::Operator => (0, ""),
        KeyScope::Account(account) => (1, account.as_str()),
        KeyScope::User(user) => (2, user.as_str()),
    }
}

fn scope_name(scope: i64) -> &'static str {
    match scope {
        0 => "keys.operator",
        1 => "keys.account",
        _ => "keys.user",
    }
}

impl FromRow for StoredKey {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let (digest, id, name) = (c.get()?, c.get()?, c.get()?);
        let scope = match (c.get::<i64>()?, c.get::<String>()?) {
            (0, _) => KeyScope::Operator,
            (1, account) => KeyScope::Account(AccountId::stored(account)),
            (2, user) => KeyScope::User(UserId::stored(user)),
            (other, _) => return Err(Error::Bug(format!("a key of the unknown scope {other}"))),
        };
        let key = Key { id, name, scope, created_at: c.get()?, revoked_at: c.get()? };
        Ok(Self { digest, key })
    }
}

#[derive(Debug)]
pub struct CreateKey {
    pub key: StoredKey,
    /// The maximum of active keys with the same scope.
    pub limit: Option<i64>,
    /// The audit entry, if any.
    pub entry: Option<Entry>,
    pub by: ChangeContext,
}

impl Op for CreateKey {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let StoredKey { digest, key } = &self.key;
        let (scope, subject) = scope_columns(&key.scope);
        if let Some(limit) = self.limit {
            tx.exec(&LOCK_SUBJECT, &[scope_name(scope).into(), subject.into()]).await?;
            let count = tx.one::<(i64,)>(&COUNT_OF, &[scope.into(), subject.into()]).await?;
            if count.is_some_and(|(keys,)| keys >= limit) {
                return Err(Error::Conflict(ErrorCode::TooManyKeys));
            }
        }
        let params = [
            tx.seq(),
            (&key.id).into(),
            digest.as_slice().into(),
            (&key.name).into(),
            scope.into(),
            subject.into(),
            key.created_at.into(),
        ];
        tx.exec(&INSERT, &params).await?;
        if let Some(entry) = &self.entry {
            append(tx, entry).await?;
        }
        record(tx, &self.by, "key.created", key.id.as_str(), &[]).await
    }
}

/// Permanent. Revoking a key again changes nothing.
#[derive(Debug)]
pub struct RevokeKey {
    pub id: KeyId,
    pub entry: Entry,
    pub by: ChangeContext,
}

impl Op for RevokeKey {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        if tx.exec(&REVOKE, &[(&self.id).into(), self.by.at.into()]).await? == 0 {
            let known = tx.one::<StoredKey>(&GET, &[(&self.id).into()]).await?;
            return known.map(drop).ok_or(Error::Missing(ErrorCode::KeyNotFound));
        }
        append(tx, &self.entry).await?;
        record(tx, &self.by, "key.revoked", self.id.as_str(), &[]).await
    }
}

/// Stores which account a user's token names.
#[derive(Debug)]
pub struct JoinAccount {
    pub user: UserId,
    pub account: AccountId,
    pub at: Timestamp,
}

impl Op for JoinAccount {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&JOIN, &[(&self.user).into(), (&self.account).into()]).await?;
        let by = ChangeContext { account: Some(self.account.clone()), at: self.at };
        record(tx, &by, "account.joined", self.account.as_str(), &[]).await
    }
}

impl Db {
    /// Revoked or not.
    pub async fn key(&self, id: &KeyId) -> Result<Option<StoredKey>> {
        self.one(&GET, &[id.into()]).await
    }

    /// All keys, or those bound to one user.
    pub async fn keys(&self, of: Option<&UserId>) -> Result<Vec<Key>> {
        let stored: Vec<StoredKey> = match of {
            Some(user) => self.read(&OF_USER, &[user.into()], Weight::Scan).await?,
            None => self.read(&ALL, &[], Weight::Scan).await?,
        };
        Ok(stored.into_iter().map(|stored| stored.key).collect())
    }

    /// The account that the user's token named, else the one with the user's name.
    pub async fn account_of(&self, user: &UserId) -> Result<AccountId> {
        let named = self.one::<(AccountId,)>(&ACCOUNT_OF, &[user.into()]).await?;
        Ok(named.map_or_else(|| Text::stored(user.as_str()), |(account,)| account))
    }
}
