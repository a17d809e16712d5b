//! API keys, as digests.

use portico_domain::keys::{Key, KeyFilter, KeyScope, ScopeKind};
use portico_domain::{AccountId, ErrorCode, KeyId, Timestamp, UserId};

use crate::audit::{Entry, append};
use crate::engine::counters::{ChangeContext, record};
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::page::{Cursor, Page};
use crate::engine::page::{as_limit, weight};
use crate::engine::sql::{
    Columns, FromRow, Op, Param, Row, Sql, Tx, Weight, params, row, select, sql, statements,
};

static INSERT: Sql =
    sql("INSERT INTO api_keys (seq, id, digest, name, scope, subject, created_at, expires_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
static REVOKED: Sql =
    select::<Revocation>("SELECT {columns} FROM api_keys WHERE revoked_at IS NOT NULL ORDER BY seq");
static REVOKE: Sql = sql("UPDATE api_keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL");
static GET: Sql = select::<StoredKey>("SELECT {columns} FROM api_keys WHERE id = ?1");
static ALL: Sql = select::<StoredKey>("SELECT {columns} FROM api_keys ORDER BY seq");
static NEWEST: Sql = select::<StoredKey>(
    "SELECT {columns}, -seq, -seq FROM api_keys WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2",
);
static NEWEST_OF_SCOPE: Sql = select::<StoredKey>(
    "SELECT {columns}, -seq, -seq FROM api_keys WHERE scope = ?3 AND seq < ?1 ORDER BY seq DESC LIMIT ?2",
);
static NEWEST_OF_OWNER: Sql = select::<StoredKey>(
    "SELECT {columns}, -seq, -seq FROM api_keys WHERE scope = ?3 AND subject = ?4 AND seq < ?1 ORDER BY seq DESC LIMIT ?2",
);
static NEWEST_OF_NAMESAKES: Sql = select::<StoredKey>(
    "SELECT {columns}, -seq, -seq FROM api_keys WHERE subject = ?3 AND seq < ?1 ORDER BY seq DESC LIMIT ?2",
);
static OF_USER: Sql =
    select::<StoredKey>("SELECT {columns} FROM api_keys WHERE scope = 2 AND subject = ?1 ORDER BY seq");
static COUNT_OF: Sql =
    sql("SELECT count(*) FROM api_keys WHERE scope = ?1 AND subject = ?2 AND revoked_at IS NULL \
     AND (expires_at IS NULL OR expires_at > ?3)");
static NOTE_USE: Sql = sql("UPDATE api_keys SET last_used_at = ?2 WHERE id = ?1 \
     AND (last_used_at IS NULL OR last_used_at < ?2)");
/// For a user's scope, as in `scope_columns`.
static REVOKE_ALL_OF_USER: Sql =
    sql("UPDATE api_keys SET revoked_at = ?2 WHERE scope = 2 AND subject = ?1 AND revoked_at IS NULL");
/// Serializes key creation per subject.
static LOCK_SUBJECT: Sql = sql("INSERT INTO counters (scope, name, shard, n) VALUES (?1, ?2, 0, 0) \
     ON CONFLICT (scope, name, shard) DO UPDATE SET n = counters.n");

#[derive(Debug, Clone)]
pub struct StoredKey {
    /// SHA-256 of the secret.
    pub digest: Vec<u8>,
    pub key: Key,
}

fn scope_column(kind: ScopeKind) -> i64 {
    match kind {
        ScopeKind::Operator => 0,
        ScopeKind::Account => 1,
        ScopeKind::User => 2,
    }
}

fn scope_columns(scope: &KeyScope) -> (i64, &str) {
    (scope_column(scope.kind()), scope.owner().unwrap_or_default())
}

fn scope_name(scope: i64) -> &'static str {
    match scope {
        0 => "keys.operator",
        1 => "keys.account",
        _ => "keys.user",
    }
}

