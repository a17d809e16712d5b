//! Types that both engines share: statements, values, rows, transactions and units of work.

use std::future::Future;
use std::sync::OnceLock;

use portico_domain::decimal::{Decimal, Unit};
use portico_domain::text::{Text, TextFormat};
use portico_domain::{Tenant, Timestamp};

use crate::engine::context::Context;
use crate::engine::error::{Error, Result};
pub use crate::engine::param::Param;

/// Parameters are written `?1`, `?2`, …; where the dialects differ, there are two texts.
#[derive(Debug)]
pub struct Sql {
    sqlite: &'static str,
    postgres: &'static str,
    /// What `{columns}` stands for.
    columns: &'static str,
    sqlite_text: OnceLock<String>,
    postgres_text: OnceLock<String>,
}

impl Sql {
    pub(crate) fn sqlite(&self) -> &str {
        if self.columns.is_empty() {
            return self.sqlite;
        }
        self.sqlite_text.get_or_init(|| self.sqlite.replace("{columns}", self.columns))
    }

    /// With `$1` for `?1`. Our statements have no other question marks.
    pub(crate) fn postgres(&self) -> &str {
        self.postgres_text.get_or_init(|| self.postgres.replace("{columns}", self.columns).replace('?', "$"))
    }

    const fn new(sqlite: &'static str, postgres: &'static str, columns: &'static str) -> Self {
        Self { sqlite, postgres, columns, sqlite_text: OnceLock::new(), postgres_text: OnceLock::new() }
    }
}

pub const fn sql(both: &'static str) -> Sql {
    Sql::new(both, both, "")
}

/// `SQLite` gets only as many parameters as its text names.
pub const fn dialects(sqlite: &'static str, postgres: &'static str) -> Sql {
    Sql::new(sqlite, postgres, "")
}

/// Returns rows: `{columns}` stands for those that `R` is read from.
pub const fn select<R: FromRow>(both: &'static str) -> Sql {
    select_dialects::<R>(both, both)
}

#[expect(clippy::missing_panics_doc, reason = "only while the crate is compiled")]
pub const fn select_dialects<R: FromRow>(sqlite: &'static str, postgres: &'static str) -> Sql {
    assert!(!R::COLUMNS.is_empty(), "this row has no columns of its own");
    Sql::new(sqlite, postgres, R::COLUMNS)
}

/// Lists a file's statements for the test that prepares all of them (`tests/statements`).
macro_rules! statements {
    ($($statement:expr),+ $(,)?) => {
        #[cfg(test)]
        pub(crate) static STATEMENTS: &[&$crate::engine::sql::Sql] = &[$(&$statement),+];
    };
}
pub(crate) use statements;

/// Converts each value to a [`Param`].
macro_rules! params {
    ($($value:expr),+ $(,)?) => {
        [$($crate::engine::param::Param::from($value)),+]
    };
}
pub(crate) use params;

pub trait Row {
    fn int(&self, column: usize) -> Result<Option<i64>>;
    fn text(&self, column: usize) -> Result<Option<&str>>;
    fn bytes(&self, column: usize) -> Result<Option<&[u8]>>;
}

/// Reads a row from its first column to its last.
#[derive(Debug)]
pub struct Columns<'a, R> {
    row: &'a R,
    next: usize,
}

impl<'a, R: Row> Columns<'a, R> {
    pub fn new(row: &'a R) -> Self {
        Self { row, next: 0 }
    }

    pub fn get<T: FromColumn>(&mut self) -> Result<T> {
        self.next += 1;
        T::from_column(self.row, self.next - 1)
    }

    /// A text column that is never null, borrowed from the row.
    pub fn text(&mut self) -> Result<&'a str> {
        self.next += 1;
        present(self.row.text(self.next - 1)?)
    }
}

pub trait FromColumn: Sized {
    /// `None`: the column is null.
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>>;

    fn from_column(row: &impl Row, column: usize) -> Result<Self> {
        present(Self::nullable(row, column)?)
    }
}

