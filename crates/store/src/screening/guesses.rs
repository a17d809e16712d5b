//! Name guesses on a result. A guess takes a slot before it is checked, so that concurrent guesses cannot exceed the
//! limit; a correct guess returns its slot.

use portico_domain::{ErrorCode, Timestamp, VerificationId};

use crate::audit::{Entry, append};
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, dialects, sql, statements};

#[derive(Debug, Clone)]
pub struct Guess {
    pub verification: VerificationId,
    pub caller: String,
    pub at: Timestamp,
}

/// Serializes guesses at the same result on `PostgreSQL`; `SQLite` has a single writer anyway.
static LOCK_RESULT: Sql = dialects(
    "SELECT seq FROM verifications WHERE id = ?1",
    "SELECT seq FROM verifications WHERE id = ?1 FOR UPDATE",
);
static COUNT: Sql = sql("SELECT coalesce(sum(CASE WHEN caller = ?2 THEN 1 ELSE 0 END), 0), count(*) \
     FROM name_guesses WHERE verification = ?1 AND at > ?3");
static TAKE: Sql =
    sql("INSERT INTO name_guesses (id, verification, caller, at) VALUES (?1, ?2, ?3, ?4) RETURNING id");

/// Returns the slot's id, or `None` if a limit is reached.
#[derive(Debug)]
pub struct TakeGuess {
    pub guess: Guess,
    pub limit_per_caller: i64,
    pub limit: i64,
    /// Older guesses do not count.
    pub since: Timestamp,
    /// Written if a limit is reached.
    pub refused: Entry,
}

impl Op for TakeGuess {
    type Out = Option<i64>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<i64>> {
        let Guess { verification, caller, at } = &self.guess;
        if tx.one::<(i64,)>(&LOCK_RESULT, &[verification.into()]).await?.is_none() {
            return Err(Error::Missing(ErrorCode::IdentityNotFound));
        }
        let made: Option<(i64, i64)> =
            tx.one(&COUNT, &[verification.into(), caller.as_str().into(), self.since.into()]).await?;
        if made.is_some_and(|(own, all)| own >= self.limit_per_caller || all >= self.limit) {
            append(tx, &self.refused).await?;
            return Ok(None);
        }
        let params = [tx.context().seq(), verification.into(), caller.as_str().into(), (*at).into()];
        let taken: Option<(i64,)> = tx.one(&TAKE, &params).await?;
        Ok(taken.map(|(id,)| id))
    }
}

static RELEASE_SLOT: Sql = sql("DELETE FROM name_guesses WHERE id = ?1");

/// Logs the outcome; a correct guess returns its slot.
#[derive(Debug)]
pub struct FinishGuess {
    pub place: i64,
    pub is_correct: bool,
    pub entry: Entry,
}

impl Op for FinishGuess {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        if self.is_correct {
            tx.exec(&RELEASE_SLOT, &[self.place.into()]).await?;
        }
        append(tx, &self.entry).await
    }
}

statements! { LOCK_RESULT, COUNT, TAKE, RELEASE_SLOT }
