//! Time, identifiers and randomness as parameters, so that tests can replace them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use portico_domain::Timestamp;

use crate::error::{Error, Result};

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

/// Calendar time: for validity, retention, expiry, idempotency and the embedded chain's blocks. A sandbox can move it
/// ahead of the machine's clock; clones share the offset. Tokens, keys, timers and leases use `machine_now`.
#[derive(Debug, Clone)]
pub struct CalendarClock {
    machine: Arc<dyn Clock>,
    ahead_micros: Arc<AtomicI64>,
}

impl CalendarClock {
    pub fn new(machine: Arc<dyn Clock>) -> Self {
        Self { machine, ahead_micros: Arc::default() }
    }

    pub fn now(&self) -> Timestamp {
        let ahead = self.ahead_micros.load(Ordering::Relaxed);
        Timestamp::from_micros(self.machine.now().micros().saturating_add(ahead))
    }

    pub fn machine_now(&self) -> Timestamp {
        self.machine.now()
    }

    /// Several servers of one database may advance it: the furthest counts.
    pub fn set_ahead(&self, micros: i64) {
        self.ahead_micros.fetch_max(micros, Ordering::Relaxed);
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
