//! The chain: recording listings, reading records back, and the chain's own status.

use std::sync::Arc;

use std::time::Duration;

pub use alloy_primitives::Address;
use alloy_primitives::{B256, U256};
use futures_util::future::join;
pub use portico_chain::contracts::Contracts;
pub use portico_chain::node::{Block, Log};
pub use portico_chain::signer::Key;
use portico_chain::writer::Status;
use portico_chain::{AnyNode, Node};
use portico_domain::ErrorCode;
pub use portico_records::ItemKind;
use portico_store::chain::{Backlog, BatchStatus, StoredItem, Word};
pub use portico_store::chain::{BatchTransaction, ItemStatus};
use portico_store::{Cursor, Page};
use tokio::time::Instant;

use crate::caller::CallContext;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::operation::transactions::{attempt_status, trace_foreign};
use crate::profile::Profile;

pub use crate::operation::chain_parts::ChainWriter;
pub use crate::operation::transactions::{
    TracedTransaction, TransactionContent, TransactionDetails, TransactionStatus,
};

/// How long a read waits for an item that is not mined yet.
const RECORD_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The same with a node that every read is a request to.
const REMOTE_POLL_INTERVAL: Duration = Duration::from_millis(250);
/// A transaction and its receipt.
const TRANSACTION_READS: usize = 2;
pub(crate) const PENDING: Error = Error::Pending(ErrorCode::RecordPending);

