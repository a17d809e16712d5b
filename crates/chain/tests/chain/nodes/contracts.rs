//! The contracts through the writer's engine and through the reads, on every node.

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{Address, B256, TxKind};
use alloy_sol_types::SolCall as _;
use portico_chain::contracts::{Contracts, calldata, items_in_call, rejected};
use portico_chain::node::{Receipt, Sent};
use portico_chain::reads::{self, ListingRecord};
use portico_chain::reconcile::reconcile;
use portico_chain::signer::gas;
use portico_chain::{Error, Node as _, setup};
use portico_records::{Commitment, Content, ItemKind};
use portico_store::chain::{ItemStatus, ItemVersion, PutItems, Sign as _, VersionedItem, Word};
use portico_store::{ChangeContext, DeleteListing};

use crate::node_fixture::{NodeFixture, follow_all, now, until};
use crate::samples;

super::on_both_nodes! {
    listing_is_recorded_retired_and_recorded_again,
    every_kind_of_item_is_recorded_and_read_back,
    differences_are_found_and_repaired,
    commitment_is_written_again_unchanged,
    first_version_that_is_too_far_is_rejected,
    rejected_item_fails_alone,
    three_reverts_stop_signing_until_calls_succeed,
    an_older_version_changes_nothing,
    listing_in_a_batch_of_64_costs_at_most_55_000_gas,
    largest_batch_of_every_kind_has_enough_gas,
}

async fn call(
    fixture: &NodeFixture,
    contracts: Contracts,
    kind: ItemKind,
    items: &[VersionedItem],
) -> Receipt {
    let signer = fixture.signer(&fixture.key, contracts).await;
    let nonce = i64::try_from(fixture.node.nonce(fixture.key.address()).await.unwrap()).unwrap();
    let signed = signer.sign(nonce, kind, items).unwrap();
    assert_eq!(fixture.node.send(&signed.raw).await.unwrap(), Sent::Accepted);
    fixture.mined(signed.hash).await
}

fn listing(id: &str, version: i64, digest: Word) -> VersionedItem {
    VersionedItem { key: samples::key_of(id), version, payload: samples::payload(digest) }
}

async fn listing_is_recorded_retired_and_recorded_again(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let (engine, db, _kept) = fixture.engine(contracts);
    let key = samples::key_of("oak");
    let on_chain = || async { reads::listing(engine.node(), contracts, &key).await.unwrap() };
    assert_eq!(on_chain().await, ListingRecord { version: 0, content: None });
    assert!(engine.hold(now()).await.unwrap());

    let committed = engine.commit(Arc::new([samples::record("oak", [1; 32], now())]), now()).await.unwrap();
    let accepted = committed.answers[0].as_ref().unwrap();
    let delivered = engine.deliver_now(committed.nonce.unwrap(), now()).await.unwrap();
    engine.note_delivered(delivered.into_iter().collect()).await.unwrap();
    follow_all(&engine, &db).await;
    let terms = samples::terms(620, 4_000_050);
    assert_eq!(on_chain().await, ListingRecord { version: 1, content: Some((terms, [1; 32])) });
    let item = db.chain_item(ItemKind::Listing, &key).await.unwrap().unwrap();
    assert_eq!((item.status, item.hash), (ItemStatus::Mined, Some(accepted.hash)));

    let (oak, by) = (samples::listing("oak"), ChangeContext { account: None, at: now() });
    db.write(DeleteListing { id: oak.id, owner: oak.user, by }).await.unwrap();
    follow_all(&engine, &db).await;
    assert_eq!(on_chain().await, ListingRecord { version: 2, content: None });

    let committed = engine.commit(Arc::new([samples::record("oak", [2; 32], now())]), now()).await.unwrap();
    engine.deliver_now(committed.nonce.unwrap(), now()).await.unwrap();
    follow_all(&engine, &db).await;
    assert_eq!(on_chain().await, ListingRecord { version: 3, content: Some((terms, [2; 32])) });
}

fn one_of_each() -> Vec<(Word, Content)> {
    let (listing, application) = ([6; 32], [7; 32]);
    let mut token = [0; 32];
    token[31] = 9;
    vec![
        (listing, Content::Listing { terms: samples::terms(700, 9_000_000), digest: [8; 32] }),
        (token, Content::Identity { holder: Address::repeat_byte(4), commitment: [5; 32] }),
        (application, Content::Check(samples::commitment(&application, 0b0111))),
        ([3; 32], Content::Anchor { head: [2; 32] }),
    ]
}

