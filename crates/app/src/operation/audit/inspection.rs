//! Verifies entries: whether they follow each other, and who can have written them.

use portico_domain::Timestamp;
use portico_store::Db;
use portico_store::audit::{AuditKey, Head, KEY_LOST, KEYED, LoggedEntry, RESTORED, supersedes};
use portico_store::chain::Word;

use crate::error::Result;

const ENTRIES_PER_READ: i64 = 1000;

/// The log's anchor on the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The chain could not be read.
    Unknown,
    Missing,
    /// The hash of the anchored entry.
    Entry(Word),
}

/// What is wrong with a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum AuditFault {
    #[error("entry {entry} follows entry {previous}")]
    Gap { entry: i64, previous: i64 },
    #[error("the entries before {entry} have no keyed hashes, and should have: the log was rewritten")]
    KeyedTooLate { entry: i64 },
    #[error(
        "the log says that it ends with entry {said}, and it ends with entry {found}, or with another hash"
    )]
    OtherEnd { said: i64, found: i64 },
    #[error("no entry has a keyed hash, and some should have: the log was cut or rewritten")]
    NothingKeyed,
    #[error("entry {entry} was altered, or the one before it, or it was not written by this instance")]
    Altered { entry: i64 },
    #[error("the entry at which the chain's anchor stands is not there: the log was cut or rewritten")]
    AnchorMissing,
    #[error(
        "the chain has no anchor under the log's name and should have one by now: the name was altered, or no server \
         has run since the first entry"
    )]
    NeverAnchored,
    #[error(
        "entry {entry} is older than an hour and not anchored: no server has run since, or it cannot write to the \
         chain, or refuses to anchor this log"
    )]
    AnchorLate { entry: i64 },
    #[error("the log's name in the database was altered: on the chain it has another one")]
    Renamed,
    #[error("entries of commands wait for a server to append them, for more than an hour")]
    EntriesWait,
}

impl AuditFault {
    /// A stable code for clients.
    pub const fn code(&self) -> &'static str {
        self.into_str()
    }

    /// The entry that it is about.
    pub const fn entry(&self) -> Option<i64> {
        match self {
            Self::Gap { entry, .. }
            | Self::KeyedTooLate { entry }
            | Self::Altered { entry }
            | Self::AnchorLate { entry } => Some(*entry),
            Self::OtherEnd { found, .. } => Some(*found),
            _ => None,
        }
    }
}

/// Faults that are reported individually: a log that another instance wrote has one in every entry.
const MAX_REPORTED_FAULTS: usize = 1000;

/// Faults in the order in which they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct AuditFaults {
    told: Vec<AuditFault>,
    count: u64,
}

impl AuditFaults {
    fn add(&mut self, fault: AuditFault) {
        self.count += 1;
        if self.told.len() < MAX_REPORTED_FAULTS {
            self.told.push(fault);
        }
    }

    fn append(&mut self, others: Self) {
        self.count += others.count;
        self.told.extend(others.told);
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    pub entries: i64,
    /// Empty: the log is intact.
    pub faults: Vec<AuditFault>,
    /// All of them, also those that are not told one by one.
    pub fault_count: u64,
    /// The number of the anchored entry.
    pub anchored: Option<i64>,
    /// Whether only somebody with the key can have written the end of it.
    pub keyed: bool,
}

/// Reads entries in their order.
#[derive(Debug)]
pub(super) struct Inspector<'k> {
    key: Option<&'k AuditKey>,
    anchor: Anchor,
    /// The first entry's number.
    first: i64,
    previous: Word,
    next: i64,
    entries: i64,
    keyed: bool,
    anchored: Option<i64>,
    /// A restore has given up the entries up to the anchor.
    superseded: bool,
    /// The number and time of the oldest entry that is not anchored.
    open: Option<(i64, Timestamp)>,
    faults: AuditFaults,
    /// Entries whose hash is wrong. A lost key excuses those before it.
    unproven: AuditFaults,
}

impl<'k> Inspector<'k> {
    pub(super) fn whole(key: Option<&'k AuditKey>, anchor: Anchor) -> Self {
        Self::after(key, anchor, 0, Word::default())
    }

    /// From the entry after this one on.
    pub(super) fn after(key: Option<&'k AuditKey>, anchor: Anchor, seq: i64, hash: Word) -> Self {
        Self {
            key,
            anchor,
            first: seq + 1,
            previous: hash,
            next: seq + 1,
            entries: 0,
            keyed: false,
            anchored: None,
            superseded: false,
            open: None,
            faults: AuditFaults::default(),
            unproven: AuditFaults::default(),
        }
    }

    pub(super) fn fault(&mut self, fault: AuditFault) {
        self.faults.add(fault);
    }

    fn read(&mut self, entry: &LoggedEntry) {
        self.entries += 1;
        if entry.seq != self.next {
            self.fault(AuditFault::Gap { entry: entry.seq, previous: self.next - 1 });
        }
        if self.key.is_some_and(|key| entry.follows(&self.previous, Some(key))) {
            self.read_keyed(entry);
        } else if self.keyed || !entry.follows(&self.previous, None) {
            self.unproven.add(AuditFault::Altered { entry: entry.seq });
        }
        if self.anchor == Anchor::Entry(entry.hash) {
            (self.anchored, self.open) = (Some(entry.seq), None);
        } else if self.open.is_none() {
            self.open = Some((entry.seq, entry.at));
        }
        (self.previous, self.next) = (entry.hash, entry.seq + 1);
    }

