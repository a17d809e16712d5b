//! Opening the file: reopen, lock, wrong files.

use alloy_primitives::U256;
use portico_evm::{Chain, Genesis, OpenError};

use crate::contract::record;
use crate::support::{World, genesis};

#[test]
fn reopen_keeps_everything() {
    let (world, contract) = World::with_contract();
    let receipt = world.mine(world.wallet.call(contract, record([1, 2, 3])));
    let head = world.chain.head();
    let balance = world.chain.balance(world.wallet.address).unwrap();
    let code = world.chain.code(contract).unwrap();

    let world = world.reopen();
    assert_eq!(world.chain.head(), head);
    assert_eq!(world.chain.receipt(receipt.transaction_hash).unwrap(), Some(receipt));
    assert_eq!(world.chain.balance(world.wallet.address).unwrap(), balance);
    assert_eq!(world.chain.code(contract).unwrap(), code);
    assert_eq!(world.chain.nonce(world.wallet.address).unwrap(), 2);
    assert!(world.mine(world.wallet.call(contract, record([2, 4]))).success, "it accepts more");
    assert_eq!(world.chain.head().parent_hash, head.hash());
}

#[test]
fn closed_chain_is_one_file() {
    let (world, contract) = World::with_contract();
    world.mine(world.wallet.call(contract, record([1, 2, 3])));
    world.chain.rpc(br#"{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["latest",true]}"#);
    let World { chain, path, folder, .. } = world;
    drop(chain);
    assert!(path.exists());
    assert!(!path.with_file_name("chain.db-wal").exists());
    drop(folder);
}

#[test]
fn chain_cannot_be_opened_twice() {
    let world = World::new();
    let error = Chain::open(&world.path, &genesis()).unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    assert!(error.to_string().ends_with("is in use by another process"));
    let clone = world.chain.clone();
    drop(world.chain);
    assert!(Chain::open(&world.path, &genesis()).is_err(), "a clone has it open");
    drop(clone);
    Chain::open(&world.path, &genesis()).unwrap();
}

#[test]
fn different_genesis_is_refused() {
    let world = World::new();
    drop(world.chain);
    let open = |genesis: &Genesis| Chain::open(&world.path, genesis);
    let error = open(&Genesis { chain_id: 1, ..genesis() }).unwrap_err();
    assert!(matches!(error, OpenError::OtherChain { found: 4242, wanted: 1, .. }), "{error}");
    let error = open(&Genesis { timestamp: 0, ..genesis() }).unwrap_err();
    assert!(matches!(error, OpenError::OtherGenesis { .. }), "{error}");
    let mut richer = genesis();
    richer.alloc[0].1 += U256::ONE;
    assert!(matches!(open(&richer), Err(OpenError::OtherGenesis { .. })));
    open(&genesis()).unwrap();
}

#[test]
fn foreign_file_is_refused_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    std::fs::write(&text, "not a database, but long enough to look like one".repeat(100)).unwrap();
    assert!(matches!(Chain::open(&text, &genesis()), Err(OpenError::NotAChain { .. })));

    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let before = std::fs::read(&other).unwrap();
    assert!(matches!(Chain::open(&other, &genesis()), Err(OpenError::NotAChain { .. })));
    assert_eq!(std::fs::read(&other).unwrap(), before);

    let nowhere = folder.path().join("no such folder").join("chain.db");
    assert!(matches!(Chain::open(&nowhere, &genesis()), Err(OpenError::Io { .. })));
}

#[test]
fn another_format_is_refused_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.db");
    drop(Chain::open(&path, &genesis()).unwrap());
    for marker in [0, 3, -1, i32::MAX] {
        let file = rusqlite::Connection::open(&path).unwrap();
        file.execute_batch(&format!("PRAGMA user_version = {marker}")).unwrap();
        file.close().unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = Chain::open(&path, &genesis()).unwrap_err();
        assert!(matches!(error, OpenError::OtherFormat { .. }), "{error}");
        assert!(error.to_string().contains("start with an empty --data folder"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[test]
fn empty_file_becomes_a_chain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.db");
    std::fs::write(&path, "").unwrap();
    let chain = Chain::open(&path, &genesis()).unwrap();
    assert_eq!(chain.head().hash(), chain.genesis_hash());
}
