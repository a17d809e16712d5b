//! What the chain did not take, or took differently, is written again.

use std::sync::Arc;

use portico_domain::Timestamp;
use portico_records::{DesiredItem, ItemKind};
use portico_store::chain::{
    BatchStatus, BatchUpdate, ItemStatus, ItemVersion, Lease, PutItems, PutItemsAgain, QueuedBatch,
    RejectItems, Requeue, RetireItems, RetryItems, SealWaiting, Sign, SignedBatch, SignedTransaction,
    StoredItem, TakeLease, VersionedItem, WaitingItems,
};

use crate::engines::Db;
use crate::samples::{NOW, entry, later};

on_both_engines! {
    items_of_one_moment_are_signed_in_the_order_of_their_keys,
    items_of_every_kind_share_a_batch,
    item_is_not_signed_before_it_is_due,
    item_without_a_due_time_is_signed_whatever_the_calendar_says,
    item_that_is_written_again_stays_due,
    item_is_written_again_above_the_chains_version,
    batch_that_was_undone_is_sent_as_a_whole,
    batch_that_reverted_is_sent_in_halves,
    queue_tells_what_waits_and_what_is_signed,
    rejected_item_is_queued_again_once,
}

pub(crate) const KIND: ItemKind = ItemKind::Anchor;

/// Signs nothing: the store keeps what it is given.
#[derive(Debug)]
pub(crate) struct Unsigned;

impl Sign for Unsigned {
    fn sign(&self, nonce: i64, _: ItemKind, _: &[VersionedItem]) -> portico_store::Result<SignedTransaction> {
        let nonce = u8::try_from(nonce).unwrap();
        Ok(SignedTransaction { hash: [nonce; 32], raw: vec![nonce], max_fee: 1, tip: 1 })
    }
}

pub(crate) async fn put(db: &Db, keys: &[u8]) {
    db.write(PutItems(keys.iter().map(|key| desired(KIND, *key, None)).collect())).await.unwrap();
}

async fn item(db: &Db, key: u8) -> StoredItem {
    db.chain_item(KIND, &[key; 32]).await.unwrap().unwrap()
}

pub(crate) fn first_version(key: u8) -> ItemVersion {
    ItemVersion { kind: KIND, key: [key; 32], version: 1 }
}

pub(crate) async fn lease(db: &Db) -> Lease {
    let take = TakeLease { address: [8; 20], seen: (0, 0), first_nonce: 0 };
    let row = db.write(take).await.unwrap().unwrap();
    Lease { signer: row.id, epoch: row.epoch }
}

async fn seal(db: &Db, lease: Lease) -> SignedBatch {
    let seal = SealWaiting { lease, signer: Arc::new(Unsigned), limit: 100, at: NOW };
    db.write(seal).await.unwrap().unwrap()
}

/// The keys become the transaction.
#[derive(Debug)]
struct Keys;

impl Sign for Keys {
    fn sign(
        &self,
        nonce: i64,
        kind: ItemKind,
        items: &[VersionedItem],
    ) -> portico_store::Result<SignedTransaction> {
        let signed = Unsigned.sign(nonce, kind, items)?;
        Ok(SignedTransaction { raw: items.iter().map(|item| item.key[0]).collect(), ..signed })
    }
}

/// The keys of the next batch.
async fn sealed_at(db: &Db, lease: Lease, at: Timestamp, limit: i64) -> Option<Vec<u8>> {
    let seal = SealWaiting { lease, signer: Arc::new(Keys), limit, at };
    db.write(seal).await.unwrap().map(|batch| batch.signed.raw)
}

fn desired(kind: ItemKind, key: u8, due_at: Option<Timestamp>) -> DesiredItem {
    DesiredItem {
        kind,
        key: [key; 32],
        payload: vec![key],
        deleted: false,
        salt: None,
        above: 0,
        at: due_at.unwrap_or(NOW),
        due_at,
    }
}

