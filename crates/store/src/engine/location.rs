//! Where a database is, and what a process does with it.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    Sqlite(PathBuf),
    /// A connection URL.
    Postgres(String),
}

impl Location {
    /// Parses `sqlite:PATH` or `postgres://…`.
    pub fn parse(url: &str) -> Result<Self, String> {
        if let Some(path) = url.strip_prefix("sqlite:").filter(|path| !path.is_empty()) {
            Ok(Self::Sqlite(path.trim_start_matches("//").into()))
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Ok(Self::Postgres(url.into()))
        } else {
            Err("must be sqlite:PATH or postgres://…".into())
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Maintains derived data (the search index of `SQLite`).
    Server,
    /// A command that runs next to the server.
    Tool,
}
