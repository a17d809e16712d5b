//! What waits for the chain, and what the chain has rejected, for the operator.

use portico_chain::retry;
use portico_store::chain::{Backlog, RetryItems};
pub use portico_store::chain::{BatchStatus, QueuedBatch, RejectedItem, WaitingItems};

use crate::caller::{CallContext, require_operator};
use crate::error::Result;
use crate::operation::chain::Chain;

/// Batches and rejected items that are told one by one.
const MAX_LISTED_QUEUE_ROWS: usize = 100;

#[derive(Debug)]
pub struct ChainQueue {
    pub totals: Backlog,
    /// By kind.
    pub waiting: Vec<WaitingItems>,
    /// The first ones of each signer.
    pub batches: Vec<QueuedBatch>,
    /// Some of them, if there are many.
    pub rejected: Vec<RejectedItem>,
}

impl Chain {
    pub async fn queue(&self, call: &CallContext) -> Result<ChainQueue> {
        require_operator(&call.actor)?;
        let db = &self.core.db;
        Ok(ChainQueue {
            totals: db.chain_backlog().await?,
            waiting: db.waiting_items().await?,
            batches: db.queued_batches(MAX_LISTED_QUEUE_ROWS).await?,
            rejected: db.rejected_items(MAX_LISTED_QUEUE_ROWS).await?,
        })
    }

    /// Queues what the chain has rejected again, a few hundred items at most; returns how many.
    pub async fn retry(&self, call: &CallContext) -> Result<u64> {
        require_operator(&call.actor)?;
        let (node, contracts) = self.core.chain.reader()?;
        let items = retry::rejected(node, &self.core.db, contracts).await?;
        let entry = self.core.entry(call, "chain.retried", "rejected items", "");
        let queued = self.core.write(call, RetryItems { items, entry }).await?;
        self.core.chain.wake();
        Ok(queued)
    }
}
