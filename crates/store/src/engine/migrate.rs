//! Schema migrations: numbered steps, each run once, safe when two replicas start concurrently.
//!
//! A step is recorded with the digest of its text. A database that another text made is refused: the same number and
//! name would not say what its tables are.

use aws_lc_rs::digest::{SHA256, digest};
use tokio_postgres::Client;

use crate::engine::error::{Error, Result};
use crate::engine::location::Location;
use crate::engine::{postgres, sqlite};

/// One step of a schema. The same number has the same name on both engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    pub name: &'static str,
    pub sql: &'static str,
}

/// One engine's steps, oldest first. Step `n` has index `n - 1`.
pub(crate) type Migrations = &'static [Migration];

impl Migration {
    fn sha256(&self) -> String {
        hex::encode(digest(&SHA256, self.sql.as_bytes()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// The last step that ran.
    pub current: usize,
    /// The last step that this version has.
    pub latest: usize,
}

impl Location {
    /// The steps of a database on this engine.
    pub fn migrations(&self) -> &'static [Migration] {
        match self {
            Self::Sqlite(_) => sqlite::migrations::MIGRATIONS,
            Self::Postgres(_) => postgres::migrations::MIGRATIONS,
        }
    }
}

/// Runs the steps that a database lacks.
pub async fn migrate(location: &Location, steps: &[Migration]) -> Result<()> {
    match location {
        Location::Sqlite(path) => sqlite::Sqlite::migrate(path, steps),
        Location::Postgres(url) => postgres::Postgres::migrate(url, steps).await,
    }
}

const TABLE: &str = "CREATE TABLE IF NOT EXISTS portico_migrations \
     (version BIGINT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL)";
/// Version 0 is a lock.
const RECORDED: &str =
    "SELECT version, name, sha256 FROM portico_migrations WHERE version > 0 ORDER BY version";

/// A step as a database has recorded it.
struct Recorded {
    version: usize,
    name: String,
    sha256: String,
}

impl Recorded {
    fn new((version, name, sha256): (i64, String, String)) -> Self {
        Self { version: usize::try_from(version).unwrap_or(0), name, sha256 }
    }
}

fn another_state(which: &str) -> Error {
    Error::Unavailable(format!(
        "the database was made by another state of Portico: {which}. Start with an empty --data folder or database, or use \
         the portico that made it"
    ))
}

/// Without digests, or without steps at all.
fn unknown_table() -> Error {
    another_state("its table portico_migrations is not the one of this portico")
}

/// Compares number, name and digest of every step that is both recorded and known. Returns the last recorded one.
fn verified(recorded: &[Recorded], steps: &[Migration]) -> Result<usize> {
    for (number, row) in (1..).zip(recorded) {
        let Some(step) = row.version.checked_sub(1).and_then(|index| steps.get(index)) else { break };
        if row.version != number || row.name != step.name || row.sha256 != step.sha256() {
            return Err(another_state(&format!("its step {} ({}) differs", row.version, row.name)));
        }
    }
    Ok(recorded.last().map_or(0, |row| row.version))
}

/// The steps that are not recorded. Rejects a database of a newer version, or of another state.
fn pending<'m>(recorded: &[Recorded], steps: &'m [Migration]) -> Result<&'m [Migration]> {
    let current = verified(recorded, steps)?;
    steps.get(current..).ok_or_else(|| {
        Error::Unavailable(format!(
            "the database is at version {current}, and this portico knows versions up to {}: \
             use a newer portico, or another database",
            steps.len()
        ))
    })
}

fn status(recorded: &[Recorded], steps: &[Migration]) -> Result<Status> {
    Ok(Status { current: verified(recorded, steps)?, latest: steps.len() })
}

fn numbered(first: usize, steps: &[Migration]) -> impl Iterator<Item = (i64, &Migration)> {
    (first..).zip(steps).map(|(number, step)| (i64::try_from(number).unwrap_or(i64::MAX), step))
}

