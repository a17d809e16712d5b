//! Flags on the chain: who can open them, until when, and when they are sent.

use alloy_primitives::Address;
use alloy_sol_types::SolCall;
use portico_chain::contracts::{Contracts, checks, items_in_call};
use portico_chain::{AnyNode, Node as _, reads};
use portico_domain::Timestamp;
use portico_domain::chain::Passes;
use portico_records::{CheckFlags, Content, DesiredItem, ItemKind};
use portico_store::Db;
use portico_store::chain::{ItemStatus, PutItems, StoredItem, Word};

use crate::node_fixture::{NodeFixture, follow_all, now, until};
use crate::samples::{self, SALT};

super::on_both_nodes! {
    flags_are_attested_only_to_who_knows_all_of_them,
    attestation_ends_with_its_day_and_needs_no_transaction,
    flags_of_one_moment_travel_together_in_the_order_of_their_keys,
    flags_are_not_sent_before_they_are_due,
}

const DAY: u64 = 24 * 60 * 60;

fn due(key: Word, content: Content, at: Timestamp) -> DesiredItem {
    DesiredItem { due_at: Some(at), ..content.desired(key, at) }
}

fn seconds_after(at: Timestamp, seconds: i64) -> Timestamp {
    Timestamp::from_micros(at.micros() + seconds * 1_000_000)
}

async fn is_attested(
    node: &AnyNode,
    contracts: Contracts,
    key: Word,
    (flags, expiry_day): (u8, u32),
    salt: Word,
) -> bool {
    let (key, salt) = (key.into(), salt.into());
    let call = checks::isAttestedCall { key, flags, expiryDay: expiry_day, salt };
    let answer = node.call(Address::ZERO, contracts.of(ItemKind::Check), call.abi_encode().into()).await;
    checks::isAttestedCall::abi_decode_returns(&answer.unwrap()).unwrap()
}

async fn flags_are_attested_only_to_who_knows_all_of_them(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let (engine, db, _kept) = fixture.engine(contracts);
    let key = [7; 32];
    let day = samples::flags(0).expiry_day;
    let attested = async |key, flags, salt| is_attested(engine.node(), contracts, key, flags, salt).await;
    let put = async |content: Content| {
        db.write(PutItems(vec![content.desired(key, now())])).await.unwrap();
        follow_all(&engine, &db).await;
    };
    assert!(!attested(key, (5, day), SALT).await, "it was never seen");
    for bits in [5, 0, 15] {
        let commitment = samples::commitment(&key, bits);
        put(Content::Check(commitment)).await;
        let call =
            checks::commitmentOfCall { key: key.into(), flags: bits, expiryDay: day, salt: SALT.into() };
        let to = contracts.of(ItemKind::Check);
        let answer = engine.node().call(Address::ZERO, to, call.abi_encode().into()).await.unwrap();
        let found = checks::commitmentOfCall::abi_decode_returns(&answer).unwrap();
        assert_eq!(found, commitment.hash, "the contract computes the same");
        for other in 0..16 {
            assert_eq!(attested(key, (other, day), SALT).await, other == bits, "{other} of {bits}");
        }
        assert!(!attested(key, (bits, day - 1), SALT).await);
        assert!(!attested(key, (bits, day + 1), SALT).await);
        assert!(!attested(key, (bits, day), [6; 32]).await);
        assert!(!attested([8; 32], (bits, day), SALT).await);
    }
    put(Content::ClearedCheck).await;
    assert!(!attested(key, (15, day), SALT).await);
    assert_eq!(reads::application(engine.node(), contracts, &key).await.unwrap(), (4, None));
}

