//! Blocks that are made before they are asked for.

use alloy_primitives::{Address, B256, Bytes, TxKind, U256, keccak256};
use portico_evm::{Call, Refused};

use crate::contract::{data, record};
use crate::support::{BEGINNING, World};

const SOMEONE: Address = Address::repeat_byte(0x51);
const ANOTHER: Address = Address::repeat_byte(0xa0);

impl World {
    fn prepare(&self, raw: &Bytes) {
        self.chain.prepare(std::slice::from_ref(raw), BEGINNING + 1).unwrap();
    }

    /// A payment at the wallet's next nonce.
    fn payment(&self, to: Address, wei: u64) -> Bytes {
        let mut draft = self.wallet.draft(TxKind::Call(to), []);
        draft.value = U256::from(wei);
        self.wallet.sign(draft)
    }

    /// Everything that anybody could notice of a record.
    fn seen(&self, contract: Address, hash: B256) -> (u64, u64, Bytes, bool, bool) {
        let get = data("get(uint256)", &[U256::from(1)]);
        let call = Call { to: Some(contract), data: get.into(), ..Call::default() };
        (
            self.chain.head().number,
            self.chain.nonce(self.wallet.address).unwrap(),
            self.chain.call(&call).unwrap(),
            self.chain.block_by_number(2).unwrap().is_some(),
            self.chain.receipt(hash).unwrap().is_some() || self.chain.transaction(hash).unwrap().is_some(),
        )
    }
}

#[test]
fn what_is_only_prepared_nobody_sees() {
    let (world, contract) = World::with_contract();
    let raw = world.wallet.call(contract, record([1]));
    let hash = keccak256(&raw);
    let before = world.seen(contract, hash);
    world.prepare(&raw);
    assert_eq!(world.seen(contract, hash), before);
    assert_eq!(world.mine(raw).transaction_hash, hash);
    let after = world.seen(contract, hash);
    assert_eq!((after.0, after.1, after.3, after.4), (2, 2, true, true));
    assert_ne!(after.2, before.2);
}

#[test]
fn a_block_that_was_prepared_is_the_one_that_would_have_been_made() {
    let ((ahead, contract), (later, _)) = (World::with_contract(), World::with_contract());
    for keys in [0..8_u64, 4..12, 100..101] {
        let raw = ahead.wallet.call(contract, record(keys));
        ahead.prepare(&raw);
        assert_eq!(ahead.mine(raw.clone()), later.mine(raw));
        assert_eq!(ahead.chain.head(), later.chain.head());
    }
    let (ahead, later) = (ahead.reopen(), later.reopen());
    assert_eq!(ahead.chain.head(), later.chain.head());
    assert_eq!(ahead.chain.block_by_number(3).unwrap(), later.chain.block_by_number(3).unwrap());
}

#[test]
fn whatever_is_submitted_instead_counts() {
    let world = World::new();
    let (first, second) = (world.payment(SOMEONE, 3), world.payment(ANOTHER, 5));
    world.prepare(&first);
    world.mine(second);
    assert!(matches!(world.refused(first), Refused::NonceTooLow { .. }));
    // The account that was made for the block that never came has left nothing behind.
    world.wallet.count();
    world.mine(world.payment(SOMEONE, 7));
    let balances = [SOMEONE, ANOTHER].map(|who| world.chain.balance(who).unwrap());
    assert_eq!(balances, [7, 5].map(U256::from));
    let world = world.reopen();
    let balances = [SOMEONE, ANOTHER].map(|who| world.chain.balance(who).unwrap());
    assert_eq!(balances, [7, 5].map(U256::from));
}

#[test]
fn what_is_prepared_and_not_submitted_does_not_outlive_the_process() {
    let world = World::new();
    let raw = world.payment(SOMEONE, 3);
    world.prepare(&raw);
    let world = world.reopen();
    assert_eq!(world.chain.head().number, 0);
    assert_eq!(world.chain.balance(SOMEONE).unwrap(), U256::ZERO);
    world.mine(raw);
    assert_eq!(world.chain.balance(SOMEONE).unwrap(), U256::from(3));
}

#[test]
fn while_one_is_ready_others_wait_until_they_are_submitted() {
    let world = World::new();
    let first = world.payment(SOMEONE, 3);
    world.wallet.count();
    let second = world.payment(SOMEONE, 4);
    world.prepare(&first);
    world.prepare(&second);
    world.mine(first);
    world.mine(second);
    assert_eq!(world.chain.balance(SOMEONE).unwrap(), U256::from(7));
}

#[test]
fn what_would_be_refused_is_judged_when_it_is_submitted() {
    let world = World::new();
    let first = world.payment(SOMEONE, 3);
    world.wallet.count();
    let second = world.payment(SOMEONE, 4);
    world.prepare(&second);
    assert!(matches!(world.refused(second.clone()), Refused::NonceTooHigh { .. }));
    world.prepare(&second);
    world.prepare(&first);
    world.mine(first);
    world.mine(second);
    assert_eq!(world.chain.balance(SOMEONE).unwrap(), U256::from(7));
}
