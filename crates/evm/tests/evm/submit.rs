//! Transactions: effects and refusals.

use alloy_consensus::{TxEip2930, TxLegacy};
use alloy_primitives::{Address, Bytes, TxKind, U256, address, keccak256};
use portico_evm::{BASE_FEE, BLOCK_GAS_LIMIT, Call, CallError, Refused, TRANSACTION_GAS_CAP};
use proptest::prelude::*;

use crate::contract::{self, data, record, recorded};
use crate::support::{CHAIN_ID, FUNDS, GENESIS_TIME, World};

const RECIPIENT: Address = address!("0x00000000000000000000000000000000000a11ce");

#[test]
fn transfer_moves_value_and_charges_the_fee() {
    let world = World::new();
    let mut draft = world.wallet.draft(TxKind::Call(RECIPIENT), []);
    draft.value = U256::from(1000);
    let receipt = world.mine(world.wallet.sign(draft));
    assert!(receipt.success);
    assert_eq!((receipt.gas_used, receipt.effective_gas_price), (21_000, u128::from(BASE_FEE) + 1));
    assert_eq!(world.chain.balance(RECIPIENT).unwrap(), U256::from(1000));
    let paid = 1000 + 21_000 * (BASE_FEE + 1);
    assert_eq!(world.chain.balance(world.wallet.address).unwrap(), U256::from(FUNDS - paid));
    assert_eq!(world.chain.balance(Address::ZERO).unwrap(), U256::from(21_000), "the tip");
    assert_eq!(world.chain.nonce(world.wallet.address).unwrap(), 1);
}

#[test]
fn legacy_and_access_list_transactions_are_accepted() {
    let world = World::new();
    let to = TxKind::Call(RECIPIENT);
    let value = U256::from(5);
    let legacy = TxLegacy {
        chain_id: Some(CHAIN_ID),
        gas_price: 7,
        gas_limit: 21_000,
        to,
        value,
        ..TxLegacy::default()
    };
    assert_eq!(world.mine(world.wallet.sign(legacy)).ty, 0);
    let listed = TxEip2930 {
        chain_id: CHAIN_ID,
        nonce: 1,
        gas_price: 9,
        gas_limit: 21_000,
        to,
        value,
        ..TxEip2930::default()
    };
    let receipt = world.mine(world.wallet.sign(listed));
    assert_eq!((receipt.ty, receipt.effective_gas_price), (1, 9));
    assert_eq!(world.chain.balance(RECIPIENT).unwrap(), U256::from(10));
}

#[test]
fn contract_is_deployed_called_and_read() {
    let (world, contract) = World::with_contract();
    assert_eq!(world.chain.code(contract).unwrap(), Bytes::from(contract::runtime()));
    assert_eq!(world.chain.nonce(contract).unwrap(), 1);

    let receipt = world.mine(world.wallet.call(contract, record([3, 4])));
    assert!(receipt.success);
    assert_eq!(receipt.logs.len(), 2);
    assert_eq!(receipt.logs[1].address, contract);
    assert_eq!(receipt.logs[1].topics(), [recorded(), U256::from(4).into()]);

    let call =
        Call { to: Some(contract), data: data("get(uint256)", &[U256::from(4)]).into(), ..Call::default() };
    let answer = world.chain.call(&call).unwrap();
    assert_eq!(U256::from_be_slice(&answer[..32]), U256::from(5));
    assert_eq!(U256::from_be_slice(&answer[32..]), U256::from(1_000_000_000_004_u64));
    let slot: U256 = keccak256(U256::from(4).to_be_bytes::<32>()).into();
    assert_eq!(world.chain.storage(contract, slot).unwrap(), U256::from(5));
    assert_eq!(world.chain.storage(contract, U256::ZERO).unwrap(), U256::ZERO);
}

