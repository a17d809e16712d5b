//! Creation numbers, for lists that are paged. `SQLite` assigns them on insert; on `PostgreSQL` a transaction draws them in
//! blocks.

use crate::engine::error::{Error, Result};
use crate::engine::sql::{Param, Sql, Tx, sql, statements};

// `OFFSET 0` keeps the subquery apart: the lock is taken before the number is drawn.
static DRAW: Sql = sql("SELECT nextval('creation_numbers') FROM \
     (SELECT pg_advisory_xact_lock_shared(last_value) FROM creation_numbers OFFSET 0) AS announced");

pub(crate) async fn creation_number<T: Tx>(tx: &mut T) -> Result<Param<'static>> {
    if let Some(number) = tx.context().creation_number() {
        return Ok(number);
    }
    let first: Option<(i64,)> = tx.one(&DRAW, &[]).await?;
    let (first,) = first.ok_or_else(|| Error::Bug("the sequence of creation numbers is empty".into()))?;
    Ok(tx.context().use_block(first))
}

statements! { DRAW }
