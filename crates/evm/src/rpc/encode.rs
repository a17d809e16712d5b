//! Blocks, transactions, receipts and events as JSON.

use alloy_consensus::{Transaction as _, Typed2718 as _};
use alloy_primitives::{B256, Bytes, Log, U256};
use serde_json::{Value, json};

use crate::BASE_FEE;
use crate::history::{Block, Transaction};
use crate::logs::LogEntry;
use crate::receipt::Receipt;

/// A number in hexadecimal.
pub(super) fn quantity(number: impl TryInto<U256>) -> Value {
    number.try_into().map_or(Value::Null, |number: U256| Value::String(format!("{number:#x}")))
}

pub(super) fn bytes(bytes: &Bytes) -> Value {
    Value::String(bytes.to_string())
}

pub(super) fn block(block: &Block, transactions: Vec<Value>) -> Value {
    let mut json = json!(block.header.inner());
    json["hash"] = json!(block.header.hash());
    json["size"] = quantity(block.size);
    json["transactions"] = Value::Array(transactions);
    json["uncles"] = json!([]);
    json["withdrawals"] = json!([]);
    json
}

pub(super) fn transaction(transaction: &Transaction) -> Value {
    let mut json = json!(transaction.envelope);
    json["from"] = json!(transaction.from);
    json["blockHash"] = json!(transaction.block_hash);
    json["blockNumber"] = quantity(transaction.block_number);
    json["transactionIndex"] = quantity(transaction.index);
    json["gasPrice"] = quantity(transaction.envelope.effective_gas_price(Some(BASE_FEE)));
    json["type"] = quantity(transaction.envelope.ty());
    json
}

pub(super) fn receipt(receipt: &Receipt) -> Value {
    let logs: Vec<_> = (receipt.first_log_index..)
        .zip(&receipt.logs)
        .map(|(index, log)| {
            let context = LogContext {
                block_hash: receipt.block_hash,
                block_number: receipt.block_number,
                block_timestamp: receipt.block_timestamp,
                transaction_hash: receipt.transaction_hash,
                transaction_index: receipt.transaction_index,
                log_index: index,
            };
            context.log(log)
        })
        .collect();
    json!({
        "transactionHash": receipt.transaction_hash,
        "transactionIndex": quantity(receipt.transaction_index),
        "blockHash": receipt.block_hash,
        "blockNumber": quantity(receipt.block_number),
        "from": receipt.from,
        "to": receipt.to,
        "contractAddress": receipt.contract_address,
        "status": quantity(u8::from(receipt.success)),
        "gasUsed": quantity(receipt.gas_used),
        "cumulativeGasUsed": quantity(receipt.cumulative_gas_used),
        "effectiveGasPrice": quantity(receipt.effective_gas_price),
        "type": quantity(receipt.ty),
        "logs": logs,
        "logsBloom": receipt.logs_bloom(),
    })
}

pub(super) fn log(entry: &LogEntry) -> Value {
    let context = LogContext {
        block_hash: entry.block_hash,
        block_number: entry.block_number,
        block_timestamp: entry.block_timestamp,
        transaction_hash: entry.transaction_hash,
        transaction_index: entry.transaction_index,
        log_index: entry.log_index,
    };
    context.log(&entry.log)
}

struct LogContext {
    block_hash: B256,
    block_number: u64,
    block_timestamp: u64,
    transaction_hash: B256,
    transaction_index: u64,
    log_index: u64,
}

impl LogContext {
    fn log(&self, log: &Log) -> Value {
        json!({
            "address": log.address,
            "topics": log.topics(),
            "data": log.data.data,
            "blockHash": self.block_hash,
            "blockNumber": quantity(self.block_number),
            "blockTimestamp": quantity(self.block_timestamp),
            "transactionHash": self.transaction_hash,
            "transactionIndex": quantity(self.transaction_index),
            "logIndex": quantity(self.log_index),
            "removed": false,
        })
    }
}
