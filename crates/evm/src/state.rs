//! The state of the latest block, as many threads read it at once while blocks are added.
//!
//! A reader sees one block's state from its first read to its last. What it finds in the caches is that of
//! the head it began with, or the cache says that the head has moved and the reader begins again; what the
//! caches miss comes from a snapshot of the file, of the same block. Nobody waits for anybody: the writer
//! changes cache entries one by one, and says beforehand that it is about to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Sealed, U256};
use revm::Database;
use revm::database_interface::DBErrorMarker;
use revm::primitives::KECCAK_EMPTY;
use revm::state::{AccountId, AccountInfo, Bytecode};
use rusqlite::Connection;

use crate::cache::Cache;
use crate::changes::Changes;
use crate::error::ChainError;
use crate::file::{Reader, Readers, reads};
use crate::slot_writeback::{SlotKey, SlotWriteback};

/// Accounts kept in memory, at about 150 bytes each.
const ACCOUNTS_CACHED: usize = 1 << 16;
/// Storage slots kept in memory, at about 120 bytes each.
const SLOTS_CACHED: usize = 1 << 18;
/// Contracts kept in memory ready to run, at 30 KiB each if they are as large as they may be.
const CODES_CACHED: usize = 1 << 9;
/// How often a reader begins again because the head has moved, before it reads from the file alone.
const SHARED_TRIES: usize = 4;

#[derive(Debug)]
pub(crate) struct State {
    readers: Readers,
    head: RwLock<Arc<Sealed<Header>>>,
    /// The block whose changes the caches hold, or are about to.
    publishing: AtomicU64,
    accounts: Cache<Address, Option<AccountInfo>>,
    slots: Cache<SlotKey, U256>,
    codes: Cache<B256, Bytecode>,
    /// Goes before what the file and its cache say.
    slot_writeback: SlotWriteback,
}

impl State {
    pub(crate) fn new(readers: Readers, head: Sealed<Header>, slot_writeback: SlotWriteback) -> Self {
        Self {
            readers,
            publishing: AtomicU64::new(head.number),
            head: RwLock::new(Arc::new(head)),
            accounts: Cache::new(ACCOUNTS_CACHED),
            slots: Cache::new(SLOTS_CACHED),
            codes: Cache::new(CODES_CACHED),
            slot_writeback,
        }
    }

    pub(crate) fn slot_writeback(&self) -> &SlotWriteback {
        &self.slot_writeback
    }

    pub(crate) fn head(&self) -> Arc<Sealed<Header>> {
        self.head.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A connection for reading history.
    pub(crate) fn reader(&self) -> Result<Reader<'_>, ChainError> {
        self.readers.take()
    }

    fn view(&self) -> View<'_> {
        View { state: self, head: self.head(), file: None, own: None, ahead: None }
    }

    /// The latest state, for the writer, which reads the file through its own connection: that one keeps its
    /// pages when the file changes.
    pub(crate) fn view_of_writer<'s>(&'s self, writer: &'s Connection) -> View<'s> {
        View { file: Some(Source::Writer(writer)), ..self.view() }
    }

    /// Reads the latest state, as often as it takes to see a single one.
    pub(crate) fn read<T>(
        &self,
        mut read: impl FnMut(&mut View<'_>) -> Result<T, ReadError>,
    ) -> Result<T, ChainError> {
        for _ in 0..SHARED_TRIES {
            match read(&mut self.view()) {
                Err(ReadError::Moved) => std::thread::yield_now(),
                outcome => return Ok(outcome?),
            }
        }
        Ok(read(&mut self.isolated()?)?)
    }

    /// The latest state from the file alone, where nothing moves.
    fn isolated(&self) -> Result<View<'_>, ChainError> {
        let (snapshot, latest) = Snapshot::begin(self.reader()?)?;
        let head = reads::header(&snapshot.0, latest)?.ok_or(ChainError::Corrupt("a block is missing"))?;
        let own = Some(reads::recent(&snapshot.0)?);
        let file = Some(Source::Snapshot(snapshot));
        Ok(View { state: self, head: Arc::new(head), file, own, ahead: None })
    }

    /// Whether the caches hold the changes of this block, and of none after it.
    fn caches_hold(&self, block: u64) -> bool {
        self.publishing.load(Ordering::Acquire) == block
    }

    /// Makes a block that is in the file the head. Only one thread may do so at a time.
    pub(crate) fn publish(&self, head: Sealed<Header>, changes: Changes) {
        // Whoever reads a cache entry from here on asks for this number afterwards, and begins again.
        self.publishing.store(head.number, Ordering::Release);
        for (slot, value) in changes.numbered_slots() {
            self.slots.set(slot, value);
        }
        self.slot_writeback.add(head.number, changes.numbered_slots());
        for (address, account) in changes.accounts {
            self.accounts.set(address, account);
        }
        for (hash, code) in changes.codes {
            self.codes.set(hash, code);
        }
        *self.head.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(head);
    }
}