async fn items_of_one_moment_are_signed_in_the_order_of_their_keys(db: Db) {
    let lease = lease(&db).await;
    put(&db, &[5, 3, 9, 1, 7]).await;
    assert_eq!(sealed_at(&db, lease, NOW, 3).await.unwrap(), [1, 3, 5]);
    let early = DesiredItem { at: later(-1), ..desired(KIND, 8, None) };
    db.write(PutItems(vec![early])).await.unwrap();
    assert_eq!(sealed_at(&db, lease, NOW, 3).await.unwrap(), [8, 7, 9], "the oldest first");
}

async fn items_of_every_kind_share_a_batch(db: Db) {
    let lease = lease(&db).await;
    for kind in ItemKind::ALL {
        db.write(PutItems([3, 1, 2].map(|key| desired(kind, key, None)).to_vec())).await.unwrap();
    }
    for _ in ItemKind::ALL {
        assert_eq!(sealed_at(&db, lease, NOW, 100).await.unwrap(), [1, 2, 3]);
    }
    assert_eq!(sealed_at(&db, lease, NOW, 100).await, None);
}

async fn item_is_not_signed_before_it_is_due(db: Db) {
    let lease = lease(&db).await;
    let due = |key: u8, micros: i64| desired(ItemKind::Check, key, Some(later(micros)));
    db.write(PutItems(vec![due(2, 60), due(3, 61), due(1, 60)])).await.unwrap();
    assert_eq!(sealed_at(&db, lease, later(59), 100).await, None);
    put(&db, &[9]).await;
    assert_eq!(sealed_at(&db, lease, later(59), 100).await.unwrap(), [9], "others do not wait for it");
    assert_eq!(sealed_at(&db, lease, later(60), 100).await.unwrap(), [1, 2], "at that moment it is");
    assert_eq!(sealed_at(&db, lease, later(60), 100).await, None);
    assert_eq!(sealed_at(&db, lease, later(61), 100).await.unwrap(), [3]);
}

async fn item_without_a_due_time_is_signed_whatever_the_calendar_says(db: Db) {
    let lease = lease(&db).await;
    // A sandbox has moved its calendar ahead; the machine's clock is where it was.
    let ahead = DesiredItem { at: later(1_000_000_000), ..desired(KIND, 1, None) };
    db.write(PutItems(vec![ahead])).await.unwrap();
    assert_eq!(sealed_at(&db, lease, NOW, 100).await.unwrap(), [1]);
}

async fn item_that_is_written_again_stays_due(db: Db) {
    let lease = lease(&db).await;
    let due = |micros: i64| desired(ItemKind::Check, 1, Some(later(micros)));
    db.write(PutItems(vec![due(60)])).await.unwrap();
    let seen = ItemVersion { kind: ItemKind::Check, ..first_version(1) };
    db.write(PutItemsAgain { items: vec![(seen, 5)], at: later(10) }).await.unwrap();
    assert_eq!(sealed_at(&db, lease, later(59), 100).await, None);
    // What replaces it is due when it says.
    db.write(PutItems(vec![due(120)])).await.unwrap();
    assert_eq!(sealed_at(&db, lease, later(119), 100).await, None);
    let cleared = DesiredItem { deleted: true, payload: vec![], ..due(180) };
    db.write(RetireItems(vec![cleared])).await.unwrap();
    assert_eq!(sealed_at(&db, lease, later(179), 100).await, None);
    assert_eq!(sealed_at(&db, lease, later(180), 100).await.unwrap(), [1]);
}

async fn item_is_written_again_above_the_chains_version(db: Db) {
    put(&db, &[1, 2]).await;
    let changed = ItemVersion { version: 7, ..first_version(2) };
    db.write(PutItemsAgain { items: vec![(first_version(1), 41), (changed, 41)], at: NOW }).await.unwrap();
    assert_eq!((item(&db, 1).await.version, item(&db, 1).await.status), (42, ItemStatus::Waiting));
    assert_eq!(item(&db, 2).await.version, 1, "it is not the version that was read");
}

