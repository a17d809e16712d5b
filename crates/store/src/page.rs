//! Keyset pagination: a cursor names the last row that was read, and nothing stays open.

use crate::sql::{Columns, FromRow, Row, Sql, Val, Weight};
use crate::{Db, Result};

/// Continue after this sort key and creation number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// Equal to `seq` in lists that are ordered by creation.
    pub key: i64,
    /// The creation number.
    pub seq: i64,
}

impl Cursor {
    pub const START: Self = Self { key: i64::MIN, seq: i64::MIN };
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// `None`: this is the last page.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// Expects one item more than the limit if there is a next page.
    pub(crate) fn cut(mut found: Vec<Keyed<T>>, limit: usize) -> Self {
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.at);
        Self { items: found.into_iter().map(|placed| placed.item).collect(), next }
    }

    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(change).collect(), next: self.next }
    }
}

/// A row that ends with key and seq.
#[derive(Debug)]
pub(crate) struct Keyed<T> {
    pub(crate) item: T,
    pub(crate) at: Cursor,
}

impl<T: FromRow> FromRow for Keyed<T> {
    fn from_row<R: Row>(columns: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { item: T::from_row(columns)?, at: Cursor { key: columns.get()?, seq: columns.get()? } })
    }
}

/// Larger reads run off the async threads.
pub(crate) const MAX_POINT_ROWS: usize = 128;

pub(crate) fn weight(limit: usize) -> Weight {
    if limit <= MAX_POINT_ROWS { Weight::Point } else { Weight::Scan }
}

impl Db {
    /// A page in creation order. Parameters: after (`?1`), limit (`?2`), then `subject`.
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
