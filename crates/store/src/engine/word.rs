//! Fixed numbers of bytes in a column: hashes, keys, digests.

use crate::engine::error::{Error, Result};
use crate::engine::sql::{FromColumn, Row};

pub use portico_records::Word;

pub(crate) fn word<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| Error::Bug(format!("{N} bytes were expected")))
}

impl FromColumn for Option<Word> {
    fn from_column(row: &impl Row, column: usize) -> Result<Self> {
        row.bytes(column)?.map(word).transpose()
    }
}