/// The state of one block.
#[derive(Debug)]
pub(crate) struct View<'s> {
    state: &'s State,
    head: Arc<Sealed<Header>>,
    /// Found at the first read that the caches cannot answer.
    file: Option<Source<'s>>,
    /// The newest slots, of a view that uses nothing that others see change.
    own: Option<SlotWriteback>,
    /// A slot of the file that the writer will ask for.
    ahead: Option<(SlotKey, U256)>,
}

/// Where to read the file as it was when the view's block was the latest.
#[derive(Debug)]
enum Source<'s> {
    Snapshot(Snapshot<'s>),
    /// In the middle of the transaction that adds the next block.
    Writer(&'s Connection),
}

/// A transaction of the file that reads, and so sees one block's state.
#[derive(Debug)]
struct Snapshot<'s>(Reader<'s>);

impl<'s> Snapshot<'s> {
    fn begin(reader: Reader<'s>) -> Result<(Self, u64), ChainError> {
        reader.prepare_cached("BEGIN")?.raw_execute()?;
        let snapshot = Self(reader);
        let latest = reads::latest(&snapshot.0)?;
        Ok((snapshot, latest))
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // A connection whose transaction cannot be ended is not used again.
        let _ = self.0.prepare_cached("COMMIT").and_then(|mut commit| commit.raw_execute());
    }
}

/// Why a read of the state gave nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("the head has moved")]
    Moved,
    #[error(transparent)]
    Chain(#[from] ChainError),
}

impl DBErrorMarker for ReadError {}

impl From<ReadError> for ChainError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Chain(error) => error,
            ReadError::Moved => Self::Executor("the head has moved where it could not".into()),
        }
    }
}

