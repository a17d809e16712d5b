//! A database that was restored from an older copy, on a chain that has gone on.

use std::sync::Arc;

use alloy_primitives::Address;
use portico_chain::contracts::Contracts;
use portico_chain::deploy::DeployOptions;
use portico_chain::orphans::{self, Orphan};
use portico_chain::reads::{self, ListingRecord};
use portico_chain::reconcile::{ReconcileSummary, reconcile};
use portico_chain::writer::Engine;
use portico_chain::{AnyNode, Node as _, catch_up, retry, setup};
use portico_records::{Content, ItemKind, token_key};
use portico_store::Db;
use portico_store::chain::{ItemStatus, PutItems, Sign as _, VersionedItem, Word};

use crate::node_fixture::{NodeFixture, follow_all, now};
use crate::samples;

super::on_both_nodes! {
    restored_database_catches_up_with_the_chain,
    reused_id_is_written_above_the_chain,
    item_delivered_before_restore_succeeds,
    catching_up_twice_changes_nothing,
    records_that_the_database_lost_are_found_and_ended,
    version_that_cannot_be_followed_rejects_its_item_alone,
}

const FLAGS: Word = [6; 32];
const OTHER_FLAGS: Word = [7; 32];
const TOKEN: [u8; 16] = [9; 16];

fn token() -> Content {
    Content::Identity { holder: Address::repeat_byte(3), commitment: [4; 32] }
}

fn check(bits: u8) -> Content {
    Content::Check(samples::commitment(&FLAGS, bits))
}

fn listing(digest: Word) -> Content {
    Content::decode(ItemKind::Listing, &samples::payload(digest)).unwrap()
}

async fn put(db: &Db, items: &[(Word, Content)]) {
    let desired = items.iter().map(|(key, content)| content.desired(*key, now()));
    db.write(PutItems(desired.collect())).await.unwrap();
}

async fn digest_on_chain(node: &AnyNode, contracts: Contracts, id: &str) -> (u64, Option<Word>) {
    let ListingRecord { version, content } =
        reads::listing(node, contracts, &samples::key_of(id)).await.unwrap();
    (version, content.map(|(_, digest)| digest))
}

async fn is_clean(engine: &Engine<AnyNode>, db: &Db, contracts: Contracts) {
    let ReconcileSummary { in_flight, different, rejected, .. } =
        reconcile(engine.node(), db, contracts, None, |_| ()).await.unwrap();
    assert_eq!((in_flight, different.len(), rejected.len()), (0, 0, 0));
}