/// The same items, deleted where possible.
fn deleted() -> Vec<(Word, Content)> {
    let one = |(key, content): (Word, Content)| match content {
        Content::Listing { .. } => (key, Content::RetiredListing),
        Content::Identity { .. } => (key, Content::RevokedIdentity),
        Content::Check(_) => (key, Content::ClearedCheck),
        other => (key, other),
    };
    one_of_each().into_iter().map(one).collect()
}

#[test]
fn call_decodes_to_its_items() {
    for (key, content) in one_of_each().into_iter().chain(deleted()) {
        let (kind, version) = (content.kind(), 3);
        let item = VersionedItem { key, version, payload: content.encode() };
        let data = calldata(kind, &[item]).unwrap();
        assert_eq!(items_in_call(kind, &data).unwrap(), [ItemVersion { kind, key, version }]);
    }
}

async fn every_kind_of_item_is_recorded_and_read_back(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let (engine, db, _kept) = fixture.engine(contracts);
    for items in [one_of_each(), deleted()] {
        let desired = items.into_iter().map(|(key, content)| content.desired(key, now()));
        db.write(PutItems(desired.collect())).await.unwrap();
        follow_all(&engine, &db).await;
        let backlog = db.chain_backlog().await.unwrap();
        assert_eq!((backlog.waiting, backlog.signed, backlog.rejected), (0, 0, 0));
        let found = reconcile(engine.node(), &db, contracts, None, |_| ()).await.unwrap();
        assert_eq!((found.compared, found.in_flight, found.different), (4, 0, vec![]));
    }
    let cleared = reads::application(engine.node(), contracts, &[7; 32]).await.unwrap();
    assert_eq!(cleared, (2, None));
    let unknown = reads::application(engine.node(), contracts, &[8; 32]).await.unwrap();
    assert_eq!(unknown, (0, None));
}

async fn differences_are_found_and_repaired(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let signer = fixture.signer(&fixture.key, contracts).await;
    let (engine, db, _kept) = fixture.engine(contracts);
    let desired = one_of_each().into_iter().map(|(key, content)| content.desired(key, now()));
    db.write(PutItems(desired.collect())).await.unwrap();
    follow_all(&engine, &db).await;
    // Another process with the same key bypasses this database.
    let nonce = i64::try_from(engine.node().nonce(signer.key.address()).await.unwrap()).unwrap();
    let item = VersionedItem { key: [6; 32], version: 7, payload: samples::payload([9; 32]) };
    let signed = signer.sign(nonce, ItemKind::Listing, &[item]).unwrap();
    assert_eq!(engine.node().send(&signed.raw).await.unwrap(), Sent::Accepted);
    let mined = || async { engine.node().receipt(signed.hash.into()).await.unwrap().is_some() };
    until("it is mined", Duration::from_secs(10), mined).await;

    let look = |repair| reconcile(engine.node(), &db, contracts, repair, |_| ());
    let found = look(None).await.unwrap();
    assert_eq!(found.different, [("ListingRegistry", [6; 32])]);
    assert_eq!(look(Some(now())).await.unwrap().different, found.different);
    follow_all(&engine, &db).await;
    let mended = look(None).await.unwrap();
    assert_eq!((mended.compared, mended.different), (4, vec![]));
    let record = reads::listing(engine.node(), contracts, &[6; 32]).await.unwrap();
    assert_eq!((record.version, record.content.unwrap().1), (8, [8; 32]));
}

async fn commitment_is_written_again_unchanged(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let key = [7; 32];
    let original = samples::commitment(&key, 5);
    let desired = Content::Check(original).desired(key, now());
    fixture.db.write(PutItems(vec![desired])).await.unwrap();
    let engine = fixture.engine_on(&fixture.db, contracts);
    follow_all(&engine, &fixture.db).await;
    let foreign = Content::Check(samples::flags(15).commit(&key, &[1; 32])).encode();
    call(&fixture, contracts, ItemKind::Check, &[VersionedItem { key, version: 3, payload: foreign }]).await;

    let found = reconcile(engine.node(), &fixture.db, contracts, Some(now()), |_| ()).await.unwrap();
    assert_eq!(found.different, [("ApplicationChecks", key)]);
    follow_all(&engine, &fixture.db).await;
    let (version, commitment) = reads::application(engine.node(), contracts, &key).await.unwrap();
    assert_eq!((version, commitment), (4, Some(original)));
    assert_eq!(commitment.unwrap().open(&key, &samples::SALT), Some(samples::flags(5)));
    let again = reconcile(engine.node(), &fixture.db, contracts, None, |_| ()).await.unwrap();
    assert_eq!((again.compared, again.different), (1, vec![]));
}