fn present<T>(value: Option<T>) -> Result<T> {
    value.ok_or_else(|| Error::Bug("a NOT NULL column was null".into()))
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        T::nullable(row, column).map(Some)
    }
}
impl FromColumn for i64 {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        row.int(column)
    }
}
impl FromColumn for bool {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        Ok(row.int(column)?.map(|flag| flag != 0))
    }
}
impl FromColumn for Timestamp {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        Ok(row.int(column)?.map(Self::from_micros))
    }
}
impl<U: Unit> FromColumn for Decimal<U> {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        Ok(row.int(column)?.map(Self::from_units))
    }
}
impl FromColumn for String {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        Ok(row.text(column)?.map(Into::into))
    }
}
impl<K: TextFormat> FromColumn for Text<K> {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        Ok(row.text(column)?.map(Self::stored))
    }
}
impl FromColumn for Tenant {
    /// Empty: the person was erased.
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        let stored = row.text(column)?.filter(|text| !text.is_empty());
        let tenant = |text| {
            Self::from_stored(text)
                .ok_or_else(|| Error::Bug("a tenant is neither a user nor an account".into()))
        };
        stored.map(tenant).transpose()
    }
}
impl FromColumn for Vec<u8> {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        Ok(row.bytes(column)?.map(Into::into))
    }
}

pub trait FromRow: Sized + Send + 'static {
    /// The columns or expressions that it is read from, for [`select`]; empty if its statements name them.
    const COLUMNS: &'static str = "";

    fn from_row<R: Row>(columns: &mut Columns<'_, R>) -> Result<Self>;
}

/// Implements [`FromRow`] for a struct from its fields in the order of the columns. A field whose column or expression
/// has another name is written `field = "column"`.
macro_rules! row {
    (@column $field:ident) => {
        stringify!($field)
    };
    (@column $field:ident $column:literal) => {
        $column
    };
    ($row:ty { $first:ident $(= $first_column:literal)? $(, $field:ident $(= $column:literal)?)* $(,)? }) => {
        impl $crate::engine::sql::FromRow for $row {
            const COLUMNS: &'static str = concat!(
                $crate::engine::sql::row!(@column $first $($first_column)?)
                $(, ", ", $crate::engine::sql::row!(@column $field $($column)?))*
            );

            fn from_row<R: $crate::engine::sql::Row>(
                columns: &mut $crate::engine::sql::Columns<'_, R>,
            ) -> $crate::engine::error::Result<Self> {
                Ok(Self { $first: columns.get()?, $($field: columns.get()?),* })
            }
        }
    };
}
pub(crate) use row;

macro_rules! tuples {
    ($($($name:ident)+;)+) => {
        $(impl<$($name: FromColumn + Send + 'static),+> FromRow for ($($name,)+) {
            fn from_row<Z: Row>(columns: &mut Columns<'_, Z>) -> Result<Self> {
                Ok(($(columns.get::<$name>()?,)+))
            }
        })+
    };
}
tuples! { A; A B; A B C; A B C D; }

pub trait Tx: Send {
    /// Returns the number of affected rows.
    fn exec(&mut self, sql: &'static Sql, params: &[Param<'_>]) -> impl Future<Output = Result<u64>> + Send;

    fn rows<R: FromRow>(
        &mut self,
        sql: &'static Sql,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<Vec<R>>> + Send;

    fn one<R: FromRow>(
        &mut self,
        sql: &'static Sql,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<Option<R>>> + Send {
        let rows = self.rows(sql, params);
        async move { Ok(rows.await?.into_iter().next()) }
    }

    /// What it knows and collects besides its statements.
    fn context(&mut self) -> &mut Context;
}

/// An atomic unit of work. The engine may run it again.
pub trait Op: Send + Sync + 'static {
    type Out: Send + 'static;
    fn run<T: Tx>(&self, tx: &mut T) -> impl Future<Output = Result<Self::Out>> + Send;
}

impl Op for () {
    type Out = ();
    async fn run<T: Tx>(&self, _: &mut T) -> Result<()> {
        Ok(())
    }
}

/// The cost of a read, which decides where `SQLite` runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// A few rows by index: on the caller's thread.
    Point,
    /// Many rows: off the async threads.
    Scan,
    /// Like a scan, but planned for its parameters each time.
    Search,
}
