//! Time and new identifiers, as parameters: a test or a replay brings its own.

use std::time::{SystemTime, UNIX_EPOCH};

use portico_domain::Timestamp;

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
    /// One that was never given before.
    fn next(&self) -> String;
}

/// Time-ordered random identifiers (UUID version 7).
#[derive(Debug, Clone, Copy)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn next(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}
