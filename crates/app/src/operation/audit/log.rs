//! The audit log: writing entries, anchoring the log on the chain, and verifying it.

use std::sync::Arc;

use portico_domain::keys::KeyScope;
use portico_store::audit::{Append, Entry, KeyLog, TakeOverEntries};
use portico_store::audit::{AuditFilter, LoggedEntry};
use portico_store::chain::Word;

use super::inspection::{Anchor, AuditFault, Inspection};
use super::inspection::{Inspector, read_all};
use crate::caller::{Actor, CallContext, require_operator};
use crate::core::Core;
use crate::error::Result;
use portico_store::{Cursor, Page};

/// Within this time every entry is anchored while a server runs and the chain answers: it anchors every ten minutes.
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

#[derive(Debug)]
pub struct Audit {
    pub(crate) core: Arc<Core>,
}

impl Audit {
    /// Whether this server found that the log was altered, and does not anchor it. Open to everyone.
    pub fn is_altered(&self) -> bool {
        self.core.operation.audit_alarm.is_set()
    }

    /// Whether entries are verified with the log's key.
    pub fn knows_key(&self) -> bool {
        self.core.db.audit_key().is_some()
    }

    /// The log's key on the chain. It is in the keystore; without that the database says it.
    pub async fn log(&self, call: &CallContext) -> Result<Word> {
        require_operator(&call.actor)?;
        self.core.log_name().await
    }

    /// Verifies the whole log and reports every problem.
    pub async fn inspect(
        &self,
        call: &CallContext,
        anchor: Anchor,
        progress: impl FnMut(i64),
    ) -> Result<Inspection> {
        require_operator(&call.actor)?;
        inspect(&self.core, anchor, progress).await
    }

    /// Opens the log for reading. The read is audited without its filter, which may name a person.
    pub async fn reader(&self, call: &CallContext, filter: AuditFilter) -> Result<AuditReader> {
        require_operator(&call.actor)?;
        let entry = self.core.entry(call, "audit.read", "the audit log", "");
        self.core.append_audit_entry(entry).await?;
        Ok(AuditReader { core: self.core.clone(), filter })
    }
}

/// Reads the whole log.
pub(super) async fn inspect(core: &Core, anchor: Anchor, progress: impl FnMut(i64)) -> Result<Inspection> {
    let mut inspector = Inspector::whole(core.db.audit_key(), anchor);
    let head = read_all(&core.db, &mut inspector, progress).await?;
    let now = core.clock.now();
    if core.db.audit_key().is_some_and(|key| key.log() != head.log) {
        inspector.fault(AuditFault::Renamed);
    }
    let late = now.minus_seconds(ANCHORED_WITHIN_SECONDS);
    if core.db.audit_waiting_since().await?.is_some_and(|since| since < late) {
        inspector.fault(AuditFault::EntriesWait);
    }
    Ok(inspector.finish(&head, late))
}

/// Reads entries; [`Audit::reader`] audits the read.
#[derive(Debug)]
pub struct AuditReader {
    core: Arc<Core>,
    filter: AuditFilter,
}

impl AuditReader {
    /// Newest first. A page of a rare filter may be empty and have a next one.
    pub async fn page(&self, after: Option<Cursor>, limit: usize) -> Result<Page<LoggedEntry>> {
        Ok(self.core.db.audit_matching(&self.filter, after, limit).await?)
    }
}

impl Core {
    pub(crate) fn entry(
        &self,
        call: &CallContext,
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

    pub(super) async fn log_name(&self) -> Result<Word> {
        match self.db.audit_key() {
            Some(key) => Ok(key.log()),
            None => Ok(self.db.audit_head().await?.log),
        }
    }

    /// Keys the log from now on; the key is made on first use. `key_lost`: a lost keystore held the key of earlier
    /// entries.
    pub(crate) async fn key_audit_log(&self, key_lost: bool) -> Result<()> {
        let (keystore, at, head) = (self.keystore()?, self.clock.now(), self.db.audit_head().await?);
        let log = (head.seq > 0).then_some(head.log);
        self.db.use_audit_key(keystore.audit_key_or_new(at, log).await?);
        // Only once: otherwise deleting all keyed entries would get the rest keyed.
        if !keystore.audit_has_begun().await? {
            self.db.write(KeyLog { key_lost, at }).await?;
            keystore.note_audit_begun(at).await?;
        }
        self.take_over_entries().await
    }

    /// Appends what commands have left that do not know the key.
    pub(super) async fn take_over_entries(&self) -> Result<()> {
        while self.db.write(TakeOverEntries).await? > 0 {}
        Ok(())
    }
}
