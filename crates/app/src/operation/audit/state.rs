//! What this process knows about the log: whether it was altered, and what was verified.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use portico_domain::Timestamp;

use super::inspection::Inspection;

/// Whether the last attempt to anchor the log found that it was altered.
#[derive(Debug, Default)]
pub(crate) struct AuditAlarm(AtomicBool);

impl AuditAlarm {
    pub(super) fn set(&self, altered: bool) {
        self.0.store(altered, Ordering::Relaxed);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What this process has verified. Replicas verify on their own.
#[derive(Debug, Default)]
pub(crate) struct AuditVerification(Mutex<State>);

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) running: Option<Progress>,
    pub(super) latest: Option<EndedVerification>,
}

impl AuditVerification {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub since: Timestamp,
    /// Entries that were read.
    pub read: i64,
}

/// A verification that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedVerification {
    pub at: Timestamp,
    /// `None`: it could not be completed, for example because the database did not answer.
    pub found: Option<Inspection>,
    /// Whether the end of the log was compared with the chain.
    pub is_compared: bool,
}
