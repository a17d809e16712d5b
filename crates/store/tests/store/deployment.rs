//! The deployment record and the write probe.

use portico_store::{AdoptDeployment, AdvanceClock, Deployment, ProbeWrite, ReplaceKeystore, Role};

use crate::engines::Db;
use crate::samples::{NOW, entry};

on_both_engines! {
    a_new_database_belongs_to_nothing,
    the_first_profile_and_keystore_stay,
    lost_keystore_can_be_replaced,
    the_write_probe_leaves_no_event,
    clock_moves_up_to_its_bound,
}

fn adopt(profile: Option<&'static str>, keystore: &str) -> AdoptDeployment {
    AdoptDeployment { profile, keystore: keystore.into() }
}

fn recorded(profile: Option<&str>, keystore: &str) -> Deployment {
    Deployment { profile: profile.map(Into::into), keystore: Some(keystore.into()) }
}

async fn a_new_database_belongs_to_nothing(db: Db) {
    assert_eq!(db.deployment().await.unwrap(), Deployment::default());
}

async fn the_first_profile_and_keystore_stay(db: Db) {
    assert_eq!(db.write(adopt(None, "one")).await.unwrap(), recorded(None, "one"));
    assert_eq!(db.write(adopt(Some("live"), "two")).await.unwrap(), recorded(Some("live"), "one"));
    assert_eq!(db.write(adopt(Some("sandbox"), "one")).await.unwrap(), recorded(Some("live"), "one"));
    let db = db.closed().await.open(Role::Server).await;
    assert_eq!(db.deployment().await.unwrap(), recorded(Some("live"), "one"));
}

async fn lost_keystore_can_be_replaced(db: Db) {
    db.write(adopt(Some("live"), "lost")).await.unwrap();
    let entry = entry("encryption.keystore_replaced", "every person's key");
    db.write(ReplaceKeystore { keystore: "new".into(), entry }).await.unwrap();
    assert_eq!(db.deployment().await.unwrap(), recorded(Some("live"), "new"));
}

async fn the_write_probe_leaves_no_event(db: Db) {
    db.write(ProbeWrite(NOW)).await.unwrap();
    let at = db.raw("SELECT at FROM write_probe").await;
    assert_eq!(at, [[Some(NOW.micros().to_string())]]);
    assert_eq!(db.raw("SELECT count(*) FROM events").await, [[Some("0".to_owned())]]);
}

async fn clock_moves_up_to_its_bound(db: Db) {
    assert_eq!(db.clock_ahead().await.unwrap(), 0);
    let advance = |micros| AdvanceClock { micros, max_ahead_micros: 10 };
    assert_eq!(db.write(advance(7)).await.unwrap(), Some(7));
    assert_eq!(db.write(advance(4)).await.unwrap(), None);
    assert_eq!(db.write(advance(3)).await.unwrap(), Some(10));
    let db = db.closed().await.open(Role::Server).await;
    assert_eq!(db.clock_ahead().await.unwrap(), 10);
}
