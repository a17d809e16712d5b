//! A node: what the writer and the readers need of a chain, and nothing more. One small trait, several nodes.

use std::future::Future;

use alloy_primitives::{Address, B256, Bytes, U256};

use crate::{Error, Result};

/// A block's header, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub number: u64,
    pub hash: B256,
    /// The hash of the block before it.
    pub parent: B256,
    /// When it was made, in seconds.
    pub timestamp: u64,
    /// Gas used by its transactions.
    pub gas_used: u64,
    /// Gas that it may use.
    pub gas_limit: u64,
    /// The fee per gas that it burns.
    pub base_fee: u64,
    pub transactions: Vec<B256>,
}

/// Where a transaction ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub block: u64,
    pub block_hash: B256,
    /// Whether it took effect.
    pub success: bool,
    /// Gas that it used.
    pub gas_used: u64,
    /// The contract that it deployed.
    pub contract: Option<Address>,
    /// What the contracts said.
    pub logs: Vec<Log>,
}

/// What a contract said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Bytes,
}

/// A transaction as the node knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    pub from: Address,
    /// To whom; nobody: it deploys a contract.
    pub to: Option<Address>,
    pub nonce: u64,
    /// The block it is in.
    pub block: Option<u64>,
}

/// What became of sending a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The node has it.
    Accepted,
    /// The node had it before, or has another one at this nonce, or the nonce is used: look for receipts.
    Known,
    /// It offers too little beside the one that the node has at this nonce, or beside the base fee.
    Underpriced,
    /// The nonces before it are missing.
    Gap,
}

/// What transactions cost at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fees {
    /// The fee per gas that the next block burns.
    pub base: u64,
    /// The tip per gas that gets a transaction into it.
    pub tip: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Number(u64),
    Hash(B256),
}

pub trait Node: Send + Sync + 'static {
    fn chain_id(&self) -> impl Future<Output = Result<u64>> + Send;
    fn head(&self) -> impl Future<Output = Result<Block>> + Send;
    /// A block of the chain, as it is now.
    fn block(&self, at: At) -> impl Future<Output = Result<Option<Block>>> + Send;
    /// How many transactions of an account are in blocks.
    fn nonce(&self, account: Address) -> impl Future<Output = Result<u64>> + Send;
    /// What an account owns, in wei.
    fn balance(&self, account: Address) -> impl Future<Output = Result<U256>> + Send;
    /// The code at an address.
    fn code(&self, address: Address) -> impl Future<Output = Result<Bytes>> + Send;
    /// Asks a contract, without changing anything.
    fn call(&self, from: Address, to: Address, data: Bytes) -> impl Future<Output = Result<Bytes>> + Send;
    fn fees(&self) -> impl Future<Output = Result<Fees>> + Send;
    /// Sends a signed transaction.
    fn send(&self, raw: &[u8]) -> impl Future<Output = Result<Sent>> + Send;
    /// Where a transaction ended, if it is in a block.
    fn receipt(&self, hash: B256) -> impl Future<Output = Result<Option<Receipt>>> + Send;
    /// A transaction, if the node knows it.
    fn transaction(&self, hash: B256) -> impl Future<Output = Result<Option<Transaction>>> + Send;

    /// The first block: which chain this is, beyond its id.
    fn genesis(&self) -> impl Future<Output = Result<B256>> + Send {
        async {
            let block = self.block(At::Number(0)).await?;
            Ok(block.ok_or_else(|| Error::Refused("the node has no first block".into()))?.hash)
        }
    }

    /// How many blocks must follow before a block cannot be undone any more. 0: it never can.
    fn confirmations(&self) -> u64;
}
