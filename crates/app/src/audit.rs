//! The audit log: what is put on record, its anchor on the chain, and whether it was altered.

use std::sync::Arc;

use portico_chain::contracts::{Content, Kind};
use portico_domain::Timestamp;
use portico_domain::keys::KeyScope;
use portico_store::audit::{Append, Entry, Logged};
use portico_store::chain::{DesiredItem, Want, Word};

use crate::access::must_be_operator;
use crate::{Actor, Call, Core, Result};

/// Entries that are read at once.
const ENTRIES_PER_READ: i64 = 1000;
/// A server has anchored the log by then, many times over.
const ANCHORED_WITHIN_SECONDS: i64 = 60 * 60;

impl Actor {
    /// How the audit log calls them.
    pub fn recorded_as(&self) -> String {
        match self {
            Self::Anonymous => "nobody in particular".into(),
            Self::User { user, admin: false, .. } => format!("user {user}"),
            Self::User { user, admin: true, .. } => format!("administrator {user}"),
            Self::Key { id, scope: KeyScope::Operator } => format!("operator's key {id}"),
            Self::Key { id, .. } => format!("key {id}"),
            Self::Operator => "operator at the command line".into(),
        }
    }
}

/// What the chain says of the log's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// It could not be asked.
    Unknown,
    Nothing,
    /// The hash of the entry at which it stands.
    At(Word),
}

impl Anchor {
    /// What is wrong with it, for a log that has the anchored entry at a place and began at a moment.
    fn fault(self, anchored: Option<i64>, first: Option<Timestamp>, now: Timestamp) -> Option<&'static str> {
        let late = now.minus_seconds(ANCHORED_WITHIN_SECONDS);
        match self {
            Self::At(_) if anchored.is_none() => Some(
                "the entry at which the chain's anchor stands is not there: the log was cut or rewritten",
            ),
            Self::Nothing if first.is_some_and(|first| first < late) => Some(
                "the chain has no anchor under the log's name and should have one by now: the name was \
                 altered, or no server has run since the first entry",
            ),
            _ => None,
        }
    }
}

/// What an inspection of the log came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// How many entries were read.
    pub entries: i64,
    /// What is wrong; nothing: the log is whole.
    pub faults: Vec<String>,
    /// The place of the entry at which the chain's anchor stands.
    pub anchored: Option<i64>,
}

/// The audit log, for whoever inspects it.
#[derive(Debug)]
pub struct Audit {
    pub(crate) core: Arc<Core>,
}

impl Audit {
    /// Reads the whole log and names everything that is wrong with it.
    pub async fn inspect(
        &self,
        call: &Call,
        anchor: Anchor,
        mut progress: impl FnMut(i64),
    ) -> Result<Inspection> {
        must_be_operator(&call.actor)?;
        let mut inspector =
            Inspector { previous: Word::default(), next: 1, anchor, found: Inspection::empty() };
        let mut first = None;
        loop {
            let entries = self.core.db.audit_after(inspector.next - 1, ENTRIES_PER_READ).await?;
            if entries.is_empty() {
                break;
            }
            first = first.or(entries.first().map(|entry| entry.at));
            for entry in &entries {
                inspector.read(entry);
            }
            progress(inspector.found.entries);
        }
        let head = self.core.db.audit_head().await?;
        if (head.seq, head.hash) != (inspector.next - 1, inspector.previous) {
            inspector.found.faults.push(format!(
                "the log says that it ends with entry {}, and it ends with entry {}, or with another hash",
                head.seq,
                inspector.next - 1
            ));
        }
        let fault = anchor.fault(inspector.found.anchored, first, self.core.clock.now());
        inspector.found.faults.extend(fault.map(Into::into));
        Ok(inspector.found)
    }
}

impl Core {
    /// An entry about what a caller does.
    pub(crate) fn entry(
        &self,
        call: &Call,
        action: &'static str,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) -> Entry {
        Entry {
            at: self.clock.now(),
            actor: call.actor.recorded_as(),
            action,
            subject: subject.into(),
            detail: detail.into(),
        }
    }

    /// Puts on record what changes nothing else.
    pub(crate) async fn put_on_record(&self, entry: Entry) -> Result<()> {
        Ok(self.db.write(Append(entry)).await?)
    }

    /// Wants the end of the log on the chain, if it has moved since the last time.
    pub(crate) async fn anchor_audit(&self) -> Result<()> {
        let head = self.db.audit_head().await?;
        let anchored = self.db.chain_item(Kind::Anchor.number(), &head.log).await?;
        if let Some(item) = anchored {
            if item.payload == head.hash {
                return Ok(());
            }
            // An anchor that moved on with a log that was cut would hide it.
            if let Ok(last) = Word::try_from(item.payload)
                && self.db.audit_place(&last).await?.is_none()
            {
                tracing::error!(
                    "the audit log was cut or rewritten: its anchor on the chain stays where it is"
                );
                return Ok(());
            }
        }
        if head.seq == 0 {
            return Ok(());
        }
        let content = Content::Anchor { head: head.hash };
        let wanted = DesiredItem { above: head.seq - 1, ..content.wanted(head.log, self.clock.now()) };
        self.db.write(Want(vec![wanted])).await?;
        self.wake_chain();
        Ok(())
    }
}

impl Inspection {
    fn empty() -> Self {
        Self { entries: 0, faults: Vec::new(), anchored: None }
    }
}

struct Inspector {
    previous: Word,
    next: i64,
    anchor: Anchor,
    found: Inspection,
}

impl Inspector {
    fn read(&mut self, entry: &Logged) {
        self.found.entries += 1;
        if entry.seq != self.next {
            self.found.faults.push(format!("entry {} follows entry {}", entry.seq, self.next - 1));
        }
        if entry.hash_after(&self.previous) != entry.hash {
            self.found.faults.push(format!("entry {} was altered, or the one before it", entry.seq));
        }
        if self.anchor == Anchor::At(entry.hash) {
            self.found.anchored = Some(entry.seq);
        }
        (self.previous, self.next) = (entry.hash, entry.seq + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_that_should_be_there_and_is_not_is_a_fault() {
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let (recent, old) = (now.minus_seconds(60), now.minus_seconds(2 * 60 * 60));
        let at = Anchor::At([7; 32]);
        assert_eq!(at.fault(Some(3), Some(old), now), None);
        assert!(at.fault(None, Some(recent), now).is_some_and(|fault| fault.contains("cut or rewritten")));
        assert!(Anchor::Nothing.fault(None, Some(old), now).is_some_and(|fault| fault.contains("name")));
        assert_eq!(Anchor::Nothing.fault(None, Some(recent), now), None);
        assert_eq!(Anchor::Nothing.fault(None, None, now), None);
        assert_eq!(Anchor::Unknown.fault(None, Some(old), now), None);
    }
}