impl FromRow for StoredKey {
    const COLUMNS: &'static str =
        "digest, id, name, scope, subject, created_at, expires_at, last_used_at, revoked_at";

    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let (digest, id, name) = (c.get()?, c.get()?, c.get()?);
        let scope = match (c.get::<i64>()?, c.get::<String>()?) {
            (0, _) => KeyScope::Operator,
            (1, account) => KeyScope::Account(AccountId::stored(account)),
            (2, user) => KeyScope::User(UserId::stored(user)),
            (other, _) => return Err(Error::Bug(format!("a key of the unknown scope {other}"))),
        };
        let (created_at, expires_at) = (c.get()?, c.get()?);
        let (last_used_at, revoked_at) = (c.get()?, c.get()?);
        let key = Key { id, name, scope, created_at, expires_at, last_used_at, revoked_at };
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
            let count =
                tx.one::<(i64,)>(&COUNT_OF, &[scope.into(), subject.into(), key.created_at.into()]).await?;
            if count.is_some_and(|(keys,)| keys >= limit) {
                return Err(Error::Conflict(ErrorCode::TooManyKeys));
            }
        }
        let params = params![
            tx.context().seq(),
            &key.id,
            digest.as_slice(),
            &key.name,
            scope,
            subject,
            key.created_at,
            key.expires_at
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

/// A key that was revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    pub key: KeyId,
    pub at: Timestamp,
}

row!(Revocation { key = "id", at = "revoked_at" });

/// Reads every revocation.
pub(crate) struct ReadRevocations;

impl Op for ReadRevocations {
    type Out = Vec<Revocation>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Revocation>> {
        tx.rows(&REVOKED, &[]).await
    }
}

/// Revokes the keys again that a restored database has as valid, and were revoked in the one that it replaces.
#[derive(Debug)]
pub struct RevokeAgain {
    pub revoked: Vec<Revocation>,
    /// For each key, which becomes its subject.
    pub entry: Entry,
    pub by: ChangeContext,
}

impl Op for RevokeAgain {
    /// How many keys were valid.
    type Out = usize;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<usize> {
        let mut count = 0;
        for Revocation { key, at } in &self.revoked {
            if tx.exec(&REVOKE, &[key.into(), (*at).into()]).await? > 0 {
                append(tx, &Entry { subject: key.to_string(), ..self.entry.clone() }).await?;
                record(tx, &self.by, "key.revoked", key.as_str(), &[]).await?;
                count += 1;
            }
        }
        Ok(count)
    }
}

/// Stores that a key was used. Not an event: callers limit how often.
#[derive(Debug)]
pub struct NoteKeyUse {
    pub id: KeyId,
    pub at: Timestamp,
}

impl Op for NoteKeyUse {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&NOTE_USE, &[(&self.id).into(), self.at.into()]).await.map(drop)
    }
}

/// Part of erasing a person.
pub(crate) async fn revoke_keys_of<T: Tx>(tx: &mut T, user: &UserId, at: Timestamp) -> Result<()> {
    tx.exec(&REVOKE_ALL_OF_USER, &[user.into(), at.into()]).await.map(drop)
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

    /// Those that match, newest first.
    pub async fn newest_keys(
        &self,
        filter: &KeyFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Key>> {
        let before = Cursor::before(after).seq;
        let scope = filter.scope.map(scope_column).map(Param::Int);
        let owner = filter.owner.as_ref().map(|owner| Param::Text(owner.as_str()));
        // Without an index that fits, a rare owner is looked for among all keys.
        let (sql, weight) = match (&scope, &owner) {
            (None, None) => (&NEWEST, weight(limit)),
            (Some(_), Some(_)) => (&NEWEST_OF_OWNER, weight(limit)),
            (Some(_), None) => (&NEWEST_OF_SCOPE, Weight::Scan),
            (None, Some(_)) => (&NEWEST_OF_NAMESAKES, Weight::Scan),
        };
        let mut params = vec![before.into(), (as_limit(limit) + 1).into()];
        params.extend(scope.into_iter().chain(owner));
        let page = Page::cut(self.read(sql, &params, weight).await?, limit);
        Ok(page.map(|stored: StoredKey| stored.key))
    }
}

statements! {
    INSERT, REVOKED, REVOKE, GET, ALL, NEWEST, NEWEST_OF_SCOPE, NEWEST_OF_OWNER, NEWEST_OF_NAMESAKES,
    OF_USER, COUNT_OF, NOTE_USE, REVOKE_ALL_OF_USER, LOCK_SUBJECT
}