fn sqlite_recorded(connection: &rusqlite::Connection) -> Result<Vec<Recorded>> {
    let columns =
        "SELECT count(*), coalesce(sum(name = 'sha256'), 0) FROM pragma_table_info('portico_migrations')";
    match connection.query_row(columns, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))? {
        (0, _) => return Ok(Vec::new()),
        (_, 0) => return Err(unknown_table()),
        _ => {}
    }
    let mut statement = connection.prepare(RECORDED)?;
    let rows = statement.query_map([], |row| Ok(Recorded::new((row.get(0)?, row.get(1)?, row.get(2)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn sqlite_status(connection: &rusqlite::Connection, steps: &[Migration]) -> Result<Status> {
    status(&sqlite_recorded(connection)?, steps)
}

pub(crate) fn sqlite(connection: &mut rusqlite::Connection, steps: &[Migration]) -> Result<()> {
    if pending(&sqlite_recorded(connection)?, steps)?.is_empty() {
        return Ok(());
    }
    // Sorts large indexes through a file, not in memory.
    connection.execute_batch("PRAGMA temp_store = FILE")?;
    // Locks before the steps are read again, so that a second process finds nothing to do.
    let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let recorded = sqlite_recorded(&tx)?;
    tx.execute_batch(TABLE)?;
    for (version, step) in numbered(recorded.len() + 1, pending(&recorded, steps)?) {
        tx.execute_batch(step.sql)?;
        let insert = "INSERT INTO portico_migrations (version, name, sha256) VALUES (?1, ?2, ?3)";
        tx.execute(insert, (version, step.name, step.sha256()))?;
    }
    tx.commit()?;
    connection.execute_batch("PRAGMA temp_store = MEMORY")?;
    Ok(())
}

async fn postgres_recorded(client: &impl tokio_postgres::GenericClient) -> Result<Vec<Recorded>> {
    let columns = "SELECT count(*), count(*) FILTER (WHERE attname = 'sha256') FROM pg_catalog.pg_attribute \
         WHERE attrelid = to_regclass('portico_migrations') AND attnum > 0 AND NOT attisdropped";
    let row = client.query_one(columns, &[]).await?;
    match (row.get::<_, i64>(0), row.get::<_, i64>(1)) {
        (0, _) => return Ok(Vec::new()),
        (_, 0) => return Err(unknown_table()),
        _ => {}
    }
    let rows = client.query(RECORDED, &[]).await?;
    Ok(rows.into_iter().map(|row| Recorded::new((row.get(0), row.get(1), row.get(2)))).collect())
}

pub(crate) async fn postgres_status(client: &Client, steps: &[Migration]) -> Result<Status> {
    status(&postgres_recorded(client).await?, steps)
}

pub(crate) async fn postgres(client: &mut Client, steps: &[Migration]) -> Result<()> {
    if pending(&postgres_recorded(client).await?, steps)?.is_empty() {
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
            "INSERT INTO portico_migrations (version, name, sha256) VALUES (0, 'lock', '') ON CONFLICT DO NOTHING",
            &[],
        )
        .await?;
    let tx = client.transaction().await?;
    // A step may rewrite every row of a large table.
    tx.batch_execute("SET LOCAL statement_timeout = 0").await?;
    tx.execute("SELECT 1 FROM portico_migrations WHERE version = 0 FOR UPDATE", &[]).await?;
    let recorded = postgres_recorded(&tx).await?;
    for (version, step) in numbered(recorded.len() + 1, pending(&recorded, steps)?) {
        tx.batch_execute(step.sql).await?;
        let insert = "INSERT INTO portico_migrations (version, name, sha256) VALUES ($1, $2, $3)";
        tx.execute(insert, &[&version, &step.name, &step.sha256()]).await?;
    }
    tx.commit().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(steps: Migrations) -> Vec<&'static str> {
        steps.iter().map(|step| step.name).collect()
    }

    #[test]
    fn steps_have_the_same_number_and_name_on_both_engines() {
        use crate::engine::{postgres::migrations as postgres, sqlite::migrations as sqlite};
        assert_eq!(names(sqlite::MIGRATIONS), names(postgres::MIGRATIONS));
        assert_eq!(names(sqlite::KEYSTORE_MIGRATIONS), names(postgres::KEYSTORE_MIGRATIONS));
    }

    /// A file that is in no list would never run.
    #[test]
    fn every_file_is_a_step() {
        use crate::engine::{postgres::migrations as postgres, sqlite::migrations as sqlite};
        for (folder, steps) in [
            ("sqlite", sqlite::MIGRATIONS),
            ("postgres", postgres::MIGRATIONS),
            ("sqlite-keys", sqlite::KEYSTORE_MIGRATIONS),
            ("postgres-keys", postgres::KEYSTORE_MIGRATIONS),
        ] {
            let path = format!("{}/migrations/{folder}", env!("CARGO_MANIFEST_DIR"));
            let mut files: Vec<_> =
                std::fs::read_dir(path).unwrap().map(|file| file.unwrap().path()).collect();
            files.sort();
            let expected: Vec<String> =
                (1..).zip(steps).map(|(n, step)| format!("{n:04}_{}", step.name.replace(' ', "_"))).collect();
            let found: Vec<_> =
                files.iter().map(|file| file.file_stem().unwrap().to_str().unwrap()).collect();
            assert_eq!(found, expected, "{folder}");
        }
    }
}
