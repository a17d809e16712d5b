//! Data retention and erasure.

use portico_domain::{CaseId, Timestamp, UserId};
use portico_records::revoked_token;

use super::lifetimes::{lock_for_erasure, subject};
use crate::applications::changes::delete_applications;
use crate::audit::{Entry, append};
use crate::chain::items::retire;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::db::Db;
use crate::engine::error::Result;
use crate::engine::sql::{Op, Sql, Tx, Weight, dialects, sql, statements};
use crate::engine::word::{Word, word};
use crate::keys::revoke_keys_of;
use crate::keystore::store::PersonId;

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

// The case stays, so that its token cannot be minted again, but no longer names the person. Later writes for the case
// lock this row first and see that it was erased.
static CASES: Sql =
    sql("UPDATE cases SET user_id = '', account = '', name = NULL, secret = NULL, custody = NULL, \
     wished_wallet = NULL, revoked_at = coalesce(revoked_at, ?2) WHERE user_id = ?1 RETURNING id, token");
static CHECKS: Sql = sql("DELETE FROM checks WHERE case_id = ?1");
/// Guesses that are being made wait, and find no result.
static LOCK_RESULTS: Sql = dialects(
    "SELECT seq FROM verifications WHERE user_id = ?1 AND false",
    "SELECT seq FROM verifications WHERE user_id = ?1 ORDER BY seq FOR UPDATE",
);
static GUESSES: Sql = sql("DELETE FROM name_guesses WHERE verification IN \
     (SELECT id FROM verifications WHERE user_id = ?1)");
static CLAIMS: Sql = sql("DELETE FROM wallet_claims WHERE user_id = ?1");
static VERIFICATIONS: Sql = sql("DELETE FROM verifications WHERE user_id = ?1");
static APPLY_ONCE: Sql =
    sql("INSERT INTO erasures_applied (seq, subject) VALUES (?1, ?2) ON CONFLICT (seq) DO NOTHING");

/// Erases a person: deletes sealed data, revokes tokens and API keys, clears flags. Each keystore erasure is applied once, so that
/// data which the person stores later stays.
#[derive(Debug)]
pub struct ErasePerson {
    pub user: UserId,
    /// The person's id in applications; `None` if it is already lost.
    pub person: Option<PersonId>,
    /// The number of the keystore's erasure.
    pub erasure: i64,
    /// The machine's time, which keys have.
    pub keys_revoked_at: Timestamp,
    pub entry: Entry,
    pub by: ChangeContext,
}

impl Op for ErasePerson {
    /// Whether it was not applied before.
    type Out = bool;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool> {
        let subject = subject(&self.user);
        lock_for_erasure(tx, &subject).await?;
        let is_new = self.claim(tx, &subject).await?;
        if is_new {
            self.delete_rows(tx).await?;
        }
        // The replica that applied it first may not have known the person's id in applications.
        let shared = match &self.person {
            Some(person) => delete_applications(tx, person, self.by.at).await?,
            None => 0,
        };
        if is_new {
            append(tx, &self.entry).await?;
            record(tx, &self.by, "person.erased", self.user.as_str(), &[("applications", "total", -shared)])
                .await?;
        } else if shared > 0 {
            record(tx, &self.by, "person.erased", "", &[("applications", "total", -shared)]).await?;
        }
        Ok(is_new)
    }
}

impl ErasePerson {
    /// Whether it was not applied before; afterwards nobody else applies it.
    async fn claim<T: Tx>(&self, tx: &mut T, subject: &Word) -> Result<bool> {
        let up_to = tx.one::<(i64,)>(&APPLIED_UP_TO, &[]).await?.map_or(0, |(up_to,)| up_to);
        let apply_once = [self.erasure.into(), subject[..].into()];
        Ok(self.erasure > up_to && tx.exec(&APPLY_ONCE, &apply_once).await? > 0)
    }

    async fn delete_rows<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let user = (&self.user).into();
        let cases: Vec<(CaseId, Vec<u8>)> = tx.rows(&CASES, &[user, self.by.at.into()]).await?;
        for (case, token) in &cases {
            retire(tx, &revoked_token(&word(token)?, self.by.at)).await?;
            tx.exec(&CHECKS, &[case.into()]).await?;
        }
        tx.rows::<(i64,)>(&LOCK_RESULTS, &[user]).await?;
        for sql in [&GUESSES, &CLAIMS, &VERIFICATIONS] {
            tx.exec(sql, &[user]).await?;
        }
        revoke_keys_of(tx, &self.user, self.keys_revoked_at).await
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

static ADVANCE_TO_NONE: Sql = sql("UPDATE erasures SET seq = 0 WHERE id = 1");
static DROP_ALL_APPLIED: Sql = sql("DELETE FROM erasures_applied");

/// Another keystore numbers its erasures anew.
#[derive(Debug)]
pub struct ForgetAppliedErasures;

impl Op for ForgetAppliedErasures {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&ADVANCE_TO_NONE, &[]).await?;
        tx.exec(&DROP_ALL_APPLIED, &[]).await.map(drop)
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

statements! {
    FORGET_INPUTS, FORGET_FINDINGS, FORGET_CHECKS, FORGET_GUESSES, FORGET_CLAIMS, CASES, CHECKS,
    LOCK_RESULTS, GUESSES, CLAIMS, VERIFICATIONS, APPLY_ONCE, ADVANCE, DROP_APPLIED, ADVANCE_TO_NONE,
    DROP_ALL_APPLIED, APPLIED_UP_TO, IS_APPLIED, SCREENED
}
