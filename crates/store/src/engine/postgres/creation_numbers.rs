//! How far lists in the order of creation numbers are stable.
//!
//! A transaction that draws numbers first takes a shared advisory lock, whose key is the last number that was drawn
//! before. So the locks tell which numbers may still appear: all that are drawn later are larger than the lowest key.

use std::sync::atomic::Ordering;

use super::database::Postgres;
use crate::engine::context::CREATION_NUMBER_BLOCK;
use crate::engine::error::Result;
use crate::engine::sql::{Sql, Weight, sql, statements};

static LAST: Sql = sql("SELECT last_value FROM creation_numbers");
/// Smaller keys are not ours: the sequence began with a moment of this century.
const MIN_KEY: i64 = 1 << 61;
static ANNOUNCED: Sql = sql(
    "SELECT min(key) FROM (SELECT (classid::BIGINT << 32) | objid::BIGINT AS key FROM pg_locks \
     WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock' \
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS locks WHERE key >= ?1",
);

impl Postgres {
    /// The creation number up to which no further row can appear. Later reads see all rows up to it.
    pub(crate) async fn stable_up_to(&self) -> Result<i64> {
        // In this order: a transaction that announces itself in between draws larger numbers.
        let last = self.read::<(i64,)>(&LAST, &[], Weight::Point).await?;
        let announced = self.read::<(Option<i64>,)>(&ANNOUNCED, &[MIN_KEY.into()], Weight::Point).await?;
        let last = last.first().map_or(i64::MIN, |(last,)| *last);
        let announced = announced.first().and_then(|(key,)| *key);
        // The numbers of the block that begins there were drawn before.
        let stable = announced.map_or(last, |key| key.min(last)).saturating_add(CREATION_NUMBER_BLOCK - 1);
        self.0.stable_up_to.fetch_max(stable, Ordering::AcqRel);
        Ok(stable)
    }

    /// Without asking the database.
    pub(crate) fn is_stable(&self, number: i64) -> bool {
        number <= self.0.stable_up_to.load(Ordering::Acquire)
    }
}

statements! { LAST, ANNOUNCED }
