//! Applications of people whose key no longer exists, and when they may be deleted.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use portico_store::keystore::PersonId;

/// Grace period of a running erasure, which also clears flags of applications that only it can open.
const ERASURE_GRACE: Duration = Duration::from_mins(1);

/// People whose key no longer exists, and when that was first seen.
#[derive(Debug, Default)]
pub(crate) struct Orphans(Mutex<HashMap<PersonId, Instant>>);

impl Orphans {
    /// Whether no erasure is going to delete their applications.
    pub(super) fn are_left(&self, person: PersonId) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, since| since.elapsed() < 2 * ERASURE_GRACE);
        known.entry(person).or_insert_with(Instant::now).elapsed() > ERASURE_GRACE
    }
}
