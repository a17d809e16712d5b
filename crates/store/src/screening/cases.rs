//! Cases. Each has one soulbound token, whose number is chosen here before anything is mined.

use portico_domain::{CaseId, ErrorCode, Tenant, Timestamp, UserId};
use portico_records::{held_token, revoked_token};

use crate::audit::{Entry, append};
use crate::chain::items::{put_item, retire};
use crate::chain::signing::Address;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, Weight, params, row, select, select_dialects, sql, statements};
use crate::engine::word::Word;
use crate::screening::lifetimes::Lifetime;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Of the row. What is sealed in it, its checks and its results refer to it.
    pub id: CaseId,
    /// The caller's name for it, unique for its tenant. `None`: the person was erased.
    pub name: Option<CaseId>,
    /// `None`: the person was erased.
    pub tenant: Option<Tenant>,
    pub user: UserId,
    pub token: [u8; 16],
    /// The token's holder on the chain.
    pub holder: Address,
    /// The index of the custody address that holds the token; `None`: a wallet holds it.
    pub custody: Option<i64>,
    /// The wallet that is to hold the token, once its owner has proven control of it: a sealed address.
    pub wished_wallet: Option<Vec<u8>>,
    /// The sealed key of the name commitment; `None`: the person was erased.
    pub secret: Option<Vec<u8>>,
    pub revoked_at: Option<Timestamp>,
}

impl Case {
    /// The caller's name for it.
    pub fn known_as(&self) -> &CaseId {
        self.name.as_ref().unwrap_or(&self.id)
    }
}

row!(Case {
    id, name, tenant = "account", user = "user_id", token, holder, custody, wished_wallet, secret,
    revoked_at,
});

static GET: Sql = select::<Case>("SELECT {columns} FROM cases WHERE id = ?1");
static NAMED: Sql = select::<Case>("SELECT {columns} FROM cases WHERE account = ?1 AND name = ?2");
static BY_TOKEN: Sql = select::<Case>("SELECT {columns} FROM cases WHERE token = ?1");
static OF_USER: Sql = select::<Case>("SELECT {columns} FROM cases WHERE user_id = ?1 ORDER BY created_at");
static UNFINISHED: Sql = select::<Case>(
    "SELECT {columns} FROM cases WHERE user_id = ?1 AND account = ?2 AND is_generated = 1 AND is_verified = 0 AND revoked_at IS NULL ORDER BY created_at LIMIT 1",
);
static INSERT: Sql = sql("INSERT INTO cases \
     (id, name, account, user_id, token, holder, custody, wished_wallet, secret, is_generated, is_verified, created_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?11) ON CONFLICT DO NOTHING");
static REVOKE: Sql = sql("UPDATE cases SET revoked_at = ?2 WHERE token = ?1 AND revoked_at IS NULL");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseSelector {
    /// The named case, opened if it does not exist.
    Named,
    /// No name: an unfinished case of this user, else a new one.
    Generated,
}

#[derive(Debug, Clone)]
pub struct NewCase {
    pub case: Case,
    pub of: CaseSelector,
}

/// Finds the caller's case, or opens it.
#[derive(Debug)]
pub struct OpenCase {
    pub new: NewCase,
    pub lifetime: Lifetime,
    /// Only written for a new case.
    pub entry: Entry,
    pub by: ChangeContext,
}

impl Op for OpenCase {
    type Out = Case;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Case> {
        let NewCase { case: new, of } = &self.new;
        self.lifetime.check(tx).await?;
        let account = new.tenant.as_ref().map(Tenant::stored).unwrap_or_default();
        let known: Option<Case> = match of {
            CaseSelector::Named => {
                tx.one(&NAMED, &[account.as_str().into(), new.name.as_ref().into()]).await?
            }
            CaseSelector::Generated => {
                tx.one(&UNFINISHED, &[(&new.user).into(), account.as_str().into()]).await?
            }
        };
        let Some(case) = known else {
            let params = params![
                &new.id,
                new.name.as_ref(),
                account.as_str(),
                &new.user,
                &new.token[..],
                &new.holder[..],
                new.custody,
                new.wished_wallet.as_deref(),
                new.secret.as_deref(),
                *of == CaseSelector::Generated,
                self.by.at
            ];
            if tx.exec(&INSERT, &params).await? == 0 {
                return Err(Error::Again("a case was just opened".into()));
            }
            record(tx, &self.by, "case.opened", new.id.as_str(), &[("cases", "total", 1)]).await?;
            append(tx, &self.entry).await?;
            return Ok(new.clone());
        };
        if case.user != new.user {
            return Err(Error::Missing(ErrorCode::CaseNotFound));
        }
        if case.revoked_at.is_some() {
            return Err(Error::Conflict(ErrorCode::IdentityRevoked));
        }
        Ok(case)
    }
}

