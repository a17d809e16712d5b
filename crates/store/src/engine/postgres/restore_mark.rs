//! The mark of a restore that is not complete: a database that has it is not served.

use deadpool_postgres::Object;

use super::connection::pool;
use crate::engine::error::{Error, Result};

/// Where a restore that is not complete leaves its mark.
const PENDING: &str = "portico_restore.pending";

pub(crate) async fn exists(connection: &Object, table: &str) -> Result<bool> {
    Ok(connection.query_one("SELECT to_regclass($1::text) IS NOT NULL", &[&table]).await?.try_get(0)?)
}

/// A restore that is not complete.
pub(crate) struct Pending {
    pub(crate) backup: String,
    /// The schema with what was replaced, if there was anything.
    pub(crate) replaced: Option<String>,
}

pub(crate) async fn pending(connection: &Object) -> Result<Option<Pending>> {
    if !exists(connection, PENDING).await? {
        return Ok(None);
    }
    let found = connection.query_opt("SELECT backup, kept_at FROM portico_restore.pending", &[]).await?;
    let Some(row) = found else { return Ok(None) };
    Ok(Some(Pending { backup: row.try_get(0)?, replaced: row.try_get(1)? }))
}

/// Fails if a restore into this database was cut off.
pub(super) async fn check_not_interrupted(url: &str) -> Result<()> {
    let connection = pool(url, None, 1)?.get().await?;
    match pending(&connection).await? {
        Some(_) => Err(Error::Unavailable(
            "a restore into this database was interrupted: run the same `portico restore` again, which completes it"
                .into(),
        )),
        None => Ok(()),
    }
}
