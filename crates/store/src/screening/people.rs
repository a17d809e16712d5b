//! Data retention and erasure.

use portico_domain::{Timestamp, UserId};

use crate::applications::{delete_applications, forget_former_applications};
use crate::audit::{Entry, append};
use crate::chain::DesiredItem;
use crate::counters::{ChangeContext, record};
use crate::keystore::PersonId;
use crate::sql::{Op, Sql, Tx, Weight, sql};
use crate::{Db, Result};

/// Per [`ForgetInputs`].
const MAX_FORGOTTEN_ROWS: i64 = 1000;

static FORGET_INPUTS: Sql = sql("UPDATE verifications SET inputs = NULL WHERE seq IN \
     (SELECT seq FROM verifications WHERE inputs IS NOT NULL AND created_at < ?1 ORDER BY created_at LIMIT ?2)");
static FORGET_FINDINGS: Sql = sql("UPDATE verifications SET findings = NULL WHERE seq IN \
     (SELECT seq FROM verifications WHERE findings IS NOT NULL AND expires_at < ?1 ORDER BY expires_at LIMIT ?2)");
static FORGET_CHECKS: Sql = sql("DELETE FROM checks WHERE started_at < ?1");
static FORGET_GUESSES: Sql = sql("DELETE FROM name_guesses WHERE at < ?1");
static FORGET_CLAIMS: Sql = sql("DELETE FROM wallet_claims WHERE expires_at < ?1");

/// Deletes inputs past their retention and expired values; returns the number of rows.
#[derive(Debug)]
pub struct ForgetInputs {
    pub inputs_before: Timestamp,
    pub checks_before: Timestamp,
    pub guesses_before: Timestamp,
    pub at: Timestamp,
}

impl Op for ForgetInputs {
    type Out = u64;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<u64> {
        tx.exec(&FORGET_CHECKS, &[self.checks_before.into()]).await?;
        tx.exec(&FORGET_GUESSES, &[self.guesses_before.into()]).await?;
        tx.exec(&FORGET_CLAIMS, &[self.at.into()]).await?;
        let inputs = tx.exec(&FORGET_INPUTS, &[self.inputs_before.into(), MAX_FORGOTTEN_ROWS.into()]).await?;
        let findings = tx.exec(&FORGET_FINDINGS, &[self.at.into(), MAX_FORGOTTEN_ROWS.into()]).await?;
        Ok(inputs + findings)
    }
}

static CHECKS: Sql = sql("DELETE FROM checks WHERE case_id IN (SELECT id FROM cases WHERE user_id = ?1)");
static GUESSES: Sql = sql("DELETE FROM name_guesses WHERE verification IN \
     (SELECT id FROM verifications WHERE user_id = ?1)");
static CLAIMS: Sql = sql("DELETE FROM wallet_claims WHERE user_id = ?1");
static VERIFICATIONS: Sql = sql("DELETE FROM verifications WHERE user_id = ?1");
// The case stays, so that its token cannot be minted again, but no longer names the person.
static CASES: Sql = sql("UPDATE cases SET user_id = '', account = '', secret = NULL, custody = NULL, \
     wished_wallet = NULL, revoked_at = coalesce(revoked_at, ?2) WHERE user_id = ?1");
static APPLY_ONCE: Sql = sql("INSERT INTO erasures_applied (seq) VALUES (?1) ON CONFLICT (seq) DO NOTHING");
// Before version 0.2 an entry did not name its erasure, and PostgreSQL had no other record that it was applied.
static APPLIED_BEFORE: Sql = sql("SELECT seq FROM audit WHERE action = 'person.erased' AND subject = ?1 \
     AND detail = '' AND at >= ?2 LIMIT 1");

