//! Raw SQL on a database of either engine.

use rusqlite::types::Value as Lite;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::support::App;

/// A column value of any type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Cell {
    pub(crate) fn int(&self) -> i64 {
        match self {
            Self::Int(int) => *int,
            other => panic!("a number is expected: {other:?}"),
        }
    }
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            other => panic!("a text is expected: {other:?}"),
        }
    }
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            other => panic!("bytes are expected: {other:?}"),
        }
    }
}

impl<'a> FromSql<'a> for Cell {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(match *kind {
            Type::INT8 => Self::Int(i64::from_sql(kind, raw)?),
            Type::INT4 => Self::Int(i32::from_sql(kind, raw)?.into()),
            Type::INT2 => Self::Int(i16::from_sql(kind, raw)?.into()),
            Type::BOOL => Self::Int(bool::from_sql(kind, raw)?.into()),
            Type::BYTEA => Self::Bytes(raw.to_vec()),
            _ => Self::Text(String::from_utf8_lossy(raw).into_owned()),
        })
    }
    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self::Null)
    }
    fn accepts(_: &Type) -> bool {
        true
    }
}

impl ToSql for Cell {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(int) => int.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    to_sql_checked!();
}

fn borrowed(values: &[Cell]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// Raw SQL on the server's database. Statements are the same on both engines, with parameters as `?1`.
pub(crate) enum Raw {
    Sqlite(rusqlite::Connection),
    Postgres(tokio_postgres::Client),
}

impl Raw {
    pub(crate) async fn open(app: &App) -> Self {
        match &app.database {
            None => Self::file(&app.data.join("portico.db")),
            Some(url) => {
                let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
                tokio::spawn(connection);
                Self::Postgres(client)
            }
        }
    }

    pub(crate) fn file(path: &std::path::Path) -> Self {
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        Self::Sqlite(connection)
    }

    pub(crate) async fn rows(&self, sql: &str, values: &[Cell]) -> Vec<Vec<Cell>> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare(sql).unwrap();
                let columns = statement.column_count();
                let cells = |row: &rusqlite::Row<'_>| {
                    (0..columns).map(|at| row.get::<_, Lite>(at).map(of_lite)).collect()
                };
                let values = rusqlite::params_from_iter(values.iter().map(to_lite));
                statement.query_map(values, cells).unwrap().map(Result::unwrap).collect()
            }
            Self::Postgres(client) => {
                let rows = client.query(&sql.replace('?', "$"), &borrowed(values)).await.unwrap();
                rows.iter().map(|row| (0..row.len()).map(|at| row.get(at)).collect()).collect()
            }
        }
    }

    /// The number of changed rows; `None` if the database refuses.
    pub(crate) async fn change(&self, sql: &str, values: &[Cell]) -> Option<u64> {
        match self {
            Self::Sqlite(connection) => {
                let values = rusqlite::params_from_iter(values.iter().map(to_lite));
                connection.execute(sql, values).ok().map(|changed| changed as u64)
            }
            Self::Postgres(client) => client.execute(&sql.replace('?', "$"), &borrowed(values)).await.ok(),
        }
    }
}

fn of_lite(value: Lite) -> Cell {
    match value {
        Lite::Null => Cell::Null,
        Lite::Integer(int) => Cell::Int(int),
        Lite::Real(real) => Cell::Text(real.to_string()),
        Lite::Text(text) => Cell::Text(text),
        Lite::Blob(bytes) => Cell::Bytes(bytes),
    }
}

fn to_lite(cell: &Cell) -> Lite {
    match cell {
        Cell::Null => Lite::Null,
        Cell::Int(int) => Lite::Integer(*int),
        Cell::Text(text) => Lite::Text(text.clone()),
        Cell::Bytes(bytes) => Lite::Blob(bytes.clone()),
    }
}
