//! Shared fixtures.

use std::path::PathBuf;

use alloy_primitives::{Address, B256, Bytes, U256};
use portico_evm::{Chain, Genesis, Receipt, Refused};
use tempfile::TempDir;

use crate::contract::{self, Wallet};

pub(crate) const CHAIN_ID: u64 = 4242;
pub(crate) const GENESIS_TIME: u64 = 1_700_000_000;
/// The wallet's balance, in wei.
pub(crate) const FUNDS: u64 = 1_000_000_000_000_000_000;

pub(crate) fn genesis() -> Genesis {
    Genesis {
        chain_id: CHAIN_ID,
        timestamp: GENESIS_TIME,
        alloc: vec![(Wallet::new(1, CHAIN_ID).address, U256::from(FUNDS))],
    }
}

/// A new chain in a temporary folder, with a funded wallet.
pub(crate) struct World {
    pub(crate) chain: Chain,
    pub(crate) wallet: Wallet,
    pub(crate) path: PathBuf,
    pub(crate) folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chain.db");
        let chain = Chain::open(&path, &genesis()).unwrap();
        Self { chain, wallet: Wallet::new(1, CHAIN_ID), path, folder }
    }

    /// Also deploys the test contract.
    pub(crate) fn with_contract() -> (Self, Address) {
        let world = Self::new();
        let (raw, address) = world.wallet.deploy(contract::init());
        world.mine(raw);
        (world, address)
    }

    pub(crate) fn submit(&self, raw: &[Bytes]) -> Vec<Result<B256, Refused>> {
        self.chain.submit(raw, GENESIS_TIME + 1).unwrap()
    }

    /// Submits one transaction that must be accepted.
    pub(crate) fn mine(&self, raw: Bytes) -> Receipt {
        let hash = self.submit(&[raw]).remove(0).unwrap();
        self.chain.receipt(hash).unwrap().unwrap()
    }

    /// Submits one transaction that must be refused without a block.
    pub(crate) fn refused(&self, raw: Bytes) -> Refused {
        let head = self.chain.head().hash();
        let refused = self.submit(&[raw]).remove(0).unwrap_err();
        assert_eq!(self.chain.head().hash(), head, "a refused transaction made a block");
        refused
    }

    pub(crate) fn reopen(self) -> Self {
        let Self { chain, wallet, path, folder } = self;
        drop(chain);
        let chain = Chain::open(&path, &genesis()).unwrap();
        Self { chain, wallet, path, folder }
    }
}
