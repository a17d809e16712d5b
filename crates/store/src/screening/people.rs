//! Forgetting people: what is no longer kept, and those who are to be erased.

use portico_domain::{Timestamp, UserId};

use crate::audit::{Entry, append};
use crate::chain::Wanted;
use crate::ledger::{By, record};
use crate::sql::{Op, Sql, Tx, sql};
use crate::{Db, Result};

/// Rows that one [`ForgetInputs`] changes at most.
const AT_ONCE: i64 = 1000;

static FORGET_INPUTS: Sql = sql("UPDATE verifications SET inputs = NULL WHERE seq IN \
     (SELECT seq FROM verifications WHERE inputs IS NOT NULL AND created_at < ?1 ORDER BY created_at LIMIT ?2)");
static FORGET_FINDINGS: Sql = sql("UPDATE verifications SET findings = NULL WHERE seq IN \
     (SELECT seq FROM verifications WHERE findings IS NOT NULL AND expires_at < ?1 ORDER BY expires_at LIMIT ?2)");
static FORGET_CHECKS: Sql = sql("DELETE FROM checks WHERE started_at < ?1");
static FORGET_GUESSES: Sql = sql("DELETE FROM name_guesses WHERE at < ?1");

/// Forgets inputs that are no longer kept and values that are no longer valid; tells of how many.
#[derive(Debug)]
pub struct ForgetInputs {
    /// Inputs from before this moment.
    pub inputs_before: Timestamp,
    /// Checks from before this moment.
    pub checks_before: Timestamp,
    /// Attempts at names from before this moment.
    pub guesses_before: Timestamp,
    /// Now.
    pub at: Timestamp,
}

impl Op for ForgetInputs {
    type Out = u64;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<u64> {
        tx.exec(&FORGET_CHECKS, &[self.checks_before.into()]).await?;
        tx.exec(&FORGET_GUESSES, &[self.guesses_before.into()]).await?;
        let inputs = tx.exec(&FORGET_INPUTS, &[self.inputs_before.into(), AT_ONCE.into()]).await?;
        let findings = tx.exec(&FORGET_FINDINGS, &[self.at.into(), AT_ONCE.into()]).await?;
        Ok(inputs + findings)
    }
}

static CHECKS: Sql = sql("DELETE FROM checks WHERE case_id IN (SELECT id FROM cases WHERE user_id = ?1)");
static GUESSES: Sql = sql("DELETE FROM name_guesses WHERE verification IN \
     (SELECT id FROM verifications WHERE user_id = ?1)");
static VERIFICATIONS: Sql = sql("DELETE FROM verifications WHERE user_id = ?1");
// The case stays, so that its token cannot be made again, but no longer says whose it was.
static CASES: Sql = sql("UPDATE cases SET user_id = '', account = '', secret = NULL, custody = NULL, \
     revoked_at = coalesce(revoked_at, ?2) WHERE user_id = ?1");
static REFERENCE: Sql = sql("DELETE FROM chain_references WHERE user_id = ?1");
static INTENTS: Sql = sql("DELETE FROM attestations WHERE user_id = ?1");
static FOLLOWED: Sql = sql("UPDATE erasures SET seq = ?1 WHERE id = 1 AND seq >= ?2 AND seq < ?1");

/// Erases a person: what is sealed goes, tokens are revoked, flags are cleared.
#[derive(Debug)]
pub struct ErasePerson {
    /// Who.
    pub user: UserId,
    /// Everything of theirs on the chain that is to be gone.
    pub gone: Vec<Wanted>,
    /// The keystore's erasure that is followed.
    pub erasure: i64,
    /// The one before it. If that was not followed yet, this one will be followed again after it.
    pub after: i64,
    /// What is put on record.
    pub entry: Entry,
    /// Who, and when.
    pub by: By,
}

impl Op for ErasePerson {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        for item in &self.gone {
            crate::chain::retire(tx, item).await?;
        }
        for sql in [&CHECKS, &GUESSES, &VERIFICATIONS, &REFERENCE, &INTENTS] {
            tx.exec(sql, &[(&self.user).into()]).await?;
        }
        tx.exec(&CASES, &[(&self.user).into(), self.by.at.into()]).await?;
        tx.exec(&FOLLOWED, &[self.erasure.into(), self.after.into()]).await?;
        append(tx, &self.entry).await?;
        record(tx, &self.by, "person.erased", self.user.as_str(), &[]).await
    }
}

static ERASURES: Sql = sql("SELECT seq FROM erasures WHERE id = 1");

impl Db {
    /// The last of the keystore's erasures that this database has followed, and all before it.
    pub async fn erasures_followed(&self) -> Result<i64> {
        Ok(self.one::<(i64,)>(&ERASURES, &[]).await?.map_or(0, |(seq,)| seq))
    }
}