static WISH: Sql = sql("UPDATE cases SET wished_wallet = ?2 WHERE id = ?1 AND custody IS NOT NULL");

/// Remembers another wallet for a token in custody.
#[derive(Debug)]
pub struct WishWallet {
    pub case: CaseId,
    pub wished_wallet: Vec<u8>,
}

impl Op for WishWallet {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&WISH, &[(&self.case).into(), self.wished_wallet[..].into()]).await.map(drop)
    }
}

static LOCK: Sql = select_dialects::<Case>(
    "SELECT {columns} FROM cases WHERE id = ?1",
    "SELECT {columns} FROM cases WHERE id = ?1 FOR SHARE",
);
static LOCK_TOKEN: Sql = select_dialects::<Case>(
    "SELECT {columns} FROM cases WHERE token = ?1",
    "SELECT {columns} FROM cases WHERE token = ?1 FOR SHARE",
);

/// The case, which is neither revoked nor erased before the transaction ends.
pub(super) async fn lock_case<T: Tx>(tx: &mut T, id: &CaseId) -> Result<Case> {
    unrevoked(tx.one(&LOCK, &[id.into()]).await?)
}

/// The case of a token, likewise.
pub(super) async fn lock_case_of_token<T: Tx>(tx: &mut T, token: &[u8; 16]) -> Result<Case> {
    unrevoked(tx.one(&LOCK_TOKEN, &[token[..].into()]).await?)
}

fn unrevoked(case: Option<Case>) -> Result<Case> {
    case.filter(|case| case.revoked_at.is_none()).ok_or(Error::Conflict(ErrorCode::IdentityRevoked))
}

static MINTED: Sql = sql("SELECT version FROM chain_items WHERE kind = ?1 AND key = ?2");

/// Queues the case's token for the chain, without a name commitment, unless it is queued already.
#[derive(Debug)]
pub struct Mint {
    pub case: CaseId,
    pub at: Timestamp,
}

impl Op for Mint {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let case = lock_case(tx, &self.case).await?;
        let desired = held_token(&case.token, case.holder, Word::default(), self.at);
        let item = [desired.kind.into(), desired.key[..].into()];
        if tx.one::<(i64,)>(&MINTED, &item).await?.is_none() {
            put_item(tx, &desired, None).await?;
        }
        Ok(())
    }
}

/// Permanent.
#[derive(Debug)]
pub struct RevokeIdentity {
    pub token: [u8; 16],
    pub entry: Entry,
    pub by: ChangeContext,
}

impl Op for RevokeIdentity {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        if tx.exec(&REVOKE, &[self.token[..].into(), self.by.at.into()]).await? == 0 {
            return Ok(());
        }
        retire(tx, &revoked_token(&self.token, self.by.at)).await?;
        append(tx, &self.entry).await?;
        record(tx, &self.by, "identity.revoked", &self.entry.subject, &[]).await
    }
}

impl Db {
    pub async fn case(&self, id: &CaseId) -> Result<Option<Case>> {
        self.one(&GET, &[id.into()]).await
    }

    pub async fn case_of_token(&self, token: &[u8; 16]) -> Result<Option<Case>> {
        self.one(&BY_TOKEN, &[token[..].into()]).await
    }

    /// Oldest first.
    pub async fn cases_of(&self, user: &UserId) -> Result<Vec<Case>> {
        self.read(&OF_USER, &[user.into()], Weight::Scan).await
    }
}

statements! { GET, NAMED, BY_TOKEN, OF_USER, UNFINISHED, INSERT, REVOKE, WISH, LOCK, LOCK_TOKEN, MINTED }
