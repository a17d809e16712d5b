//! Builds the genesis block, and the next block from executed transactions.

use alloy_consensus::constants::{EMPTY_OMMER_ROOT_HASH, EMPTY_ROOT_HASH};
use alloy_consensus::{Header, Transaction as _, Typed2718 as _};
use alloy_eips::eip7685::EMPTY_REQUESTS_HASH;
use alloy_primitives::{Address, B256, Bloom, Bytes, Sealable, Sealed, U256};
use alloy_rlp::Encodable;
use alloy_trie::root::{ordered_trie_root_encoded, ordered_trie_root_with_encoder};
use revm::context::BlockEnv;
use revm::context::result::ExecutionResult;
use revm::context_interface::block::BlobExcessGasAndPrice;
use revm::state::AccountInfo;

use crate::changes::Changes;
use crate::receipt::StoredReceipt;
use crate::transaction::VerifiedTransaction;
use crate::{BASE_FEE, BLOCK_GAS_LIMIT};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Genesis {
    pub chain_id: u64,
    /// In seconds since 1970.
    pub timestamp: u64,
    /// Initial balances in wei. The last entry for an account counts.
    pub alloc: Vec<(Address, U256)>,
}

impl Genesis {
    /// The first block and the initial state.
    pub(crate) fn block(&self) -> (Sealed<Header>, Changes) {
        let mut changes = Changes::default();
        for (address, balance) in &self.alloc {
            if !balance.is_zero() {
                changes.set(*address, AccountInfo { balance: *balance, ..AccountInfo::default() });
            }
        }
        // Chains with different ids have different genesis hashes.
        let before = B256::from(U256::from(self.chain_id));
        let header = Header {
            state_root: changes.commitment(before),
            transactions_root: EMPTY_ROOT_HASH,
            receipts_root: EMPTY_ROOT_HASH,
            timestamp: self.timestamp,
            ..empty()
        };
        (header.seal_slow(), changes)
    }
}

/// The fields that are the same in all blocks.
fn empty() -> Header {
    Header {
        ommers_hash: EMPTY_OMMER_ROOT_HASH,
        gas_limit: BLOCK_GAS_LIMIT,
        base_fee_per_gas: Some(BASE_FEE),
        withdrawals_root: Some(EMPTY_ROOT_HASH),
        blob_gas_used: Some(0),
        excess_blob_gas: Some(0),
        parent_beacon_block_root: Some(B256::ZERO),
        requests_hash: Some(EMPTY_REQUESTS_HASH),
        ..Header::default()
    }
}

#[derive(Debug)]
pub(crate) struct ExecutedTransaction {
    pub(crate) transaction: VerifiedTransaction,
    pub(crate) receipt: StoredReceipt,
    pub(crate) bloom: Bloom,
}

/// The header of the next block, before execution. Blocks may share a second: if each had its own, a busy chain's
/// clock would run ahead of real time.
pub(crate) fn next(parent: &Sealed<Header>, timestamp: u64) -> Header {
    Header {
        parent_hash: parent.hash(),
        number: parent.number + 1,
        timestamp: parent.timestamp.max(timestamp),
        ..empty()
    }
}

pub(crate) fn seal(
    mut header: Header,
    parent: &Header,
    executed: &[ExecutedTransaction],
    changes: &Changes,
) -> Sealed<Header> {
    let raws: Vec<&Bytes> = executed.iter().map(|executed| &executed.transaction.raw).collect();
    header.transactions_root = ordered_trie_root_encoded(&raws);
    header.receipts_root = ordered_trie_root_with_encoder(executed, encode_receipt);
    for executed in executed {
        header.logs_bloom |= executed.bloom;
    }
    header.gas_used = executed.last().map_or(0, |last| last.receipt.cumulative_gas_used);
    header.state_root = changes.commitment(parent.state_root);
    header.seal_slow()
}

/// Encodes a receipt for the receipts root.
fn encode_receipt(executed: &ExecutedTransaction, out: &mut Vec<u8>) {
    let receipt = &executed.receipt;
    let ty = executed.transaction.envelope.ty();
    if ty > 0 {
        out.push(ty);
    }
    let payload = receipt.success.length()
        + receipt.cumulative_gas_used.length()
        + executed.bloom.length()
        + receipt.logs.length();
    alloy_rlp::Header { list: true, payload_length: payload }.encode(out);
    receipt.success.encode(out);
    receipt.cumulative_gas_used.encode(out);
    executed.bloom.encode(out);
    receipt.logs.encode(out);
}

/// The block as contracts see it.
pub(crate) fn env(header: &Header) -> BlockEnv {
    BlockEnv {
        number: U256::from(header.number),
        beneficiary: header.beneficiary,
        timestamp: U256::from(header.timestamp),
        gas_limit: header.gas_limit,
        basefee: BASE_FEE,
        prevrandao: Some(header.mix_hash),
        blob_excess_gas_and_price: Some(BlobExcessGasAndPrice { excess_blob_gas: 0, blob_gasprice: 1 }),
        ..BlockEnv::default()
    }
}

impl StoredReceipt {
    /// The receipt of a transaction executed right after that of `before`.
    pub(crate) fn new(
        transaction: &VerifiedTransaction,
        result: ExecutionResult,
        before: Option<&Self>,
    ) -> Self {
        let gas_used = result.tx_gas_used();
        let to = transaction.envelope.to();
        Self {
            ty: transaction.envelope.ty(),
            success: result.is_success(),
            gas_used,
            cumulative_gas_used: gas_used + before.map_or(0, |before| before.cumulative_gas_used),
            effective_gas_price: transaction.envelope.effective_gas_price(Some(BASE_FEE)),
            creates: to.is_none(),
            // A failed creation has an address too.
            to: to.unwrap_or_else(|| transaction.sender.create(transaction.envelope.nonce())),
            first_log: before.map_or(0, |before| before.first_log + before.logs.len() as u64),
            logs: if result.is_success() { result.into_logs() } else { Vec::new() },
        }
    }
}
