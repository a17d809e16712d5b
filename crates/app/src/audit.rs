//! The audit log: writing entries, anchoring the log on the chain, and verifying it.

use std::sync::Arc;

use portico_chain::contracts::{Content, ItemKind};
use portico_domain::Timestamp;
use portico_domain::keys::KeyScope;
use portico_store::audit::{Append, Entry, LoggedEntry};
use portico_store::chain::{DesiredItem, PutItems, Word};

use crate::access::require_operator;
use crate::{Actor, Call, Core, Result};

const ENTRIES_PER_READ: i64 = 1000;
/// A running server has anchored the log many times by then.
const ANCHORED_WITHIN_SECONDS: i64 = 60 * 60;

impl Actor {
    /// The actor's name in the audit log.
    pub fn audit_name(&self) -> String {
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

/// The log's anchor on the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The chain could not be read.
    Unknown,
    Nothing,
    /// The hash of the anchored entry.
    At(Word),
}

impl Anchor {
    /// What is wrong with the anchor, given the anchored entry's number and the time of the first entry.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    pub entries: i64,
    /// Empty: the log is intact.
    pub faults: Vec<String>,
    /// The number of the anchored entry.
    pub anchored: Option<i64>,
}

#[derive(Debug)]
pub struct Audit {
    pub(crate) core: Arc<Core>,
}

impl Audit {
    /// Verifies the whole log and reports every problem.
    pub async fn inspect(
        &self,
        call: &Call,
        anchor: Anchor,
        mut progress: impl FnMut(i64),
    ) -> Result<Inspection> {
        require_operator(&call.actor)?;
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
    pub(crate) fn entry(
        &self,
        call: &Call,
        action: &'static str,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) -> Entry {
        Entry {
            at: self.clock.now(),
            actor: call.actor.audit_name(),
            action,
            subject: subject.into(),
            detail: detail.into(),
        }
    }

    /// For events that change no other data.
    pub(crate) async fn append_audit_entry(&self, entry: Entry) -> Result<()> {
        Ok(self.db.write(Append(entry)).await?)
    }

    /// Anchors the end of the log on the chain, unless it is anchored already.
    pub(crate) async fn anchor_audit(&self) -> Result<()> {
        let head = self.db.audit_head().await?;
        let anchored = self.db.chain_item(ItemKind::Anchor.number(), &head.log).await?;
        if let Some(item) = anchored {
            if item.payload == head.hash {
                return Ok(());
            }
            // Advancing the anchor of a truncated log would hide the truncation.
            if let Ok(last) = Word::try_from(item.payload)
                && self.db.audit_seq(&last).await?.is_none()
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
        let desired = DesiredItem { above: head.seq - 1, ..content.desired(head.log, self.clock.now()) };
        self.db.write(PutItems(vec![desired])).await?;
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
    fn read(&mut self, entry: &LoggedEntry) {
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
    fn missing_anchor_is_a_fault() {
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
