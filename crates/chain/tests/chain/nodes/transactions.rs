//! Sending, and finding again what was sent.

use alloy_primitives::{B256, Bytes, TxKind};
use alloy_sol_types::{SolCall as _, SolError as _};
use portico_chain::contracts::{Kind, calldata, registry};
use portico_chain::node::{At, Sent, Transaction};
use portico_chain::signer::Price;
use portico_chain::{Error, Node as _};
use portico_store::chain::{Sign as _, Versioned};

use crate::node_fixture::Ground;
use crate::samples;

super::on_both_nodes! {
    a_transaction_is_accepted_once_and_known_afterwards,
    a_nonce_that_is_used_is_known,
    a_nonce_that_is_too_far_waits_for_those_before_it,
    a_transaction_that_pays_less_than_the_base_fee_is_underpriced,
    a_transaction_of_a_signer_without_funds_is_refused,
    what_the_fees_say_gets_a_transaction_in,
    what_nobody_sent_is_not_found,
    a_transaction_that_was_undone_has_a_receipt_that_says_so,
    a_call_that_reverts_brings_the_contracts_reason,
    blocks_follow_each_other,
}

async fn a_transaction_is_accepted_once_and_known_afterwards(node_fixture: Ground) {
    let contracts = node_fixture.deployed().await;
    let signer = node_fixture.signer(&node_fixture.key, contracts).await;
    let listing = Versioned { key: samples::key_of("a"), version: 1, payload: samples::payload([5; 32]) };
    let signed = signer.sign(4, Kind::Listing.number(), &[listing]).unwrap();
    let hash = B256::from(signed.hash);
    assert_eq!(node_fixture.node.send(&signed.raw).await.unwrap(), Sent::Accepted);
    assert_eq!(node_fixture.node.send(&signed.raw).await.unwrap(), Sent::Known);

    let receipt = node_fixture.mined(signed.hash).await;
    assert_eq!(node_fixture.node.nonce(node_fixture.key.address()).await.unwrap(), 5);
    assert_eq!(node_fixture.node.send(&signed.raw).await.unwrap(), Sent::Known, "also when it is mined");
    assert!(receipt.success && receipt.contract.is_none());
    assert_eq!(receipt.logs.len(), 1, "the contract says what it recorded");
    assert_eq!(receipt.logs[0].address, contracts.of(Kind::Listing));
    assert_eq!(receipt.logs[0].topics[1], B256::from(samples::key_of("a")));
    let block = node_fixture.node.block(At::Number(receipt.block)).await.unwrap().unwrap();
    assert_eq!(block.hash, receipt.block_hash);
    assert_eq!(block.transactions, [hash]);
    assert_eq!(block.gas_used, receipt.gas_used);
    assert_eq!(node_fixture.node.block(At::Hash(block.hash)).await.unwrap(), Some(block));
    let found = node_fixture.node.transaction(hash).await.unwrap();
    let to = Some(contracts.of(Kind::Listing));
    let expected = Transaction { from: node_fixture.key.address(), to, nonce: 4, block: Some(receipt.block) };
    assert_eq!(found, Some(expected));
}

async fn a_nonce_that_is_used_is_known(node_fixture: Ground) {
    let contracts = node_fixture.deployed().await;
    let mut signer = node_fixture.signer(&node_fixture.key, contracts).await;
    signer.price = signer.price.raised();
    let other = signer.filler(1);
    assert_eq!(node_fixture.node.send(&other.raw).await.unwrap(), Sent::Known);
    assert_eq!(node_fixture.node.receipt(other.hash.into()).await.unwrap(), None);
}

async fn a_nonce_that_is_too_far_waits_for_those_before_it(node_fixture: Ground) {
    let contracts = node_fixture.deployed().await;
    let signer = node_fixture.signer(&node_fixture.key, contracts).await;
    let (near, far) = (signer.filler(4), signer.filler(5));
    // Some nodes keep it until the other comes, some do not.
    let sent = node_fixture.node.send(&far.raw).await.unwrap();
    assert!(matches!(sent, Sent::Gap | Sent::Accepted), "{sent:?}");
    assert_eq!(node_fixture.node.receipt(far.hash.into()).await.unwrap(), None);
    assert_eq!(node_fixture.node.nonce(node_fixture.key.address()).await.unwrap(), 4);
    assert_eq!(node_fixture.node.send(&near.raw).await.unwrap(), Sent::Accepted);
    node_fixture.mined(near.hash).await;
    assert!(matches!(node_fixture.node.send(&far.raw).await.unwrap(), Sent::Accepted | Sent::Known));
    node_fixture.mined(far.hash).await;
}

