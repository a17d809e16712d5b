//! A cache of final blocks, which never change. Anonymous callers may read blocks, and each miss is a request to the
//! node.

use std::sync::{Mutex, PoisonError};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::Result;
use crate::node::{Block, BlockId, Node};

/// Blocks that are kept, each in the slot of its number.
const MAX_CACHED_BLOCKS: u64 = 1024;
/// Blocks with more transactions are not kept, so that the cache takes 32 MB at most.
const MAX_TRANSACTIONS: usize = 1000;
/// Requests to the node at once, for one page.
const MAX_CONCURRENT_READS: usize = 8;

#[derive(Debug, Default)]
pub struct BlockCache(Mutex<Vec<Option<Block>>>);

impl BlockCache {
    /// How many of these blocks have to be read from the node.
    pub fn missing(&self, numbers: impl IntoIterator<Item = u64>) -> usize {
        numbers.into_iter().filter(|number| self.get(*number).is_none()).count()
    }

    /// In the order of their numbers here; those that do not exist are left out. `head`: of the chain, or below it.
    pub async fn read<N: Node>(
        &self,
        node: &N,
        numbers: impl IntoIterator<Item = u64>,
        head: u64,
    ) -> Result<Vec<Block>> {
        let reads = numbers.into_iter().map(|number| self.one(node, number, head));
        let blocks: Vec<Option<Block>> =
            stream::iter(reads).buffered(MAX_CONCURRENT_READS).try_collect().await?;
        Ok(blocks.into_iter().flatten().collect())
    }

    async fn one<N: Node>(&self, node: &N, number: u64, head: u64) -> Result<Option<Block>> {
        if let Some(block) = self.get(number) {
            return Ok(Some(block));
        }
        let block = node.block(BlockId::Number(number)).await?;
        if let Some(block) = &block
            && number.saturating_add(node.confirmations()) <= head
        {
            self.keep(block);
        }
        Ok(block)
    }

    fn get(&self, number: u64) -> Option<Block> {
        let blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.get(slot(number))?.clone().filter(|block| block.number == number)
    }

    fn keep(&self, block: &Block) {
        if block.transactions.len() > MAX_TRANSACTIONS {
            return;
        }
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if blocks.is_empty() {
            blocks.resize(slot(MAX_CACHED_BLOCKS - 1) + 1, None);
        }
        blocks[slot(block.number)] = Some(block.clone());
    }
}

fn slot(number: u64) -> usize {
    usize::try_from(number % MAX_CACHED_BLOCKS).unwrap_or(0)
}
