//! Slots, which the file has beside their blocks at first and in their places later.

use std::collections::BTreeMap;

use alloy_primitives::{Address, U256, keccak256};
use portico_evm::{Call, Chain, OpenError};
use rusqlite::Connection;

use crate::contract::{RECORD_WORDS, data};
use crate::support::{World, genesis};

/// Blocks after which every slot is in its place.
const TURNS: u64 = 256;
/// Few, so that records are changed again, and spread over all keys, as these are hashes.
const KEYS: u64 = 300;

/// What was recorded last, by key.
#[derive(Default)]
struct Records(BTreeMap<u64, [u64; 2]>);

impl Records {
    /// Changes a few of them, to nothing at times, in one block.
    fn change(&mut self, world: &World, contract: Address, round: u64) {
        let mut words = Vec::new();
        for place in 0..3 {
            let noise = keccak256((round * 3 + place).to_be_bytes());
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

/// A block that changes no slot.
fn rest(world: &World) {
    assert!(world.mine(world.wallet.call(Address::repeat_byte(9), [])).success);
}

fn count(file: &Connection, sql: &str) -> usize {
    usize::try_from(file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()).unwrap()
}

#[test]
fn records_are_right_with_every_block_and_after_every_restart() {
    let (mut world, contract) = World::with_contract();
    let mut records = Records::default();
    for round in 0..3 * TURNS {
        records.change(&world, contract, round);
        if round % 16 == 0 {
            records.check(&world.chain, contract);
        }
        if [1, 90, 253, 254, 255, 256, 300, 600].contains(&round) {
            world = world.reopen();
            records.check(&world.chain, contract);
        }
    }
    records.check(&world.chain, contract);
    records.check(&world.reopen().chain, contract);
}

#[test]
fn a_record_is_in_its_place_once_all_keys_had_their_turn() {
    let (world, contract) = World::with_contract();
    let mut records = Records::default();
    (0..20).for_each(|round| records.change(&world, contract, round));
    let file = Connection::open(&world.path).unwrap();
    assert_eq!(count(&file, "SELECT count(*) FROM recent"), 20);
    for _ in 0..TURNS {
        rest(&world);
    }
    assert_eq!(count(&file, "SELECT count(*) FROM recent"), 0);
    let filled = records.0.values().flatten().filter(|value| **value != 0).count();
    assert_eq!(count(&file, "SELECT count(*) FROM slots"), filled, "what is empty has no place");
    records.check(&world.chain, contract);
}

#[test]
fn a_file_of_the_first_format_goes_on() {
    let (world, contract) = World::with_contract();
    let mut records = Records::default();
    (0..20).for_each(|round| records.change(&world, contract, round));
    (0..TURNS).for_each(|_| rest(&world));
    let World { chain, wallet, path, folder } = world;
    drop(chain);
    Connection::open(&path).unwrap().execute_batch("DROP TABLE recent; PRAGMA user_version = 1").unwrap();
    let world = World { chain: Chain::open(&path, &genesis()).unwrap(), wallet, path, folder };
    records.check(&world.chain, contract);
    (20..40).for_each(|round| records.change(&world, contract, round));
    records.check(&world.chain, contract);
    records.check(&world.reopen().chain, contract);
}

#[test]
fn slots_that_cannot_be_read_are_not_taken_for_empty() {
    let (world, contract) = World::with_contract();
    Records::default().change(&world, contract, 0);
    let World { chain, path, folder, .. } = world;
    drop(chain);
    let file = Connection::open(&path).unwrap();
    let slots: Vec<u8> = file.query_row("SELECT slots FROM recent", [], |row| row.get(0)).unwrap();
    let too_long = [&slots[..36], &[33; 34]].concat();
    for wrong in [&slots[..1], &slots[..slots.len() - 1], &too_long] {
        file.execute("UPDATE recent SET slots = ?1", [wrong]).unwrap();
        let error = Chain::open(&path, &genesis()).unwrap_err();
        assert!(matches!(&error, OpenError::Chain(_)), "{error}");
        assert!(error.to_string().contains("slots of a block"), "{error}");
    }
    drop(folder);
}
