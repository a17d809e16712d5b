//! Concurrent reads while blocks are added.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use alloy_primitives::{Address, U256, hex};
use portico_evm::{Call, Chain};

use crate::contract::{RECORD_WORDS, data};
use crate::support::{GENESIS_TIME, World};

const KEY: u64 = 77;
const BLOCKS: u64 = 300;

/// Both values of the record; every block sets them to the same number.
fn values(chain: &Chain, contract: Address) -> (u64, u64) {
    let data = data("get(uint256)", &[U256::from(KEY)]).into();
    let answer = chain.call(&Call { to: Some(contract), data, ..Call::default() }).unwrap();
    let word = |index: usize| U256::from_be_slice(&answer[index * 32..][..32]).to::<u64>();
    (word(0), word(1))
}

#[test]
fn readers_see_whole_blocks_and_acknowledged_writes() {
    let (world, contract) = World::with_contract();
    let (acknowledged, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let chain = &world.chain;
    std::thread::scope(|scope| {
        for reader in 0..3 {
            let (acknowledged, done) = (&acknowledged, &done);
            scope.spawn(move || {
                let mut last = 0;
                while !done.load(Ordering::Acquire) {
                    let floor = acknowledged.load(Ordering::Acquire);
                    let (one, other) = values(chain, contract);
                    assert_eq!(one, other, "half of a block");
                    assert!(one >= floor, "{one} was read after {floor} was acknowledged");
                    assert!(one >= last, "an older block was read");
                    last = one;
                    if reader == 0 {
                        let head = chain.head();
                        let block = chain.block_by_number(head.number).unwrap().unwrap();
                        let receipt = chain.receipt(block.transactions[0]).unwrap().unwrap();
                        assert_eq!(receipt.block_hash, head.hash());
                    }
                }
            });
        }
        for value in 1..=BLOCKS {
            let mut words = vec![U256::from(value); RECORD_WORDS];
            words[0] = U256::from(KEY);
            let raw = world.wallet.call(contract, data("record()", &words));
            assert!(world.mine(raw).success);
            acknowledged.store(value, Ordering::Release);
            assert_eq!(values(chain, contract), (value, value));
        }
        done.store(true, Ordering::Release);
    });
}

#[test]
fn calls_do_not_change_state() {
    let (world, contract) = World::with_contract();
    let head = world.chain.head();
    let mut words = vec![U256::from(5); RECORD_WORDS];
    words[0] = U256::from(KEY);
    let call = Call { to: Some(contract), data: data("record()", &words).into(), ..Call::default() };
    world.chain.call(&call).unwrap();
    assert_eq!(values(&world.chain, contract), (0, 0));
    assert_eq!(world.chain.head(), head);
}

/// Init code whose result is the time that it sees.
const TIME: [u8; 9] = hex!("4260005260206000f3");

#[test]
fn call_sees_the_present_time_or_that_of_a_later_block() {
    let world = World::new();
    let call = Call { data: TIME.into(), ..Call::default() };
    let seen = |now| U256::from_be_slice(&world.chain.call_at(&call, now).unwrap()).to::<u64>();
    assert_eq!(seen(GENESIS_TIME + 5), GENESIS_TIME + 5);
    assert_eq!(seen(GENESIS_TIME + 6), GENESIS_TIME + 6, "an earlier result is not kept");
    assert_eq!(seen(GENESIS_TIME - 5), GENESIS_TIME);
    assert_eq!(U256::from_be_slice(&world.chain.call(&call).unwrap()), U256::from(GENESIS_TIME));
}

#[test]
fn rpc_call_on_the_latest_block_sees_the_present_time() {
    let world = World::new();
    let hash = world.chain.head().hash();
    let (now, before) = (format!("{:#066x}", GENESIS_TIME + 5), format!("{GENESIS_TIME:#066x}"));
    for (block, seen) in [
        (r#""latest""#.to_owned(), &now),
        (r#""pending""#.to_owned(), &now),
        (r#""0x0""#.to_owned(), &before),
        (format!(r#"{{"blockHash":"{hash}"}}"#), &before),
    ] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{{"data":"{}"}},{block}]}}"#,
            hex::encode_prefixed(TIME)
        );
        let answer = String::from_utf8(world.chain.rpc_at(body.as_bytes(), GENESIS_TIME + 5)).unwrap();
        assert!(answer.contains(seen.as_str()), "{block}: {answer}");
    }
}
