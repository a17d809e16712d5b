//! Cases: each has one soulbound token, whose number is chosen here and known before anything is mined.

use portico_domain::{AccountId, CaseId, ErrorCode, Timestamp, UserId};

use crate::audit::{Entry, append};
use crate::chain::{Address, DesiredItem, want, word};
use crate::counters::{ChangeContext, record};
use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, sql};
use crate::{Db, Error, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    pub id: CaseId,
    /// Whose account opened it.
    pub account: AccountId,
    /// Whom it is about.
    pub user: UserId,
    pub token: [u8; 16],
    /// Whose token it is on the chain.
    pub holder: Address,
    /// The sealed key of the name's commitment; none: the person was erased.
    pub secret: Option<Vec<u8>>,
    /// When the token was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl FromRow for Case {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self {
            id: c.get()?,
            account: c.get()?,
            user: c.get()?,
            token: word(&c.get::<Vec<u8>>()?)?,
            holder: word(&c.get::<Vec<u8>>()?)?,
            secret: c.get()?,
            revoked_at: c.get()?,
        })
    }
}

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT id, account, user_id, token, holder, secret, revoked_at FROM cases", $rest)
    };
}
static GET: Sql = sql(select!(" WHERE id = ?1"));
static BY_TOKEN: Sql = sql(select!(" WHERE token = ?1"));
static OF_USER: Sql = sql(select!(" WHERE user_id = ?1 ORDER BY created_at"));
static UNFINISHED: Sql = sql(select!(
    " WHERE user_id = ?1 AND account = ?2 AND made = 1 AND done = 0 AND revoked_at IS NULL ORDER BY created_at LIMIT 1"
));
static INSERT: Sql = sql("INSERT INTO cases \
     (id, account, user_id, token, holder, custody, secret, made, done, created_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9) ON CONFLICT (id) DO NOTHING");
static REVOKE: Sql = sql("UPDATE cases SET revoked_at = ?2 WHERE token = ?1 AND revoked_at IS NULL");

/// Which case is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseOf {
    /// The one that was named; it is opened if there is none.
    Named,
    /// None was named: one that was made for this user and has no result yet, else a new one.
    Made,
}

/// Everything about a case that may have to be opened.
#[derive(Debug, Clone)]
pub struct NewCase {
    /// The case as it would be.
    pub case: Case,
    /// Where a custody address comes from.
    pub custody: Option<i64>,
    /// Whether it was named.
    pub of: CaseOf,
}

/// Finds a case of the caller's, or opens it.
#[derive(Debug)]
pub struct OpenCase {
    pub new: NewCase,
    /// What is put on record if it is new.
    pub entry: Entry,
    pub by: ChangeContext,
}

impl Op for OpenCase {
    type Out = Case;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Case> {
        let NewCase { case: new, custody, of } = &self.new;
        let known: Option<Case> = match of {
            CaseOf::Named => tx.one(&GET, &[(&new.id).into()]).await?,
            CaseOf::Made => tx.one(&UNFINISHED, &[(&new.user).into(), (&new.account).into()]).await?,
        };
        let Some(case) = known else {
            let params = [
                (&new.id).into(),
                (&new.account).into(),
                (&new.user).into(),
                new.token[..].into(),
                new.holder[..].into(),
                (*custody).into(),
                new.secret.as_deref().into(),
                (*of == CaseOf::Made).into(),
                self.by.at.into(),
            ];
            if tx.exec(&INSERT, &params).await? == 0 {
                return Err(Error::Again("a case was just opened".into()));
            }
            record(tx, &self.by, "case.opened", new.id.as_str(), &[("cases", "total", 1)]).await?;
            append(tx, &self.entry).await?;
            return Ok(new.clone());
        };
        if case.user != new.user || case.account != new.account {
            return Err(Error::Missing(ErrorCode::CaseNotFound));
        }
        if case.revoked_at.is_some() {
            return Err(Error::Conflict(ErrorCode::IdentityRevoked));
        }
        Ok(case)
    }
}

static MINTED: Sql = sql("SELECT version FROM chain_items WHERE kind = ?1 AND key = ?2");

/// Wants the token of a case on the chain, unless it is wanted already.
#[derive(Debug)]
pub struct Mint {
    /// The token, which says nothing about anybody yet.
    pub wanted: DesiredItem,
    pub case: CaseId,
}

impl Op for Mint {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let case: Option<Case> = tx.one(&GET, &[(&self.case).into()]).await?;
        if case.is_none_or(|case| case.revoked_at.is_some()) {
            return Err(Error::Conflict(ErrorCode::IdentityRevoked));
        }
        let item = [self.wanted.kind.into(), self.wanted.key[..].into()];
        if tx.one::<(i64,)>(&MINTED, &item).await?.is_none() {
            want(tx, &self.wanted, None).await?;
        }
        Ok(())
    }
}

/// Revokes the token of a case, for good.
#[derive(Debug)]
pub struct RevokeIdentity {
    pub token: [u8; 16],
    /// That it is gone, on the chain.
    pub wanted: DesiredItem,
    /// What is put on record.
    pub entry: Entry,
    pub by: ChangeContext,
}

impl Op for RevokeIdentity {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        if tx.exec(&REVOKE, &[self.token[..].into(), self.by.at.into()]).await? == 0 {
            return Ok(());
        }
        crate::chain::retire(tx, &self.wanted).await?;
        append(tx, &self.entry).await?;
        record(tx, &self.by, "identity.revoked", &self.entry.subject, &[]).await
    }
}

impl Db {
    pub async fn case(&self, id: &CaseId) -> Result<Option<Case>> {
        self.one(&GET, &[id.into()]).await
    }

    /// The case of a token.
    pub async fn case_of_token(&self, token: &[u8; 16]) -> Result<Option<Case>> {
        self.one(&BY_TOKEN, &[token[..].into()]).await
    }

    /// A user's cases, oldest first.
    pub async fn cases_of(&self, user: &UserId) -> Result<Vec<Case>> {
        self.read(&OF_USER, &[user.into()], Weight::Scan).await
    }
}
