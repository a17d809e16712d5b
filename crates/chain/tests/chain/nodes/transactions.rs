//! Sending transactions and finding them.

use alloy_primitives::{B256, Bytes, TxKind};
use alloy_sol_types::{SolCall as _, SolError as _};
use portico_chain::contracts::{calldata, registry};
use portico_chain::node::{BlockId, NodeTransaction, Sent};
use portico_chain::signer::Price;
use portico_chain::{Error, Node as _};
use portico_records::ItemKind;
use portico_store::chain::{Sign as _, VersionedItem};

use crate::node_fixture::NodeFixture;
use crate::samples;

super::on_both_nodes! {
    a_transaction_is_accepted_once_and_known_afterwards,
    a_nonce_that_is_used_is_known,
    nonce_gap_waits_for_earlier_nonces,
    transaction_below_the_base_fee_is_underpriced,
    a_transaction_of_a_signer_without_funds_is_refused,
    suggested_fees_are_sufficient,
    unknown_transaction_is_not_found,
    reverted_transaction_has_a_failed_receipt,
    reverting_call_returns_the_reason,
    blocks_follow_each_other,
}

async fn a_transaction_is_accepted_once_and_known_afterwards(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let signer = fixture.signer(&fixture.key, contracts).await;
    let listing = VersionedItem { key: samples::key_of("a"), version: 1, payload: samples::payload([5; 32]) };
    let signed = signer.sign(4, ItemKind::Listing, &[listing]).unwrap();
    let hash = B256::from(signed.hash);
    assert_eq!(fixture.node.send(&signed.raw).await.unwrap(), Sent::Accepted);
    assert_eq!(fixture.node.send(&signed.raw).await.unwrap(), Sent::Known);

    let receipt = fixture.mined(signed.hash).await;
    assert_eq!(fixture.node.nonce(fixture.key.address()).await.unwrap(), 5);
    assert_eq!(fixture.node.send(&signed.raw).await.unwrap(), Sent::Known, "also when it is mined");
    assert!(receipt.success && receipt.contract.is_none());
    assert_eq!(receipt.logs.len(), 1, "the contract says what it recorded");
    assert_eq!(receipt.logs[0].address, contracts.of(ItemKind::Listing));
    assert_eq!(receipt.logs[0].topics[1], B256::from(samples::key_of("a")));
    let block = fixture.node.block(BlockId::Number(receipt.block)).await.unwrap().unwrap();
    assert_eq!(block.hash, receipt.block_hash);
    assert_eq!(block.transactions, [hash]);
    assert_eq!(block.gas_used, receipt.gas_used);
    assert_eq!(fixture.node.block(BlockId::Hash(block.hash)).await.unwrap(), Some(block));
    let found = fixture.node.transaction(hash).await.unwrap().unwrap();
    let to = Some(contracts.of(ItemKind::Listing));
    assert!(found.input.starts_with(&registry::recordCall::SELECTOR), "{}", found.input);
    let (from, block) = (fixture.key.address(), Some(receipt.block));
    let expected = NodeTransaction { from, to, nonce: 4, block, input: found.input.clone() };
    assert_eq!(found, expected);
}

async fn a_nonce_that_is_used_is_known(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let mut signer = fixture.signer(&fixture.key, contracts).await;
    signer.price = signer.price.raised();
    let other = signer.filler(1);
    assert_eq!(fixture.node.send(&other.raw).await.unwrap(), Sent::Known);
    assert_eq!(fixture.node.receipt(other.hash.into()).await.unwrap(), None);
}

async fn nonce_gap_waits_for_earlier_nonces(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let signer = fixture.signer(&fixture.key, contracts).await;
    let (near, far) = (signer.filler(4), signer.filler(5));
    // Some nodes queue it until the earlier one arrives, some do not.
    let sent = fixture.node.send(&far.raw).await.unwrap();
    assert!(matches!(sent, Sent::Gap | Sent::Accepted), "{sent:?}");
    assert_eq!(fixture.node.receipt(far.hash.into()).await.unwrap(), None);
    assert_eq!(fixture.node.nonce(fixture.key.address()).await.unwrap(), 4);
    assert_eq!(fixture.node.send(&near.raw).await.unwrap(), Sent::Accepted);
    fixture.mined(near.hash).await;
    assert!(matches!(fixture.node.send(&far.raw).await.unwrap(), Sent::Accepted | Sent::Known));
    fixture.mined(far.hash).await;
}

