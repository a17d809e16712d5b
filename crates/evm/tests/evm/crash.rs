//! Durability after SIGKILL. The child process is this test binary.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use alloy_primitives::{Address, B256, U256, keccak256};
use portico_evm::{Call, Chain};

use crate::contract::{Wallet, data, init, record};
use crate::support::{CHAIN_ID, GENESIS_TIME, World, genesis};

const PATH: &str = "PORTICO_EVM_CRASH_PATH";
/// The child is killed after this many more blocks each time.
const KILLS: [usize; 7] = [1, 2, 40, 90, 7, 25, 300];
const RECORDS: u64 = 32;

fn contract() -> Address {
    Wallet::new(1, CHAIN_ID).address.create(0)
}

/// Submits from the current nonce on for ever, and prints every acknowledged hash.
#[test]
#[ignore = "the child of another test"]
fn child() {
    let path = std::env::var(PATH).expect("run by its parent");
    let chain = Chain::open(Path::new(&path), &genesis()).unwrap();
    let wallet = Wallet::new(1, CHAIN_ID);
    wallet.nonce.set(chain.nonce(wallet.address).unwrap());
    loop {
        let nonce = wallet.nonce.get();
        let raw = if nonce == 0 {
            wallet.deploy(init()).0
        } else {
            wallet.call(contract(), record(nonce * RECORDS..(nonce + 1) * RECORDS))
        };
        if nonce % 4 == 1 {
            let refused = chain.submit(&[b"not a transaction".into()], GENESIS_TIME).unwrap();
            assert!(refused[0].is_err());
        }
        let hash = chain.submit(&[raw], GENESIS_TIME).unwrap().remove(0).unwrap();
        println!("acknowledged {hash}");
        std::io::stdout().flush().unwrap();
    }
}

fn start(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["crash::child", "--exact", "--ignored", "--nocapture"])
        .env(PATH, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn acknowledged_blocks_survive_kills() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.db");
    let mut acknowledged: Vec<B256> = Vec::new();
    for blocks in KILLS {
        let mut child = start(&path);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        // The test harness prints too, even in front of the first hash.
        let mut hashes = lines.by_ref().filter_map(|line| {
            line.split_once("acknowledged ").map(|(_, hash)| hash.trim().parse::<B256>().unwrap())
        });
        acknowledged.extend(hashes.by_ref().take(blocks));
        child.kill().unwrap();
        acknowledged.extend(hashes);
        child.wait().unwrap();
        check(&Chain::open(&path, &genesis()).unwrap(), &acknowledged);
    }
    assert!(acknowledged.len() >= KILLS.iter().sum());
}

#[test]
fn second_process_cannot_open_the_chain() {
    let world = World::new();
    let output = start(&world.path).wait_with_output().unwrap();
    assert!(!output.status.success());
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!printed.contains("acknowledged"), "{printed}");
    assert_eq!(world.chain.head().number, 0);
}

fn check(chain: &Chain, acknowledged: &[B256]) {
    let sender = Wallet::new(1, CHAIN_ID).address;
    let mut nonce = 0;
    let mut parent = B256::ZERO;
    for number in 0..=chain.head().number {
        let block = chain.block_by_number(number).unwrap().unwrap();
        assert_eq!(block.header.parent_hash, parent);
        assert_eq!(keccak256(alloy_rlp::encode(block.header.inner())), block.header.hash());
        parent = block.header.hash();
        for hash in block.transactions {
            let transaction = chain.transaction(hash).unwrap().unwrap();
            assert_eq!(alloy_consensus::Transaction::nonce(&transaction), nonce);
            assert!(chain.receipt(hash).unwrap().unwrap().success);
            nonce += 1;
        }
    }
    assert_eq!(chain.head().hash(), parent);
    assert_eq!(chain.nonce(sender).unwrap(), nonce);
    for hash in acknowledged {
        assert!(chain.receipt(*hash).unwrap().is_some(), "{hash} was acknowledged and is lost");
    }
    // The state matches the head: all records of the last transaction, none of the next.
    let get = |key: u64| {
        let data = data("get(uint256)", &[U256::from(key)]).into();
        let answer = chain.call(&Call { to: Some(contract()), data, ..Call::default() }).unwrap();
        U256::from_be_slice(answer.get(..32).unwrap_or_default())
    };
    for key in RECORDS..nonce * RECORDS {
        assert_eq!(get(key), U256::from(key + 1));
    }
    assert_eq!(get(nonce * RECORDS), U256::ZERO);
}