async fn restored_database_catches_up_with_the_chain(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let other_flags = samples::commitment(&OTHER_FLAGS, 7);
    let items = [
        (samples::key_of("oak"), listing([1; 32])),
        (samples::key_of("elm"), listing([2; 32])),
        (samples::key_of("ash"), listing([3; 32])),
        (token_key(&TOKEN), token()),
        (FLAGS, check(5)),
        (OTHER_FLAGS, Content::Check(other_flags)),
        ([8; 32], Content::Anchor { head: [1; 32] }),
    ];
    put(&fixture.db, &items).await;
    let engine = fixture.engine_on(&fixture.db, contracts);
    follow_all(&engine, &fixture.db).await;
    let restored = fixture.backup("restored").await;
    // What the copy does not know: an edit, a deletion, a revocation, flags that are cleared, others that changed, a
    // later anchor.
    let later = [
        (samples::key_of("oak"), listing([11; 32])),
        (samples::key_of("elm"), Content::RetiredListing),
        (token_key(&TOKEN), Content::RevokedIdentity),
        (FLAGS, Content::ClearedCheck),
        (OTHER_FLAGS, Content::Check(samples::flags(5).commit(&OTHER_FLAGS, &[1; 32]))),
        ([8; 32], Content::Anchor { head: [2; 32] }),
    ];
    put(&fixture.db, &later).await;
    follow_all(&engine, &fixture.db).await;
    drop(engine);

    let engine = fixture.engine_on(&restored, contracts);
    assert!(catch_up::is_behind(engine.node(), &restored).await.unwrap());
    follow_all(&engine, &restored).await;
    assert!(!catch_up::is_behind(engine.node(), &restored).await.unwrap());
    // The database decides about its listings.
    assert_eq!(digest_on_chain(engine.node(), contracts, "oak").await, (3, Some([1; 32])));
    assert_eq!(digest_on_chain(engine.node(), contracts, "elm").await, (3, Some([2; 32])));
    assert_eq!(digest_on_chain(engine.node(), contracts, "ash").await, (1, Some([3; 32])));
    // The chain decides about ends.
    let token = reads::identity(engine.node(), contracts, &token_key(&TOKEN)).await.unwrap();
    assert_eq!(token, (2, None), "a revoked token stays revoked");
    let flags = reads::application(engine.node(), contracts, &FLAGS).await.unwrap();
    assert_eq!(flags, (2, None), "cleared flags stay cleared");
    // The copy's commitment comes back as it is: only the copy has its salt.
    let (version, commitment) = reads::application(engine.node(), contracts, &OTHER_FLAGS).await.unwrap();
    assert_eq!((version, commitment), (3, Some(other_flags)));
    assert_eq!(commitment.unwrap().open(&OTHER_FLAGS, &samples::SALT), Some(samples::flags(7)));
    for (kind, key) in [(ItemKind::Identity, token_key(&TOKEN)), (ItemKind::Check, FLAGS)] {
        assert!(restored.chain_item(kind, &key).await.unwrap().unwrap().deleted);
    }
    // The next anchor is above the one that the chain has.
    put(&restored, &[([8; 32], Content::Anchor { head: [3; 32] })]).await;
    follow_all(&engine, &restored).await;
    assert_eq!(reads::anchor(engine.node(), contracts, &[8; 32]).await.unwrap(), Some((3, [3; 32])));
    is_clean(&engine, &restored, contracts).await;
}

async fn reused_id_is_written_above_the_chain(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let engine = fixture.engine_on(&fixture.db, contracts);
    put(&fixture.db, &[(samples::key_of("ash"), listing([3; 32]))]).await;
    follow_all(&engine, &fixture.db).await;
    let restored = fixture.backup("restored").await;
    for digest in 1..=3 {
        put(&fixture.db, &[(samples::key_of("oak"), listing([digest; 32]))]).await;
        follow_all(&engine, &fixture.db).await;
    }
    drop(engine);

    let engine = fixture.engine_on(&restored, contracts);
    follow_all(&engine, &restored).await;
    let record = samples::record("oak", [9; 32], now());
    let committed = engine.commit(Arc::new([record]), now()).await.unwrap();
    let delivered = engine.deliver_now(committed.nonce.unwrap(), now()).await.unwrap();
    assert_eq!(delivered, None, "a stale item is no success");
    follow_all(&engine, &restored).await;
    assert_eq!(digest_on_chain(engine.node(), contracts, "oak").await, (4, Some([9; 32])));
    let item = restored.chain_item(ItemKind::Listing, &samples::key_of("oak")).await.unwrap().unwrap();
    assert_eq!((item.version, item.status), (4, ItemStatus::Mined));
    is_clean(&engine, &restored, contracts).await;
}

async fn item_delivered_before_restore_succeeds(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let engine = fixture.engine_on(&fixture.db, contracts);
    put(&fixture.db, &[(samples::key_of("ash"), listing([3; 32]))]).await;
    follow_all(&engine, &fixture.db).await;
    put(&fixture.db, &[(samples::key_of("oak"), listing([1; 32]))]).await;
    // It waits in the copy, and is delivered by the original.
    let restored = fixture.backup("restored").await;
    follow_all(&engine, &fixture.db).await;
    drop(engine);

    let engine = fixture.engine_on(&restored, contracts);
    follow_all(&engine, &restored).await;
    assert_eq!(digest_on_chain(engine.node(), contracts, "oak").await, (1, Some([1; 32])));
    is_clean(&engine, &restored, contracts).await;
}

