//! The [`Node`] trait: what the writer and the readers need of a chain.

use std::future::Future;

use alloy_primitives::{Address, B256, Bytes, U256};

use crate::{Error, Result};

/// The part of a block header that we use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub number: u64,
    pub hash: B256,
    /// The parent's hash.
    pub parent: B256,
    /// In seconds.
    pub timestamp: u64,
    pub gas_used: u64,
    pub gas_limit: u64,
    /// Per gas.
    pub base_fee: u64,
    pub transactions: Vec<B256>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub block: u64,
    pub block_hash: B256,
    /// False: it reverted.
    pub success: bool,
    pub gas_used: u64,
    /// The deployed contract.
    pub contract: Option<Address>,
    pub logs: Vec<Log>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Bytes,
}

/// A log, and the transaction that wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedEvent {
    pub log: Log,
    pub transaction: B256,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    pub from: Address,
    /// `None`: it deploys a contract.
    pub to: Option<Address>,
    pub nonce: u64,
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
    fn transaction(&self, hash: B256) -> impl Future<Output = Result<Option<Transaction>>> + Send;

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
