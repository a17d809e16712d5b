//! Parameters of statements.

use portico_domain::Timestamp;
use portico_domain::decimal::{Decimal, Unit};
use portico_domain::text::{Text, TextFormat};

#[derive(Debug, Clone, Copy)]
pub enum Param<'a> {
    Null,
    /// The number of a new row, which `SQLite` assigns on insert; `PostgreSQL` refuses it.
    Assigned,
    /// Counts, units of decimals, microseconds, flags.
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl From<i64> for Param<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}
impl From<bool> for Param<'_> {
    fn from(value: bool) -> Self {
        Self::Int(i64::from(value))
    }
}
impl From<Timestamp> for Param<'_> {
    fn from(value: Timestamp) -> Self {
        Self::Int(value.micros())
    }
}
impl<'a> From<&'a str> for Param<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}
impl<'a> From<&'a [u8]> for Param<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Bytes(value)
    }
}
impl<'a, K: TextFormat> From<&'a Text<K>> for Param<'a> {
    fn from(value: &'a Text<K>) -> Self {
        Self::Text(value.as_str())
    }
}
impl<U: Unit> From<Decimal<U>> for Param<'_> {
    fn from(value: Decimal<U>) -> Self {
        Self::Int(value.units())
    }
}
impl<'a, T: Into<Param<'a>>> From<Option<T>> for Param<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// For parameters that are stored or sent to another thread.
#[derive(Debug)]
pub(crate) enum OwnedParam {
    Null,
    Assigned,
    Int(i64),
    Text(Box<str>),
    Bytes(Box<[u8]>),
}

impl From<&Param<'_>> for OwnedParam {
    fn from(value: &Param<'_>) -> Self {
        match *value {
            Param::Null => Self::Null,
            Param::Assigned => Self::Assigned,
            Param::Int(int) => Self::Int(int),
            Param::Text(text) => Self::Text(text.into()),
            Param::Bytes(bytes) => Self::Bytes(bytes.into()),
        }
    }
}

impl OwnedParam {
    pub(crate) fn borrow(&self) -> Param<'_> {
        match self {
            Self::Null => Param::Null,
            Self::Assigned => Param::Assigned,
            Self::Int(int) => Param::Int(*int),
            Self::Text(text) => Param::Text(text),
            Self::Bytes(bytes) => Param::Bytes(bytes),
        }
    }
}
