//! Concurrent reads while blocks are added.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use alloy_primitives::{Address, U256};
use portico_evm::{Call, Chain};

use crate::contract::{RECORD_WORDS, data};
use crate::support::World;

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
