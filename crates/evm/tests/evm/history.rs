//! Hashes, roots and bloom filters of blocks; log search.

use alloy_consensus::{Header, Receipt, ReceiptEnvelope, proofs};
use alloy_primitives::{Address, B256, Bytes, Log, U256, keccak256};
use portico_evm::{BLOCK_GAS_LIMIT, Chain, Filter, LOGS_BLOCK_CAP, LogsError};

use crate::contract::{init_of, record, recorded};
use crate::support::{CHAIN_ID, FUNDS, GENESIS_TIME, World};

/// A chain with several transactions and logs per block.
fn chain_with_logs() -> (World, Address) {
    let (world, contract) = World::with_contract();
    for first in 0..10 {
        let raws: Vec<Bytes> =
            (0..=first % 3).map(|n| world.wallet.call(contract, record(first..first + n + 2))).collect();
        assert!(world.submit(&raws).iter().all(Result::is_ok));
    }
    (world, contract)
}

fn headers(chain: &Chain) -> Vec<(B256, Header)> {
    (0..=chain.head().number)
        .map(|number| chain.block_by_number(number).unwrap().unwrap())
        .map(|block| (block.header.hash(), block.header.inner().clone()))
        .collect()
}

#[test]
fn block_hash_is_header_hash_and_links_to_parent() {
    let (world, _) = chain_with_logs();
    let headers = headers(&world.chain);
    assert_eq!(headers[0].0, world.chain.genesis_hash());
    assert_eq!(headers[0].1.parent_hash, B256::ZERO);
    for (number, (hash, header)) in (0..).zip(&headers) {
        assert_eq!(keccak256(alloy_rlp::encode(header)), *hash);
        assert_eq!((header.number, header.gas_limit), (number, BLOCK_GAS_LIMIT));
        assert_eq!(world.chain.block_by_hash(*hash).unwrap().unwrap().header.number, number);
    }
    for pair in headers.windows(2) {
        assert_eq!(pair[1].1.parent_hash, pair[0].0);
        assert_ne!(pair[1].1.state_root, pair[0].1.state_root);
    }
}

#[test]
fn roots_and_bloom_match_the_transactions() {
    let (world, _) = chain_with_logs();
    for number in 1..=world.chain.head().number {
        let block = world.chain.block_by_number(number).unwrap().unwrap();
        let transactions: Vec<_> =
            block.transactions.iter().map(|hash| world.chain.transaction(*hash).unwrap().unwrap()).collect();
        let envelopes: Vec<_> =
            transactions.iter().map(|transaction| transaction.inner.clone().into_inner()).collect();
        assert_eq!(proofs::calculate_transaction_root(&envelopes), block.header.transactions_root);
        let receipts: Vec<ReceiptEnvelope<Log>> = block
            .transactions
            .iter()
            .map(|hash| world.chain.receipt(*hash).unwrap().unwrap())
            .map(|receipt| Receipt {
                status: receipt.success.into(),
                cumulative_gas_used: receipt.cumulative_gas_used,
                logs: receipt.logs,
            })
            .map(|receipt| ReceiptEnvelope::Eip1559(receipt.into()))
            .collect();
        assert_eq!(proofs::calculate_receipt_root(&receipts), block.header.receipts_root);
        let bloom =
            receipts.iter().fold(alloy_primitives::Bloom::ZERO, |all, receipt| all | *receipt.logs_bloom());
        assert_eq!(bloom, block.header.logs_bloom);
        for (index, transaction) in (0..).zip(&transactions) {
            let place = (transaction.transaction_index, transaction.block_number);
            assert_eq!(place, (Some(index), Some(number)));
            assert_eq!(transaction.inner.signer(), world.wallet.address);
        }
        let whole = alloy_consensus::Block::new(
            block.header.inner().clone(),
            alloy_consensus::BlockBody {
                transactions: envelopes,
                ommers: vec![],
                withdrawals: Some(alloy_eips::eip4895::Withdrawals::default()),
            },
        );
        assert_eq!(block.size, alloy_rlp::encode(whole).len());
    }
}

#[test]
fn timestamps_never_decrease() {
    let world = World::new();
    let times = [GENESIS_TIME + 10, GENESIS_TIME + 5, GENESIS_TIME + 10, 0, GENESIS_TIME + 11, u64::MAX, 3];
    for time in times {
        let raw = world.wallet.call(Address::ZERO, []);
        world.chain.submit(&[raw], time).unwrap()[0].as_ref().unwrap();
    }
    let made: Vec<u64> = headers(&world.chain)[1..].iter().map(|(_, header)| header.timestamp).collect();
    let late = GENESIS_TIME + 10;
    assert_eq!(made, [late, late, late, late, late + 1, u64::MAX, u64::MAX]);
}