async fn first_version_that_is_too_far_is_rejected(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    for (kind, content) in one_of_each().into_iter().map(|(_, content)| (content.kind(), content)) {
        let item = |key: u8, version| {
            let mut word = [0; 32];
            word[31] = key;
            VersionedItem { key: word, version, payload: content.encode() }
        };
        let receipt = call(&fixture, contracts, kind, &[item(1, 1 << 20), item(2, (1 << 20) + 1)]).await;
        let refused: Vec<u8> = receipt
            .logs
            .iter()
            .filter_map(|log| rejected(kind, &log.topics, &log.data))
            .map(|refused| refused.key[31])
            .collect();
        // A log may grow by any number of entries.
        let expected: &[u8] = if kind == ItemKind::Anchor { &[] } else { &[2] };
        assert_eq!(refused, expected, "{}", kind.contract());
    }
}

async fn rejected_item_fails_alone(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let receipt = call(
        &fixture,
        contracts,
        ItemKind::Listing,
        &[listing("a", 1, [1; 32]), listing("b", 1, [0; 32]), listing("c", 1, [3; 32])],
    )
    .await;
    assert!(receipt.success);
    let refused: Vec<ItemVersion> =
        receipt.logs.iter().filter_map(|log| rejected(ItemKind::Listing, &log.topics, &log.data)).collect();
    let drawn = ItemVersion { kind: ItemKind::Listing, key: samples::key_of("b"), version: 1 };
    assert_eq!(refused, [drawn], "a listing without a digest");

    // The same through the writer: the other items are recorded, this one fails.
    let (engine, db, _kept) = fixture.engine(contracts);
    let records: Vec<_> = [("d", [1; 32]), ("e", [0; 32]), ("f", [3; 32])]
        .map(|(id, digest)| samples::record(id, digest, now()))
        .into();
    engine.follow(now()).await.unwrap();
    let committed = engine.commit(records.into(), now()).await.unwrap();
    let update = engine.deliver_now(committed.nonce.unwrap(), now()).await.unwrap();
    assert_eq!(update, None, "what is unusual is left to the task that follows");
    follow_all(&engine, &db).await;
    for (id, status) in [("d", ItemStatus::Mined), ("e", ItemStatus::Rejected), ("f", ItemStatus::Mined)] {
        let item = db.chain_item(ItemKind::Listing, &samples::key_of(id)).await.unwrap().unwrap();
        assert_eq!(item.status, status, "{id}");
    }
    assert_eq!(db.chain_backlog().await.unwrap().rejected, 1);

    // It is reported, and written again on request.
    let look = |repair| reconcile(engine.node(), &db, contracts, repair, |_| ());
    let found = look(None).await.unwrap();
    assert_eq!((found.compared, found.in_flight, &found.different[..]), (3, 0, &[][..]));
    assert_eq!(found.rejected, [("ListingRegistry", samples::key_of("e"))]);
    assert_eq!(look(Some(now())).await.unwrap(), found);
    follow_all(&engine, &db).await;
    let item = db.chain_item(ItemKind::Listing, &samples::key_of("e")).await.unwrap().unwrap();
    assert_eq!((item.version, item.status), (2, ItemStatus::Rejected));
    assert_eq!(db.chain_backlog().await.unwrap().rejected, 1, "it is one item, however often it was refused");
}

async fn three_reverts_stop_signing_until_calls_succeed(fixture: NodeFixture) {
    alloy_sol_types::sol! {
        function grantRole(bytes32 role, address account);
    }
    // The contracts belong to somebody else who has not granted the role.
    let owner = fixture.stranger.clone();
    let options = fixture.options(true);
    let contracts =
        setup::establish(&fixture.node, &fixture.db, std::slice::from_ref(&owner), &options).await.unwrap().1;
    let (signer, account) = (fixture.signer(&owner, contracts).await, fixture.key.address());
    let (engine, db, _kept) = fixture.engine(contracts);
    engine.follow(now()).await.unwrap();
    for id in ["a", "b"] {
        engine.commit(Arc::new([samples::record(id, [1; 32], now())]), now()).await.unwrap();
    }
    until("it has stopped", Duration::from_secs(20), || async {
        engine.follow(now()).await.unwrap();
        engine.status().stopped
    })
    .await;
    let late = || async { engine.commit(Arc::new([samples::record("late", [1; 32], now())]), now()).await };
    assert!(matches!(late().await, Err(Error::Stopped(_))));
    let used = engine.status().next_nonce;
    engine.follow(now()).await.unwrap();
    assert_eq!((engine.status().stopped, engine.status().next_nonce), (true, used));

    let role = alloy_primitives::keccak256("RECORDER_ROLE");
    for contract in contracts.0 {
        let nonce = engine.node().nonce(owner.address()).await.unwrap();
        let input = grantRoleCall { role, account }.abi_encode().into();
        let signed = owner.sign(signer.transaction(nonce, TxKind::Call(contract), 100_000, input));
        assert_eq!(engine.node().send(&signed.raw).await.unwrap(), Sent::Accepted);
        until("the role is granted", Duration::from_secs(10), || async {
            engine.node().receipt(signed.hash.into()).await.unwrap().is_some_and(|receipt| receipt.success)
        })
        .await;
    }
    engine.follow(now()).await.unwrap();
    assert!(!engine.status().stopped);
    late().await.unwrap();
    follow_all(&engine, &db).await;
    let item = db.chain_item(ItemKind::Listing, &samples::key_of("late")).await.unwrap().unwrap();
    assert_eq!(item.status, ItemStatus::Mined);
}

