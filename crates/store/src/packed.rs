//! A row that is one text: to take many columns out of a row costs a database more than what is in them.

use crate::sql::Row;
use crate::{Error, Result};

/// Stands between the columns. No text of ours has control characters.
const BETWEEN: u8 = 0x1f;
/// Stands for a column without a value.
const ABSENT: [u8; 1] = [0x1e];

/// The columns of a row that is one text.
#[derive(Debug)]
pub(crate) struct Packed<'t, const COLUMNS: usize>([&'t str; COLUMNS]);

impl<'t, const COLUMNS: usize> Packed<'t, COLUMNS> {
    pub(crate) fn new(text: &'t str) -> Result<Self> {
        let (mut columns, mut filled, mut from) = ([""; COLUMNS], 0, 0);
        // Columns are short: to look at every byte is quicker than to search.
        for (at, byte) in text.bytes().enumerate() {
            if byte == BETWEEN {
                *columns.get_mut(filled).ok_or_else(unreadable)? = &text[from..at];
                (filled, from) = (filled + 1, at + 1);
            }
        }
        if filled + 1 != COLUMNS {
            return Err(unreadable());
        }
        columns[filled] = &text[from..];
        Ok(Self(columns))
    }
}

fn unreadable() -> Error {
    Error::Bug("a row that is one text cannot be read".into())
}

impl<const COLUMNS: usize> Row for Packed<'_, COLUMNS> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.text(column)?.map(|digits| digits.parse().map_err(|_| unreadable())).transpose()
    }
    fn text(&self, column: usize) -> Result<Option<&str>> {
        self.0
            .get(column)
            .map(|text| Some(*text).filter(|text| text.as_bytes() != ABSENT))
            .ok_or_else(unreadable)
    }
    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        Ok(self.text(column)?.map(str::as_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_told_apart_and_an_empty_one_from_an_absent_one() {
        let row = Packed::<5>::new("a b\u{1f}\u{1f}-42\u{1f}\u{1e}\u{1f}ü").unwrap();
        assert_eq!(row.text(0).unwrap(), Some("a b"));
        assert_eq!(row.text(1).unwrap(), Some(""));
        assert_eq!(row.int(2).unwrap(), Some(-42));
        assert_eq!((row.int(3).unwrap(), row.text(3).unwrap(), row.bytes(3).unwrap()), (None, None, None));
        assert_eq!(row.bytes(4).unwrap(), Some("ü".as_bytes()));
    }

    #[test]
    fn what_cannot_be_such_a_row_is_an_error() {
        for text in ["", "1", "1\u{1f}2\u{1f}3"] {
            assert!(matches!(Packed::<2>::new(text), Err(Error::Bug(_))), "{text:?}");
        }
        let row = Packed::<2>::new("1\u{1f}a").unwrap();
        assert!(row.int(1).is_err());
        assert!(row.text(2).is_err());
    }
}
