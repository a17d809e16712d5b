//! The `SQLite` engine: one writer thread that commits in groups, a reading connection per thread.
//!
//! Replies follow the commit, so that a client always reads its own writes.

pub(crate) mod database;
pub(crate) mod index_entries;
pub(crate) mod migrate;
pub(crate) mod migrations;
mod reader;
mod search_index;
pub(crate) mod statement;
pub(crate) mod writer;
