//! Finding events: the blocks that may hold them by their bloom filters, then the receipts in those blocks.

use std::time::Instant;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bloom, BloomInput, Log, Sealed};

use crate::error::ChainError;
use crate::history::History;
use crate::receipt::Receipt;

/// Blocks that one search may look at.
pub const LOGS_BLOCK_CAP: u64 = 10_000;
/// Events that one search may find.
pub const LOGS_CAP: usize = 10_000;
/// Bytes of data that one search may find.
const LOGS_BYTES_CAP: usize = 16 << 20;

/// Which events are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub from: u64,
    /// The last block; the head, if that comes before.
    pub to: u64,
    /// The contracts. None: any.
    pub addresses: Vec<Address>,
    /// For each topic, in order, what it may be. Nothing: anything, as long as there is such a topic.
    pub topics: Vec<Vec<B256>>,
}

/// An event on the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// What was said, and by whom.
    pub log: Log,
    pub block_hash: B256,
    pub block_number: u64,
    /// When its block was made.
    pub block_timestamp: u64,
    pub transaction_hash: B256,
    /// The transaction's position in the block.
    pub transaction_index: u64,
    /// Its own position among all events of the block.
    pub log_index: u64,
}

/// Why a search for events gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum LogsError {
    /// The blocks end before they begin.
    #[error("the range begins with block {from} and ends with block {to}")]
    Backwards { from: u64, to: u64 },
    #[error("the range is {blocks} blocks, at most {LOGS_BLOCK_CAP} are allowed")]
    TooWide { blocks: u64 },
    #[error("more than {LOGS_CAP} events (or 16 MiB of them) were found; ask for fewer blocks")]
    TooMany,
    /// It took too long.
    #[error("the search takes too long; ask for fewer blocks")]
    TooLong,
    /// The chain is in trouble.
    #[error(transparent)]
    Chain(#[from] ChainError),
}

impl LogFilter {
    /// How many blocks the search looks at, if `head` is the latest.
    pub(crate) fn blocks(&self, head: u64) -> Result<u64, LogsError> {
        if self.from > self.to {
            return Err(LogsError::Backwards { from: self.from, to: self.to });
        }
        let blocks = (self.to.min(head) + 1).saturating_sub(self.from);
        if blocks > LOGS_BLOCK_CAP { Err(LogsError::TooWide { blocks }) } else { Ok(blocks) }
    }

    /// Searches until a moment, if there is one by which it must be done.
    pub(crate) fn search(
        &self,
        history: &History<'_>,
        until: Option<Instant>,
    ) -> Result<Vec<LogEntry>, LogsError> {
        if self.blocks(history.head())? == 0 {
            return Ok(Vec::new());
        }
        let blooms = Blooms::new(self);
        let mut found = Vec::new();
        let mut bytes = 0;
        for header in history.headers(self.from, self.to, |header| blooms.may_be_in(header))? {
            if until.is_some_and(|until| Instant::now() > until) {
                return Err(LogsError::TooLong);
            }
            for receipt in history.receipts(&header)? {
                let before = found.len();
                self.take(receipt, &header, &mut found);
                bytes += found[before..].iter().map(|entry| entry.log.data.data.len()).sum::<usize>();
                if found.len() > LOGS_CAP || bytes > LOGS_BYTES_CAP {
                    return Err(LogsError::TooMany);
                }
            }
        }
        Ok(found)
    }

    fn take(&self, receipt: Receipt, header: &Sealed<Header>, found: &mut Vec<LogEntry>) {
        for (log_index, log) in (receipt.first_log_index..).zip(receipt.logs) {
            if self.wants(&log) {
                found.push(LogEntry {
                    log,
                    block_hash: header.hash(),
                    block_number: header.number,
                    block_timestamp: header.timestamp,
                    transaction_hash: receipt.transaction_hash,
                    transaction_index: receipt.transaction_index,
                    log_index,
                });
            }
        }
    }

    fn wants(&self, log: &Log) -> bool {
        let address = self.addresses.is_empty() || self.addresses.contains(&log.address);
        let topics = log.topics();
        address
            && self.topics.len() <= topics.len()
            && self.topics.iter().zip(topics).all(|(any, topic)| any.is_empty() || any.contains(topic))
    }
}

/// What a block's filter must hold: of each set, one.
struct Blooms(Vec<Vec<Bloom>>);

impl Blooms {
    fn new(filter: &LogFilter) -> Self {
        let bloom = |bytes: &[u8]| Bloom::from(BloomInput::Raw(bytes));
        let addresses = filter.addresses.iter().map(|address| bloom(address.as_slice())).collect();
        let topics =
            filter.topics.iter().map(|any| any.iter().map(|topic| bloom(topic.as_slice())).collect());
        Self(std::iter::once(addresses).chain(topics).filter(|set: &Vec<_>| !set.is_empty()).collect())
    }

    fn may_be_in(&self, header: &Header) -> bool {
        self.0.iter().all(|set| set.iter().any(|bloom| header.logs_bloom.contains(bloom)))
    }
}
