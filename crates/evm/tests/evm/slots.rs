//! Storage slots: changes and restarts.

use std::collections::BTreeMap;

use alloy_primitives::{Address, U256, keccak256};
use portico_evm::{Call, Chain};
use rusqlite::Connection;

use crate::contract::{RECORD_WORDS, data};
use crate::support::World;

const ROUNDS: u64 = 300;
/// Few, so that records are overwritten; slot keys are hashes, so they spread over the table.
const KEYS: u64 = 300;

/// The expected values by key.
#[derive(Default)]
struct Records(BTreeMap<u64, [u64; 2]>);

impl Records {
    /// Changes three records in one block, some to zero.
    fn change(&mut self, world: &World, contract: Address, round: u64) {
        let mut words = Vec::new();
        for item in 0..3 {
            let noise = keccak256((round * 3 + item).to_be_bytes());
            let key = u64::from_be_bytes(noise[..8].try_into().unwrap()) % KEYS;
            let values = [noise[8], noise[9]].map(|byte| u64::from(byte) % 4);
            words.extend([key, values[0], values[1]].map(U256::from));
            words.extend([U256::ZERO; RECORD_WORDS - 3]);
            self.0.insert(key, values);
        }
        assert!(world.mine(world.wallet.call(contract, data("record()", &words))).success);
    }

    fn check(&self, chain: &Chain, contract: Address) {
        for (key, values) in &self.0 {
            let call = data("get(uint256)", &[U256::from(*key)]).into();
            let got = chain.call(&Call { to: Some(contract), data: call, ..Call::default() }).unwrap();
            let slot = U256::from_be_bytes(keccak256(U256::from(*key).to_be_bytes::<32>()).0);
            for (at, value) in values.iter().enumerate() {
                assert_eq!(U256::from_be_slice(&got[at * 32..(at + 1) * 32]), U256::from(*value), "{key}");
                let stored = chain.storage(contract, slot + U256::from(at)).unwrap();
                assert_eq!(stored, U256::from(*value), "{key}");
            }
        }
    }
}

fn count(file: &Connection, sql: &str) -> usize {
    usize::try_from(file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()).unwrap()
}

#[test]
fn slots_are_right_after_every_block_and_restart() {
    let (mut world, contract) = World::with_contract();
    let mut records = Records::default();
    for round in 0..ROUNDS {
        records.change(&world, contract, round);
        if round % 16 == 0 {
            records.check(&world.chain, contract);
        }
        if [1, 90, 200].contains(&round) {
            world = world.reopen();
            records.check(&world.chain, contract);
        }
    }
    records.check(&world.chain, contract);
    records.check(&world.reopen().chain, contract);
}

#[test]
fn zero_slot_has_no_row() {
    let (world, contract) = World::with_contract();
    let mut records = Records::default();
    (0..20).for_each(|round| records.change(&world, contract, round));
    let file = Connection::open(&world.path).unwrap();
    let filled = records.0.values().flatten().filter(|value| **value != 0).count();
    assert_eq!(count(&file, "SELECT count(*) FROM slots"), filled);
}