async fn catching_up_twice_changes_nothing(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let engine = fixture.engine_on(&fixture.db, contracts);
    put(&fixture.db, &[(samples::key_of("oak"), listing([1; 32])), (token_key(&TOKEN), token())]).await;
    follow_all(&engine, &fixture.db).await;
    let restored = fixture.backup("restored").await;
    let later = [(samples::key_of("oak"), listing([2; 32])), (token_key(&TOKEN), Content::RevokedIdentity)];
    put(&fixture.db, &later).await;
    follow_all(&engine, &fixture.db).await;

    let again = || catch_up::catch_up(engine.node(), &restored, contracts, now(), |_| ());
    let first = again().await.unwrap();
    assert_eq!((first.compared, first.raised, first.again, first.ended), (2, 0, 1, 1));
    let second = again().await.unwrap();
    assert!(second.is_unchanged(), "{second:?}");
}

async fn records_that_the_database_lost_are_found_and_ended(fixture: NodeFixture) {
    let keys = [fixture.key.clone(), fixture.stranger.clone()];
    let deployed = setup::establish(&fixture.node, &fixture.db, &keys, &fixture.options(true)).await;
    let contracts = deployed.unwrap().1;
    let engine = fixture.engine_on(&fixture.db, contracts);
    put(&fixture.db, &[(samples::key_of("ash"), listing([3; 32]))]).await;
    follow_all(&engine, &fixture.db).await;
    let restored = fixture.backup("restored").await;
    let lost = [
        (samples::key_of("oak"), listing([1; 32])),
        (token_key(&TOKEN), token()),
        (FLAGS, check(5)),
        ([8; 32], Content::Anchor { head: [1; 32] }),
        (samples::key_of("elm"), listing([2; 32])),
    ];
    put(&fixture.db, &lost).await;
    follow_all(&engine, &fixture.db).await;
    put(&fixture.db, &[(samples::key_of("elm"), Content::RetiredListing)]).await;
    follow_all(&engine, &fixture.db).await;
    drop(engine);
    // Another service uses the same contracts with a key of its own.
    let other = fixture.other_database().await;
    let options = DeployOptions { contracts: Some(contracts), ..fixture.options(false) };
    setup::establish(&fixture.node, &other, &keys, &options).await.unwrap();
    let stranger = fixture.engine_with(&other, contracts, &fixture.stranger);
    put(&other, &[(samples::key_of("fir"), listing([5; 32]))]).await;
    follow_all(&stranger, &other).await;

    let engine = fixture.engine_on(&restored, contracts);
    follow_all(&engine, &restored).await;
    let find = async || {
        let found = orphans::find(engine.node(), &restored, contracts, &[], |_, _| ()).await.unwrap();
        let told = |orphan: &Orphan| (orphan.kind, orphan.key, orphan.is_ours);
        (found.iter().map(told).collect::<Vec<_>>(), found)
    };
    let (told, found) = find().await;
    let mut listings = [(samples::key_of("oak"), true), (samples::key_of("fir"), false)];
    listings.sort_unstable();
    let mut expected: Vec<_> =
        listings.iter().map(|(key, is_ours)| (ItemKind::Listing, *key, *is_ours)).collect();
    let of_others = |kind, key| (kind, key, true);
    expected.push(of_others(ItemKind::Identity, token_key(&TOKEN)));
    expected.push(of_others(ItemKind::Check, FLAGS));
    expected.push(of_others(ItemKind::Anchor, [8; 32]));
    assert_eq!(told, expected, "what is retired is not among them");

    assert_eq!(orphans::end(&restored, &found, now()).await.unwrap(), 3);
    follow_all(&engine, &restored).await;
    assert_eq!(digest_on_chain(engine.node(), contracts, "oak").await, (2, None));
    assert_eq!(digest_on_chain(engine.node(), contracts, "fir").await, (1, Some([5; 32])));
    assert_eq!(reads::identity(engine.node(), contracts, &token_key(&TOKEN)).await.unwrap(), (2, None));
    let flags = reads::application(engine.node(), contracts, &FLAGS).await.unwrap();
    assert_eq!(flags, (2, None));
    let (told, _) = find().await;
    let stay = [(ItemKind::Listing, samples::key_of("fir"), false), (ItemKind::Anchor, [8; 32], true)];
    assert_eq!(told, stay, "an anchor has no end, and others' records are not ours");
    is_clean(&engine, &restored, contracts).await;
    // An id that was lost may be used again.
    put(&restored, &[(samples::key_of("oak"), listing([7; 32]))]).await;
    follow_all(&engine, &restored).await;
    assert_eq!(digest_on_chain(engine.node(), contracts, "oak").await, (3, Some([7; 32])));
}

