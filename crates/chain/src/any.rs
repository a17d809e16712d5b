//! The configured node.

use alloy_primitives::{Address, B256, Bytes, U256};

use crate::Result;
use crate::embedded::Embedded;
use crate::node::{Block, BlockId, Fees, LoggedEvent, Node, NodeTransaction, Receipt, Sent};
use crate::remote::Remote;

#[derive(Debug)]
pub enum AnyNode {
    Embedded(Embedded),
    Remote(Remote),
}

macro_rules! either {
    ($self:ident, $node:ident => $answer:expr) => {
        match $self {
            Self::Embedded($node) => $answer,
            Self::Remote($node) => $answer,
        }
    };
}

impl Node for AnyNode {
    async fn chain_id(&self) -> Result<u64> {
        either!(self, node => node.chain_id().await)
    }
    async fn head(&self) -> Result<Block> {
        either!(self, node => node.head().await)
    }
    async fn block(&self, at: BlockId) -> Result<Option<Block>> {
        either!(self, node => node.block(at).await)
    }
    async fn nonce(&self, account: Address) -> Result<u64> {
        either!(self, node => node.nonce(account).await)
    }
    async fn balance(&self, account: Address) -> Result<U256> {
        either!(self, node => node.balance(account).await)
    }
    async fn code(&self, address: Address) -> Result<Bytes> {
        either!(self, node => node.code(address).await)
    }
    async fn call(&self, from: Address, to: Address, data: Bytes) -> Result<Bytes> {
        either!(self, node => node.call(from, to, data).await)
    }
    async fn call_with_gas(&self, to: Address, data: Bytes, gas: u64) -> Result<Bytes> {
        either!(self, node => node.call_with_gas(to, data, gas).await)
    }
    async fn fees(&self) -> Result<Fees> {
        either!(self, node => node.fees().await)
    }
    async fn send(&self, raw: &[u8]) -> Result<Sent> {
        either!(self, node => node.send(raw).await)
    }
    async fn receipt(&self, hash: B256) -> Result<Option<Receipt>> {
        either!(self, node => node.receipt(hash).await)
    }
    async fn transaction(&self, hash: B256) -> Result<Option<NodeTransaction>> {
        either!(self, node => node.transaction(hash).await)
    }
    async fn logs(&self, contracts: &[Address], from: u64, to: u64) -> Result<Vec<LoggedEvent>> {
        either!(self, node => node.logs(contracts, from, to).await)
    }
    fn confirmations(&self) -> u64 {
        either!(self, node => node.confirmations())
    }
}
