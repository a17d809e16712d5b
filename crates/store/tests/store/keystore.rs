//! The keystore: one rotation wins, and no key is wrapped by a master key that does not exist.

use portico_domain::Timestamp;
use portico_store::Error;
use portico_store::keystore::{Keystore, Master, Moved, PersonId, Rotation, Wrapped};

use crate::engines::Db;
use crate::samples::NOW;

on_both_engines! {
    a_keystore_keeps_its_id,
    master_keys_have_a_strict_order,
    no_key_is_wrapped_by_a_removed_master_key,
    a_rotation_that_began_earlier_is_superseded,
    a_rotation_is_not_finished_while_keys_are_left,
    erasures_are_found_by_name,
    a_keystore_is_not_moved_to_an_older_copy,
    a_move_goes_on_after_its_target_was_used,
}

async fn open(db: &Db) -> Keystore {
    let place = db.fresh_place().await;
    assert!(!Keystore::exists(&place.location).await.unwrap());
    Keystore::open(&place.location).await.unwrap()
}

fn master(id: u8, created_at: Timestamp) -> Vec<Master> {
    vec![Master { id: vec![id], root: vec![0], wrapped: vec![id; 9], created_at }]
}

fn key(name: &str, master: u8) -> Wrapped {
    let id = PersonId([name.as_bytes()[0]; 16]);
    Wrapped { id, name: name.into(), master: vec![master], wrapped: vec![master; 5] }
}

async fn masters(keys: &Keystore) -> Vec<u8> {
    keys.masters().await.unwrap().into_iter().flat_map(|master| master.id).collect()
}

async fn a_keystore_keeps_its_id(db: Db) {
    let place = db.fresh_place().await;
    let first = Keystore::open(&place.location).await.unwrap().id().await.unwrap();
    assert_eq!(first.len(), 32);
    assert!(Keystore::exists(&place.location).await.unwrap());
    assert_eq!(Keystore::open(&place.location).await.unwrap().id().await.unwrap(), first);
    assert_ne!(open(&db).await.id().await.unwrap(), first);
}

async fn master_keys_have_a_strict_order(db: Db) {
    let keys = open(&db).await;
    for (id, at) in [(9, NOW), (3, NOW), (5, NOW.minus_seconds(60)), (1, NOW)] {
        keys.add_master(master(id, at)).await.unwrap();
    }
    assert_eq!(masters(&keys).await, [9, 3, 5, 1]);
}

async fn no_key_is_wrapped_by_a_removed_master_key(db: Db) {
    let keys = open(&db).await;
    keys.add_master(master(1, NOW)).await.unwrap();
    assert!(keys.add(key("ann", 1)).await.unwrap());
    assert!(!keys.rewrap(&[2], vec![(key("ann", 1), key("ann", 2))]).await.unwrap());
    assert!(!keys.add(key("bob", 2)).await.unwrap());
    assert_eq!(keys.key("ann").await.unwrap(), Some(key("ann", 1)));
    keys.add_master(master(2, NOW)).await.unwrap();
    assert!(keys.rewrap(&[2], vec![(key("ann", 1), key("ann", 2))]).await.unwrap());
    assert_eq!(keys.key("ann").await.unwrap(), Some(key("ann", 2)));
}

async fn a_rotation_that_began_earlier_is_superseded(db: Db) {
    let keys = open(&db).await;
    for id in [1, 2, 3] {
        keys.add_master(master(id, NOW)).await.unwrap();
    }
    keys.add(key("ann", 1)).await.unwrap();
    keys.add(key("bob", 2)).await.unwrap();
    // The rotation to key 2 only handles older master keys.
    assert_eq!(keys.keys_under_older(&[2], "", 9).await.unwrap(), [key("ann", 1)]);
    assert_eq!(keys.finish_rotation(&[2]).await.unwrap(), Rotation::Superseded);
    assert_eq!(masters(&keys).await, [1, 2, 3]);
    let older = keys.keys_under_older(&[3], "", 9).await.unwrap();
    assert_eq!(older, [key("ann", 1), key("bob", 2)]);
    let changes = older.into_iter().map(|old| (old.clone(), key(&old.name, 3))).collect();
    assert!(keys.rewrap(&[3], changes).await.unwrap());
    assert_eq!(keys.finish_rotation(&[3]).await.unwrap(), Rotation::Done);
    assert_eq!(masters(&keys).await, [3]);
    assert_eq!(keys.finish_rotation(&[2]).await.unwrap(), Rotation::Superseded);
}

