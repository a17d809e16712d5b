//! The chain: opening it, adding to it, reading it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, Sealed, U256};
use alloy_rpc_types_eth::{Filter, Log};
use portico_sqlite::FileLock;
use revm::Database;

use crate::block::{self, ExecutedTransaction, Genesis};
use crate::call::{Call, CallCache};
use crate::error::{CallError, ChainError, OpenError, Refused};
use crate::execute::{self, BlockExecution};
use crate::executor::Rules;
use crate::file::{self, NewTransaction, ReaderPool, Writer, reads};
use crate::history::{Block, History, Transaction};
use crate::logs::{self, LogsError};
use crate::receipt::Receipt;
use crate::rpc::Filters;
use crate::state::State;
use crate::transaction::VerifiedTransaction;

type Result<T> = std::result::Result<T, ChainError>;

type Outcomes = Vec<std::result::Result<B256, Refused>>;

/// A handle to the chain. Clones are cheap and share one chain; dropping the last one closes the file.
#[derive(Debug, Clone)]
pub struct Chain(Arc<Inner>);

/// Fields drop in order: the lock is released last.
#[derive(Debug)]
struct Inner {
    chain_id: u64,
    genesis_hash: B256,
    rules: Rules,
    state: State,
    call_cache: CallCache,
    filters: Filters,
    writer: Mutex<Writer>,
    _lock: FileLock,
}

impl Chain {
    /// Opens the chain in a file, or creates it. No other process can open it until the last clone is dropped.
    pub fn open(path: &Path, genesis: &Genesis) -> std::result::Result<Self, OpenError> {
        let lock = file::lock(path)?;
        let (mut connection, new) = file::open(path)?;
        let (first, mut changes) = genesis.block();
        if new {
            file::create(&mut connection, genesis.chain_id, &first, &mut changes)?;
        }
        let found = reads::chain_id(&connection)?.ok_or(ChainError::Corrupt("there is no chain id"))?;
        if found != genesis.chain_id {
            return Err(OpenError::OtherChain { path: path.to_owned(), found, wanted: genesis.chain_id });
        }
        let found =
            reads::block_hash(&connection, 0)?.ok_or(ChainError::Corrupt("there is no first block"))?;
        if found != first.hash() {
            return Err(OpenError::OtherGenesis { path: path.to_owned(), found, wanted: first.hash() });
        }
        let latest = reads::latest(&connection)?;
        let head = reads::header(&connection, latest)?.ok_or(ChainError::Corrupt("a block is missing"))?;
        Ok(Self(Arc::new(Inner {
            chain_id: genesis.chain_id,
            genesis_hash: first.hash(),
            rules: Rules::new(genesis.chain_id),
            state: State::new(ReaderPool::new(path), head),
            call_cache: CallCache::default(),
            filters: Filters::default(),
            writer: Mutex::new(Writer::start(connection, path)?),
            _lock: lock,
        })))
    }

    pub fn chain_id(&self) -> u64 {
        self.0.chain_id
    }

    pub fn genesis_hash(&self) -> B256 {
        self.0.genesis_hash
    }

    /// Validates, executes and mines signed transactions in order, as one block of all that are accepted. Returns for
    /// each its hash, or why it was refused. If all are refused, there is no block. When this returns, the block is
    /// durable and visible to all readers.
    ///
    /// `timestamp` is in seconds since 1970; a block's timestamp is never before its parent's.
    pub fn submit(&self, raw: &[Bytes], timestamp: u64) -> Result<Outcomes> {
        let mut writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let checked = raw.iter().map(|raw| VerifiedTransaction::parse(raw, self.0.chain_id)).collect();
        let next = writer.begin()?;
        let view = self.0.state.writer_view(next.connection());
        let parent = view.head().clone();
        let header = block::next(&parent, timestamp);
        let BlockExecution { outcomes, executed, changes } =
            execute::run(view, &header, &self.0.rules.transactions, checked)?;
        if executed.is_empty() {
            return Ok(outcomes);
        }
        let header = block::seal(header, &parent, &executed, &changes);
        let transactions: Vec<_> = executed.iter().map(new_transaction).collect();
        next.commit(&header, &transactions, changes)?;
        self.0.state.advance_head(Arc::new(header));
        writer.checkpoint();
        Ok(outcomes)
    }

    /// The latest block's header, with its hash.
    pub fn head(&self) -> Arc<Sealed<Header>> {
        self.0.state.head()
    }

    pub fn block_by_number(&self, number: u64) -> Result<Option<Block>> {
        self.history()?.block(number)
    }

    pub fn block_by_hash(&self, hash: B256) -> Result<Option<Block>> {
        let history = self.history()?;
        history.number(&hash)?.map_or(Ok(None), |number| history.block(number))
    }

    pub fn transaction(&self, hash: B256) -> Result<Option<Transaction>> {
        let history = self.history()?;
        history.locate(&hash)?.map_or(Ok(None), |location| history.transaction(location))
    }

    pub fn receipt(&self, hash: B256) -> Result<Option<Receipt>> {
        let history = self.history()?;
        history.locate(&hash)?.map_or(Ok(None), |location| history.receipt(location))
    }

    pub fn logs(&self, filter: &Filter) -> std::result::Result<Vec<Log>, LogsError> {
        let history = self.history()?;
        logs::search(filter, logs::blocks(filter, &history)?, &history, None)
    }

    /// The nonce of an account's next transaction.
    pub fn nonce(&self, address: Address) -> Result<u64> {
        Ok(self.0.state.view()?.account(address)?.unwrap_or_default().nonce)
    }

    /// In wei.
    pub fn balance(&self, address: Address) -> Result<U256> {
        Ok(self.0.state.view()?.account(address)?.unwrap_or_default().balance)
    }

    /// A contract's code; empty if there is no contract.
    pub fn code(&self, address: Address) -> Result<Bytes> {
        let view = self.0.state.view()?;
        let account = view.account(address)?.unwrap_or_default();
        Ok(view.code(account.code_hash)?.original_bytes())
    }

    pub fn storage(&self, address: Address, slot: U256) -> Result<U256> {
        self.0.state.view()?.storage(address, slot)
    }

    /// Calls a contract on the latest state and discards all changes. The contract sees the latest block's time.
    pub fn call(&self, call: &Call) -> std::result::Result<Bytes, CallError> {
        self.call_at(call, 0)
    }

    /// The same, but the contract sees `now` if that is later, in seconds since 1970: a chain without transactions has
    /// no new blocks.
    pub fn call_at(&self, call: &Call, now: u64) -> std::result::Result<Bytes, CallError> {
        self.0.call_cache.call(&self.0.state, &self.0.rules.calls, call, now)
    }

    pub(crate) fn state(&self) -> &State {
        &self.0.state
    }

    pub(crate) fn filters(&self) -> &Filters {
        &self.0.filters
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.0.rules
    }

    pub(crate) fn history(&self) -> Result<History<'_>> {
        History::read(&self.0.state)
    }
}

fn new_transaction(executed: &ExecutedTransaction) -> NewTransaction<'_> {
    NewTransaction {
        hash: executed.transaction.hash,
        sender: executed.transaction.sender,
        receipt: alloy_rlp::encode(&executed.receipt),
        raw: &executed.transaction.raw,
    }
}
