//! The results of verifications.

use portico_domain::{CaseId, ErrorCode, Label, Tenant, Timestamp, UserId, VerificationId};
use portico_records::held_token;

use crate::applications::reports::extend_reports;
use crate::audit::{Entry, append};
use crate::chain::items::put_item;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::creation_number::creation_number;
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::page::{Cursor, Page};
use crate::engine::sql::{Op, Sql, Tx, Weight, params, row, select, sql, statements};
use crate::engine::word::{Word, word};
use crate::keystore::store::PersonId;

/// Its values are sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredVerification {
    pub id: VerificationId,
    pub user: UserId,
    pub case: CaseId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// As the request said.
    pub consented_at: Option<Timestamp>,
    pub consent_version: Option<Label>,
    /// Until the retention ends.
    pub inputs: Option<Vec<u8>>,
    /// While they are valid.
    pub findings: Option<Vec<u8>>,
    pub outcome: Vec<u8>,
}

row!(StoredVerification {
    id, user = "user_id", case = "case_id", created_at, expires_at, consented_at, consent_version, inputs,
    findings, outcome,
});

static GET: Sql = select::<StoredVerification>("SELECT {columns} FROM verifications WHERE id = ?1");
static VALID: Sql = select::<StoredVerification>(
    "SELECT {columns} FROM verifications WHERE user_id = ?1 AND findings IS NOT NULL AND expires_at > ?2 \
     ORDER BY seq DESC",
);
static NEWEST_OF_CASE: Sql = select::<StoredVerification>(
    "SELECT {columns} FROM verifications WHERE user_id = ?1 AND case_id = ?2 ORDER BY seq DESC LIMIT 1",
);
static OF_USER: Sql = select::<StoredVerification>(
    "SELECT {columns}, seq, seq FROM verifications WHERE user_id = ?3 AND seq > ?1 ORDER BY seq LIMIT ?2",
);
static INSERT: Sql = sql("INSERT INTO verifications \
     (seq, id, user_id, case_id, created_at, expires_at, consented_at, consent_version, inputs, findings, outcome) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
static VERIFIED: Sql =
    sql("UPDATE cases SET is_verified = 1 WHERE id = ?1 AND user_id = ?2 AND revoked_at IS NULL \
     RETURNING account, token, holder");

/// Stores a result, queues its token for the chain, and has the person's incomplete reports extended.
#[derive(Debug)]
pub struct StoreVerification {
    pub person: PersonId,
    pub verification: StoredVerification,
    /// For the name on the token.
    pub commitment: Word,
    pub entries: Vec<Entry>,
    pub at: Timestamp,
}

impl Op for StoreVerification {
    type Out = VerificationId;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<VerificationId> {
        let new = &self.verification;
        // The token may have been revoked, or the person erased, during the bureau requests.
        let case: Option<(Option<Tenant>, Vec<u8>, Vec<u8>)> =
            tx.one(&VERIFIED, &[(&new.case).into(), (&new.user).into()]).await?;
        let (account, token, holder) = case.ok_or(Error::Conflict(ErrorCode::IdentityRevoked))?;
        let params = params![
            creation_number(tx).await?,
            &new.id,
            &new.user,
            &new.case,
            new.created_at,
            new.expires_at,
            new.consented_at,
            new.consent_version.as_ref(),
            new.inputs.as_deref(),
            new.findings.as_deref(),
            &new.outcome[..]
        ];
        tx.exec(&INSERT, &params).await?;
        // A wallet may have claimed the token during the bureau requests.
        let desired = held_token(&word(&token)?, word(&holder)?, self.commitment, self.at);
        put_item(tx, &desired, None).await?;
        extend_reports(tx, &self.person).await?;
        for entry in &self.entries {
            append(tx, entry).await?;
        }
        let by = ChangeContext { account, at: self.at };
        record(tx, &by, "verification.made", new.id.as_str(), &[("verifications", "total", 1)]).await?;
        Ok(new.id.clone())
    }
}

static DISPUTE: Sql = sql("UPDATE verifications SET outcome = ?3 WHERE id = ?1 AND outcome = ?2");
static ASK_AGAIN: Sql = sql("DELETE FROM checks WHERE case_id = ?1 AND kind = ?2");

/// Marks a finding as disputed, unless a result changed since it was read. The bureau is asked again next time.
#[derive(Debug)]
pub struct Dispute {
    pub case: CaseId,
    pub check: &'static str,
    /// Of every result with the finding: sealed, as it was read and as it becomes.
    pub outcomes: Vec<(VerificationId, Vec<u8>, Vec<u8>)>,
    pub entry: Entry,
}

impl Op for Dispute {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for (verification, before, after) in &self.outcomes {
            let params = [verification.into(), before[..].into(), after[..].into()];
            if tx.exec(&DISPUTE, &params).await? == 0 {
                return Err(Error::Outdated);
            }
        }
        tx.exec(&ASK_AGAIN, &[(&self.case).into(), self.check.into()]).await?;
        append(tx, &self.entry).await
    }
}

impl Db {
    pub async fn verification(&self, id: &VerificationId) -> Result<Option<StoredVerification>> {
        self.one(&GET, &[id.into()]).await
    }

    /// Whose findings are still known, newest first.
    pub async fn valid_verifications(
        &self,
        user: &UserId,
        now: Timestamp,
    ) -> Result<Vec<StoredVerification>> {
        self.read(&VALID, &[user.into(), now.into()], Weight::Point).await
    }

    pub async fn newest_verification(
        &self,
        user: &UserId,
        case: &CaseId,
    ) -> Result<Option<StoredVerification>> {
        self.one(&NEWEST_OF_CASE, &[user.into(), case.into()]).await
    }

    /// Oldest first.
    pub async fn verifications(
        &self,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<StoredVerification>> {
        self.page(&OF_USER, &[user.into()], after, limit).await
    }
}

statements! { GET, VALID, NEWEST_OF_CASE, OF_USER, INSERT, VERIFIED, DISPUTE, ASK_AGAIN }