impl View<'_> {
    pub(crate) fn head(&self) -> &Sealed<Header> {
        &self.head
    }

    pub(crate) fn account(&mut self, address: Address) -> Result<Option<AccountInfo>, ReadError> {
        self.through(|state| &state.accounts, address, |file| reads::account(file, &address))
    }

    pub(crate) fn slot(&mut self, account: AccountId, key: U256) -> Result<U256, ReadError> {
        let slot = (account, key);
        if let Some(value) = self.slot_writeback(&slot)? {
            return Ok(value);
        }
        match self.file {
            Some(Source::Writer(file)) => self.slot_to_write(file, slot),
            _ => self.through(|state| &state.slots, slot, |file| reads::slot(file, account, key)),
        }
    }

    /// A slot for the writer, which changes most of what it reads: what is empty need not be cached. Whoever writes
    /// something that takes two slots asks for the second one next, and it is read with the first.
    fn slot_to_write(&mut self, file: &Connection, slot: SlotKey) -> Result<U256, ReadError> {
        if let Some((_, value)) = self.ahead.take_if(|(ahead, _)| *ahead == slot) {
            return Ok(value);
        }
        if let Some(value) = self.state.slots.get(&slot) {
            return Ok(value);
        }
        let (account, key) = slot;
        let value = match key.checked_add(U256::ONE) {
            Some(second) => {
                let [value, next] = reads::slots(file, account, [key, second])?;
                self.ahead = Some(((account, second), next));
                value
            }
            None => reads::slot(file, account, key)?,
        };
        if !value.is_zero() {
            self.state.slots.set(slot, value);
        }
        Ok(value)
    }

    /// A slot that the newest blocks have changed. That it is none of them holds for this view's block as well.
    fn slot_writeback(&self, slot: &SlotKey) -> Result<Option<U256>, ReadError> {
        if let Some(own) = &self.own {
            return Ok(own.get(slot));
        }
        let value = self.state.slot_writeback.get(slot);
        if self.state.caches_hold(self.head.number) { Ok(value) } else { Err(ReadError::Moved) }
    }

    /// Whether a transaction is on the chain.
    pub(crate) fn knows(&mut self, transaction: &B256) -> Result<bool, ReadError> {
        Ok(reads::place(self.file()?, transaction)?.is_some())
    }

    /// Code never changes, so that it may be shared by all.
    pub(crate) fn code(&mut self, hash: B256) -> Result<Bytecode, ReadError> {
        if hash == KECCAK_EMPTY {
            return Ok(Bytecode::default());
        }
        if let Some(code) = self.state.codes.get(&hash) {
            return Ok(code);
        }
        let code = reads::code(self.file()?, &hash)?;
        self.state.codes.set(hash, code.clone());
        Ok(code)
    }

    /// Reads through a cache.
    fn through<K: Clone + Eq + std::hash::Hash, V: Clone>(
        &mut self,
        cache: impl Fn(&State) -> &Cache<K, V>,
        key: K,
        read: impl FnOnce(&Connection) -> Result<V, ChainError>,
    ) -> Result<V, ReadError> {
        let (state, number) = (self.state, self.head.number);
        let unmoved = || state.caches_hold(number);
        if self.own.is_some() {
            return Ok(read(self.file()?)?);
        }
        if let Some(value) = cache(state).get(&key) {
            return if unmoved() { Ok(value) } else { Err(ReadError::Moved) };
        }
        let value = read(self.file()?)?;
        cache(state).fill(key, value.clone(), unmoved);
        Ok(value)
    }

    /// The file as it was when this view's block was the latest.
    fn file(&mut self) -> Result<&Connection, ReadError> {
        if self.file.is_none() {
            let (snapshot, latest) = Snapshot::begin(self.state.reader()?)?;
            if latest != self.head.number {
                return Err(ReadError::Moved);
            }
            self.file = Some(Source::Snapshot(snapshot));
        }
        match &self.file {
            Some(Source::Snapshot(snapshot)) => Ok(&snapshot.0),
            Some(Source::Writer(connection)) => Ok(connection),
            None => Err(ReadError::Moved),
        }
    }
}