#[test]
fn reverted_transaction_is_mined_without_changes() {
    let (world, contract) = World::with_contract();
    let receipt = world.mine(world.wallet.call(contract, data("fail()", &[])));
    assert!(!receipt.success);
    assert!(receipt.logs.is_empty());
    assert!(receipt.gas_used < 30_000);
    let receipt = world.mine(world.wallet.call(contract, data("spin()", &[])));
    assert_eq!((receipt.success, receipt.gas_used), (false, 10_000_000));
    assert_eq!(world.chain.nonce(world.wallet.address).unwrap(), 3);
}

#[test]
fn failed_call_returns_the_reason() {
    let (world, contract) = World::with_contract();
    let call = |function: &str| {
        world.chain.call(&Call { to: Some(contract), data: data(function, &[]).into(), ..Call::default() })
    };
    let error = call("fail()").unwrap_err();
    assert_eq!(error.to_string(), "execution reverted: never");
    assert!(matches!(error, CallError::Reverted(data) if data.len() == 100));
    let error = call("spin()").unwrap_err();
    assert!(matches!(&error, CallError::Halted(reason) if reason.contains("gas")), "{error}");
    let poor = Call { from: RECIPIENT, to: Some(contract), value: U256::ONE, ..Call::default() };
    let error = world.chain.call(&poor).unwrap_err();
    assert!(matches!(error, CallError::Refused(Refused::Underfunded { .. })), "{error}");
}

#[test]
fn one_block_holds_accepted_transactions_in_order() {
    let (world, contract) = World::with_contract();
    let first = world.wallet.call(contract, record([1, 2]));
    let second = world.wallet.call(contract, record([2, 3]));
    let outcomes = world.submit(&[first.clone(), Bytes::from_static(b"?"), second, first]);
    let hashes: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().ok().copied()).collect();
    assert_eq!(hashes.len(), 2);
    assert!(matches!(outcomes[1], Err(Refused::Malformed(_))));
    assert_eq!(outcomes[3], Err(Refused::AlreadyKnown));

    let head = world.chain.head();
    let block = world.chain.block_by_number(2).unwrap().unwrap();
    assert_eq!((head.number, block.header.hash()), (2, head.hash()));
    assert_eq!(block.transactions, hashes);
    let receipts: Vec<_> = hashes.iter().map(|hash| world.chain.receipt(*hash).unwrap().unwrap()).collect();
    assert_eq!(receipts[0].cumulative_gas_used, receipts[0].gas_used);
    assert_eq!(receipts[1].cumulative_gas_used, receipts[0].gas_used + receipts[1].gas_used);
    assert_eq!(receipts[1].cumulative_gas_used, head.gas_used);
    assert_eq!((receipts[1].transaction_index, receipts[1].first_log_index), (1, 2));
    assert!(receipts[1].gas_used < receipts[0].gas_used, "the second found a slot that the first had filled");
}

#[test]
fn refused_transaction_returns_the_reason() {
    let world = World::new();
    let draft = world.wallet.draft(TxKind::Call(RECIPIENT), []);
    let refused = |change: &dyn Fn(&mut alloy_consensus::TxEip1559)| {
        let mut changed = draft.clone();
        change(&mut changed);
        world.refused(world.wallet.sign(changed)).to_string()
    };
    assert_eq!(refused(&|tx| tx.nonce = 1), "nonce too high: next nonce 0, tx nonce 1");
    assert_eq!(refused(&|tx| tx.chain_id = 1), "invalid chain id for signer: have 1 want 4242");
    assert_eq!(
        refused(&|tx| (tx.max_fee_per_gas, tx.max_priority_fee_per_gas) = (6, 0)),
        "max fee per gas less than block base fee: maxFeePerGas: 6, baseFee: 7"
    );
    assert_eq!(
        refused(&|tx| tx.gas_limit = TRANSACTION_GAS_CAP + 1),
        "transaction gas limit too high (cap: 36000000, tx: 36000001)"
    );
    assert_eq!(refused(&|tx| tx.gas_limit = 20_999), "intrinsic gas too low: have 20999, want 21000");
    assert!(
        refused(&|tx| tx.max_priority_fee_per_gas = 101).starts_with("invalid transaction: priority fee")
    );
    let poor = refused(&|tx| tx.value = U256::from(FUNDS));
    assert!(
        poor.starts_with("insufficient funds for gas * price + value: balance 1000000000000000000, "),
        "{poor}"
    );
    let for_any_chain = TxLegacy { gas_price: 7, gas_limit: 21_000, ..TxLegacy::default() };
    let refusal = world.refused(world.wallet.sign(for_any_chain));
    assert_eq!(refusal.to_string(), "invalid chain id for signer: have none want 4242");

    let first = world.wallet.call(RECIPIENT, []);
    world.mine(first.clone());
    assert_eq!(world.refused(first).to_string(), "already known");
    assert_eq!(refused(&|_| ()), "already known");
    assert_eq!(refused(&|tx| tx.gas_limit = 21_001), "nonce too low: next nonce 1, tx nonce 0");
}

