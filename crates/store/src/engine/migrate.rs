//! Schema migrations: numbered steps, each run once, safe when two replicas start concurrently.
//!
//! A step is recorded with the digest of its text. A database that another text made is refused: the same number and
//! name would not say what its tables are.

use aws_lc_rs::digest::{SHA256, digest};

use crate::engine::error::{Error, Result};

/// One step of a schema. The same number has the same name on both engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    pub name: &'static str,
    pub sql: &'static str,
}

/// One engine's steps, oldest first. Step `n` has index `n - 1`.
pub(crate) type Migrations = &'static [Migration];

impl Migration {
    pub(super) fn sha256(&self) -> String {
        hex::encode(digest(&SHA256, self.sql.as_bytes()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MigrationStatus {
    /// The last step that ran.
    pub current: usize,
    /// The last step that this version has.
    pub latest: usize,
}

pub(super) const TABLE: &str = "CREATE TABLE IF NOT EXISTS portico_migrations \
     (version BIGINT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL)";
/// Version 0 is a lock.
pub(super) const RECORDED: &str =
    "SELECT version, name, sha256 FROM portico_migrations WHERE version > 0 ORDER BY version";

/// A step as a database has recorded it.
pub(super) struct Recorded {
    version: usize,
    name: String,
    sha256: String,
}

impl Recorded {
    pub(super) fn new((version, name, sha256): (i64, String, String)) -> Self {
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
pub(super) fn unknown_table() -> Error {
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
pub(super) fn pending<'m>(recorded: &[Recorded], steps: &'m [Migration]) -> Result<&'m [Migration]> {
    let current = verified(recorded, steps)?;
    steps.get(current..).ok_or_else(|| {
        Error::Unavailable(format!(
            "the database is at version {current}, and this portico knows versions up to {}: \
             use a newer portico, or another database",
            steps.len()
        ))
    })
}

pub(super) fn status(recorded: &[Recorded], steps: &[Migration]) -> Result<MigrationStatus> {
    Ok(MigrationStatus { current: verified(recorded, steps)?, latest: steps.len() })
}

pub(super) fn numbered(first: usize, steps: &[Migration]) -> impl Iterator<Item = (i64, &Migration)> {
    (first..).zip(steps).map(|(number, step)| (i64::try_from(number).unwrap_or(i64::MAX), step))
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
