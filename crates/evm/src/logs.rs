//! Searches logs: bloom filters select the blocks, then their receipts are read.

use std::time::Instant;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bloom, BloomInput, Log, Sealed};

use crate::error::ChainError;
use crate::history::History;
use crate::receipt::Receipt;

/// Blocks per search.
pub const LOGS_BLOCK_CAP: u64 = 10_000;
/// Logs per search.
pub const LOGS_CAP: usize = 10_000;
/// Data of all logs found by one search.
const MAX_LOG_DATA_BYTES: usize = 16 << 20;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub from: u64,
    /// Included; searches end at the head.
    pub to: u64,
    /// Empty: any contract.
    pub addresses: Vec<Address>,
    /// For each topic position its allowed values. Empty: any value, but the topic must exist.
    pub topics: Vec<Vec<B256>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    pub log: Log,
    pub block_hash: B256,
    pub block_number: u64,
    pub block_timestamp: u64,
    pub transaction_hash: B256,
    pub transaction_index: u64,
    /// The position among all logs of the block.
    pub log_index: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum LogsError {
    #[error("the range begins with block {from} and ends with block {to}")]
    Backwards { from: u64, to: u64 },
    #[error("the range is {blocks} blocks, at most {LOGS_BLOCK_CAP} are allowed")]
    TooWide { blocks: u64 },
    #[error("more than {LOGS_CAP} events (or 16 MiB of them) were found; ask for fewer blocks")]
    TooMany,
    #[error("the search takes too long; ask for fewer blocks")]
    TooLong,
    #[error(transparent)]
    Chain(#[from] ChainError),
}

impl LogFilter {
    /// The number of blocks to search, up to `head`.
    pub(crate) fn blocks(&self, head: u64) -> Result<u64, LogsError> {
        if self.from > self.to {
            return Err(LogsError::Backwards { from: self.from, to: self.to });
        }
        let blocks = (self.to.min(head) + 1).saturating_sub(self.from);
        if blocks > LOGS_BLOCK_CAP { Err(LogsError::TooWide { blocks }) } else { Ok(blocks) }
    }

    pub(crate) fn search(
        &self,
        history: &History<'_>,
        deadline: Option<Instant>,
    ) -> Result<Vec<LogEntry>, LogsError> {
        if self.blocks(history.head())? == 0 {
            return Ok(Vec::new());
        }
        let blooms = Blooms::new(self);
        let mut found = Vec::new();
        let mut bytes = 0;
        for header in history.headers(self.from, self.to, |header| blooms.may_match(header))? {
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(LogsError::TooLong);
            }
            for receipt in history.receipts(&header)? {
                let before = found.len();
                self.collect(receipt, &header, &mut found);
                bytes += found[before..].iter().map(|entry| entry.log.data.data.len()).sum::<usize>();
                if found.len() > LOGS_CAP || bytes > MAX_LOG_DATA_BYTES {
                    return Err(LogsError::TooMany);
                }
            }
        }
        Ok(found)
    }

    fn collect(&self, receipt: Receipt, header: &Sealed<Header>, found: &mut Vec<LogEntry>) {
        for (log_index, log) in (receipt.first_log_index..).zip(receipt.logs) {
            if self.matches(&log) {
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

    fn matches(&self, log: &Log) -> bool {
        let address = self.addresses.is_empty() || self.addresses.contains(&log.address);
        let topics = log.topics();
        address
            && self.topics.len() <= topics.len()
            && self.topics.iter().zip(topics).all(|(any, topic)| any.is_empty() || any.contains(topic))
    }
}

/// A block may match if its bloom filter contains at least one bloom of every set.
struct Blooms(Vec<Vec<Bloom>>);

impl Blooms {
    fn new(filter: &LogFilter) -> Self {
        let bloom = |bytes: &[u8]| Bloom::from(BloomInput::Raw(bytes));
        let addresses = filter.addresses.iter().map(|address| bloom(address.as_slice())).collect();
        let topics =
            filter.topics.iter().map(|any| any.iter().map(|topic| bloom(topic.as_slice())).collect());
        Self(std::iter::once(addresses).chain(topics).filter(|set: &Vec<_>| !set.is_empty()).collect())
    }

    fn may_match(&self, header: &Header) -> bool {
        self.0.iter().all(|set| set.iter().any(|bloom| header.logs_bloom.contains(bloom)))
    }
}