#[test]
fn undecodable_transaction_is_malformed() {
    let world = World::new();
    let good = world.wallet.sign(world.wallet.draft(TxKind::Call(RECIPIENT), []));
    let mut longer = good.to_vec();
    longer.push(0);
    let high_s = {
        // The same signature with the high `s`.
        let envelope: portico_evm::Envelope =
            alloy_eips::eip2718::Decodable2718::decode_2718(&mut &good[..]).unwrap();
        let (transaction, signature, _) = envelope.as_eip1559().unwrap().clone().into_parts();
        let order =
            alloy_primitives::uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);
        let other = alloy_primitives::Signature::new(signature.r(), order - signature.s(), !signature.v());
        let signed = alloy_consensus::SignableTransaction::into_signed(transaction, other);
        alloy_eips::eip2718::Encodable2718::encoded_2718(&portico_evm::Envelope::from(signed))
    };
    let cases: [&[u8]; 6] = [b"", b"\x02", &[0xff; 100], &good[..good.len() - 1], &longer, &high_s];
    for case in cases {
        let refused = world.refused(Bytes::copy_from_slice(case));
        assert!(matches!(refused, Refused::Malformed(_)), "{refused}");
    }
}

#[test]
fn full_block_refuses_further_transactions() {
    let (world, contract) = World::with_contract();
    let greedy = |data: Vec<u8>| {
        let mut draft = world.wallet.draft(TxKind::Call(contract), data);
        draft.gas_limit = TRANSACTION_GAS_CAP;
        world.wallet.count();
        world.wallet.sign(draft)
    };
    let fit = usize::try_from(BLOCK_GAS_LIMIT / TRANSACTION_GAS_CAP).unwrap();
    // Gas used counts, not the gas limit.
    let mut raws: Vec<_> = (0..10).map(|_| greedy(data("get(uint256)", &[]))).collect();
    raws.extend((0..=fit).map(|_| greedy(data("spin()", &[]))));
    let outcomes = world.submit(&raws);
    assert!(outcomes[..raws.len() - 1].iter().all(Result::is_ok));
    assert_eq!(outcomes[raws.len() - 1], Err(Refused::BlockFull));
    assert!(world.mine(raws.pop().unwrap()).gas_used == TRANSACTION_GAS_CAP, "it fits into the next block");
}

#[test]
fn contracts_see_their_block() {
    let (world, contract) = World::with_contract();
    let parent = world.chain.head().parent_hash;
    let call = Call {
        from: RECIPIENT,
        to: Some(contract),
        data: data("env()", &[]).into(),
        gas: Some(100_000),
        value: U256::ZERO,
    };
    let answer = world.chain.call(&call).unwrap();
    let at = |index: usize| U256::from_be_slice(&answer[index * 32..][..32]);
    assert_eq!(at(0), U256::from(1));
    assert_eq!(at(1), U256::from(GENESIS_TIME + 1));
    assert_eq!(at(2), U256::from_be_bytes(parent.0));
    assert_eq!(at(3), U256::from(CHAIN_ID));
    assert_eq!(at(4), U256::from(BASE_FEE));
    assert_eq!(at(5), U256::from_be_slice(RECIPIENT.as_slice()));
    assert!(world.mine(world.wallet.call(contract, data("env()", &[]))).success);
}