impl From<portico_chain::Error> for Error {
    fn from(error: portico_chain::Error) -> Self {
        use portico_chain::Error as Chain;
        match error {
            Chain::Store(error) => error.into(),
            Chain::Setup(why) => Self::Setup(why),
            Chain::Bug(why) => Self::Bug(why),
            Chain::Reverted(_) => Self::Bug("a contract refused a call that it must not refuse".into()),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

/// Polls for a record. They end after a time, not after a number of polls: a poll of a slow node takes long.
struct Polls {
    began: Instant,
    interval: Duration,
}

impl Polls {
    fn new(interval: Duration) -> Self {
        Self { began: Instant::now(), interval }
    }

    /// Fails when it is time to answer that the record is pending.
    async fn wait_for_next(&self) -> Result<()> {
        if self.began.elapsed() >= RECORD_TIMEOUT {
            return Err(PENDING);
        }
        tokio::time::sleep(self.interval).await;
        Ok(())
    }
}

/// An item's record on the chain.
#[derive(Debug)]
pub struct Record {
    pub status: ItemStatus,
    pub key: Word,
    pub version: u64,
    pub transaction: Option<Word>,
    pub block: Option<u64>,
    /// The contract that holds it.
    pub contract: Address,
    pub chain_id: u64,
}

#[derive(Debug)]
pub struct ChainStatus {
    pub chain_id: u64,
    /// Whether the node responds.
    pub reachable: bool,
    /// Whether the node runs in this process.
    pub embedded: bool,
    pub contracts: Contracts,
    pub writer: Status,
    /// Address, next nonce and balance of each signer.
    pub signers: Vec<(Address, i64, Option<U256>)>,
    pub backlog: Backlog,
}

/// The public view of the chain.
#[derive(Debug)]
pub struct Chain {
    pub(crate) core: Arc<Core>,
}

impl Chain {
    /// An unreachable node is not an error here. Open to everyone, like everything here.
    pub async fn status(&self, call: &CallContext) -> Result<ChainStatus> {
        let chain = self.core.chain.writer()?;
        let (node, contracts) = self.core.chain.reader()?;
        let rows = self.core.db.chain_signers().await?;
        self.core.charge_chain_reads(call, 1 + rows.len()).await?;
        let head = node.head().await;
        let mut signers = Vec::new();
        for row in rows {
            let address = Address::from(row.address);
            let balance = if head.is_ok() { node.balance(address).await.ok() } else { None };
            signers.push((address, row.next_nonce, balance));
        }
        let mut writer = chain.status();
        let reachable = head.is_ok();
        writer.head = head.ok().or(writer.head);
        Ok(ChainStatus {
            chain_id: chain.engine().chain_id(),
            reachable,
            embedded: matches!(node, AnyNode::Embedded(_)),
            contracts,
            writer,
            signers,
            backlog: self.core.db.chain_backlog().await?,
        })
    }

    /// In descending order, from the head or from below a number.
    pub async fn blocks(&self, call: &CallContext, below: Option<u64>, limit: usize) -> Result<Vec<Block>> {
        let (node, _) = self.core.chain.reader()?;
        let (top, head) = match below {
            Some(below) => (below.checked_sub(1), self.seen_head()?),
            None => {
                self.core.charge_chain_reads(call, 1).await?;
                let head = node.head().await?.number;
                (Some(head), head)
            }
        };
        let Some(top) = top else { return Ok(Vec::new()) };
        let lowest = top.saturating_sub((limit as u64).saturating_sub(1));
        let blocks = &self.core.chain.final_blocks;
        self.core.charge_chain_reads(call, blocks.missing(lowest..=top)).await?;
        Ok(blocks.read(node, (lowest..=top).rev(), head).await?)
    }

    pub async fn block(&self, call: &CallContext, number: u64) -> Result<Block> {
        let (node, _) = self.core.chain.reader()?;
        let blocks = &self.core.chain.final_blocks;
        self.core.charge_chain_reads(call, blocks.missing([number])).await?;
        let found = blocks.read(node, [number], self.seen_head()?).await?;
        found.into_iter().next().ok_or(Error::NotFound(ErrorCode::BlockNotFound))
    }

    /// The last head that the writer saw. The chain may be ahead of it.
    fn seen_head(&self) -> Result<u64> {
        Ok(self.core.chain.writer()?.status().head.map_or(0, |head| head.number))
    }

    /// Any transaction, ours or foreign. Ours is told also while the node does not answer.
    pub async fn transaction(&self, call: &CallContext, hash: Word) -> Result<TransactionDetails> {
        self.core.charge_chain_reads(call, TRANSACTION_READS).await?;
        let (node, _) = self.core.chain.reader()?;
        let asked = join(node.transaction(hash.into()), node.receipt(hash.into()));
        let (traced, found, receipt) = match self.core.db.chain_attempt(&hash).await? {
            Some(attempt) => {
                let answered = tokio::time::timeout(RECORD_TIMEOUT, asked).await.ok();
                let (found, receipt) = answered
                    .map_or((None, None), |(found, receipt)| (found.ok().flatten(), receipt.ok().flatten()));
                (attempt_status(&attempt, hash, receipt.as_ref()), found, receipt)
            }
            None => {
                let (found, receipt) = asked.await;
                let found = found?.ok_or(Error::NotFound(ErrorCode::TransactionNotFound))?;
                let receipt = receipt?;
                (trace_foreign(&found, receipt.as_ref()), Some(found), receipt)
            }
        };
        let content = found.map(|found| TransactionContent { to: found.to, input: found.input });
        Ok(TransactionDetails { traced, content, receipt })
    }

    /// The service's transactions that an account signed or that call a contract, the newest first. Open to everyone.
    pub async fn transactions(
        &self,
        _: &CallContext,
        address: Address,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<BatchTransaction>> {
        let (_, contracts) = self.core.chain.reader()?;
        let kind = ItemKind::ALL.into_iter().find(|kind| contracts.of(*kind) == address);
        Ok(match kind {
            Some(kind) => self.core.db.transactions_of_kind(kind, after, limit).await?,
            None => self.core.db.transactions_of_signer(&address.0.0, after, limit).await?,
        })
    }

    /// Read-only JSON-RPC of the sandbox's embedded node, open to everyone.
    pub fn rpc(&self, _: &CallContext) -> Result<impl FnOnce(&[u8]) -> Vec<u8> + Send + use<>> {
        match self.core.chain.writer()?.engine().node() {
            AnyNode::Embedded(node) if self.core.profile == Profile::Sandbox => {
                let node = node.clone();
                Ok(move |request: &[u8]| node.rpc(request))
            }
            _ => Err(Error::NotFound(ErrorCode::NotFound)),
        }
    }
}

impl Core {
    /// An item's content on the chain; `None` if it was never requested or is deleted. Reads the chain itself, so
    /// that the response shows exactly what is there.
    pub(crate) async fn on_chain<T, F>(
        &self,
        call: &CallContext,
        kind: ItemKind,
        key: &Word,
        read: impl Fn() -> F,
    ) -> Result<Option<T>>
    where
        F: Future<Output = portico_chain::Result<(u64, Option<T>)>>,
    {
        let polls = Polls::new(match self.chain.reader()?.0 {
            AnyNode::Embedded(_) => POLL_INTERVAL,
            AnyNode::Remote(_) => REMOTE_POLL_INTERVAL,
        });
        loop {
            match self.db.chain_item_state(kind, key).await? {
                None | Some((_, true, _)) => return Ok(None),
                Some((_, _, true)) => return Err(Error::Pending(ErrorCode::RecordFailed)),
                Some((desired, ..)) => {
                    self.charge_chain_reads(call, 1).await?;
                    let (version, content) = read().await?;
                    // If the chain is ahead, the database has changed in between, or was restored and catches up.
                    if version == desired.unsigned_abs()
                        && let Some(content) = content
                    {
                        return Ok(Some(content));
                    }
                }
            }
            polls.wait_for_next().await?;
        }
    }

    pub(crate) async fn record_of(
        &self,
        call: &CallContext,
        kind: ItemKind,
        key: Word,
    ) -> Result<Option<Record>> {
        match self.db.chain_item(kind, &key).await? {
            Some(item) if !item.deleted => Ok(Some(self.build_record(call, kind, key, &item).await?)),
            _ => Ok(None),
        }
    }

    pub(crate) async fn build_record(
        &self,
        call: &CallContext,
        kind: ItemKind,
        key: Word,
        item: &StoredItem,
    ) -> Result<Record> {
        let traced = match item.hash {
            Some(hash) => self.attempt(call, hash).await?,
            None => None,
        };
        let mined = traced.as_ref().is_some_and(|traced| traced.status == TransactionStatus::Mined);
        Ok(Record {
            status: if mined { ItemStatus::Mined } else { item.status },
            key,
            version: item.version.unsigned_abs(),
            transaction: item.hash,
            block: traced.and_then(|traced| traced.block),
            contract: self.chain.reader()?.1.of(kind),
            chain_id: self.chain.writer()?.engine().chain_id(),
        })
    }

    /// One of our transactions.
    async fn attempt(&self, call: &CallContext, hash: Word) -> Result<Option<TracedTransaction>> {
        let Some(attempt) = self.db.chain_attempt(&hash).await? else { return Ok(None) };
        // A mined transaction may not be in the database yet.
        let receipt = match attempt.status {
            BatchStatus::Signed if attempt.newest == hash => {
                // Without a read left, the database's answer has to do.
                match self.charge_chain_reads(call, 1).await {
                    Ok(()) => self.chain.reader()?.0.receipt(B256::from(hash)).await.ok().flatten(),
                    Err(_) => None,
                }
            }
            _ => None,
        };
        Ok(Some(attempt_status(&attempt, hash, receipt.as_ref())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pending_record_is_answered_after_a_time_however_slow_a_read_is() {
        for (millis, most) in [(0, 101), (300, 7), (900, 3), (5000, 1)] {
            let read = Duration::from_millis(millis);
            let (began, polls, mut reads) = (Instant::now(), Polls::new(POLL_INTERVAL), 0);
            let answer = loop {
                tokio::time::sleep(read).await;
                reads += 1;
                if let Err(error) = polls.wait_for_next().await {
                    break error;
                }
            };
            assert!(matches!(answer, Error::Pending(ErrorCode::RecordPending)), "{answer:?}");
            let took = began.elapsed();
            assert!((RECORD_TIMEOUT..=RECORD_TIMEOUT + read + POLL_INTERVAL).contains(&took), "{took:?}");
            assert!(reads <= most, "{reads} reads of {read:?}");
        }
    }
}