async fn attestation_ends_with_its_day_and_needs_no_transaction(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let key = [7; 32];
    let head = fixture.node.head().await.unwrap().timestamp.max(now().micros().unsigned_abs() / 1_000_000);
    // At least a whole day from now.
    let day = head / DAY + 2;
    let flags = CheckFlags { passes: Passes::from_bits(0b1111), expiry_day: u32::try_from(day).unwrap() };
    let commitment = flags.commit(&key, &SALT);
    let desired = Content::Check(commitment).desired(key, now());
    fixture.db.write(PutItems(vec![desired])).await.unwrap();
    let engine = fixture.engine_on(&fixture.db, contracts);
    follow_all(&engine, &fixture.db).await;
    let node = engine.node();
    let attested = async || is_attested(node, contracts, key, (15, flags.expiry_day), SALT).await;
    assert!(attested().await);
    let (blocks, nonce) =
        (node.head().await.unwrap().number, node.nonce(fixture.key.address()).await.unwrap());
    // The test itself takes less than this.
    let left = day * DAY - head;
    fixture.wait(left - 120).await;
    assert!(attested().await, "shortly before");
    fixture.wait(121).await;
    assert!(!attested().await);
    assert_eq!(node.nonce(fixture.key.address()).await.unwrap(), nonce, "nothing was sent");
    if matches!(node, AnyNode::Embedded(_)) {
        assert_eq!(node.head().await.unwrap().number, blocks, "no block was needed");
    }
    let record = reads::application(node, contracts, &key).await.unwrap();
    assert_eq!(record, (1, Some(commitment)), "the record itself stays");
}

async fn flag_item(db: &Db, key: &Word) -> StoredItem {
    db.chain_item(ItemKind::Check, key).await.unwrap().unwrap()
}

async fn flags_of_one_moment_travel_together_in_the_order_of_their_keys(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let (engine, db, _kept) = fixture.engine(contracts);
    let at = now();
    // Of several people, and in another order.
    let mut keys: Vec<Word> = (1..=40).map(|number: u8| [number.wrapping_mul(37); 32]).collect();
    for key in &keys {
        let content = Content::Check(samples::commitment(key, key[0] % 16));
        db.write(PutItems(vec![due(*key, content, at)])).await.unwrap();
    }
    follow_all(&engine, &db).await;
    let hash = flag_item(&db, &keys[0]).await.hash.unwrap();
    for key in &keys {
        assert_eq!(flag_item(&db, key).await.hash, Some(hash), "they share a transaction");
    }
    let sent = engine.node().transaction(hash.into()).await.unwrap().unwrap();
    let order: Vec<Word> =
        items_in_call(ItemKind::Check, &sent.input).unwrap().into_iter().map(|item| item.key).collect();
    assert_ne!(order, keys);
    keys.sort_unstable();
    assert_eq!(order, keys);
}

async fn flags_are_not_sent_before_they_are_due(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let (engine, db, _kept) = fixture.engine(contracts);
    let begin = now();
    let (early, late) = ([1; 32], [2; 32]);
    for (key, seconds) in [(early, 60), (late, 120)] {
        let content = Content::Check(samples::commitment(&key, 5));
        db.write(PutItems(vec![due(key, content, seconds_after(begin, seconds))])).await.unwrap();
    }
    let anchor = Content::Anchor { head: [2; 32] }.desired([3; 32], begin);
    db.write(PutItems(vec![anchor])).await.unwrap();
    let followed = async |seconds: i64, kind: ItemKind, key: &Word| {
        until("it is mined", std::time::Duration::from_secs(10), || async {
            engine.follow(seconds_after(begin, seconds)).await.unwrap();
            db.chain_item(kind, key).await.unwrap().unwrap().status == ItemStatus::Mined
        })
        .await;
    };
    followed(59, ItemKind::Anchor, &[3; 32]).await;
    assert_eq!(flag_item(&db, &early).await.status, ItemStatus::Waiting, "others do not wait for it");
    followed(60, ItemKind::Check, &early).await;
    assert_eq!(flag_item(&db, &late).await.status, ItemStatus::Waiting);
    followed(120, ItemKind::Check, &late).await;
    assert_ne!(flag_item(&db, &late).await.hash, flag_item(&db, &early).await.hash);
}
