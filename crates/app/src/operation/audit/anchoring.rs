//! Anchors the log on the chain, after a look at what the chain has recorded: an altered log is never anchored.

use std::time::Duration;

use portico_chain::AnyNode;
use portico_chain::reads;
use portico_records::{Content, DesiredItem, ItemKind};
use portico_store::audit::Head;
use portico_store::chain::{ItemStatus, PutItems, Word};

use super::inspection::{Anchor, AuditFault, Inspector, read_up_to};
use crate::core::Core;
use crate::error::Result;

/// How long a server that stops waits for the embedded chain to take the last anchor.
const LAST_ANCHOR_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl Core {
    /// Anchors the end of the log on the chain, unless it is anchored already. A log that does not continue the one
    /// that the contract knows stays as it is there.
    pub(crate) async fn anchor_audit(&self) -> Result<()> {
        self.take_over_entries().await?;
        let head = self.db.audit_head().await?;
        let log = self.log_name().await?;
        let recorded = match self.recorded_anchor(&log).await {
            Ok(recorded) => recorded,
            Err(error) => {
                tracing::warn!(%error, "the audit log is not anchored: its anchor cannot be read from the chain");
                return Ok(());
            }
        };
        if recorded.is_some_and(|(_, hash)| hash == head.hash) {
            self.operation.audit_alarm.set(false);
            return Ok(());
        }
        if let Err(fault) = self.verify_since_anchor(&head, recorded.map(|(_, hash)| hash)).await? {
            self.operation.audit_alarm.set(true);
            tracing::error!(
                %fault,
                "the audit log was cut or rewritten: its anchor on the chain stays where it is"
            );
            return Ok(());
        }
        self.operation.audit_alarm.set(false);
        if head.seq == 0 || self.is_on_its_way(&log, &head.hash).await? {
            return Ok(());
        }
        let version = recorded.map_or(0, |(version, _)| i64::try_from(version).unwrap_or(i64::MAX - 1));
        let content = Content::Anchor { head: head.hash };
        let desired =
            DesiredItem { above: version.max(head.seq - 1), ..content.desired(log, self.clock.now()) };
        self.db.write(PutItems(vec![desired])).await?;
        self.chain.wake();
        Ok(())
    }

    /// Anchors what was appended since the last time, before a server stops. Waits only for the embedded chain.
    pub(crate) async fn anchor_audit_at_the_end(&self) -> Result<()> {
        if !matches!(self.chain.reader()?.0, AnyNode::Embedded(_)) {
            return Ok(());
        }
        self.anchor_audit().await?;
        let (head, log) = (self.db.audit_head().await?, self.log_name().await?);
        let mined = async {
            while self.is_on_its_way(&log, &head.hash).await? {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            Ok(())
        };
        tokio::time::timeout(LAST_ANCHOR_TIMEOUT, mined).await.unwrap_or(Ok(()))
    }

    pub(super) async fn recorded_anchor(&self, log: &Word) -> Result<Option<(u64, Word)>> {
        let (node, contracts) = self.chain.reader()?;
        Ok(reads::anchor(node, contracts, log).await?)
    }

    /// Whether the anchor is queued or signed. The database's own copy is never taken for what the contract has.
    async fn is_on_its_way(&self, log: &Word, hash: &Word) -> Result<bool> {
        let item = self.db.chain_item(ItemKind::Anchor, log).await?;
        Ok(item.is_some_and(|item| {
            item.payload == hash && matches!(item.status, ItemStatus::Waiting | ItemStatus::Signed)
        }))
    }

    /// Whether the log continues the one that the contract knows: what was appended since must be keyed. Without an
    /// anchor, and after a restore, the whole log is read.
    async fn verify_since_anchor(
        &self,
        head: &Head,
        anchored: Option<Word>,
    ) -> Result<Result<(), AuditFault>> {
        let (db, key) = (&self.db, self.db.audit_key());
        let anchor = anchored.map_or(Anchor::Missing, Anchor::Entry);
        let place = match anchored {
            Some(hash) => db.audit_seq(&hash).await?,
            None => None,
        };
        // From the entry before, so that the anchored entry itself is verified.
        let before = match place {
            Some(seq) if seq > 1 => {
                db.audit_after(seq - 2, 1).await?.into_iter().find(|at| at.seq == seq - 1)
            }
            _ => None,
        };
        let mut inspector = match before {
            Some(entry) => Inspector::after(key, anchor, entry.seq, entry.hash),
            None => Inspector::whole(key, anchor),
        };
        read_up_to(db, &mut inspector, head).await?;
        Ok(inspector.verdict(head))
    }
}
