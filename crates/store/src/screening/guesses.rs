//! Names that somebody tries on a result. Each takes a place before it is looked at, so that many at once are
//! no way around the limit; one that fits gives its place back.

use portico_domain::{Timestamp, VerificationId};

use crate::Result;
use crate::audit::{Entry, append};
use crate::sql::{Op, Sql, Tx, Val, dialects, sql};

/// An attempt at a name.
#[derive(Debug, Clone)]
pub struct Guess {
    pub verification: VerificationId,
    pub caller: String,
    pub at: Timestamp,
}

/// On `PostgreSQL` those who guess at the same result queue here; `SQLite` has one writer anyway.
static LOCK_RESULT: Sql = dialects(
    "SELECT seq FROM verifications WHERE id = ?1",
    "SELECT seq FROM verifications WHERE id = ?1 FOR UPDATE",
);
static COUNT: Sql =
    sql("SELECT count(*) FROM name_guesses WHERE verification = ?1 AND caller = ?2 AND at > ?3");
static TAKE: Sql =
    sql("INSERT INTO name_guesses (id, verification, caller, at) VALUES (?1, ?2, ?3, ?4) RETURNING id");

/// Takes a place for an attempt: its number, or none if there were too many.
#[derive(Debug)]
pub struct TakeGuess {
    pub guess: Guess,
    /// How many there may be.
    pub limit: i64,
    /// Older ones do not count any more.
    pub since: Timestamp,
    /// What is put on record if there were too many.
    pub refused: Entry,
}

impl Op for TakeGuess {
    type Out = Option<i64>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<i64>> {
        let Guess { verification, caller, at } = &self.guess;
        tx.rows::<(i64,)>(&LOCK_RESULT, &[verification.into()]).await?;
        let made: Option<(i64,)> =
            tx.one(&COUNT, &[verification.into(), caller.as_str().into(), self.since.into()]).await?;
        if made.is_some_and(|(made,)| made >= self.limit) {
            append(tx, &self.refused).await?;
            return Ok(None);
        }
        let params: [Val<'_>; 4] = [tx.seq(), verification.into(), caller.as_str().into(), (*at).into()];
        let taken: Option<(i64,)> = tx.one(&TAKE, &params).await?;
        Ok(taken.map(|(id,)| id))
    }
}

static GIVE_BACK: Sql = sql("DELETE FROM name_guesses WHERE id = ?1");

/// Puts on record what came of an attempt; one that fits gives its place back.
#[derive(Debug)]
pub struct Guessed {
    /// The place that was taken.
    pub place: i64,
    pub fits: bool,
    /// What is put on record.
    pub entry: Entry,
}

impl Op for Guessed {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        if self.fits {
            tx.exec(&GIVE_BACK, &[self.place.into()]).await?;
        }
        append(tx, &self.entry).await
    }
}
