//! Blocks that a batch is believed to be in: whether the chain still has them, and when that is final.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::B256;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use portico_store::chain::{BatchStatus, BatchUpdate, Lease, Word};

use super::engine::Engine;
use super::follow::MAX_CONCURRENT_CALLS;
use super::lease::to_i64;
use crate::Result;
use crate::node::{Block, BlockId, Node};

impl<N: Node> Engine<N> {
    /// Whether a block is part of the chain.
    pub(super) async fn is_on_chain(&self, (number, hash): (u64, B256)) -> Result<bool> {
        Ok(self.node.block(BlockId::Number(number)).await?.is_some_and(|block| block.hash == hash))
    }

    /// The same for many blocks.
    async fn are_on_chain(&self, blocks: BTreeSet<(i64, Word)>) -> Result<BTreeMap<(i64, Word), bool>> {
        let blocks = blocks.into_iter().map(async |block: (i64, Word)| {
            let is_on_chain = self.is_on_chain((block.0.unsigned_abs(), block.1.into())).await?;
            Ok((block, is_on_chain))
        });
        stream::iter(blocks).buffered(MAX_CONCURRENT_CALLS).try_collect().await
    }

    /// Batches whose block is no longer part of the chain are on their way again.
    pub(super) async fn handle_reorg(&self, lease: Lease, head: &Block, used: u64) -> Result<()> {
        if self.only_grew(lease, head).await? {
            // Its new blocks are recorded below.
            self.compared(lease, Some(head));
            return Ok(());
        }
        let open = self.open(lease);
        let believed = || open.iter().filter_map(|(nonce, open)| Some((*nonce, open.batch.block?)));
        let blocks = believed().map(|(_, block)| block).filter(|block| block.0 <= to_i64(head.number));
        let stands = self.are_on_chain(blocks.collect()).await?;
        let undone: Vec<(i64, i64)> = believed()
            .filter(|(nonce, block)| stands.get(block) != Some(&true) || to_i64(used) <= *nonce)
            .map(|(nonce, (number, _))| (nonce, number))
            .collect();
        self.undone(lease, &undone).await?;
        // Only now: if anything above failed, it is done again.
        self.compared(lease, Some(head));
        Ok(())
    }

    /// Whether every block that a batch is believed to be in is part of the chain that ends with this head.
    async fn only_grew(&self, lease: Lease, head: &Block) -> Result<bool> {
        let Some(before) = self.state().under(lease).and_then(|held| held.compared) else {
            return Ok(false);
        };
        if before.1 == head.hash || before.1 == head.parent {
            return Ok(true);
        }
        Ok(before.0 < head.number && self.is_on_chain(before).await?)
    }

    pub(super) fn compared(&self, lease: Lease, head: Option<&Block>) {
        if let Some(held) = self.state().under(lease) {
            held.compared = head.map(|head| (head.number, head.hash));
        }
    }

    pub(super) async fn undone(&self, lease: Lease, batches: &[(i64, i64)]) -> Result<()> {
        for (nonce, block) in batches {
            tracing::info!(nonce, block, "a block was undone; its transaction is followed again");
            self.with_open(lease, *nonce, |open| {
                (open.sent, open.next_since, open.missing_since, open.reverted) = (None, None, None, false);
                open.was_mined = true;
            });
        }
        let again = |(nonce, _): &(i64, i64)| BatchUpdate {
            lease,
            nonce: *nonce,
            status: BatchStatus::Signed,
            block: None,
            mined: None,
        };
        self.close_batches(lease, batches.iter().map(again).collect()).await
    }

    /// Batches deep enough under the head are final, if their block is still there.
    pub(super) async fn finish(&self, lease: Lease, head: &Block) -> Result<()> {
        let mut open = self.open(lease);
        open.retain(|_, open| open.batch.status == BatchStatus::Mined);
        let believed = open.into_iter().filter_map(|(nonce, open)| Some((nonce, open.batch.block?, open)));
        let deep: Vec<_> =
            believed.filter(|(_, (number, _), _)| self.is_final(head, number.unsigned_abs())).collect();
        let stands = self.are_on_chain(deep.iter().map(|(_, block, _)| *block).collect()).await?;
        let (deep, undone): (Vec<_>, Vec<_>) =
            deep.into_iter().partition(|(_, block, _)| stands.get(block) == Some(&true));
        let undone: Vec<(i64, i64)> =
            undone.into_iter().map(|(nonce, (number, _), _)| (nonce, number)).collect();
        let deep = deep
            .into_iter()
            .map(|(nonce, block, open)| BatchUpdate {
                lease,
                nonce,
                status: BatchStatus::Final,
                block: Some(block),
                mined: open.batch.mined,
            })
            .collect();
        self.undone(lease, &undone).await?;
        self.close_batches(lease, deep).await
    }
}