#[test]
fn selfdestruct_in_constructor_leaves_nothing() {
    let world = World::new();
    let gift = |address: Address| {
        let mut draft = world.wallet.draft(TxKind::Call(address), []);
        draft.value = U256::from(9);
        world.wallet.count();
        world.wallet.sign(draft)
    };
    // PUSH1 1, PUSH1 1, SSTORE, CALLER, SELFDESTRUCT
    let init = vec![0x60, 1, 0x60, 1, 0x55, 0x33, 0xff];
    let address = world.wallet.address.create(1);
    let before = gift(address);
    world.mine(before);
    let (birth, born) = world.wallet.deploy(init);
    assert_eq!(born, address);
    let after = gift(address);
    // The account exists, then is deleted and created again in one block.
    assert!(world.submit(&[birth, after]).iter().all(Result::is_ok));
    let check = |world: &World| {
        assert_eq!(world.chain.balance(address).unwrap(), U256::from(9));
        assert_eq!(world.chain.nonce(address).unwrap(), 0);
        assert_eq!(world.chain.storage(address, U256::ONE).unwrap(), U256::ZERO);
        assert!(world.chain.code(address).unwrap().is_empty());
    };
    check(&world);
    check(&world.reopen());
}

#[test]
fn deleted_account_stays_deleted_after_restart() {
    let world = World::new();
    let address = world.wallet.address.create(1);
    let mut gift = world.wallet.draft(TxKind::Call(address), []);
    gift.value = U256::from(9);
    world.wallet.count();
    world.mine(world.wallet.sign(gift));
    let (birth, _) = world.wallet.deploy(vec![0x33, 0xff]);
    assert!(world.mine(birth).success);
    assert_eq!(world.chain.balance(address).unwrap(), U256::ZERO);
    assert_eq!(world.reopen().chain.balance(address).unwrap(), U256::ZERO);
}

#[test]
fn zeroed_slot_stays_zero_after_restart() {
    let (world, contract) = World::with_contract();
    let slot: U256 = keccak256(U256::from(8).to_be_bytes::<32>()).into();
    world.mine(world.wallet.call(contract, record([8])));
    assert_ne!(world.chain.storage(contract, slot).unwrap(), U256::ZERO);
    let zeros =
        data("record()", &[U256::from(8), U256::ZERO, U256::ZERO, U256::ZERO, U256::ZERO, U256::ZERO]);
    world.mine(world.wallet.call(contract, zeros));
    assert_eq!(world.chain.storage(contract, slot).unwrap(), U256::ZERO);
    assert_eq!(world.reopen().chain.storage(contract, slot).unwrap(), U256::ZERO);
}

/// What is signed is all of a transaction: any change is refused, and none has an effect.
#[test]
fn damaged_transaction_is_refused() {
    let (world, contract) = World::with_contract();
    let draft = world.wallet.draft(TxKind::Call(contract), record([1]));
    let valid = world.wallet.sign(draft);
    let refused = |raw: Vec<u8>| world.chain.submit(&[raw.into()], GENESIS_TIME).unwrap()[0].is_err();
    proptest!(|(raw: Vec<u8>)| prop_assert!(refused(raw)));
    proptest!(|(at: prop::sample::Index, byte: u8, way in 0..3)| {
        let mut raw = valid.to_vec();
        let at = at.index(raw.len());
        match way {
            0 => raw.truncate(at),
            1 => raw.insert(at, byte),
            // The lengths of RLP are among these.
            _ => raw[at] ^= byte.max(1),
        }
        prop_assume!(raw != valid);
        prop_assert!(refused(raw));
    });
    // A list, and a string, that claim to be as long as all memory.
    for first in [0xff, 0xbf] {
        for prefix in [&[][..], &[1], &[2]] {
            refused([prefix, &[first; 9], &[0; 40]].concat());
        }
    }
    assert_eq!(world.chain.head().number, 1);
    assert!(world.mine(valid).success);
}
