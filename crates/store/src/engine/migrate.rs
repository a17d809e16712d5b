//! Schema migrations: numbered steps, each run once, safe when two replicas start concurrently.

use tokio_postgres::Client;

use crate::engine::error::{Error, Result};

/// One engine's steps, oldest first: name and SQL. Step `n` has index `n - 1`.
pub(crate) type Migrations = &'static [(&'static str, &'static str)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// The last step that ran.
    pub current: usize,
    /// The last step that this version has.
    pub latest: usize,
}

const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS portico_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL)";
const CURRENT: &str = "SELECT coalesce(max(version), 0) FROM portico_migrations";

/// Rejects a database of a newer version.
fn pending(current: usize, all: Migrations) -> Result<&'static [(&'static str, &'static str)]> {
    all.get(current..).ok_or_else(|| {
        Error::Unavailable(format!(
            "the database is at version {current}, and this portico knows versions up to {}: \
             use a newer portico, or another database",
            all.len()
        ))
    })
}

fn position(version: i64) -> usize {
    usize::try_from(version).unwrap_or(0)
}

pub(crate) fn sqlite_status(connection: &rusqlite::Connection, all: Migrations) -> Result<Status> {
    let known = "SELECT count(*) FROM sqlite_master WHERE name = 'portico_migrations'";
    let current = match connection.query_row(known, [], |row| row.get::<_, i64>(0))? {
        0 => 0,
        _ => position(connection.query_row(CURRENT, [], |row| row.get(0))?),
    };
    Ok(Status { current, latest: all.len() })
}

pub(crate) fn sqlite(connection: &mut rusqlite::Connection, all: Migrations) -> Result<()> {
    if sqlite_status(connection, all)?.current == all.len() {
        return Ok(());
    }
    // Sorts large indexes through a file, not in memory.
    connection.execute_batch("PRAGMA temp_store = FILE")?;
    // Locks before the version is read again, so that a second process finds nothing to do.
    let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    tx.execute_batch(TABLE)?;
    let current = position(tx.query_row(CURRENT, [], |row| row.get(0))?);
    for (step, (name, sql)) in pending(current, all)?.iter().enumerate() {
        tx.execute_batch(sql)?;
        let version = i64::try_from(current + step + 1).unwrap_or(i64::MAX);
        tx.execute("INSERT INTO portico_migrations (version, name) VALUES (?1, ?2)", (version, name))?;
    }
    tx.commit()?;
    connection.execute_batch("PRAGMA temp_store = MEMORY")?;
    Ok(())
}

pub(crate) async fn postgres_status(client: &Client, all: Migrations) -> Result<Status> {
    let known = "SELECT count(*) FROM pg_catalog.pg_class WHERE oid = to_regclass('portico_migrations')";
    let current = match client.query_one(known, &[]).await?.get::<_, i64>(0) {
        0 => 0,
        _ => position(client.query_one(CURRENT, &[]).await?.get(0)),
    };
    Ok(Status { current, latest: all.len() })
}

pub(crate) async fn postgres(client: &mut Client, all: Migrations) -> Result<()> {
    if postgres_status(client, all).await?.current == all.len() {
        return Ok(());
    }
    // `IF NOT EXISTS` is not atomic: one of two concurrent creators may fail.
    for _ in 0..3 {
        if client.batch_execute(TABLE).await.is_ok() {
            break;
        }
    }
    // Replicas queue at the row of version 0: a lock that every compatible engine supports.
    client
        .execute(
            "INSERT INTO portico_migrations (version, name) VALUES (0, 'lock') ON CONFLICT DO NOTHING",
            &[],
        )
        .await?;
    let tx = client.transaction().await?;
    // A step may rewrite every row of a large table.
    tx.batch_execute("SET LOCAL statement_timeout = 0").await?;
    tx.execute("SELECT 1 FROM portico_migrations WHERE version = 0 FOR UPDATE", &[]).await?;
    let current = position(tx.query_one(CURRENT, &[]).await?.get(0));
    for (step, (name, sql)) in pending(current, all)?.iter().enumerate() {
        tx.batch_execute(sql).await?;
        let version = i64::try_from(current + step + 1).unwrap_or(i64::MAX);
        tx.execute("INSERT INTO portico_migrations (version, name) VALUES ($1, $2)", &[&version, name])
            .await?;
    }
    tx.commit().await?;
    Ok(())
}
