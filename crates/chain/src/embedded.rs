//! The embedded node: a chain in a file of the data folder. Every transaction is mined immediately and is final.

use std::sync::Arc;

use alloy_consensus::Transaction as _;
pub use alloy_primitives::{Address, U256};
use alloy_primitives::{B256, Bytes};
use alloy_rpc_types_eth::Filter;
use portico_evm::{CallError, Chain, ChainError, LogsError, Refused};
pub use portico_evm::{ChainFacts, ChainSnapshot, Genesis, inspect};

use crate::node::{Block, BlockId, Fees, Log, LoggedEvent, Node, NodeTransaction, Receipt, Sent};
use crate::{Error, Result};

/// The clock, in seconds since 1970.
pub type Seconds = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Runs work in the caller's span on a thread where it may take its time.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let span = tracing::Span::current();
    let done = tokio::task::spawn_blocking(move || span.in_scope(work)).await;
    done.map_err(|panic| Error::Bug(format!("the chain panicked: {panic}")))
}

#[derive(Clone)]
pub struct Embedded {
    chain: Chain,
    now: Seconds,
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.chain.fmt(f)
    }
}

impl Embedded {
    /// Opens or creates the chain.
    pub fn open(path: &std::path::Path, genesis: &Genesis, now: Seconds) -> Result<Self> {
        let chain = Chain::open(path, genesis).map_err(|error| Error::Setup(error.to_string()))?;
        Ok(Self::new(chain, now))
    }

    pub fn new(chain: Chain, now: Seconds) -> Self {
        Self { chain, now }
    }

    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Serves JSON-RPC, read-only, at the present time.
    pub fn rpc(&self, body: &[u8]) -> Vec<u8> {
        self.chain.rpc_at(body, (self.now)())
    }
}

impl From<ChainError> for Error {
    fn from(error: ChainError) -> Self {
        Self::Unreachable(error.to_string())
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Reverted(data) => Self::Reverted(data),
            CallError::Halted(why) => Self::Refused(why),
            CallError::Refused(refused) => Self::Refused(refused.to_string()),
            CallError::Chain(error) => error.into(),
        }
    }
}

fn block(block: &portico_evm::Block) -> Block {
    let header = &block.header;
    Block {
        number: header.number,
        hash: header.hash(),
        parent: header.parent_hash,
        timestamp: header.timestamp,
        gas_used: header.gas_used,
        gas_limit: header.gas_limit,
        base_fee: header.base_fee_per_gas.unwrap_or_default(),
        transactions: block.transactions.clone(),
    }
}

fn log(log: &portico_evm::Log) -> Log {
    Log { address: log.address, topics: log.topics().to_vec(), data: log.data.data.clone() }
}

impl Node for Embedded {
    async fn chain_id(&self) -> Result<u64> {
        Ok(self.chain.chain_id())
    }

    async fn head(&self) -> Result<Block> {
        let number = self.chain.head().number;
        let head = self.chain.block_by_number(number)?;
        head.as_ref().map(block).ok_or_else(|| Error::Bug("the chain has no head".into()))
    }

    async fn block(&self, at: BlockId) -> Result<Option<Block>> {
        let found = match at {
            BlockId::Number(number) => self.chain.block_by_number(number)?,
            BlockId::Hash(hash) => self.chain.block_by_hash(hash)?,
        };
        Ok(found.as_ref().map(block))
    }

    async fn nonce(&self, account: Address) -> Result<u64> {
        Ok(self.chain.nonce(account)?)
    }

    async fn balance(&self, account: Address) -> Result<U256> {
        Ok(self.chain.balance(account)?)
    }

    async fn code(&self, address: Address) -> Result<Bytes> {
        Ok(self.chain.code(address)?)
    }

    async fn call(&self, from: Address, to: Address, data: Bytes) -> Result<Bytes> {
        let call = portico_evm::Call { from, to: Some(to), data, gas: None, value: U256::ZERO };
        // At the present time: what expires does so without a new block.
        self.chain.call_at(&call, (self.now)()).map_err(Into::into)
    }

    async fn call_with_gas(&self, to: Address, data: Bytes, gas: u64) -> Result<Bytes> {
        let call = portico_evm::Call { to: Some(to), data, gas: Some(gas), ..portico_evm::Call::default() };
        let (chain, now) = (self.chain.clone(), (self.now)());
        // Code of others may take a while.
        Ok(run_blocking(move || chain.call_at(&call, now)).await??)
    }

    async fn fees(&self) -> Result<Fees> {
        Ok(Fees { base: portico_evm::BASE_FEE, tip: 0 })
    }

    async fn send(&self, raw: &[u8]) -> Result<Sent> {
        let (chain, raw, now) = (self.chain.clone(), Bytes::copy_from_slice(raw), (self.now)());
        // Waits for the disk.
        let submitted = run_blocking(move || chain.submit(&[raw], now)).await??;
        match submitted.into_iter().next() {
            Some(Ok(_)) => Ok(Sent::Accepted),
            Some(Err(Refused::AlreadyKnown | Refused::NonceTooLow { .. })) => Ok(Sent::Known),
            Some(Err(Refused::NonceTooHigh { .. })) => Ok(Sent::Gap),
            Some(Err(Refused::FeeTooLow { .. })) => Ok(Sent::Underpriced),
            Some(Err(refused)) => Err(Error::Refused(refused.to_string())),
            None => Err(Error::Bug("the chain did not answer".into())),
        }
    }

    async fn receipt(&self, hash: B256) -> Result<Option<Receipt>> {
        let receipt = self.chain.receipt(hash)?;
        Ok(receipt.map(|receipt| Receipt {
            block: receipt.block_number,
            block_hash: receipt.block_hash,
            success: receipt.success,
            gas_used: receipt.gas_used,
            contract: receipt.contract_address,
            logs: receipt.logs.iter().map(log).collect(),
        }))
    }

    async fn transaction(&self, hash: B256) -> Result<Option<NodeTransaction>> {
        let found = self.chain.transaction(hash)?;
        Ok(found.map(|found| NodeTransaction {
            from: found.inner.signer(),
            to: found.to(),
            nonce: found.nonce(),
            block: found.block_number,
            input: found.input().clone(),
        }))
    }

    async fn logs(&self, contracts: &[Address], from: u64, to: u64) -> Result<Vec<LoggedEvent>> {
        let filter = Filter::new().address(contracts.to_vec()).from_block(from).to_block(to);
        let chain = self.chain.clone();
        match run_blocking(move || chain.logs(&filter)).await? {
            Err(LogsError::Chain(error)) => Err(error.into()),
            Err(refused) => Err(Error::Refused(refused.to_string())),
            Ok(found) => {
                let event = |found: alloy_rpc_types_eth::Log| LoggedEvent {
                    log: log(&found.inner),
                    transaction: found.transaction_hash.unwrap_or_default(),
                };
                Ok(found.into_iter().map(event).collect())
            }
        }
    }

    fn confirmations(&self) -> u64 {
        0
    }
}
