//! Statements on a `SQLite` connection: parameters, rows and errors.

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::engine::error::{Error, Result};
use crate::engine::sql::{Columns, FromRow, Param, Row};

/// Where there are two rows there is mostly a page of them.
const EXPECTED_PAGE_ROWS: usize = 20;

fn bind(statement: &mut rusqlite::Statement<'_>, params: &[Param<'_>]) -> Result<()> {
    for (index, param) in params.iter().enumerate().take(statement.parameter_count()) {
        statement.raw_bind_parameter(index + 1, param)?;
    }
    Ok(())
}

pub(crate) fn rows<R: FromRow>(connection: &Connection, sql: &str, params: &[Param<'_>]) -> Result<Vec<R>> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, params)?;
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if found.len() == 1 {
            found.reserve(EXPECTED_PAGE_ROWS);
        }
        found.push(R::from_row(&mut Columns::new(row))?);
    }
    Ok(found)
}

pub(super) fn exec(connection: &Connection, sql: &str, params: &[Param<'_>]) -> Result<u64> {
    let mut statement = connection.prepare_cached(sql)?;
    bind(&mut statement, params)?;
    Ok(statement.raw_execute()? as u64)
}

impl rusqlite::ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            // A primary key that is null is assigned.
            Param::Null | Param::Assigned => ValueRef::Null,
            Param::Int(int) => ValueRef::Integer(int),
            Param::Text(text) => ValueRef::Text(text.as_bytes()),
            Param::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl Row for rusqlite::Row<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.get_ref(column)?.as_i64_or_null().map_err(|e| Error::Bug(e.to_string()))
    }
    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.get_ref(column)?.as_str_or_null().map_err(|e| Error::Bug(e.to_string()))
    }
    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        self.get_ref(column)?.as_blob_or_null().map_err(|e| Error::Bug(e.to_string()))
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        if portico_sqlite::is_unavailable(&error) {
            Self::Unavailable(error.to_string())
        } else {
            Self::Bug(error.to_string())
        }
    }
}

/// Threads that cannot be started, files that cannot be removed.
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}
