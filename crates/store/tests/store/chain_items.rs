//! What the chain did not take, or took differently, is written again.

use std::sync::Arc;

use portico_records::{DesiredItem, ItemKind};
use portico_store::chain::{
    BatchStatus, BatchUpdate, ItemStatus, ItemVersion, Lease, PutItems, PutItemsAgain, QueuedBatch,
    RejectItems, Requeue, RetryItems, SealWaiting, Sign, SignedBatch, SignedTransaction, StoredItem,
    TakeLease, VersionedItem, WaitingItems,
};

use crate::engines::Db;
use crate::samples::{NOW, entry};

on_both_engines! {
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
    let desired = |key: &u8| DesiredItem {
        kind: KIND,
        key: [*key; 32],
        payload: vec![*key],
        deleted: false,
        salt: None,
        above: 0,
        at: NOW,
    };
    db.write(PutItems(keys.iter().map(desired).collect())).await.unwrap();
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
