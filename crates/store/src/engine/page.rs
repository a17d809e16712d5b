//! Keyset pagination: a cursor names the last row that was read, and nothing stays open.

use crate::engine::error::Result;
use crate::engine::sql::{Columns, FromRow, Row, Weight};

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

    /// Where a list with the newest first goes on: at lower numbers than these. Its cursors count down from 0, so that
    /// they grow along the list like all others.
    pub(crate) fn before(after: Option<Self>) -> Self {
        let negated = |number: i64| number.checked_neg().unwrap_or(i64::MAX);
        let Self { key, seq } = after.unwrap_or(Self::START);
        Self { key: negated(key), seq: negated(seq) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// `None`: this is the last page.
    pub next: Option<Cursor>,
    /// In order of creation, rows after this number may still appear between those of this page; `None`: they cannot.
    pub stable_up_to: Option<i64>,
}

impl<T> Page<T> {
    /// Expects one item more than the limit if there is a next page.
    pub(crate) fn cut(mut found: Vec<Keyed<T>>, limit: usize) -> Self {
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.at);
        Self { items: found.into_iter().map(|placed| placed.item).collect(), next, stable_up_to: None }
    }

    /// The only page.
    pub fn of(items: Vec<T>) -> Self {
        Self { items, next: None, stable_up_to: None }
    }

    /// The cursor for the next page: after this page, or before the first row that may still appear; then some rows
    /// are repeated.
    pub fn next_to_follow(&self) -> Option<Cursor> {
        let next = self.next?;
        Some(self.stable_up_to.map_or(next, |stable| next.min(Cursor { key: stable, seq: stable })))
    }

    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        let Self { items, next, stable_up_to } = self;
        Page { items: items.into_iter().map(change).collect(), next, stable_up_to }
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

pub(crate) fn as_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The numbers of a cursor come from a client, and may be any.
        #[test]
        fn any_cursor_goes_on_in_either_direction(key: i64, seq: i64, stable_up_to: Option<i64>) {
            let cursor = Cursor { key, seq };
            let before = Cursor::before(Some(cursor));
            if key != i64::MIN && seq != i64::MIN {
                prop_assert_eq!(Cursor::before(Some(before)), cursor);
            }
            let next = Page { items: vec![()], next: Some(cursor), stable_up_to }.next_to_follow().unwrap();
            prop_assert!(next <= cursor);
            let is_stable = stable_up_to.is_none_or(|stable| next <= Cursor { key: stable, seq: stable });
            prop_assert!(is_stable);
        }
    }

    #[test]
    fn newest_first_begins_above_every_row() {
        assert_eq!(Cursor::before(None), Cursor { key: i64::MAX, seq: i64::MAX });
    }
}