impl Database for View<'_> {
    type Error = ReadError;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>, ReadError> {
        self.account(address)
    }

    fn code_by_hash(&mut self, hash: B256) -> Result<Bytecode, ReadError> {
        self.code(hash)
    }

    fn storage(&mut self, address: Address, key: U256) -> Result<U256, ReadError> {
        match self.account(address)?.and_then(|account| account.account_id) {
            Some(id) => self.slot(id, key),
            None => Ok(U256::ZERO),
        }
    }

    fn storage_by_account_id(&mut self, _: Address, id: AccountId, key: U256) -> Result<U256, ReadError> {
        self.slot(id, key)
    }

    fn block_hash(&mut self, number: u64) -> Result<B256, ReadError> {
        if number == self.head.number {
            return Ok(self.head.hash());
        }
        Ok(reads::block_hash(self.file()?, number)?.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{Address, U256};

    use super::*;
    use crate::{Chain, Genesis};

    const RICH: Address = Address::repeat_byte(1);

    fn chain() -> (Chain, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let genesis = Genesis { chain_id: 1, timestamp: 0, alloc: vec![(RICH, U256::from(5))] };
        (Chain::open(&folder.path().join("chain.db"), &genesis).unwrap(), folder)
    }

    /// Makes a next block in the caches, with another balance, that the file knows nothing of.
    fn publish(state: &State, balance: u64) {
        let mut changes = Changes::default();
        changes.set(RICH, AccountInfo::from_balance(U256::from(balance)));
        let header = Header { number: state.head().number + 1, ..Header::default() };
        state.publish(Sealed::new(header), changes);
    }

    #[test]
    fn a_reader_for_whom_the_head_moves_every_time_reads_the_file() {
        let (chain, _folder) = chain();
        let mut tries = 0;
        let balance = chain.state().read(|view| {
            tries += 1;
            let before = view.account(RICH)?;
            if view.own.is_none() {
                publish(chain.state(), 1);
            }
            assert_eq!(view.account(RICH)?, before, "one view, two states");
            Ok(before.unwrap_or_default().balance)
        });
        assert_eq!(balance.unwrap(), U256::from(5), "the file's");
        assert_eq!(tries, SHARED_TRIES + 1);
    }

    #[test]
    fn a_reader_that_began_before_a_block_begins_again() {
        let (chain, _folder) = chain();
        let state = chain.state();
        let mut early = state.view();
        assert_eq!(early.account(RICH).unwrap().unwrap().balance, U256::from(5));
        publish(state, 7);
        assert!(matches!(early.account(RICH), Err(ReadError::Moved)));
        let account = AccountId::new(1).unwrap();
        assert!(matches!(early.slot(account, U256::ONE), Err(ReadError::Moved)), "it may have been changed");
        assert_eq!(state.read(|view| view.account(RICH)).unwrap().unwrap().balance, U256::from(7));
    }

    #[test]
    fn what_was_read_from_the_file_before_a_block_is_not_cached_after_it() {
        let (chain, _folder) = chain();
        let state = chain.state();
        let other = Address::repeat_byte(2);
        let mut early = state.view();
        // Its snapshot is open, and a block comes in between.
        early.file().unwrap();
        publish(state, 7);
        assert_eq!(early.account(other).unwrap(), None, "as it was");
        assert_eq!(state.accounts.get(&other), None);
    }

    #[test]
    fn a_reader_of_the_file_alone_sees_slots_that_are_not_in_their_places_yet() {
        let (chain, folder) = chain();
        let account = AccountId::new(1).unwrap();
        let file = Connection::open(folder.path().join("chain.db")).unwrap();
        let mut slots = vec![0, 0, 0, 1];
        slots.extend(U256::from(8).to_be_bytes::<32>());
        slots.extend([2, 1, 0]);
        file.execute("INSERT INTO recent VALUES (0, ?1)", [slots]).unwrap();
        let mut isolated = chain.state().isolated().unwrap();
        assert_eq!(isolated.slot(account, U256::from(8)).unwrap(), U256::from(256));
        assert_eq!(isolated.slot(account, U256::from(9)).unwrap(), U256::ZERO);
    }

    #[test]
    fn the_writer_reads_a_slot_together_with_the_one_after_it() {
        let (chain, folder) = chain();
        let state = chain.state();
        let account = AccountId::new(1).unwrap();
        let file = Connection::open(folder.path().join("chain.db")).unwrap();
        for (key, value) in [(8_u8, 5_u8), (9, 6), (12, 7)] {
            let key = U256::from(key).to_be_bytes::<32>();
            file.execute("INSERT INTO slots VALUES (1, ?1, ?2)", (key, [value])).unwrap();
        }
        let slot = |view: &mut View<'_>, key| view.slot(account, key).unwrap();
        let mut writer = state.view_of_writer(&file);
        for (key, value, next) in [(8_u64, 5_u64, 6_u64), (10, 0, 0), (12, 7, 0)] {
            assert_eq!(slot(&mut writer, U256::from(key)), U256::from(value), "{key}");
            let second = U256::from(key + 1);
            assert_eq!(writer.ahead, Some(((account, second), U256::from(next))), "after {key}");
            assert_eq!(slot(&mut writer, second), U256::from(next), "after {key}");
            assert_eq!(writer.ahead, None, "once");
        }
        assert_eq!(slot(&mut writer, U256::MAX), U256::ZERO, "none comes after it");
        assert_eq!(state.slots.get(&(account, U256::from(10))), None, "what is empty is not cached");
        assert_eq!(state.slots.get(&(account, U256::from(12))), Some(U256::from(7)));
    }
}
