//! Time, identifiers and randomness as parameters, so that tests can replace them.

use std::time::{SystemTime, UNIX_EPOCH};

use portico_domain::Timestamp;

use crate::{Error, Result};

pub trait Clock: Send + Sync + std::fmt::Debug {
    fn now(&self) -> Timestamp;
}

#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where the machine's clock is read")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

pub trait Ids: Send + Sync + std::fmt::Debug {
    /// Never returns the same id twice.
    fn next(&self) -> String;
}

/// UUID version 7.
#[derive(Debug, Clone, Copy)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn next(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

pub trait Randomness: Send + Sync + std::fmt::Debug {
    /// Fills the bytes with cryptographically secure randomness.
    fn fill(&self, bytes: &mut [u8]) -> Result<()>;
}

#[derive(Debug, Clone, Copy)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill(&self, bytes: &mut [u8]) -> Result<()> {
        aws_lc_rs::rand::fill(bytes).map_err(|_| Error::Bug("no randomness".into()))
    }
}
