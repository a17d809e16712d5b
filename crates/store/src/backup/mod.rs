//! Consistent copies of a database, what they say about themselves, and what can be checked of them.

mod postgres;
mod sqlite;

pub use crate::database_facts::{Facts, SignerFacts};
pub use postgres::{
    ClientEnvironment, PostgresSnapshot, Target, complete as complete_postgres_restore, inspect_target,
    make_room, replaced_revocations, undo as undo_postgres_restore,
};
pub use sqlite::{SqliteSnapshot, inspect_sqlite, latest_migration, newer};