async fn batch_that_was_undone_is_sent_as_a_whole(db: Db) {
    put(&db, &[1, 2]).await;
    let lease = lease(&db).await;
    let batch = seal(&db, lease).await;
    assert_eq!((batch.items, item(&db, 1).await.status), (2, ItemStatus::Signed));
    requeue(&db, lease, &batch, BatchStatus::Foreign).await;
    assert_eq!(item(&db, 1).await.status, ItemStatus::Waiting);
    assert_eq!(seal(&db, lease).await.items, 2);
}

async fn batch_that_reverted_is_sent_in_halves(db: Db) {
    put(&db, &[1, 2]).await;
    let lease = lease(&db).await;
    let batch = seal(&db, lease).await;
    requeue(&db, lease, &batch, BatchStatus::Reverted).await;
    assert_eq!((seal(&db, lease).await.items, seal(&db, lease).await.items), (1, 1));
}

async fn requeue(db: &Db, lease: Lease, batch: &SignedBatch, status: BatchStatus) {
    let update = BatchUpdate { lease, nonce: batch.nonce, status, block: None, mined: None };
    let items = vec![first_version(1), first_version(2)];
    db.write(Requeue { batch: update, items, at: NOW }).await.unwrap();
}

async fn queue_tells_what_waits_and_what_is_signed(db: Db) {
    put(&db, &[1, 2]).await;
    let waiting = db.waiting_items().await.unwrap();
    assert_eq!(waiting, [WaitingItems { kind: KIND, items: 2, since: NOW }]);
    assert_eq!(db.queued_batches(10).await.unwrap(), []);
    let lease = lease(&db).await;
    let batch = seal(&db, lease).await;
    put(&db, &[3]).await;
    seal(&db, lease).await;
    assert_eq!(db.waiting_items().await.unwrap(), []);
    let signed = db.queued_batches(10).await.unwrap();
    let expected = QueuedBatch {
        signer: [8; 20],
        nonce: batch.nonce,
        kind: Some(KIND),
        items: 2,
        status: BatchStatus::Signed,
        block: None,
        hash: Some(batch.signed.hash),
        attempts: 1,
        since: Some(NOW),
    };
    assert_eq!(signed[0], expected);
    assert_eq!((signed.len(), signed[1].items), (2, 1));
    assert_eq!(db.queued_batches(1).await.unwrap(), [expected]);
}

async fn rejected_item_is_queued_again_once(db: Db) {
    put(&db, &[1, 2, 3]).await;
    let rejected = RejectItems { items: vec![first_version(1), first_version(2)], at: NOW };
    db.write(rejected).await.unwrap();
    let rejected = db.rejected_items(10).await.unwrap();
    let mut keys: Vec<u8> = rejected.iter().map(|rejected| rejected.item.key[0]).collect();
    keys.sort_unstable();
    assert_eq!(keys, [1, 2]);
    assert_eq!((rejected[0].item.version, rejected[0].deleted, rejected[0].since), (1, false, NOW));
    assert_eq!(db.rejected_items(1).await.unwrap().len(), 1);
    let before = db.audit_head().await.unwrap().seq;
    let retry = |items| RetryItems { items, entry: entry("chain.retried", "rejected items") };
    // The third was not rejected.
    let items = vec![(first_version(1), 41), (first_version(3), 41)];
    assert_eq!(db.write(retry(items.clone())).await.unwrap(), 1);
    assert_eq!((item(&db, 1).await.version, item(&db, 1).await.status), (42, ItemStatus::Waiting));
    assert_eq!((item(&db, 3).await.version, item(&db, 2).await.status), (1, ItemStatus::Rejected));
    assert_eq!(db.write(retry(items)).await.unwrap(), 0, "it was queued already");
    let entries = db.audit_after(before, 10).await.unwrap();
    assert_eq!(entries.len(), 1, "nothing to do is not on record");
    assert_eq!((&*entries[0].action, &*entries[0].detail), ("chain.retried", "1 items"));
}
