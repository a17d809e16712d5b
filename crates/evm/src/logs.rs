//! Searches logs: bloom filters select the blocks, then their receipts are read.

use std::ops::Range;
use std::time::Instant;

use alloy_eips::BlockNumberOrTag;
use alloy_primitives::B256;
use alloy_rpc_types_eth::{Filter, FilterBlockOption, Log};

use crate::error::ChainError;
use crate::history::History;

/// Blocks per search.
pub const LOGS_BLOCK_CAP: u64 = 10_000;
/// Logs per search.
pub const LOGS_CAP: usize = 10_000;
/// Data of all logs found by one search.
const MAX_LOG_DATA_BYTES: usize = 16 << 20;

#[derive(Debug, thiserror::Error)]
pub enum LogsError {
    #[error("the range begins with block {from} and ends with block {to}")]
    Backwards { from: u64, to: u64 },
    #[error("no block has the hash {0}")]
    UnknownBlock(B256),
    #[error("the range is {blocks} blocks, at most {LOGS_BLOCK_CAP} are allowed")]
    TooWide { blocks: u64 },
    #[error("more than {LOGS_CAP} events (or 16 MiB of them) were found; ask for fewer blocks")]
    TooMany,
    #[error("the search takes too long; ask for fewer blocks")]
    TooLong,
    #[error(transparent)]
    Chain(#[from] ChainError),
}

/// The blocks that a filter names, up to the head. Without an end it ends at the head, even if it begins above it: that
/// is a poll for new logs.
pub(crate) fn blocks(filter: &Filter, history: &History<'_>) -> Result<Range<u64>, LogsError> {
    let head = history.head();
    let (from, to) = match filter.block_option {
        FilterBlockOption::AtBlockHash(hash) => {
            let number = history.number(&hash)?.ok_or(LogsError::UnknownBlock(hash))?;
            (number, number)
        }
        FilterBlockOption::Range { from_block, to_block } => {
            let number = |block| match block {
                Some(BlockNumberOrTag::Number(number)) => Some(number),
                Some(BlockNumberOrTag::Earliest) => Some(0),
                _ => None,
            };
            let from = number(from_block).unwrap_or(head);
            match number(to_block) {
                Some(to) if from > to => return Err(LogsError::Backwards { from, to }),
                to => (from, to.unwrap_or(head)),
            }
        }
    };
    Ok(from..to.min(head) + 1)
}

/// The logs in these blocks that match a filter, oldest first.
pub(crate) fn search(
    filter: &Filter,
    blocks: Range<u64>,
    history: &History<'_>,
    deadline: Option<Instant>,
) -> Result<Vec<Log>, LogsError> {
    let count = blocks.end.saturating_sub(blocks.start);
    if count > LOGS_BLOCK_CAP {
        return Err(LogsError::TooWide { blocks: count });
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut found: Vec<Log> = Vec::new();
    let mut bytes = 0;
    let may_match = |header: &alloy_consensus::Header| filter.matches_bloom(header.logs_bloom);
    for header in history.headers(blocks.start, blocks.end - 1, may_match)? {
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(LogsError::TooLong);
        }
        for receipt in history.receipts(&header)? {
            let before = found.len();
            found.extend(receipt.into_logs().filter(|log| filter.matches(&log.inner)));
            bytes += found[before..].iter().map(|log| log.inner.data.data.len()).sum::<usize>();
            if found.len() > LOGS_CAP || bytes > MAX_LOG_DATA_BYTES {
                return Err(LogsError::TooMany);
            }
        }
    }
    Ok(found)
}
