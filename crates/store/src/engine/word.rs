//! Fixed numbers of bytes in a column: hashes, keys, digests.

use crate::engine::error::{Error, Result};
use crate::engine::sql::{FromColumn, Row};

pub use portico_records::Word;

pub(crate) fn word<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| Error::Bug(format!("{N} bytes were expected")))
}

impl<const N: usize> FromColumn for [u8; N] {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        row.bytes(column)?.map(word).transpose()
    }
}
