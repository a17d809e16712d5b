//! What came of a transaction: as it is kept, and as it is told.

use std::iter;

use alloy_consensus::Header;
use alloy_primitives::map::HashSet;
use alloy_primitives::{Address, B256, Bloom, BloomInput, Log, Sealed};
use alloy_rlp::{RlpDecodable, RlpEncodable};

/// What came of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub transaction_hash: B256,
    /// Its position in its block.
    pub transaction_index: u64,
    pub block_hash: B256,
    pub block_number: u64,
    /// When its block was made.
    pub block_timestamp: u64,
    pub ty: u8,
    pub from: Address,
    /// Whom it called, unless it made a contract.
    pub to: Option<Address>,
    /// The contract that it made, or would have made if it had not failed.
    pub contract_address: Option<Address>,
    /// Whether it succeeded. If not, it changed nothing but the sender's nonce and balance.
    pub success: bool,
    /// The gas that it used.
    pub gas_used: u64,
    /// The gas that it and those before it in the block used.
    pub cumulative_gas_used: u64,
    /// What each unit of gas cost, in wei.
    pub effective_gas_price: u128,
    pub logs: Vec<Log>,
    /// The position of the first of them among all of the block.
    pub first_log_index: u64,
}

impl Receipt {
    /// The filter in which every address and topic of its events is found.
    pub fn logs_bloom(&self) -> Bloom {
        bloom(&self.logs)
    }
}

/// A receipt as it is kept.
#[derive(Debug, Clone, RlpEncodable, RlpDecodable)]
pub(crate) struct StoredReceipt {
    pub(crate) ty: u8,
    pub(crate) success: bool,
    pub(crate) gas_used: u64,
    pub(crate) cumulative_gas_used: u64,
    pub(crate) effective_gas_price: u128,
    /// Whether `to` is a contract that it made.
    pub(crate) creates: bool,
    pub(crate) to: Address,
    pub(crate) first_log: u64,
    pub(crate) logs: Vec<Log>,
}

impl StoredReceipt {
    /// As it is told, with what it does not keep itself: its block, and the transaction's position, hash and sender.
    pub(crate) fn told(
        self,
        header: &Sealed<Header>,
        (index, hash, sender): (u64, B256, Address),
    ) -> Receipt {
        Receipt {
            transaction_hash: hash,
            transaction_index: index,
            block_hash: header.hash(),
            block_number: header.number,
            block_timestamp: header.timestamp,
            ty: self.ty,
            from: sender,
            to: (!self.creates).then_some(self.to),
            contract_address: self.creates.then_some(self.to),
            success: self.success,
            gas_used: self.gas_used,
            cumulative_gas_used: self.cumulative_gas_used,
            effective_gas_price: self.effective_gas_price,
            logs: self.logs,
            first_log_index: self.first_log,
        }
    }
}

/// The filter in which every address and topic of these events is found. Most events of a block share them, and each is
/// hashed once.
pub(crate) fn bloom(logs: &[Log]) -> Bloom {
    let mut bloom = Bloom::ZERO;
    let mut seen = HashSet::<&[u8]>::default();
    for log in logs {
        for item in iter::once(log.address.as_slice()).chain(log.topics().iter().map(B256::as_slice)) {
            if seen.insert(item) {
                bloom.accrue(BloomInput::Raw(item));
            }
        }
    }
    bloom
}
