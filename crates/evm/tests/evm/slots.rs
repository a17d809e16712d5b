//! Storage slots: changes, restarts, and upgrades from older file formats.

use std::collections::BTreeMap;

use alloy_primitives::{Address, U256, keccak256};
use portico_evm::{Call, Chain, OpenError};
use rusqlite::Connection;

use crate::contract::{RECORD_WORDS, data};
use crate::support::{World, genesis};

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

#[test]
fn format_1_is_upgraded() {
    let (world, contract) = World::with_contract();
    let mut records = Records::default();
    (0..20).for_each(|round| records.change(&world, contract, round));
    let World { chain, wallet, path, folder } = world;
    drop(chain);
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 1").unwrap();
    let world = World { chain: Chain::open(&path, &genesis()).unwrap(), wallet, path, folder };
    records.check(&world.chain, contract);
    (20..40).for_each(|round| records.change(&world, contract, round));
    records.check(&world.reopen().chain, contract);
}

/// Converts the file to format 2: the newest slots in `recent`, stale or missing ones in `slots`.
fn downgrade_to_format_2(file: &Connection) {
    file.execute_batch("CREATE TABLE recent (block INTEGER PRIMARY KEY, slots BLOB NOT NULL) STRICT")
        .unwrap();
    let mut statement = file.prepare("SELECT account, key, value FROM slots ORDER BY key").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let rows: Vec<(u32, Vec<u8>, Vec<u8>)> = rows.unwrap().map(Result::unwrap).collect();
    for (number, (account, key, value)) in rows.iter().enumerate() {
        let slot = |value: &[u8]| {
            [&account.to_be_bytes()[..], key, &[u8::try_from(value.len()).unwrap()], value].concat()
        };
        let block = i64::try_from(2 * number).unwrap();
        let mut insert = file.prepare("INSERT INTO recent VALUES (?1, ?2)").unwrap();
        // Later blocks win; a zero value has no bytes.
        insert.execute((block, [slot(&[9]), slot(&[])].concat())).unwrap();
        insert.execute((block + 1, slot(value))).unwrap();
    }
    file.execute_batch("DELETE FROM slots WHERE key < x'80'; UPDATE slots SET value = x'0707'").unwrap();
    file.execute_batch("PRAGMA user_version = 2").unwrap();
}

#[test]
fn format_2_slots_are_merged() {
    let (world, contract) = World::with_contract();
    let mut records = Records::default();
    (0..20).for_each(|round| records.change(&world, contract, round));
    let World { chain, wallet, path, folder } = world;
    drop(chain);
    downgrade_to_format_2(&Connection::open(&path).unwrap());
    let world = World { chain: Chain::open(&path, &genesis()).unwrap(), wallet, path, folder };
    records.check(&world.chain, contract);
    (20..40).for_each(|round| records.change(&world, contract, round));
    records.check(&world.reopen().chain, contract);
}

#[test]
fn damaged_format_2_slots_are_an_error() {
    let (world, contract) = World::with_contract();
    Records::default().change(&world, contract, 0);
    let World { chain, path, folder, .. } = world;
    drop(chain);
    let file = Connection::open(&path).unwrap();
    downgrade_to_format_2(&file);
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

#[test]
fn unknown_format_is_refused() {
    let World { chain, path, folder, .. } = World::with_contract().0;
    drop(chain);
    for format in [0, -1] {
        let file = Connection::open(&path).unwrap();
        file.execute_batch(&format!("PRAGMA user_version = {format}")).unwrap();
        let error = Chain::open(&path, &genesis()).unwrap_err();
        assert!(error.to_string().contains("format"), "{error}");
    }
    drop(folder);
}