async fn a_rotation_is_not_finished_while_keys_are_left(db: Db) {
    let keys = open(&db).await;
    keys.add_master(master(1, NOW)).await.unwrap();
    keys.add_master(master(2, NOW)).await.unwrap();
    keys.add(key("ann", 1)).await.unwrap();
    assert_eq!(keys.finish_rotation(&[2]).await.unwrap(), Rotation::KeysLeft);
    assert_eq!(masters(&keys).await, [1, 2]);
}

async fn erasures_are_found_by_name(db: Db) {
    let keys = open(&db).await;
    keys.add_master(master(1, NOW)).await.unwrap();
    keys.add(key("user ann", 1)).await.unwrap();
    let (first, destroyed) = keys.erase("user ann", NOW).await.unwrap();
    assert_eq!(destroyed, Some(key("user ann", 1)));
    let (second, destroyed) = keys.erase("user ann", NOW).await.unwrap();
    assert!(second > first && destroyed.is_none());
    keys.erase("user bob", NOW).await.unwrap();
    let found: Vec<i64> = keys.erasures_of("user ann").await.unwrap().iter().map(|e| e.seq).collect();
    assert_eq!(found, [first, second]);
}

async fn is_refused(keys: &Keystore, target: &Keystore) -> bool {
    match keys.copy_to(target).await {
        Err(Error::Unavailable(why)) => why.contains("an older copy of this keystore is there"),
        other => panic!("{other:?}"),
    }
}

/// Somebody's key, in two places that are used alike.
async fn two_copies(db: &Db) -> [Keystore; 2] {
    let (first, copies) = (open(db).await, [open(db).await, open(db).await]);
    first.add_master(master(1, NOW)).await.unwrap();
    first.add(key("ann", 1)).await.unwrap();
    first.erase("bob", NOW).await.unwrap();
    for copy in &copies {
        assert_eq!(first.copy_to(copy).await.unwrap(), Moved::Copied(1));
    }
    copies
}

async fn a_keystore_is_not_moved_to_an_older_copy(db: Db) {
    let [keys, copy] = two_copies(&db).await;
    assert!(is_refused(&keys, &copy).await, "nobody has begun to move it");
    keys.erase("ann", NOW).await.unwrap();
    assert!(is_refused(&keys, &copy).await);
    assert!(!keys.is_moving().await.unwrap());
    keys.add(key("bob", 1)).await.unwrap();
    // Another move of it was interrupted.
    assert_eq!(keys.copy_to(&open(&db).await).await.unwrap(), Moved::Copied(1));
    assert!(is_refused(&keys, &copy).await, "it lacks an erasure");
    assert!(keys.is_moving().await.unwrap());

    let [keys, copy] = two_copies(&db).await;
    // Bob has a key again.
    keys.add(key("bob", 1)).await.unwrap();
    assert_eq!(keys.copy_to(&open(&db).await).await.unwrap(), Moved::Copied(2));
    assert!(is_refused(&keys, &copy).await, "it lacks a key");
}

async fn a_move_goes_on_after_its_target_was_used(db: Db) {
    let (keys, target) = (open(&db).await, open(&db).await);
    keys.add_master(master(1, NOW)).await.unwrap();
    for name in ["ann", "bob"] {
        keys.add(key(name, 1)).await.unwrap();
    }
    assert_eq!(keys.copy_to(&target).await.unwrap(), Moved::Copied(2));
    assert_eq!(keys.copy_to(&target).await.unwrap(), Moved::Before);
    target.erase("ann", NOW).await.unwrap();
    target.add(key("carl", 1)).await.unwrap();
    target.add_master(master(2, NOW)).await.unwrap();
    target.rewrap(&[2], vec![(key("bob", 1), key("bob", 2))]).await.unwrap();
    assert_eq!(keys.copy_to(&target).await.unwrap(), Moved::Before);
}
