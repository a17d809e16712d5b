//! Blocks, transactions and receipts as JSON.

use alloy_consensus::{ReceiptEnvelope, ReceiptWithBloom, TxType};
use alloy_eips::eip4895::Withdrawals;
use alloy_primitives::U256;
use alloy_rpc_types_eth::{BlockTransactions, Header, TransactionReceipt};
use serde_json::{Value, json};

use crate::history::{Block, Transaction};
use crate::receipt::Receipt;

/// A number in hexadecimal.
pub(super) fn quantity(number: impl TryInto<U256>) -> Value {
    number.try_into().map_or(Value::Null, |number: U256| json!(number))
}

pub(super) fn block(block: Block, transactions: BlockTransactions<Transaction>) -> Value {
    let header = Header::from_consensus(block.header, None, Some(U256::from(block.size)));
    let block = alloy_rpc_types_eth::Block::new(header, transactions);
    json!(block.with_withdrawals(Some(Withdrawals::default())))
}

pub(super) fn receipt(receipt: &Receipt) -> Value {
    let consensus = alloy_consensus::Receipt {
        status: receipt.success.into(),
        cumulative_gas_used: receipt.cumulative_gas_used,
        logs: receipt.clone().into_logs().collect(),
    };
    let inner = ReceiptWithBloom::new(consensus, receipt.logs_bloom());
    json!(TransactionReceipt {
        inner: ReceiptEnvelope::from_typed(TxType::try_from(receipt.ty).unwrap_or_default(), inner),
        transaction_hash: receipt.transaction_hash,
        transaction_index: Some(receipt.transaction_index),
        block_hash: Some(receipt.block_hash),
        block_number: Some(receipt.block_number),
        gas_used: receipt.gas_used,
        effective_gas_price: receipt.effective_gas_price,
        blob_gas_used: None,
        blob_gas_price: None,
        from: receipt.from,
        to: receipt.to,
        contract_address: receipt.contract_address,
    })
}
