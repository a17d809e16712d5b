//! The [`Node`] trait: what the writer and the readers need of a chain.

use std::future::Future;

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_serde::quantity;
use serde::{Deserialize, Deserializer};

use crate::{Error, Result};

// What can be deserialized is read from a node's JSON. Members that we do not use may be absent: nodes of other
// networks than Ethereum omit some.

/// The part of a block header that we use.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    #[serde(with = "quantity")]
    pub number: u64,
    pub hash: B256,
    /// The parent's hash.
    #[serde(rename = "parentHash")]
    pub parent: B256,
    /// In seconds.
    #[serde(with = "quantity")]
    pub timestamp: u64,
    #[serde(with = "quantity")]
    pub gas_used: u64,
    #[serde(with = "quantity")]
    pub gas_limit: u64,
    /// Per gas; 0 on a chain without base fee.
    #[serde(rename = "baseFeePerGas", default, deserialize_with = "quantity_or_zero")]
    pub base_fee: u64,
    pub transactions: Vec<B256>,
}

fn quantity_or_zero<'de, D: Deserializer<'de>>(value: D) -> Result<u64, D::Error> {
    quantity::opt::deserialize(value).map(Option::unwrap_or_default)
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    #[serde(rename = "blockNumber", with = "quantity")]
    pub block: u64,
    pub block_hash: B256,
    /// False: it reverted.
    #[serde(rename = "status", with = "quantity")]
    pub success: bool,
    #[serde(with = "quantity")]
    pub gas_used: u64,
    /// The deployed contract.
    #[serde(rename = "contractAddress")]
    pub contract: Option<Address>,
    pub logs: Vec<Log>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Log {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Bytes,
}

/// A log, and the transaction that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LoggedEvent {
    #[serde(flatten)]
    pub log: Log,
    #[serde(rename = "transactionHash")]
    pub transaction: B256,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NodeTransaction {
    pub from: Address,
    /// `None`: it deploys a contract.
    pub to: Option<Address>,
    #[serde(with = "quantity")]
    pub nonce: u64,
    #[serde(rename = "blockNumber", default, with = "quantity::opt")]
    pub block: Option<u64>,
    /// The call data, or the code that deploys.
    pub input: Bytes,
}

/// The result of sending a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    Accepted,
    /// The node has it, or another one at this nonce, or the nonce is used: look for receipts.
    Known,
    /// It pays too little compared with the node's transaction at this nonce, or with the base fee.
    Underpriced,
    /// Earlier nonces are missing.
    Gap,
}

/// Current fees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fees {
    /// The next block's base fee per gas.
    pub base: u64,
    /// The tip per gas that gets a transaction into it.
    pub tip: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockId {
    Number(u64),
    Hash(B256),
}

pub trait Node: Send + Sync + 'static {
    fn chain_id(&self) -> impl Future<Output = Result<u64>> + Send;
    fn head(&self) -> impl Future<Output = Result<Block>> + Send;
    fn block(&self, at: BlockId) -> impl Future<Output = Result<Option<Block>>> + Send;
    /// The number of mined transactions of an account.
    fn nonce(&self, account: Address) -> impl Future<Output = Result<u64>> + Send;
    /// In wei.
    fn balance(&self, account: Address) -> impl Future<Output = Result<U256>> + Send;
    fn code(&self, address: Address) -> impl Future<Output = Result<Bytes>> + Send;
    /// A read-only call.
    fn call(&self, from: Address, to: Address, data: Bytes) -> impl Future<Output = Result<Bytes>> + Send;
    /// A read-only call of a contract that is not ours, with at most this much gas.
    fn call_with_gas(&self, to: Address, data: Bytes, gas: u64)
    -> impl Future<Output = Result<Bytes>> + Send;
    fn fees(&self) -> impl Future<Output = Result<Fees>> + Send;
    fn send(&self, raw: &[u8]) -> impl Future<Output = Result<Sent>> + Send;
    /// `None`: not mined.
    fn receipt(&self, hash: B256) -> impl Future<Output = Result<Option<Receipt>>> + Send;
    /// `None`: unknown.
    fn transaction(&self, hash: B256) -> impl Future<Output = Result<Option<NodeTransaction>>> + Send;

    /// The logs of contracts in a range of blocks, oldest first. Refused if the range is too large for the node.
    fn logs(
        &self,
        contracts: &[Address],
        from: u64,
        to: u64,
    ) -> impl Future<Output = Result<Vec<LoggedEvent>>> + Send;

    /// The hash of block 0, which identifies the chain beyond its id.
    fn genesis(&self) -> impl Future<Output = Result<B256>> + Send {
        async {
            let block = self.block(BlockId::Number(0)).await?;
            Ok(block.ok_or_else(|| Error::Refused("the node has no first block".into()))?.hash)
        }
    }

    /// Confirmations until a block is final. 0: immediately.
    fn confirmations(&self) -> u64;
}