/// Erases a person: deletes sealed data, revokes tokens, clears flags. Each keystore erasure is applied once, so that
/// data which the person stores later stays.
#[derive(Debug)]
pub struct ErasePerson {
    pub user: UserId,
    /// By what applications refer to them; `None` if that is lost already.
    pub person: Option<PersonId>,
    /// Chain items to delete.
    pub deleted_items: Vec<DesiredItem>,
    pub erasure: ErasureToApply,
    pub entry: Entry,
    pub by: ChangeContext,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasureToApply {
    /// Its number.
    New(i64),
    /// Found after a crash or a restore: its number and time. A version before 0.2 may have applied it.
    Found(i64, Timestamp),
}

impl ErasureToApply {
    /// Whether it was not applied before; afterwards nobody else applies it.
    async fn claim<T: Tx>(self, tx: &mut T, user: &UserId) -> Result<bool> {
        let (Self::New(seq) | Self::Found(seq, _)) = self;
        let up_to = tx.one::<(i64,)>(&APPLIED_UP_TO, &[]).await?.map_or(0, |(up_to,)| up_to);
        if seq <= up_to || tx.exec(&APPLY_ONCE, &[seq.into()]).await? == 0 {
            return Ok(false);
        }
        match self {
            Self::New(_) => Ok(true),
            Self::Found(_, at) => {
                let before: Option<(i64,)> = tx.one(&APPLIED_BEFORE, &[user.into(), at.into()]).await?;
                Ok(before.is_none())
            }
        }
    }
}

impl Op for ErasePerson {
    /// Whether it was not applied before.
    type Out = bool;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool> {
        if !self.erasure.claim(tx, &self.user).await? {
            return Ok(false);
        }
        for item in &self.deleted_items {
            crate::chain::retire(tx, item).await?;
        }
        for sql in [&CHECKS, &GUESSES, &CLAIMS, &VERIFICATIONS] {
            tx.exec(sql, &[(&self.user).into()]).await?;
        }
        forget_former_applications(tx, &self.user).await?;
        let shared = match &self.person {
            Some(person) => delete_applications(tx, person).await?,
            None => 0,
        };
        tx.exec(&CASES, &[(&self.user).into(), self.by.at.into()]).await?;
        append(tx, &self.entry).await?;
        let ended = ("applications", "total", -shared);
        record(tx, &self.by, "person.erased", self.user.as_str(), &[ended]).await?;
        Ok(true)
    }
}

static ADVANCE: Sql = sql("UPDATE erasures SET seq = ?1 WHERE id = 1 AND seq < ?1");
static DROP_APPLIED: Sql =
    sql("DELETE FROM erasures_applied WHERE seq <= (SELECT seq FROM erasures WHERE id = 1)");

/// Records that all keystore erasures up to this one are applied.
#[derive(Debug)]
pub struct AdvanceErasures(pub i64);

impl Op for AdvanceErasures {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&ADVANCE, &[self.0.into()]).await?;
        tx.exec(&DROP_APPLIED, &[]).await.map(drop)
    }
}

static APPLIED_UP_TO: Sql = sql("SELECT seq FROM erasures WHERE id = 1");
static IS_APPLIED: Sql = sql("SELECT seq FROM erasures_applied WHERE seq = ?1");
static SCREENED: Sql = sql("SELECT DISTINCT user_id FROM cases WHERE user_id > ?1 ORDER BY user_id LIMIT ?2");

impl Db {
    /// All erasures up to this number are applied.
    pub async fn erasures_applied_up_to(&self) -> Result<i64> {
        Ok(self.one::<(i64,)>(&APPLIED_UP_TO, &[]).await?.map_or(0, |(seq,)| seq))
    }

    pub async fn erasure_is_applied(&self, seq: i64) -> Result<bool> {
        let beyond = seq > self.erasures_applied_up_to().await?;
        Ok(!beyond || self.one::<(i64,)>(&IS_APPLIED, &[seq.into()]).await?.is_some())
    }

    /// People with a case, in name order.
    pub async fn screened_people(&self, after: &str, limit: i64) -> Result<Vec<UserId>> {
        let people = self.read::<(UserId,)>(&SCREENED, &[after.into(), limit.into()], Weight::Scan).await?;
        Ok(people.into_iter().map(|(user,)| user).collect())
    }
}