async fn version_that_cannot_be_followed_rejects_its_item_alone(fixture: NodeFixture) {
    const FROZEN: Word = [8; 32];
    let contracts = fixture.deployed().await;
    let engine = fixture.engine_on(&fixture.db, contracts);
    let anchor = |head: u8| Content::Anchor { head: [head; 32] };
    let items = [(FROZEN, anchor(1)), ([9; 32], anchor(1)), (samples::key_of("oak"), listing([1; 32]))];
    put(&fixture.db, &items).await;
    follow_all(&engine, &fixture.db).await;
    let restored = fixture.backup("restored").await;
    put(&fixture.db, &[([9; 32], anchor(2)), (samples::key_of("oak"), listing([2; 32]))]).await;
    follow_all(&engine, &fixture.db).await;
    drop(engine);
    // By somebody who has stolen the key: the contract bounds no version of a log.
    let signer = fixture.signer(&fixture.key, contracts).await;
    let nonce = i64::try_from(fixture.node.nonce(fixture.key.address()).await.unwrap()).unwrap();
    let last = VersionedItem { key: FROZEN, version: (1 << 62) + 1, payload: anchor(7).encode() };
    let signed = signer.sign(nonce, ItemKind::Anchor, &[last]).unwrap();
    fixture.node.send(&signed.raw).await.unwrap();
    fixture.mined(signed.hash).await;

    let engine = fixture.engine_on(&restored, contracts);
    let done = catch_up::catch_up(engine.node(), &restored, contracts, now(), |_| ()).await.unwrap();
    assert_eq!((done.compared, done.raised, done.again, done.ended, done.rejected), (3, 1, 1, 0, 1));
    assert!(!done.is_unchanged());
    follow_all(&engine, &restored).await;
    let status = async |key: &Word| restored.chain_item(ItemKind::Anchor, key).await.unwrap().unwrap().status;
    assert_eq!(status(&FROZEN).await, ItemStatus::Rejected);
    assert_eq!(digest_on_chain(engine.node(), contracts, "oak").await, (3, Some([1; 32])));
    put(&restored, &[([9; 32], anchor(3))]).await;
    follow_all(&engine, &restored).await;
    // It is named, and not written again.
    for repair in [None, Some(now())] {
        let found = reconcile(engine.node(), &restored, contracts, repair, |_| ()).await.unwrap();
        assert_eq!((found.rejected, found.different), (vec![("AuditAnchor", FROZEN)], vec![]));
    }
    assert_eq!(retry::rejected(engine.node(), &restored, contracts).await.unwrap(), vec![]);
    // A later version of it holds nothing up either.
    put(&restored, &[(FROZEN, anchor(3)), ([9; 32], anchor(4))]).await;
    follow_all(&engine, &restored).await;
    assert_eq!((status(&FROZEN).await, status(&[9; 32]).await), (ItemStatus::Rejected, ItemStatus::Mined));
    assert_eq!(reads::anchor(engine.node(), contracts, &[9; 32]).await.unwrap(), Some((4, [4; 32])));
}