async fn transaction_below_the_base_fee_is_underpriced(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let mut signer = fixture.signer(&fixture.key, contracts).await;
    // The base fee falls by at most an eighth per block.
    signer.price = Price { max_fee: fixture.node.fees().await.unwrap().base / 2, tip: 0 };
    assert_eq!(fixture.node.send(&signer.filler(4).raw).await.unwrap(), Sent::Underpriced);
    assert_eq!(fixture.node.nonce(fixture.key.address()).await.unwrap(), 4);
}

async fn a_transaction_of_a_signer_without_funds_is_refused(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let signer = fixture.signer(&fixture.poor, contracts).await;
    let refused = fixture.node.send(&signer.filler(0).raw).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
}

async fn suggested_fees_are_sufficient(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let fees = fixture.node.fees().await.unwrap();
    assert!(fees.base > 0);
    let mut signer = fixture.signer(&fixture.key, contracts).await;
    signer.price = Price { max_fee: fees.base + fees.tip, tip: fees.tip };
    let signed = signer.filler(4);
    assert_eq!(fixture.node.send(&signed.raw).await.unwrap(), Sent::Accepted);
    let receipt = fixture.mined(signed.hash).await;
    assert!(receipt.success);
    assert_eq!(receipt.gas_used, 21_000);
}

async fn unknown_transaction_is_not_found(fixture: NodeFixture) {
    let nothing = B256::repeat_byte(7);
    assert_eq!(fixture.node.receipt(nothing).await.unwrap(), None);
    assert_eq!(fixture.node.transaction(nothing).await.unwrap(), None);
    assert_eq!(fixture.node.block(BlockId::Hash(nothing)).await.unwrap(), None);
    assert_eq!(fixture.node.block(BlockId::Number(1_000_000)).await.unwrap(), None);
}

async fn reverted_transaction_has_a_failed_receipt(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let signer = fixture.signer(&fixture.stranger, contracts).await;
    let data = calldata(ItemKind::Listing, &[]).unwrap();
    let to = TxKind::Call(contracts.of(ItemKind::Listing));
    let signed = signer.key.sign(signer.transaction(0, to, 100_000, data));
    assert_eq!(fixture.node.send(&signed.raw).await.unwrap(), Sent::Accepted);
    let receipt = fixture.mined(signed.hash).await;
    assert!(!receipt.success);
    assert!(receipt.gas_used > 21_000 && receipt.logs.is_empty());
    assert_eq!(fixture.node.nonce(fixture.stranger.address()).await.unwrap(), 1, "its nonce is used");
}

async fn reverting_call_returns_the_reason(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let key = B256::repeat_byte(3);
    let ask = |data: Vec<u8>| {
        fixture.node.call(fixture.poor.address(), contracts.of(ItemKind::Listing), data.into())
    };
    let unknown = ask(registry::requirementsOfCall { key }.abi_encode()).await;
    let Err(Error::Reverted(reason)) = unknown else { panic!("{unknown:?}") };
    assert_eq!(registry::UnknownListing::abi_decode(&reason).unwrap().key, key);
    // A call that does not revert returns data: nothing is stored.
    let empty = ask(registry::recordOfCall { key }.abi_encode()).await.unwrap();
    assert_eq!(registry::recordOfCall::abi_decode_returns(&empty).unwrap().version, 0);
    // There is no contract at this address.
    let nobody =
        fixture.node.call(fixture.poor.address(), fixture.poor.address(), Bytes::new()).await.unwrap();
    assert!(nobody.is_empty());
}

async fn blocks_follow_each_other(fixture: NodeFixture) {
    let first = fixture.node.head().await.unwrap();
    fixture.deployed().await;
    let head = fixture.node.head().await.unwrap();
    assert_eq!(head.number, first.number + 4);
    let mut block = head;
    while block.number > first.number {
        let parent = fixture.node.block(BlockId::Hash(block.parent)).await.unwrap().unwrap();
        assert_eq!(parent.number + 1, block.number);
        assert!(parent.timestamp <= block.timestamp && block.gas_used <= block.gas_limit);
        block = parent;
    }
    assert_eq!(block.hash, first.hash);
}
