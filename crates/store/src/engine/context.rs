//! What a transaction knows and collects besides its statements: row numbers, the audit log's key, and the events and
//! counters that are written when its work has succeeded.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::engine::audit_key::{AuditKey, AuditKeyCell};
use crate::engine::param::{OwnedParam, Param};

/// Creation numbers that a transaction draws at once: the increment of the sequence.
pub(crate) const CREATION_NUMBER_BLOCK: i64 = 1024;

/// A pseudo-random number from 0 to below the limit; not secret.
pub(crate) fn random_below(limit: i64) -> i64 {
    use std::hash::{BuildHasher, RandomState};
    let bits = RandomState::new().hash_one(0_u8);
    i64::try_from(bits % limit.unsigned_abs()).unwrap_or(0)
}

/// Who numbers new rows.
#[derive(Debug)]
enum Numbering {
    /// `SQLite`, on insert.
    Assigned,
    /// The transaction: what is left of the creation numbers that it has drawn.
    Drawn(Range<i64>),
}

/// The columns of an event.
pub(crate) type Event = [OwnedParam; 5];

/// Belongs to one attempt of a unit of work.
#[derive(Debug)]
pub struct Context {
    numbering: Numbering,
    audit_key: AuditKeyCell,
    pub(crate) events: Vec<Event>,
    /// By scope and name of the counter.
    pub(crate) totals: BTreeMap<(&'static str, Box<str>), i64>,
}

impl Context {
    fn new(numbering: Numbering, audit_key: AuditKeyCell) -> Self {
        Self { numbering, audit_key, events: Vec::new(), totals: BTreeMap::new() }
    }

    pub(crate) fn sqlite(audit_key: AuditKeyCell) -> Self {
        Self::new(Numbering::Assigned, audit_key)
    }

    pub(crate) fn postgres(audit_key: AuditKeyCell) -> Self {
        Self::new(Numbering::Drawn(0..0), audit_key)
    }

    /// The key of the audit log, if this process knows it.
    pub(crate) fn audit_key(&self) -> Option<&AuditKey> {
        self.audit_key.get()
    }

    /// For rows that are not paged: unique, and grows with time. Microseconds, then random bits that tell replicas apart.
    pub(crate) fn seq(&self) -> Param<'static> {
        static LAST: AtomicI64 = AtomicI64::new(0);
        if let Numbering::Assigned = self.numbering {
            return Param::Assigned;
        }
        let micros = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_micros());
        let now = i64::try_from(micros).unwrap_or(i64::MAX >> 11) << 11 | random_below(1 << 11);
        let last = LAST.fetch_max(now, Ordering::Relaxed);
        Param::Int(if now > last { now } else { LAST.fetch_add(1, Ordering::Relaxed) + 1 })
    }

    /// `None`: the next block has to be drawn.
    pub(crate) fn creation_number(&mut self) -> Option<Param<'static>> {
        match &mut self.numbering {
            Numbering::Assigned => Some(Param::Assigned),
            Numbering::Drawn(left) => left.next().map(Param::Int),
        }
    }

    /// Takes a block of creation numbers, and returns its first.
    pub(crate) fn use_block(&mut self, first: i64) -> Param<'static> {
        self.numbering = Numbering::Drawn(first + 1..first + CREATION_NUMBER_BLOCK);
        Param::Int(first)
    }
}