#[test]
fn state_root_commits_to_every_change() {
    let (world, contract) = World::with_contract();
    let sender = world.wallet.address;
    let account = |address: Address, nonce: u64, balance: U256| {
        let (nonce, balance) = (nonce.to_be_bytes(), balance.to_be_bytes::<32>());
        [&[1], address.as_slice(), &nonce, &balance, keccak256([]).as_slice()].concat()
    };
    let genesis = world.chain.block_by_number(0).unwrap().unwrap().header;
    let before = U256::from(CHAIN_ID).to_be_bytes_vec();
    assert_eq!(genesis.state_root, keccak256([before, account(sender, 0, U256::from(FUNDS))].concat()));

    let parent = world.chain.head();
    world.mine(world.wallet.call(contract, record([9])));
    let balance = |address| world.chain.balance(address).unwrap();
    let slot: U256 = keccak256(U256::from(9).to_be_bytes::<32>()).into();
    let mut changes = parent.state_root.to_vec();
    // The zero address, which receives the tip, comes first.
    changes.extend(account(Address::ZERO, 0, balance(Address::ZERO)));
    changes.extend(account(sender, 2, balance(sender)));
    for key in [slot, slot + U256::ONE] {
        let value = world.chain.storage(contract, key).unwrap();
        let (key, value) = (key.to_be_bytes::<32>(), value.to_be_bytes::<32>());
        changes.extend([&[2], contract.as_slice(), &key, &value].concat());
    }
    assert_eq!(world.chain.head().state_root, keccak256(changes));
}

#[test]
fn same_transactions_give_the_same_head() {
    let (one, _) = chain_with_logs();
    let (other, _) = chain_with_logs();
    assert_eq!(one.chain.head().hash(), other.chain.head().hash());
}

#[test]
fn unknown_blocks_and_transactions_are_none() {
    let (world, _) = chain_with_logs();
    let unknown = B256::repeat_byte(7);
    assert_eq!(world.chain.block_by_number(world.chain.head().number + 1).unwrap(), None);
    assert_eq!(world.chain.block_by_number(u64::MAX).unwrap(), None);
    assert_eq!(world.chain.block_by_hash(unknown).unwrap(), None);
    assert_eq!(world.chain.transaction(unknown).unwrap(), None);
    assert_eq!(world.chain.receipt(unknown).unwrap(), None);
}

#[test]
fn logs_are_found_by_contract_and_topics() {
    let (world, contract) = chain_with_logs();
    let head = world.chain.head().number;
    let all = Filter::new().from_block(0).to_block(head);
    let found = world.chain.logs(&all).unwrap();
    let expected: Vec<_> = (0..=head)
        .flat_map(|number| world.chain.block_by_number(number).unwrap().unwrap().transactions)
        .flat_map(|hash| world.chain.receipt(hash).unwrap().unwrap().logs)
        .collect();
    assert_eq!(found.iter().map(|entry| entry.inner.clone()).collect::<Vec<_>>(), expected);
    for block in found.chunk_by(|one, other| one.block_number == other.block_number) {
        assert!((0..).zip(block).all(|(index, entry)| entry.log_index == Some(index)));
    }

    let topic = |key: u64| B256::from(U256::from(key));
    let count = |addresses: &[Address], topics: &[&[B256]]| {
        let mut filter = all.clone().address(addresses.to_vec());
        for (at, any) in topics.iter().enumerate() {
            filter.topics[at] = any.to_vec().into();
        }
        world.chain.logs(&filter).unwrap().len()
    };
    let of = |key: u64| expected.iter().filter(|log| log.topics()[1] == topic(key)).count();
    assert!(of(5) > 1);
    assert_eq!(count(&[contract], &[]), expected.len());
    assert_eq!(count(&[contract, Address::ZERO], &[&[recorded()]]), expected.len());
    assert_eq!(count(&[Address::ZERO], &[]), 0);
    assert_eq!(count(&[], &[&[], &[topic(5)]]), of(5));
    assert_eq!(count(&[], &[&[recorded()], &[topic(5), topic(6)]]), of(5) + of(6));
    assert_eq!(count(&[], &[&[topic(5)]]), 0);
    assert_eq!(count(&[], &[&[], &[], &[topic(5)]]), 0, "no event has three topics");
    let some = world.chain.logs(&Filter::new().from_block(3).to_block(4)).unwrap();
    assert!(some.iter().all(|entry| (3..=4).contains(&entry.block_number.unwrap())));
}

#[test]
fn log_search_has_limits() {
    let (world, contract) = chain_with_logs();
    let logs = |from: u64, to: u64| world.chain.logs(&Filter::new().from_block(from).to_block(to));
    assert!(matches!(logs(3, 2), Err(LogsError::Backwards { from: 3, to: 2 })));
    assert!(!logs(0, u64::MAX).unwrap().is_empty(), "a range ends with the head");
    assert!(logs(100, u64::MAX).unwrap().is_empty());
    assert_eq!(LOGS_BLOCK_CAP, 10_000);
    for _ in 0..20 {
        let raws: Vec<_> = (0..5).map(|_| world.wallet.call(contract, record(0..120))).collect();
        assert!(world.submit(&raws).iter().all(Result::is_ok));
    }
    assert!(matches!(logs(0, u64::MAX), Err(LogsError::TooMany)));
}

#[test]
fn log_search_limits_data_bytes() {
    let world = World::new();
    // PUSH3 size, PUSH1 0, LOG0: half a million zero bytes.
    let (raw, flood) = world.wallet.deploy(init_of(&[0x62, 0x08, 0x00, 0x00, 0x60, 0, 0xa0]));
    world.mine(raw);
    for _ in 0..33 {
        let receipt = world.mine(world.wallet.call(flood, []));
        assert!(receipt.success);
    }
    let all = Filter::new().from_block(0).to_block(100);
    assert!(matches!(world.chain.logs(&all), Err(LogsError::TooMany)));
}