async fn an_older_version_changes_nothing(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let newer = call(&fixture, contracts, ItemKind::Listing, &[listing("a", 2, [2; 32])]).await;
    for (version, digest) in [(1, [1; 32]), (2, [3; 32])] {
        let late = call(&fixture, contracts, ItemKind::Listing, &[listing("a", version, digest)]).await;
        assert!(late.success && late.logs.len() == 1);
        assert_ne!(late.logs[0].topics[0], newer.logs[0].topics[0], "it says that it is stale");
        assert_eq!(late.logs[0].topics[1], B256::from(samples::key_of("a")));
        assert!(rejected(ItemKind::Listing, &late.logs[0].topics, &late.logs[0].data).is_none());
    }
    let record = reads::listing(&fixture.node, contracts, &samples::key_of("a")).await.unwrap();
    assert_eq!((record.version, record.content.unwrap().1), (2, [2; 32]));
}

async fn listing_in_a_batch_of_64_costs_at_most_55_000_gas(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let items: Vec<_> = (0..64).map(|n: u8| listing(&format!("listing-{n}"), 1, [n + 1; 32])).collect();
    let receipt = call(&fixture, contracts, ItemKind::Listing, &items).await;
    assert!(receipt.success);
    let each = receipt.gas_used / 64;
    println!("{each} gas for each of 64 listings");
    assert!(each <= 55_000, "{each} gas");
}

/// Nonzero bytes cost most.
fn expensive(kind: ItemKind, n: u16) -> VersionedItem {
    let word = |first: u8| -> Word {
        let mut word = [first; 32];
        word[..2].copy_from_slice(&(n + 257).to_be_bytes());
        word
    };
    let (key, content) = match kind {
        ItemKind::Listing => {
            (word(0xA3), Content::Listing { terms: samples::terms(900, i64::MAX / 2), digest: word(0xA4) })
        }
        ItemKind::Identity => {
            let mut token = [0; 32];
            token[16..].copy_from_slice(&word(0xA5)[..16]);
            (
                token,
                Content::Identity { holder: Address::from_slice(&word(0xA6)[..20]), commitment: word(0xA7) },
            )
        }
        ItemKind::Check => {
            let hash = word(0xA1)[..20].try_into().unwrap();
            (word(0xA2), Content::Check(Commitment { hash, expiry_day: u32::MAX }))
        }
        ItemKind::Anchor => (word(0xA8), Content::Anchor { head: word(0xA9) }),
    };
    // The contracts take no greater first version.
    VersionedItem { key, version: (1 << 20) - 1, payload: content.encode() }
}

async fn largest_batch_of_every_kind_has_enough_gas(fixture: NodeFixture) {
    /// The gas cap of a transaction on newer networks (EIP-7825).
    const CAP: u64 = 1 << 24;
    let contracts = fixture.deployed().await;
    for (kind, largest) in
        [(ItemKind::Listing, 256), (ItemKind::Identity, 128), (ItemKind::Check, 128), (ItemKind::Anchor, 128)]
    {
        for size in [1, largest] {
            let first = size; // so that no item comes twice
            let items: Vec<_> = (0..size).map(|n| expensive(kind, first + n)).collect();
            let limit = gas(kind, items.len());
            assert!(limit <= CAP, "{}: {limit}", kind.contract());
            let receipt = call(&fixture, contracts, kind, &items).await;
            println!("{} x {size}: {} of {limit} gas", kind.contract(), receipt.gas_used);
            assert!(receipt.success, "{} x {size}: {} of {limit} gas", kind.contract(), receipt.gas_used);
            let refused = receipt.logs.iter().filter_map(|log| rejected(kind, &log.topics, &log.data));
            assert_eq!(refused.count(), 0, "all of them are recorded");
        }
    }
    // An empty call costs nothing per item.
    let empty = calldata(ItemKind::Anchor, &[]).unwrap();
    assert!(fixture.node.call(fixture.key.address(), contracts.of(ItemKind::Anchor), empty).await.is_ok());
}
