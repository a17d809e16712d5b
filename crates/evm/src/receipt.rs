//! Receipts, as stored and as returned.

use std::iter;

use alloy_consensus::Header;
use alloy_primitives::map::HashSet;
use alloy_primitives::{Address, B256, Bloom, BloomInput, Log, Sealed};
use alloy_rlp::{RlpDecodable, RlpEncodable};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub transaction_hash: B256,
    pub transaction_index: u64,
    pub block_hash: B256,
    pub block_number: u64,
    pub block_timestamp: u64,
    pub ty: u8,
    pub from: Address,
    /// `None` for a contract creation.
    pub to: Option<Address>,
    /// Set for a contract creation, even a failed one.
    pub contract_address: Option<Address>,
    /// A failed transaction changes only the sender's nonce and balance.
    pub success: bool,
    pub gas_used: u64,
    /// Includes the earlier transactions of the block.
    pub cumulative_gas_used: u64,
    /// Wei per gas.
    pub effective_gas_price: u128,
    pub logs: Vec<Log>,
    /// The position of the first log among all logs of the block.
    pub first_log_index: u64,
}

impl Receipt {
    pub fn logs_bloom(&self) -> Bloom {
        bloom(&self.logs)
    }

    /// The logs with their place on the chain.
    pub(crate) fn into_logs(self) -> impl Iterator<Item = alloy_rpc_types_eth::Log> {
        (self.first_log_index..).zip(self.logs).map(move |(index, inner)| alloy_rpc_types_eth::Log {
            inner,
            block_hash: Some(self.block_hash),
            block_number: Some(self.block_number),
            block_timestamp: Some(self.block_timestamp),
            transaction_hash: Some(self.transaction_hash),
            transaction_index: Some(self.transaction_index),
            log_index: Some(index),
            removed: false,
        })
    }
}

#[derive(Debug, Clone, RlpEncodable, RlpDecodable)]
pub(crate) struct StoredReceipt {
    pub(crate) ty: u8,
    pub(crate) success: bool,
    pub(crate) gas_used: u64,
    pub(crate) cumulative_gas_used: u64,
    pub(crate) effective_gas_price: u128,
    /// Whether `to` is the created contract.
    pub(crate) creates: bool,
    pub(crate) to: Address,
    pub(crate) first_log: u64,
    pub(crate) logs: Vec<Log>,
}

impl StoredReceipt {
    /// Adds the fields that are not stored here: the block, and the transaction's index, hash and sender.
    pub(crate) fn into_receipt(
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

/// The bloom filter of these logs. Most logs of a block share addresses and topics, so each is hashed once.
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

#[cfg(test)]
mod tests {
    use alloy_primitives::Bytes;
    use alloy_rlp::Decodable as _;
    use proptest::prelude::*;

    use super::*;

    fn stored() -> StoredReceipt {
        let topics = vec![B256::repeat_byte(1), B256::repeat_byte(2)];
        StoredReceipt {
            ty: 2,
            success: true,
            gas_used: 21_000,
            cumulative_gas_used: 42_000,
            effective_gas_price: 8,
            creates: false,
            to: Address::repeat_byte(3),
            first_log: 5,
            logs: vec![Log::new_unchecked(Address::repeat_byte(4), topics, Bytes::from_static(&[9; 70]))],
        }
    }

    proptest! {
        /// Of a damaged file, for instance.
        #[test]
        fn any_bytes_decode_or_fail(bytes: Vec<u8>, at: prop::sample::Index, byte: u8) {
            let _ = StoredReceipt::decode(&mut bytes.as_slice());
            let whole = alloy_rlp::encode(stored());
            let at = at.index(whole.len());
            prop_assert!(StoredReceipt::decode(&mut &whole[..at]).is_err());
            let mut damaged = whole;
            damaged[at] = byte;
            if let Ok(read) = StoredReceipt::decode(&mut damaged.as_slice()) {
                prop_assert!(alloy_rlp::encode(read).len() <= damaged.len());
            }
        }
    }

    #[test]
    fn receipt_round_trips() {
        let encoded = alloy_rlp::encode(stored());
        let read = StoredReceipt::decode(&mut encoded.as_slice()).unwrap();
        assert_eq!(alloy_rlp::encode(&read), encoded);
        assert_eq!(read.logs, stored().logs);
    }
}
