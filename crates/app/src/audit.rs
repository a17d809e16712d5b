//! The audit log: what is put on record, its anchor on the chain, and whether it was altered.

use portico_chain::contracts::{Content, Kind};
use portico_domain::keys::KeyScope;
use portico_store::audit::{Append, Entry, Logged};
use portico_store::chain::{Want, Wanted, Word};

use crate::{Actor, Call, Portico, Result};

/// Entries that are read at once.
const AT_ONCE: i64 = 1000;

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

impl Portico {
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
    pub async fn anchor_audit(&self) -> Result<()> {
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
        let wanted = Wanted { above: head.seq - 1, ..content.wanted(head.log, self.clock.now()) };
        self.db.write(Want(vec![wanted])).await?;
        self.wake_chain();
        Ok(())
    }

    /// Reads the whole log and names everything that is wrong with it. `anchor` is what the chain says.
    pub async fn inspect_audit(
        &self,
        anchor: Option<Word>,
        mut progress: impl FnMut(i64),
    ) -> Result<Inspection> {
        let mut inspector =
            Inspector { previous: Word::default(), next: 1, anchor, found: Inspection::empty() };
        loop {
            let entries = self.db.audit_after(inspector.next - 1, AT_ONCE).await?;
            if entries.is_empty() {
                break;
            }
            for entry in &entries {
                inspector.read(entry);
            }
            progress(inspector.found.entries);
        }
        let head = self.db.audit_head().await?;
        if (head.seq, head.hash) != (inspector.next - 1, inspector.previous) {
            inspector.found.faults.push(format!(
                "the log says that it ends with entry {}, and it ends with entry {}, or with another hash",
                head.seq,
                inspector.next - 1
            ));
        }
        if anchor.is_some() && inspector.found.anchored.is_none() {
            let cut =
                "the entry at which the chain's anchor stands is not there: the log was cut or rewritten";
            inspector.found.faults.push(cut.into());
        }
        Ok(inspector.found)
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
    anchor: Option<Word>,
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
        if self.anchor == Some(entry.hash) {
            self.found.anchored = Some(entry.seq);
        }
        (self.previous, self.next) = (entry.hash, entry.seq + 1);
    }
}
