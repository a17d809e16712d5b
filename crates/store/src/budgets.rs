//! Budgets: how much of what costs money somebody may use in a day. They are in the database, so that they survive a
//! restart and hold over all replicas.

use portico_domain::{Quota, Timestamp};

use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, params, sql, statements};
use crate::engine::word::Word;

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// One payer's budget of one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// A digest of a person or an account.
    pub payer: Word,
    pub day: i64,
    /// Its name is the budget's.
    pub quota: Quota,
}

static USED: Sql = sql("SELECT used FROM budgets WHERE name = ?1 AND payer = ?2 AND day = ?3");
static TAKE: Sql = sql("INSERT INTO budgets (name, payer, day, used) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (name, payer, day) DO UPDATE SET used = budgets.used + excluded.used \
     WHERE budgets.used + excluded.used <= ?5");
static GIVE_BACK: Sql =
    sql("UPDATE budgets SET used = used - ?4 WHERE name = ?1 AND payer = ?2 AND day = ?3");
static FORGET: Sql = sql("DELETE FROM budgets WHERE day < ?1");

impl Charge {
    pub fn new(payer: Word, quota: Quota, at: Timestamp) -> Self {
        let day = day(at);
        let rest = (day + 1).saturating_mul(DAY_MICROS).saturating_sub(at.micros());
        let reset_seconds = u32::try_from(rest.div_euclid(1_000_000) + 1).unwrap_or(u32::MAX);
        Self { payer, day, quota: Quota { reset_seconds, ..quota } }
    }

    /// False: too little is left, and nothing was taken.
    async fn take<T: Tx>(&self, tx: &mut T, amount: i64) -> Result<bool> {
        let limit = i64::from(self.quota.limit);
        if amount > limit {
            return Ok(false);
        }
        let params = params![self.quota.name, self.payer.as_slice(), self.day, amount, limit];
        Ok(tx.exec(&TAKE, &params).await? > 0)
    }

    async fn give_back<T: Tx>(&self, tx: &mut T, amount: i64) -> Result<()> {
        let params = [self.quota.name.into(), self.payer.as_slice().into(), self.day.into(), amount.into()];
        tx.exec(&GIVE_BACK, &params).await.map(drop)
    }

    /// The quota with what is left of it.
    async fn state<T: Tx>(&self, tx: &mut T) -> Result<Quota> {
        let params = [self.quota.name.into(), self.payer.as_slice().into(), self.day.into()];
        let used = tx.one::<(i64,)>(&USED, &params).await?.map_or(0, |(used,)| used);
        let left = i64::from(self.quota.limit).saturating_sub(used);
        Ok(Quota { remaining: u32::try_from(left).unwrap_or(0), ..self.quota })
    }
}

fn day(at: Timestamp) -> i64 {
    at.micros().div_euclid(DAY_MICROS)
}

/// The payers of a unit of work; empty if it is free.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budget(pub Vec<Charge>);

impl Budget {
    /// What nobody can pay more than; `None`: it is free.
    pub fn smallest_limit(&self) -> Option<u32> {
        self.0.iter().map(|charge| charge.quota.limit).min()
    }

    /// Takes from every payer, or from none. `Some`: the quota that is used up.
    pub(crate) async fn try_take<T: Tx>(&self, tx: &mut T, amount: i64) -> Result<Option<Quota>> {
        if amount == 0 {
            return Ok(None);
        }
        for (at, charge) in self.0.iter().enumerate() {
            if !charge.take(tx, amount).await? {
                for taken in &self.0[..at] {
                    taken.give_back(tx, amount).await?;
                }
                return Ok(Some(charge.state(tx).await?));
            }
        }
        Ok(None)
    }

    /// An error rolls the work back.
    pub(crate) async fn take<T: Tx>(&self, tx: &mut T, amount: i64) -> Result<()> {
        self.try_take(tx, amount).await?.map_or(Ok(()), |quota| Err(Error::OverQuota(quota)))
    }

    pub(crate) async fn give_back<T: Tx>(&self, tx: &mut T, amount: i64) -> Result<()> {
        for charge in &self.0 {
            charge.give_back(tx, amount).await?;
        }
        Ok(())
    }

    /// Takes nothing: for work that pays at its end.
    pub(crate) async fn check<T: Tx>(&self, tx: &mut T, amount: u32) -> Result<()> {
        for charge in &self.0 {
            let quota = charge.state(tx).await?;
            if quota.remaining < amount {
                return Err(Error::OverQuota(quota));
            }
        }
        Ok(())
    }
}

/// Runs work and charges a known amount. A repeated idempotency key is not charged. The charge is the last statement,
/// so that the lock on the budget row is held briefly.
#[derive(Debug)]
pub struct Paid<O> {
    pub op: O,
    pub budget: Budget,
    pub amount: i64,
}

impl<O: Op> Op for Paid<O> {
    type Out = O::Out;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<O::Out> {
        let out = self.op.run(tx).await?;
        self.budget.take(tx, self.amount).await?;
        Ok(out)
    }
}

/// Removes the budgets of past days.
#[derive(Debug)]
pub struct ForgetBudgets {
    pub at: Timestamp,
}

impl Op for ForgetBudgets {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&FORGET, &[day(self.at).into()]).await.map(drop)
    }
}

statements! { USED, TAKE, GIVE_BACK, FORGET }
