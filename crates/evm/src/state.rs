//! The state of the latest block. A view is one read transaction: all its reads see the same block.

use std::sync::{Arc, PoisonError, RwLock};

use alloy_consensus::Header;
use alloy_primitives::map::HashMap;
use alloy_primitives::{Address, B256, Sealed, U256};
use revm::Database;
use revm::primitives::KECCAK_EMPTY;
use revm::state::{AccountId, AccountInfo, Bytecode};
use rusqlite::Connection;

use crate::error::ChainError;
use crate::file::{PooledReader, ReaderPool, reads};

type Result<T> = std::result::Result<T, ChainError>;

/// Analysed contracts in memory, up to 30 KiB each.
const MAX_CACHED_CODES: usize = 1 << 9;

#[derive(Debug)]
pub(crate) struct State {
    readers: ReaderPool,
    head: RwLock<Arc<Sealed<Header>>>,
    /// Code never changes, and analysing it takes longer than most calls.
    codes: RwLock<HashMap<B256, Bytecode>>,
}

impl State {
    pub(crate) fn new(readers: ReaderPool, head: Sealed<Header>) -> Self {
        Self { readers, head: RwLock::new(Arc::new(head)), codes: RwLock::default() }
    }

    pub(crate) fn head(&self) -> Arc<Sealed<Header>> {
        self.head.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Publishes a stored block as the head, unless a later one is published.
    pub(crate) fn advance_head(&self, to: Arc<Sealed<Header>>) {
        let mut head = self.head.write().unwrap_or_else(PoisonError::into_inner);
        if to.number > head.number {
            *head = to;
        }
    }

    /// A connection for reading history.
    pub(crate) fn reader(&self) -> Result<PooledReader<'_>> {
        self.readers.acquire()
    }

    /// The latest state.
    pub(crate) fn view(&self) -> Result<View<'_>> {
        let (snapshot, latest) = Snapshot::begin(self.reader()?)?;
        let mut head = self.head();
        if head.number != latest {
            let header = reads::header(&snapshot.0, latest)?;
            head = Arc::new(header.ok_or(ChainError::Corrupt("a block is missing"))?);
            // History must not lag behind a state that a reader has seen.
            self.advance_head(head.clone());
        }
        Ok(View { state: self, head, file: Source::Snapshot(snapshot) })
    }

    /// The state of the head, inside the transaction that adds the next block.
    pub(crate) fn writer_view<'s>(&'s self, writer: &'s Connection) -> View<'s> {
        View { state: self, head: self.head(), file: Source::Writer(writer) }
    }
}

/// The state of one block.
#[derive(Debug)]
pub(crate) struct View<'s> {
    state: &'s State,
    head: Arc<Sealed<Header>>,
    file: Source<'s>,
}

#[derive(Debug)]
enum Source<'s> {
    Snapshot(Snapshot<'s>),
    Writer(&'s Connection),
}

/// A read transaction of the file.
#[derive(Debug)]
struct Snapshot<'s>(PooledReader<'s>);

impl<'s> Snapshot<'s> {
    /// Also returns the number of the latest block.
    fn begin(reader: PooledReader<'s>) -> Result<(Self, u64)> {
        reader.prepare_cached("BEGIN")?.raw_execute()?;
        let snapshot = Self(reader);
        let latest = reads::latest(&snapshot.0)?;
        Ok((snapshot, latest))
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // If this fails, the pool drops the connection.
        let _ = self.0.prepare_cached("COMMIT").and_then(|mut commit| commit.raw_execute());
    }
}

impl View<'_> {
    pub(crate) fn head(&self) -> &Sealed<Header> {
        &self.head
    }

    fn file(&self) -> &Connection {
        match &self.file {
            Source::Snapshot(snapshot) => &snapshot.0,
            Source::Writer(connection) => connection,
        }
    }

    pub(crate) fn account(&self, address: Address) -> Result<Option<AccountInfo>> {
        reads::account(self.file(), &address)
    }

    pub(crate) fn slot(&self, account: AccountId, key: U256) -> Result<U256> {
        reads::slot(self.file(), account, key)
    }

    pub(crate) fn has_transaction(&self, transaction: &B256) -> Result<bool> {
        Ok(reads::tx_location(self.file(), transaction)?.is_some())
    }

    pub(crate) fn code(&self, hash: B256) -> Result<Bytecode> {
        if hash == KECCAK_EMPTY {
            return Ok(Bytecode::default());
        }
        let known = self.state.codes.read().unwrap_or_else(PoisonError::into_inner).get(&hash).cloned();
        if let Some(code) = known {
            return Ok(code);
        }
        let code = reads::code(self.file(), &hash)?;
        let mut codes = self.state.codes.write().unwrap_or_else(PoisonError::into_inner);
        if codes.len() >= MAX_CACHED_CODES {
            codes.clear();
        }
        codes.insert(hash, code.clone());
        Ok(code)
    }
}

impl Database for View<'_> {
    type Error = ChainError;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>> {
        self.account(address)
    }

    fn code_by_hash(&mut self, hash: B256) -> Result<Bytecode> {
        self.code(hash)
    }

    fn storage(&mut self, address: Address, key: U256) -> Result<U256> {
        match self.account(address)?.and_then(|account| account.account_id) {
            Some(id) => self.slot(id, key),
            None => Ok(U256::ZERO),
        }
    }

    fn storage_by_account_id(&mut self, _: Address, id: AccountId, key: U256) -> Result<U256> {
        self.slot(id, key)
    }

    fn block_hash(&mut self, number: u64) -> Result<B256> {
        if number == self.head.number {
            return Ok(self.head.hash());
        }
        Ok(reads::block_hash(self.file(), number)?.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::Sealable as _;

    use super::*;
    use crate::{Chain, Genesis};

    #[test]
    fn view_of_newer_block_advances_head() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chain.db");
        let genesis = Genesis { chain_id: 1, timestamp: 0, alloc: Vec::new() };
        let chain = Chain::open(&path, &genesis).unwrap();
        // The block is committed but not yet published.
        let header = Header { number: 1, ..Header::default() }.seal_slow();
        let file = Connection::open(&path).unwrap();
        let row = (1, header.hash().to_vec(), alloy_rlp::encode(header.inner()));
        file.execute("INSERT INTO blocks (number, hash, header) VALUES (?1, ?2, ?3)", row).unwrap();
        assert_eq!(chain.head().number, 0);
        assert_eq!(chain.state().view().unwrap().head().number, 1);
        assert_eq!(chain.head().hash(), header.hash());
        chain.state().advance_head(Arc::new(Header::default().seal_slow()));
        assert_eq!(chain.head().number, 1, "it never goes back");
    }

    #[test]
    fn view_sees_one_block_for_all_reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chain.db");
        let rich = Address::repeat_byte(1);
        let genesis = Genesis { chain_id: 1, timestamp: 0, alloc: vec![(rich, U256::from(5))] };
        let chain = Chain::open(&path, &genesis).unwrap();
        let balance = |view: &View<'_>| view.account(rich).unwrap().unwrap().balance;
        let early = chain.state().view().unwrap();
        let file = Connection::open(&path).unwrap();
        file.execute("UPDATE accounts SET balance = x'07'", []).unwrap();
        assert_eq!(balance(&early), U256::from(5));
        assert_eq!(balance(&chain.state().view().unwrap()), U256::from(7));
    }
}