    /// Only a holder of the key can have written this entry.
    fn read_keyed(&mut self, entry: &LoggedEntry) {
        if !self.keyed && entry.seq > self.first {
            let key_was_lost = entry.action == KEYED && entry.detail.starts_with(KEY_LOST);
            if key_was_lost {
                self.unproven = AuditFaults::default();
            }
            if ![KEYED, RESTORED].contains(&&*entry.action) {
                self.fault(AuditFault::KeyedTooLate { entry: entry.seq });
            }
        }
        self.keyed = true;
        if let Anchor::Entry(hash) = self.anchor
            && entry.action == RESTORED
            && supersedes(&entry.detail, &hash)
        {
            self.superseded = true;
        }
    }

    fn check_end(&mut self, head: &Head) {
        if (head.seq, head.hash) != (self.next - 1, self.previous) {
            self.fault(AuditFault::OtherEnd { said: head.seq, found: self.next - 1 });
        }
        if self.key.is_some() && self.entries > 0 && !self.keyed {
            self.fault(AuditFault::NothingKeyed);
        }
        let unproven = std::mem::take(&mut self.unproven);
        self.faults.append(unproven);
        if matches!(self.anchor, Anchor::Entry(_)) && self.anchored.is_none() && !self.superseded {
            self.fault(AuditFault::AnchorMissing);
        }
    }

    /// The result. Entries from before `late` should be anchored.
    pub(super) fn finish(mut self, head: &Head, late: Timestamp) -> Inspection {
        self.check_end(head);
        match (self.anchor, self.open) {
            (Anchor::Missing, Some((_, at))) if at < late => self.fault(AuditFault::NeverAnchored),
            (Anchor::Entry(_), Some((entry, at))) if at < late => {
                self.fault(AuditFault::AnchorLate { entry });
            }
            _ => {}
        }
        Inspection {
            entries: self.entries,
            faults: self.faults.told,
            fault_count: self.faults.count,
            anchored: self.anchored,
            keyed: self.keyed,
        }
    }

    /// What is wrong with the entries that were read, if anything.
    pub(super) fn verdict(mut self, head: &Head) -> Result<(), AuditFault> {
        self.check_end(head);
        self.faults.told.into_iter().next().map_or(Ok(()), Err)
    }
}

/// Reads the whole log and returns its head, while others may append to it.
pub(super) async fn read_all(
    db: &Db,
    inspector: &mut Inspector<'_>,
    mut progress: impl FnMut(i64),
) -> Result<Head> {
    loop {
        let entries = db.audit_after(inspector.next - 1, ENTRIES_PER_READ).await?;
        if entries.is_empty() {
            let (head, more) = (db.audit_head().await?, db.audit_after(inspector.next - 1, 1).await?);
            if more.is_empty() {
                return Ok(head);
            }
        }
        for entry in &entries {
            inspector.read(entry);
        }
        progress(inspector.entries);
    }
}

/// Reads the log up to the head, while others append to it.
pub(super) async fn read_up_to(db: &Db, inspector: &mut Inspector<'_>, head: &Head) -> Result<()> {
    while inspector.next <= head.seq {
        let left = (head.seq - inspector.next + 1).min(ENTRIES_PER_READ);
        let entries = db.audit_after(inspector.next - 1, left).await?;
        if entries.is_empty() {
            return Ok(());
        }
        for entry in entries.iter().filter(|entry| entry.seq <= head.seq) {
            inspector.read(entry);
        }
        if entries.iter().any(|entry| entry.seq > head.seq) {
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    /// What is found in a log of one entry of this age.
    fn faults(anchor: Anchor, seconds: i64) -> String {
        let mut inspector = Inspector::whole(None, anchor);
        let entry = LoggedEntry {
            seq: 1,
            at: NOW.minus_seconds(seconds),
            actor: String::new(),
            action: String::new(),
            subject: String::new(),
            detail: String::new(),
            hash: [7; 32],
        };
        inspector.read(&entry);
        inspector.unproven = AuditFaults::default();
        let head = Head { log: [0; 32], seq: 1, hash: [7; 32], keyed: false };
        let found = inspector.finish(&head, NOW.minus_seconds(60 * 60)).faults;
        found.iter().map(AuditFault::to_string).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn missing_or_late_anchor_is_a_fault() {
        let (recent, old) = (60, 2 * 60 * 60);
        assert_eq!(faults(Anchor::Entry([7; 32]), old), "");
        assert!(faults(Anchor::Entry([8; 32]), recent).contains("cut or rewritten"));
        assert!(faults(Anchor::Entry([8; 32]), old).contains("entry 1 is older than an hour"));
        assert!(faults(Anchor::Missing, old).contains("name"));
        assert_eq!(faults(Anchor::Missing, recent), "");
        assert_eq!(faults(Anchor::Unknown, old), "");
    }
}
