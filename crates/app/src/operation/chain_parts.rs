//! The chain's writer and node, and the final blocks that were read from it.

use portico_chain::AnyNode;
use portico_chain::block_cache::BlockCache;
use portico_chain::contracts::Contracts;
use portico_chain::writer::Writer;
use portico_domain::Timestamp;

use crate::error::{Error, Result};

pub type ChainWriter = Writer<AnyNode>;

#[derive(Debug, Default)]
pub(crate) struct ChainParts {
    /// `None` in commands.
    pub(crate) writer: Option<ChainWriter>,
    pub(crate) final_blocks: BlockCache,
    /// How long records of flags wait for each other; 0: not at all.
    pub(crate) flag_interval_seconds: i64,
}

impl ChainParts {
    pub(crate) fn writer(&self) -> Result<&ChainWriter> {
        self.writer.as_ref().ok_or_else(|| Error::Unavailable("there is no chain here".into()))
    }

    /// Whether everything that was acknowledged before this process started is on the chain. Does not wait for a
    /// remote chain, which may be down for long.
    pub(crate) fn is_ready(&self) -> bool {
        let Some(writer) = &self.writer else { return true };
        writer.engine().caught_up() || !matches!(writer.engine().node(), AnyNode::Embedded(_))
    }

    /// Tells the writer that items are queued. In a command there is no writer; the server polls by itself.
    pub(crate) fn wake(&self) {
        if let Some(writer) = &self.writer {
            writer.wake();
        }
    }

    pub(crate) fn reader(&self) -> Result<(&AnyNode, Contracts)> {
        let engine = self.writer()?.engine();
        Ok((engine.node(), engine.contracts()))
    }

    /// When a block was made, if the node says.
    pub(crate) async fn block_time(&self, number: Option<u64>) -> Option<Timestamp> {
        let (node, _) = self.reader().ok()?;
        let head = self.writer().ok()?.status().head.map_or(0, |head| head.number);
        let block = self.final_blocks.read(node, number, head).await.ok()?.into_iter().next()?;
        let seconds = i64::try_from(block.timestamp).ok()?;
        Some(Timestamp::from_micros(seconds.saturating_mul(1_000_000)))
    }
}
