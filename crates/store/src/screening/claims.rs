//! Claims of wallets. A token has at most one open claim: the last message that a wallet was asked to sign for it.

use portico_domain::{ErrorCode, Timestamp, UserId};
use portico_records::{ItemKind, held_token, token_commitment, token_key};

use super::cases::lock_case_of_token;
use crate::audit::{Entry, append};
use crate::chain::items::put_item;
use crate::chain::signing::Address;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, sql, statements};
use crate::engine::word::Word;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletClaim {
    pub token: [u8; 16],
    pub user: UserId,
    /// A keyed digest.
    pub nonce: Word,
    /// Sealed: which wallet is to sign what.
    pub message: Vec<u8>,
    pub expires_at: Timestamp,
}

static BEGIN: Sql = sql("INSERT INTO wallet_claims (token, user_id, nonce, message, expires_at) \
     VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (token) DO UPDATE SET user_id = excluded.user_id, \
     nonce = excluded.nonce, message = excluded.message, expires_at = excluded.expires_at");

/// Opens a claim in place of an earlier one.
#[derive(Debug)]
pub struct BeginClaim {
    pub claim: WalletClaim,
    pub entry: Entry,
}

impl Op for BeginClaim {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let WalletClaim { token, user, nonce, message, expires_at } = &self.claim;
        if lock_case_of_token(tx, token).await?.user != *user {
            return Err(Error::Missing(ErrorCode::IdentityNotFound));
        }
        let params =
            [token[..].into(), user.into(), nonce[..].into(), message[..].into(), (*expires_at).into()];
        tx.exec(&BEGIN, &params).await?;
        append(tx, &self.entry).await
    }
}

static MESSAGE: Sql = sql("SELECT message FROM wallet_claims \
     WHERE token = ?1 AND user_id = ?2 AND nonce = ?3 AND expires_at > ?4");
static USE: Sql = sql("DELETE FROM wallet_claims \
     WHERE token = ?1 AND user_id = ?2 AND nonce = ?3 AND expires_at > ?4");
static MOVE: Sql = sql("UPDATE cases SET holder = ?3, custody = NULL, wished_wallet = NULL \
     WHERE token = ?1 AND user_id = ?2 AND revoked_at IS NULL");
static PAYLOAD: Sql = sql("SELECT payload FROM chain_items WHERE kind = ?1 AND key = ?2 AND deleted = 0");

/// Uses up a claim: the wallet holds the token from here on.
#[derive(Debug)]
pub struct ClaimIdentity {
    pub token: [u8; 16],
    pub user: UserId,
    pub nonce: Word,
    pub wallet: Address,
    pub entry: Entry,
    pub by: ChangeContext,
}

impl Op for ClaimIdentity {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let (token, user) = (&self.token[..], &self.user);
        // First, because it locks the case: results and revocations of this token wait.
        if tx.exec(&MOVE, &[token.into(), user.into(), self.wallet[..].into()]).await? == 0 {
            return Err(Error::Conflict(ErrorCode::IdentityRevoked));
        }
        let used = [token.into(), user.into(), self.nonce[..].into(), self.by.at.into()];
        if tx.exec(&USE, &used).await? == 0 {
            return Err(Error::Conflict(ErrorCode::ClaimExpired));
        }
        let key = token_key(&self.token);
        let item = [ItemKind::Identity.into(), key[..].into()];
        let present: Option<(Vec<u8>,)> = tx.one(&PAYLOAD, &item).await?;
        let (payload,) = present.ok_or(Error::Missing(ErrorCode::IdentityNotFound))?;
        let commitment = token_commitment(&payload)?
            .ok_or_else(|| Error::Bug("a token that is not revoked has no content".into()))?;
        put_item(tx, &held_token(&self.token, self.wallet, commitment, self.by.at), None).await?;
        append(tx, &self.entry).await?;
        record(tx, &self.by, "identity.claimed", &self.entry.subject, &[]).await
    }
}

impl Db {
    /// The sealed message of an open claim.
    pub async fn wallet_claim(
        &self,
        token: &[u8; 16],
        user: &UserId,
        nonce: &Word,
        at: Timestamp,
    ) -> Result<Option<Vec<u8>>> {
        let found: Option<(Vec<u8>,)> =
            self.one(&MESSAGE, &[token[..].into(), user.into(), nonce[..].into(), at.into()]).await?;
        Ok(found.map(|(message,)| message))
    }
}

statements! { BEGIN, MESSAGE, USE, MOVE, PAYLOAD }