async fn a_transaction_that_pays_less_than_the_base_fee_is_underpriced(node_fixture: Ground) {
    let contracts = node_fixture.deployed().await;
    let mut signer = node_fixture.signer(&node_fixture.key, contracts).await;
    // A block burns at most an eighth less than the one before it.
    signer.price = Price { max_fee: node_fixture.node.fees().await.unwrap().base / 2, tip: 0 };
    assert_eq!(node_fixture.node.send(&signer.filler(4).raw).await.unwrap(), Sent::Underpriced);
    assert_eq!(node_fixture.node.nonce(node_fixture.key.address()).await.unwrap(), 4);
}

async fn a_transaction_of_a_signer_without_funds_is_refused(node_fixture: Ground) {
    let contracts = node_fixture.deployed().await;
    let signer = node_fixture.signer(&node_fixture.poor, contracts).await;
    let refused = node_fixture.node.send(&signer.filler(0).raw).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
}

async fn what_the_fees_say_gets_a_transaction_in(node_fixture: Ground) {
    let contracts = node_fixture.deployed().await;
    let fees = node_fixture.node.fees().await.unwrap();
    assert!(fees.base > 0);
    let mut signer = node_fixture.signer(&node_fixture.key, contracts).await;
    signer.price = Price { max_fee: fees.base + fees.tip, tip: fees.tip };
    let signed = signer.filler(4);
    assert_eq!(node_fixture.node.send(&signed.raw).await.unwrap(), Sent::Accepted);
    let receipt = node_fixture.mined(signed.hash).await;
    assert!(receipt.success);
    assert_eq!(receipt.gas_used, 21_000);
}

async fn what_nobody_sent_is_not_found(node_fixture: Ground) {
    let nothing = B256::repeat_byte(7);
    assert_eq!(node_fixture.node.receipt(nothing).await.unwrap(), None);
    assert_eq!(node_fixture.node.transaction(nothing).await.unwrap(), None);
    assert_eq!(node_fixture.node.block(At::Hash(nothing)).await.unwrap(), None);
    assert_eq!(node_fixture.node.block(At::Number(1_000_000)).await.unwrap(), None);
}

async fn a_transaction_that_was_undone_has_a_receipt_that_says_so(node_fixture: Ground) {
    let contracts = node_fixture.deployed().await;
    let signer = node_fixture.signer(&node_fixture.stranger, contracts).await;
    let data = calldata(Kind::Listing, &[]).unwrap();
    let to = TxKind::Call(contracts.of(Kind::Listing));
    let signed = signer.key.sign(signer.transaction(0, to, 100_000, data));
    assert_eq!(node_fixture.node.send(&signed.raw).await.unwrap(), Sent::Accepted);
    let receipt = node_fixture.mined(signed.hash).await;
    assert!(!receipt.success);
    assert!(receipt.gas_used > 21_000 && receipt.logs.is_empty());
    assert_eq!(
        node_fixture.node.nonce(node_fixture.stranger.address()).await.unwrap(),
        1,
        "its nonce is used"
    );
}

async fn a_call_that_reverts_brings_the_contracts_reason(node_fixture: Ground) {
    let contracts = node_fixture.deployed().await;
    let key = B256::repeat_byte(3);
    let ask = |data: Vec<u8>| {
        node_fixture.node.call(node_fixture.poor.address(), contracts.of(Kind::Listing), data.into())
    };
    let unknown = ask(registry::requirementsOfCall { key }.abi_encode()).await;
    let Err(Error::Reverted(reason)) = unknown else { panic!("{unknown:?}") };
    assert_eq!(registry::UnknownListing::abi_decode(&reason).unwrap().key, key);
    // What does not revert has an answer: nothing is stored.
    let empty = ask(registry::recordOfCall { key }.abi_encode()).await.unwrap();
    assert_eq!(registry::recordOfCall::abi_decode_returns(&empty).unwrap().version, 0);
    // Nobody is there to answer.
    let nobody = node_fixture
        .node
        .call(node_fixture.poor.address(), node_fixture.poor.address(), Bytes::new())
        .await
        .unwrap();
    assert!(nobody.is_empty());
}

async fn blocks_follow_each_other(node_fixture: Ground) {
    let first = node_fixture.node.head().await.unwrap();
    node_fixture.deployed().await;
    let head = node_fixture.node.head().await.unwrap();
    assert_eq!(head.number, first.number + 4);
    let mut block = head;
    while block.number > first.number {
        let parent = node_fixture.node.block(At::Hash(block.parent)).await.unwrap().unwrap();
        assert_eq!(parent.number + 1, block.number);
        assert!(parent.timestamp <= block.timestamp && block.gas_used <= block.gas_limit);
        block = parent;
    }
    assert_eq!(block.hash, first.hash);
}
