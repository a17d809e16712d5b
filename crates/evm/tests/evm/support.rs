//! What the tests share.

use std::path::PathBuf;

use alloy_primitives::{Address, B256, Bytes, U256};
use portico_evm::{Chain, Genesis, Receipt, Refused};
use tempfile::TempDir;

use crate::contract::{self, Wallet};

pub const CHAIN_ID: u64 = 4242;
/// When the first block is made.
pub const BEGINNING: u64 = 1_700_000_000;
/// What the wallet has.
pub const FUNDS: u64 = 1_000_000_000_000_000_000;

pub fn genesis() -> Genesis {
    Genesis {
        chain_id: CHAIN_ID,
        timestamp: BEGINNING,
        alloc: vec![(Wallet::new(1, CHAIN_ID).address, U256::from(FUNDS))],
    }
}

/// A new chain in a folder of its own, with someone who has money.
pub struct World {
    pub chain: Chain,
    pub wallet: Wallet,
    pub path: PathBuf,
    _folder: TempDir,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chain.db");
        let chain = Chain::open(&path, &genesis()).unwrap();
        Self { chain, wallet: Wallet::new(1, CHAIN_ID), path, _folder: folder }
    }

    /// With the test contract on it.
    pub fn with_contract() -> (Self, Address) {
        let world = Self::new();
        let (raw, address) = world.wallet.deploy(contract::init());
        world.mine(raw);
        (world, address)
    }

    pub fn submit(&self, raw: &[Bytes]) -> Vec<Result<B256, Refused>> {
        self.chain.submit(raw, BEGINNING + 1).unwrap()
    }

    /// Submits one transaction that must be accepted.
    pub fn mine(&self, raw: Bytes) -> Receipt {
        let hash = self.submit(&[raw]).remove(0).unwrap();
        self.chain.receipt(hash).unwrap().unwrap()
    }

    /// Submits one transaction that must be refused, and make no block.
    pub fn refused(&self, raw: Bytes) -> Refused {
        let head = self.chain.head().hash();
        let refused = self.submit(&[raw]).remove(0).unwrap_err();
        assert_eq!(self.chain.head().hash(), head, "a refused transaction made a block");
        refused
    }

    /// Closes the chain and opens it again.
    pub fn reopen(self) -> Self {
        let Self { chain, wallet, path, _folder } = self;
        drop(chain);
        let chain = Chain::open(&path, &genesis()).unwrap();
        Self { chain, wallet, path, _folder }
    }
}
