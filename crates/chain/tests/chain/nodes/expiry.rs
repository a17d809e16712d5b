//! Flags expire, and are alone in their transactions.

use std::collections::BTreeSet;
use std::sync::Arc;

use alloy_primitives::Address;
use alloy_sol_types::SolCall;
use portico_chain::contracts::checks;
use portico_chain::{AnyNode, Node as _, reads};
use portico_domain::Timestamp;
use portico_domain::chain::Passes;
use portico_records::{CheckFlags, Content, ItemKind, check_key};
use portico_store::chain::{
    BatchStatus, BatchUpdate, ItemVersion, Lease, PutItems, Requeue, SealWaiting, TakeLease, Word,
};

use crate::node_fixture::{NodeFixture, follow_all, now};
use crate::samples;

super::on_both_nodes! {
    flags_are_false_after_their_expiry,
    flags_are_alone_and_hold_nothing_up,
    flags_stay_alone_when_they_are_queued_again,
}

fn check(applicant: Word, flags: CheckFlags) -> (Word, Content) {
    let listing = [6; 32];
    (check_key(&listing, &applicant), Content::Check { listing, applicant, flags: Some(flags) })
}

async fn flags_are_false_after_their_expiry(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let head = fixture.node.head().await.unwrap().timestamp.max(now().micros().unsigned_abs() / 1_000_000);
    let expires_at = Timestamp::from_micros((head + 600).cast_signed() * 1_000_000);
    let flags = CheckFlags { passes: Passes::from_bits(0b1111), expires_at };
    let (key, content) = check([7; 32], flags);
    fixture.db.write(PutItems(vec![content.desired(key, now())])).await.unwrap();
    let attested = async |node: &AnyNode| {
        let call = checks::checksOfCall { listing: [6; 32].into(), applicant: [7; 32].into() };
        let answer = node.call(Address::ZERO, contracts.of(ItemKind::Check), call.abi_encode().into()).await;
        let found = checks::checksOfCall::abi_decode_returns(&answer.unwrap()).unwrap();
        [found.attested, found.passMinCredit, found.passPrefCredit, found.passMinIncome, found.passPrefIncome]
    };
    let engine = fixture.engine_on(&fixture.db, contracts);
    follow_all(&engine, &fixture.db).await;
    assert_eq!(attested(engine.node()).await, [true; 5]);
    let blocks = engine.node().head().await.unwrap().number;
    fixture.wait(601).await;
    assert_eq!(attested(engine.node()).await, [false; 5]);
    if matches!(engine.node(), AnyNode::Embedded(_)) {
        assert_eq!(engine.node().head().await.unwrap().number, blocks, "no block was needed");
    }
    let record = reads::application(engine.node(), contracts, &[6; 32], &[7; 32]).await.unwrap();
    assert_eq!(record, (1, Some(flags)), "the record itself stays");
}

async fn flags_are_alone_and_hold_nothing_up(fixture: NodeFixture) {
    const FLAGS: u8 = 40;
    let contracts = fixture.deployed().await;
    let (engine, db, _kept) = fixture.engine(contracts);
    let flags = (1..=FLAGS).map(|applicant| check([applicant; 32], samples::flags(5)));
    let keys: Vec<Word> = flags.clone().map(|(key, _)| key).collect();
    let desired = flags.map(|(key, content)| content.desired(key, now()));
    db.write(PutItems(desired.collect())).await.unwrap();
    let anchor = Content::Anchor { head: [2; 32] }.desired([3; 32], now());
    db.write(PutItems(vec![anchor])).await.unwrap();
    follow_all(&engine, &db).await;
    let nonce_of = async |kind: ItemKind, key: &Word| {
        let hash = db.chain_item(kind, key).await.unwrap().unwrap().hash.unwrap();
        let attempt = db.chain_attempt(&hash).await.unwrap().unwrap();
        assert_eq!(attempt.items, 1);
        attempt.nonce
    };
    let mut nonces = BTreeSet::new();
    for key in &keys {
        nonces.insert(nonce_of(ItemKind::Check, key).await);
    }
    assert_eq!(nonces.len(), usize::from(FLAGS), "each has a transaction");
    let anchored = nonce_of(ItemKind::Anchor, &[3; 32]).await;
    assert!(anchored < *nonces.first().unwrap(), "what need not be alone goes first");
}

async fn flags_stay_alone_when_they_are_queued_again(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let (db, at) = (&fixture.db, now());
    let signer = Arc::new(fixture.signer(&fixture.key, contracts).await);
    let flags = [1, 2].map(|applicant| check([applicant; 32], samples::flags(5)));
    db.write(PutItems(flags.map(|(key, content)| content.desired(key, at)).to_vec())).await.unwrap();
    let take = TakeLease { address: fixture.key.address().0.0, seen: (0, 0), first_nonce: 4 };
    let row = db.write(take).await.unwrap().unwrap();
    let lease = Lease { signer: row.id, epoch: row.epoch };
    let seal = async || {
        let op = SealWaiting { lease, signer: signer.clone(), limit: 128, at };
        db.write(op).await.unwrap()
    };
    for status in [BatchStatus::Foreign, BatchStatus::Reverted] {
        let batches = [seal().await.unwrap(), seal().await.unwrap()];
        assert_eq!(seal().await, None);
        for batch in batches {
            assert_eq!(batch.items, 1);
            let mut carried = None;
            for (key, _) in &flags {
                let item = db.chain_item(ItemKind::Check, key).await.unwrap().unwrap();
                if item.hash == Some(batch.signed.hash) {
                    carried = Some(ItemVersion { kind: ItemKind::Check, key: *key, version: item.version });
                }
            }
            let update = BatchUpdate { lease, nonce: batch.nonce, status, block: None, mined: None };
            db.write(Requeue { batch: update, items: vec![carried.unwrap()], at }).await.unwrap();
        }
    }
    let sealed = [seal().await, seal().await, seal().await].map(|batch| batch.map(|batch| batch.items));
    assert_eq!(sealed, [Some(1), Some(1), None]);
}
