//! Snapshots of a SQLite database, and what can be checked of a copy.

use std::path::Path;

use portico_sqlite::{Snapshot, integrity_faults, open_immutable};

use crate::audit::{Head, LoggedEntry};
use crate::database_facts::{Facts, ReadFacts};
use crate::engine::error::{Error, Result};
use crate::engine::migrate::MigrationStatus;
use crate::engine::sql::{Op, Tx};
use crate::engine::sqlite::migrate;
use crate::engine::sqlite::migrations::MIGRATIONS;
use crate::engine::sqlite::writer::read_with;
use crate::engine::word::Word;
use crate::keys::{ReadRevocations, Revocation};

const ENTRIES_PER_READ: i64 = 1000;
/// Faults of the audit log that are reported.
const MAX_FAULTS: usize = 10;

/// Checks what needs no key: the log has no gap, and it ends where it says; without a key, also that every hash covers the
/// one before.
struct CheckAudit;

impl Op for CheckAudit {
    type Out = Vec<String>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<String>> {
        let head: Head = tx.one(&crate::audit::END, &[]).await?.ok_or_else(crate::audit::missing_head)?;
        let (mut seq, mut previous, mut faults) = (0, Word::default(), Vec::new());
        loop {
            let entries: Vec<LoggedEntry> =
                tx.rows(&crate::audit::AFTER, &[seq.into(), ENTRIES_PER_READ.into()]).await?;
            for entry in &entries {
                if entry.seq != seq + 1 {
                    faults.push(format!("the audit log's entry {} follows entry {seq}", entry.seq));
                }
                if !head.keyed && !entry.follows(&previous, None) {
                    faults.push(format!(
                        "the audit log's entry {} was altered, or the one before it",
                        entry.seq
                    ));
                }
                (seq, previous) = (entry.seq, entry.hash);
            }
            if entries.is_empty() || faults.len() > MAX_FAULTS {
                break;
            }
        }
        if faults.is_empty() && (head.seq, head.hash) != (seq, previous) {
            faults.push(format!(
                "the audit log says that it ends with entry {}, and ends with {seq}",
                head.seq
            ));
        }
        Ok(faults)
    }
}

/// One state of a SQLite database that others may write to.
#[derive(Debug)]
pub struct SqliteSnapshot(Snapshot);

impl SqliteSnapshot {
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self(Snapshot::open(path)?))
    }

    /// Moves on to the present state.
    pub fn renew(&mut self) -> Result<()> {
        Ok(self.0.renew()?)
    }

    pub fn facts(&mut self) -> Result<Facts> {
        read_with(self.0.connection(), &ReadFacts)
    }

    pub fn revocations(&mut self) -> Result<Vec<Revocation>> {
        read_with(self.0.connection(), &ReadRevocations)
    }

    /// Into a new file, which is durable when this returns.
    pub fn copy_to(&self, path: &Path, progress: impl FnMut(u64, u64)) -> Result<()> {
        Ok(self.0.copy_to(path, progress)?)
    }
}

/// A SQLite file that nobody uses: what it says about itself, and its faults.
pub fn inspect_sqlite(path: &Path) -> Result<(Facts, Vec<String>)> {
    let mut connection = open_immutable(path)?;
    let faults = integrity_faults(&connection)?;
    if !faults.is_empty() {
        return Err(Error::Unavailable(format!("the file is damaged: {}", faults.join("; "))));
    }
    let MigrationStatus { current, latest } = migrate::read_status(&connection, MIGRATIONS)?;
    if current > latest {
        return Err(Error::Unavailable(newer(current, latest)));
    }
    let faults = read_with(&mut connection, &CheckAudit)?;
    Ok((read_with(&mut connection, &ReadFacts)?, faults))
}

/// Why a database or a backup of a newer version is refused.
pub fn newer(current: usize, latest: usize) -> String {
    format!(
        "it was made by a newer portico: it is at version {current}, and this one knows versions up to {latest}"
    )
}

/// The last migration that this version knows, on either engine.
pub fn latest_migration() -> usize {
    MIGRATIONS.len()
}
