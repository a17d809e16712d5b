//! Verification of the whole log while the server runs: in the background, one at a time, with its progress.

use std::sync::Arc;

use portico_domain::Timestamp;
use portico_records::ItemKind;
use portico_store::audit::Head;
use portico_store::chain::{ItemStatus, Word};

use super::inspection::Anchor;
use super::log::{Audit, inspect};
use super::state::{EndedVerification, Progress};
use crate::caller::{CallContext, require_operator};
use crate::core::Core;
use crate::error::Result;

/// Where the log is anchored, as the chain says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnchorRecord {
    pub hash: Word,
    /// The number of the entry with this hash; `None`: there is none.
    pub entry: Option<i64>,
    pub transaction: Option<Word>,
    pub block: Option<u64>,
    /// The block's time.
    pub at: Option<Timestamp>,
}

#[derive(Debug)]
pub struct AuditStatus {
    pub head: Head,
    /// Whether the last attempt to anchor the log found that it was altered.
    pub is_altered: bool,
    /// `None`: the chain does not answer. `Some(None)`: it has no anchor of this log.
    pub anchor: Option<Option<AnchorRecord>>,
    pub running: Option<Progress>,
    pub latest: Option<EndedVerification>,
}

/// Ends the progress also if the verification is cancelled or panics.
struct Running(Arc<Core>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.operation.audit_verification.lock().running = None;
    }
}

impl Audit {
    /// Where the log stands, and what this process has verified.
    pub async fn status(&self, call: &CallContext) -> Result<AuditStatus> {
        require_operator(&call.actor)?;
        let core = &self.core;
        let (head, anchor) = (core.db.audit_head().await?, self.anchor_record().await.ok());
        let state = core.operation.audit_verification.lock();
        Ok(AuditStatus {
            head,
            is_altered: self.is_altered(),
            anchor,
            running: state.running,
            latest: state.latest.clone(),
        })
    }

    async fn anchor_record(&self) -> Result<Option<AnchorRecord>> {
        let core = &self.core;
        let log = core.log_name().await?;
        let Some((_, hash)) = core.recorded_anchor(&log).await? else { return Ok(None) };
        let entry = core.db.audit_seq(&hash).await?;
        let item = core.db.chain_item(ItemKind::Anchor, &log).await?;
        let item = item.filter(|item| item.payload == hash && item.status == ItemStatus::Mined);
        let block = item.as_ref().and_then(|item| item.block).map(i64::unsigned_abs);
        let transaction = item.and_then(|item| item.hash);
        Ok(Some(AnchorRecord { hash, entry, transaction, block, at: core.chain.block_time(block).await }))
    }

    /// Begins to verify the whole log. `None`: a verification is running. The caller chooses where it runs.
    pub fn begin_verification(
        &self,
        call: &CallContext,
    ) -> Result<Option<impl Future<Output = ()> + Send + use<>>> {
        require_operator(&call.actor)?;
        let core = self.core.clone();
        let mut state = core.operation.audit_verification.lock();
        if state.running.is_some() {
            return Ok(None);
        }
        state.running = Some(Progress { since: core.clock.now(), read: 0 });
        drop(state);
        let running = Running(core);
        Ok(Some(async move { running.0.verify_log().await }))
    }
}

impl Core {
    async fn verify_log(&self) {
        let recorded = async { self.recorded_anchor(&self.log_name().await?).await };
        let anchor = match recorded.await {
            Ok(Some((_, hash))) => Anchor::Entry(hash),
            Ok(None) => Anchor::Missing,
            Err(error) => {
                tracing::warn!(%error, "the end of the audit log is not compared with the chain");
                Anchor::Unknown
            }
        };
        let progress = |read| {
            if let Some(running) = &mut self.operation.audit_verification.lock().running {
                running.read = read;
            }
        };
        let found = inspect(self, anchor, progress).await;
        if let Err(error) = &found {
            tracing::warn!(%error, "the audit log could not be verified");
        }
        let verified = EndedVerification {
            at: self.clock.now(),
            found: found.ok(),
            is_compared: anchor != Anchor::Unknown,
        };
        self.operation.audit_verification.lock().latest = Some(verified);
    }
}
