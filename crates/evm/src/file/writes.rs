//! Writes the chain's file: one database transaction per block.

use std::path::Path;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Sealed, U256};
use portico_sqlite::Checkpointer;
use revm::primitives::KECCAK_EMPTY;
use revm::state::AccountId;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::reads::{self, TxLocation, account_key};
use super::{APPLICATION_ID, SCHEMA, format_marker};
use crate::changes::{Changes, SlotKey};
use crate::error::ChainError;

/// A longer write-ahead log is checkpointed.
const MAX_WAL_PAGES: i32 = 16_000;

type Result<T> = std::result::Result<T, ChainError>;

#[derive(Debug)]
pub(crate) struct NewTransaction<'a> {
    pub(crate) hash: B256,
    pub(crate) sender: Address,
    pub(crate) receipt: Vec<u8>,
    pub(crate) raw: &'a [u8],
}

/// The one connection that writes.
#[derive(Debug)]
pub(crate) struct Writer {
    connection: Connection,
    checkpointer: Checkpointer,
    /// The last assigned account id.
    last_account: u32,
}

impl Writer {
    pub(crate) fn start(mut connection: Connection, path: &Path) -> Result<Self> {
        let checkpointer = Checkpointer::start(path, &mut connection, MAX_WAL_PAGES)?;
        let last_account = reads::latest_account(&connection)?;
        Ok(Self { connection, checkpointer, last_account })
    }

    /// Begins the next block. Until it is committed, the file has the parent's state.
    pub(crate) fn begin(&mut self) -> Result<NextBlock<'_>> {
        let sql = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        Ok(NextBlock { sql, last_account: &mut self.last_account })
    }

    /// Keeps the write-ahead log short. Called after every block is published.
    pub(crate) fn checkpoint(&self) {
        self.checkpointer.after_commit(&self.connection);
    }
}

/// An open database transaction for the next block. Dropping it rolls back.
#[derive(Debug)]
pub(crate) struct NextBlock<'w> {
    sql: Transaction<'w>,
    last_account: &'w mut u32,
}

impl NextBlock<'_> {
    pub(crate) fn connection(&self) -> &Connection {
        &self.sql
    }

    /// Stores the block and its changes atomically. New accounts get their ids here.
    pub(crate) fn commit(
        self,
        header: &Sealed<Header>,
        transactions: &[NewTransaction<'_>],
        mut changes: Changes,
    ) -> Result<()> {
        let mut last_account = *self.last_account;
        block(&self.sql, header)?;
        history(&self.sql, header.number, transactions)?;
        state(&self.sql, &mut changes, &mut last_account)?;
        slots(&self.sql, changes.changed_slots())?;
        self.sql.commit()?;
        *self.last_account = last_account;
        Ok(())
    }
}

/// Creates the tables and the genesis block.
pub(crate) fn create(
    connection: &mut Connection,
    chain_id: u64,
    header: &Sealed<Header>,
    changes: &mut Changes,
) -> Result<()> {
    let sql = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    sql.execute_batch(SCHEMA)?;
    let marker = format_marker();
    sql.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {marker}"))?;
    sql.execute("INSERT INTO chain (id) VALUES (?1)", [chain_id.cast_signed()])?;
    block(&sql, header)?;
    state(&sql, changes, &mut 0)?;
    sql.commit()?;
    Ok(())
}

fn block(sql: &Transaction<'_>, header: &Sealed<Header>) -> Result<()> {
    sql.prepare_cached("INSERT INTO blocks (number, hash, header) VALUES (?1, ?2, ?3)")?.execute((
        header.number.cast_signed(),
        header.hash().as_slice(),
        alloy_rlp::encode(header.inner()),
    ))?;
    Ok(())
}

fn history(sql: &Transaction<'_>, block: u64, transactions: &[NewTransaction<'_>]) -> Result<()> {
    let mut insert = sql.prepare_cached(
        "INSERT INTO transactions (place, hash, receipt, sender, raw) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (position, new) in (0..).zip(transactions) {
        let key = TxLocation { block, position }.key();
        insert.execute((key, new.hash.as_slice(), &new.receipt, new.sender.as_slice(), new.raw))?;
    }
    Ok(())
}

fn state(sql: &Transaction<'_>, changes: &mut Changes, last_account: &mut u32) -> Result<()> {
    let mut insert_code =
        sql.prepare_cached("INSERT INTO codes (hash, code) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
    for (hash, code) in &changes.codes {
        insert_code.execute((hash.as_slice(), code.original_byte_slice()))?;
    }
    accounts(sql, changes, last_account)
}

pub(super) fn slots(sql: &Connection, changed: impl Iterator<Item = (SlotKey, U256)>) -> Result<()> {
    let mut write = sql.prepare_cached(
        // ON CONFLICT DO UPDATE would look up the row first.
        "REPLACE INTO slots (account, key, value) VALUES (?1, ?2, ?3)",
    )?;
    let mut delete = sql.prepare_cached("DELETE FROM slots WHERE account = ?1 AND key = ?2")?;
    for ((account, key), value) in changed {
        let (account, key) = (account_key(account), key.to_be_bytes::<32>());
        if value.is_zero() {
            delete.execute((account, key.as_slice()))?;
        } else {
            write.execute((account, key.as_slice(), trimmed(value).as_slice()))?;
        }
    }
    Ok(())
}

fn accounts(sql: &Transaction<'_>, changes: &mut Changes, last_account: &mut u32) -> Result<()> {
    let mut write = sql.prepare_cached(
        "INSERT INTO accounts (id, address, nonce, balance, code_hash) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (id) DO UPDATE SET nonce = excluded.nonce, balance = excluded.balance, \
         code_hash = excluded.code_hash",
    )?;
    for (address, account) in &mut changes.accounts {
        let Some(info) = account else {
            delete_account(sql, address)?;
            continue;
        };
        let id = match info.account_id {
            Some(id) => id,
            None => {
                *last_account += 1;
                AccountId::new(*last_account as usize).ok_or(ChainError::Corrupt("too many accounts"))?
            }
        };
        info.account_id = Some(id);
        let code_hash = (info.code_hash != KECCAK_EMPTY).then_some(info.code_hash.as_slice());
        let balance = trimmed(info.balance);
        write.execute((
            account_key(id),
            address.as_slice(),
            info.nonce.cast_signed(),
            balance.as_slice(),
            code_hash,
        ))?;
    }
    Ok(())
}

/// Only accounts without storage are deleted: empty ones, and those created and destroyed by one transaction.
fn delete_account(sql: &Transaction<'_>, address: &Address) -> Result<()> {
    sql.prepare_cached("DELETE FROM accounts WHERE address = ?1")?.execute([address.as_slice()])?;
    Ok(())
}

/// Big-endian, without leading zeros.
fn trimmed(number: U256) -> Vec<u8> {
    number.to_be_bytes_trimmed_vec()
}
