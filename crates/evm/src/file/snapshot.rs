//! Consistent copies of the chain's file while its process goes on, and what can be checked of them.

use std::path::Path;

use alloy_primitives::{Address, B256};
use portico_sqlite::{Snapshot, integrity_faults, open_immutable};
use rusqlite::Connection;

use super::{APPLICATION_ID, format_marker, reads};
use crate::error::ChainError;

type Result<T> = std::result::Result<T, ChainError>;

/// What a chain's file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainFacts {
    pub chain_id: u64,
    pub genesis: B256,
    /// The number of the latest block.
    pub head: u64,
    pub head_hash: B256,
}

fn read_facts(connection: &Connection) -> Result<ChainFacts> {
    let ask = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    if ask("PRAGMA application_id")? != APPLICATION_ID {
        return Err(ChainError::Corrupt("the file is no chain"));
    }
    if ask("PRAGMA user_version")? != format_marker() {
        return Err(ChainError::Corrupt("the file was made by another version of portico"));
    }
    let missing = ChainError::Corrupt("a block is missing");
    let head = reads::latest(connection)?;
    Ok(ChainFacts {
        chain_id: reads::chain_id(connection)?.ok_or(ChainError::Corrupt("there is no chain id"))?,
        genesis: reads::block_hash(connection, 0)?.ok_or(ChainError::Corrupt("there is no first block"))?,
        head,
        head_hash: reads::block_hash(connection, head)?.ok_or(missing)?,
    })
}

fn read_nonce(connection: &Connection, address: Address) -> Result<u64> {
    Ok(reads::account(connection, &address)?.unwrap_or_default().nonce)
}

/// One state of a chain's file that another process may write to.
#[derive(Debug)]
pub struct ChainSnapshot(Snapshot);

impl ChainSnapshot {
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self(Snapshot::open(path)?))
    }

    /// Moves on to the present state.
    pub fn renew(&mut self) -> Result<()> {
        Ok(self.0.renew()?)
    }

    pub fn facts(&mut self) -> Result<ChainFacts> {
        read_facts(self.0.connection())
    }

    /// The nonce of an account's next transaction.
    pub fn nonce(&mut self, address: Address) -> Result<u64> {
        read_nonce(self.0.connection(), address)
    }

    /// Into a new file, which is durable when this returns.
    pub fn copy_to(&self, path: &Path, progress: impl FnMut(u64, u64)) -> Result<()> {
        Ok(self.0.copy_to(path, progress)?)
    }
}

/// A chain's file that nobody uses: what it holds, the nonces of accounts, and the faults of the file.
pub fn inspect(path: &Path, accounts: &[Address]) -> Result<(ChainFacts, Vec<u64>, Vec<String>)> {
    let connection = open_immutable(path)?;
    let faults = integrity_faults(&connection)?;
    let nonces = accounts.iter().map(|account| read_nonce(&connection, *account)).collect::<Result<_>>()?;
    Ok((read_facts(&connection)?, nonces, faults))
}
