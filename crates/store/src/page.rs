//! Reading long lists in short pieces: a cursor names the last row that was read, and nothing stays open.

use crate::sql::{Columns, FromRow, Row, Sql, Val, Weight};
use crate::{Db, Result};

/// The place after which a list goes on: the sort key and the place in the order of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// The sort key; equal to `seq` where the list is in order of creation.
    pub key: i64,
    /// The place in the order of creation.
    pub seq: i64,
}

impl Cursor {
    pub const START: Self = Self { key: i64::MIN, seq: i64::MIN };
}

/// A piece of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Where to go on, if there is more.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// Cuts a list that was read one further than asked for.
    pub(crate) fn cut(mut found: Vec<Placed<T>>, limit: usize) -> Self {
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.at);
        Self { items: found.into_iter().map(|placed| placed.item).collect(), next }
    }

    /// The same piece with every item changed.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(change).collect(), next: self.next }
    }
}

/// An item and its place; the row ends with key and seq.
#[derive(Debug)]
pub(crate) struct Placed<T> {
    pub(crate) item: T,
    pub(crate) at: Cursor,
}

impl<T: FromRow> FromRow for Placed<T> {
    fn from_row<R: Row>(columns: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { item: T::from_row(columns)?, at: Cursor { key: columns.get()?, seq: columns.get()? } })
    }
}

/// Rows up to this many are read on the caller's own thread.
pub(crate) const MAX_POINT_ROWS: usize = 128;

pub(crate) fn weight(limit: usize) -> Weight {
    if limit <= MAX_POINT_ROWS { Weight::Point } else { Weight::Scan }
}

impl Db {
    /// A piece of a list in order of creation. The statement's parameters are: after (`?1`), limit (`?2`),
    /// then the subject's.
    pub(crate) async fn page<T: FromRow>(
        &self,
        sql: &'static Sql,
        subject: &[Val<'_>],
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<T>> {
        let mut params = vec![Val::Int(after.unwrap_or(Cursor::START).seq), Val::Int(as_limit(limit) + 1)];
        params.extend_from_slice(subject);
        Ok(Page::cut(self.read(sql, &params, weight(limit)).await?, limit))
    }
}

pub(crate) fn as_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX - 1)
}
