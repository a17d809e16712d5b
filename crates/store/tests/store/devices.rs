//! Devices: unique per network, found by user and network, counted.

use futures_util::future::join_all;
use portico_domain::ErrorCode;
use portico_domain::devices::Device;
use portico_store::{DeleteDevice, Error, RegisterDevices, Result};

use crate::engines::Db;
use crate::samples::{by, conflict, device, in_pieces, later, missing, register, text, totals};

on_both_engines! {
    a_device_is_read_as_it_was_stored,
    a_device_is_registered_once_on_its_network,
    same_identifier_is_allowed_on_another_network,
    a_deleted_device_is_gone_and_may_be_registered_again,
    several_devices_are_registered_all_or_none,
    deleting_an_unknown_device_is_refused,
    devices_are_listed_in_creation_order,
    devices_are_read_in_pieces,
    statistics_follow_every_change,
    distributions_are_sorted_by_name,
    a_distribution_has_any_number_of_names,
    one_of_many_concurrent_registrations_succeeds,
}

fn on(id: &str, user: &str, network: &str, identifier: &str) -> Device {
    Device { user: text(user), network: text(network), identifier: text(identifier), ..device(id) }
}

async fn remove(db: &Db, id: &str) -> Result<()> {
    db.write(DeleteDevice { id: text(id), by: by() }).await
}

async fn of_user(db: &Db, user: &str) -> Vec<String> {
    let page = db.devices_of(&text(user), None, 100).await.unwrap();
    page.items.into_iter().map(|device| device.id.to_string()).collect()
}

async fn on_network(db: &Db, network: &str) -> Vec<String> {
    let page = db.devices_on(&text(network), None, 100).await.unwrap();
    page.items.into_iter().map(|device| device.id.to_string()).collect()
}

async fn assert_counted(db: &Db, total: i64, networks: &[(&str, i64)], users: &[(&str, i64)]) {
    assert_eq!(db.device_total().await.unwrap(), total);
    assert_eq!(db.devices_by_network().await.unwrap(), totals(networks));
    assert_eq!(db.devices_by_user(None).await.unwrap(), totals(users));
    let mut by_count = totals(users);
    by_count.sort_by(|(name, n), (other, m)| m.cmp(n).then_with(|| name.cmp(other)));
    assert_eq!(db.devices_by_user(Some(users.len() + 1)).await.unwrap(), by_count);
    by_count.truncate(1);
    assert_eq!(db.devices_by_user(Some(1)).await.unwrap(), by_count);
}

async fn several_devices_are_registered_all_or_none(db: Db) {
    db.write(register(on("first", "bob", "helium", "taken"))).await.unwrap();
    let devices = |rows: &[(&str, &str)]| {
        rows.iter().map(|(id, identifier)| on(id, "ann", "helium", identifier)).collect::<Vec<_>>()
    };
    let op = |rows| RegisterDevices { devices: devices(rows), by: by() };
    let refused = db.write(op(&[("a", "one"), ("b", "taken"), ("c", "one")])).await;
    assert!(matches!(&refused, Err(Error::DevicesTaken(places)) if places == &[1, 2]), "{refused:?}");
    assert_eq!(of_user(&db, "ann").await, [] as [&str; 0]);
    assert_counted(&db, 1, &[("helium", 1)], &[("bob", 1)]).await;
    db.write(op(&[("a", "one"), ("b", "two")])).await.unwrap();
    assert_eq!(of_user(&db, "ann").await, ["a", "b"]);
    assert_counted(&db, 3, &[("helium", 3)], &[("ann", 2), ("bob", 1)]).await;
}

async fn a_device_is_read_as_it_was_stored(db: Db) {
    let stored = Device { updated_at: later(5), ..on("d", "üser", "nët 🛰", "id'\"\\%") };
    db.write(register(stored.clone())).await.unwrap();
    assert_eq!(db.device(&text("d")).await.unwrap(), Some(stored));
    assert_eq!(db.device(&text("D")).await.unwrap(), None);
}

async fn a_device_is_registered_once_on_its_network(db: Db) {
    db.write(register(on("a", "ann", "helium", "serial"))).await.unwrap();
    let again = on("b", "bob", "helium", "serial");
    assert_eq!(conflict(db.write(register(again)).await), "device_exists");
    assert_eq!(db.device(&text("b")).await.unwrap(), None);
    assert_eq!(on_network(&db, "helium").await, ["a"]);
    assert_counted(&db, 1, &[("helium", 1)], &[("ann", 1)]).await;
}

async fn same_identifier_is_allowed_on_another_network(db: Db) {
    for (id, network, identifier) in [
        ("a", "helium", "serial"),
        ("b", "Helium", "serial"),
        ("c", "render", "serial"),
        ("d", "helium", "Serial"),
    ] {
        db.write(register(on(id, "ann", network, identifier))).await.unwrap();
    }
    assert_eq!(of_user(&db, "ann").await, ["a", "b", "c", "d"]);
}

async fn a_deleted_device_is_gone_and_may_be_registered_again(db: Db) {
    db.write(register(on("a", "ann", "helium", "serial"))).await.unwrap();
    remove(&db, "a").await.unwrap();
    assert_eq!(db.device(&text("a")).await.unwrap(), None);
    assert_eq!(of_user(&db, "ann").await, [""; 0]);
    assert_eq!(on_network(&db, "helium").await, [""; 0]);
    db.write(register(on("b", "bob", "helium", "serial"))).await.unwrap();
    assert_eq!(on_network(&db, "helium").await, ["b"]);
}

async fn deleting_an_unknown_device_is_refused(db: Db) {
    assert_eq!(missing(remove(&db, "a").await), "device_not_found");
    db.write(register(device("a"))).await.unwrap();
    remove(&db, "a").await.unwrap();
    assert_eq!(missing(remove(&db, "a").await), "device_not_found");
}

async fn devices_are_listed_in_creation_order(db: Db) {
    for (id, user, network) in [("z", "ann", "n"), ("y", "bob", "n"), ("a", "ann", "m"), ("b", "ann", "n")] {
        db.write(register(on(id, user, network, id))).await.unwrap();
    }
    assert_eq!(of_user(&db, "ann").await, ["z", "a", "b"]);
    assert_eq!(of_user(&db, "bob").await, ["y"]);
    assert_eq!(of_user(&db, "Ann").await, [""; 0]);
    assert_eq!(on_network(&db, "n").await, ["z", "y", "b"]);
    assert_eq!(on_network(&db, "N").await, [""; 0]);
}

async fn devices_are_read_in_pieces(db: Db) {
    let names: Vec<String> = (0..7).map(|n| format!("d{n}")).collect();
    for name in &names {
        db.write(register(device(name))).await.unwrap();
    }
    let (ann, helium) = (text("ann"), text("helium"));
    for limit in [1, 3, 7, 8] {
        let of_ann = in_pieces(limit, None, |after| db.devices_of(&ann, after, limit)).await;
        let on_helium = in_pieces(limit, None, |after| db.devices_on(&helium, after, limit)).await;
        for read in [of_ann, on_helium] {
            let read: Vec<String> = read.into_iter().map(|device| device.id.to_string()).collect();
            assert_eq!(read, names, "in pieces of {limit}");
        }
    }
}

async fn statistics_follow_every_change(db: Db) {
    assert_counted(&db, 0, &[], &[]).await;
    for (id, user, network) in [("1", "ann", "n"), ("2", "bob", "n"), ("3", "ann", "M")] {
        db.write(register(on(id, user, network, id))).await.unwrap();
    }
    assert_counted(&db, 3, &[("M", 1), ("n", 2)], &[("ann", 2), ("bob", 1)]).await;
    conflict(db.write(register(on("4", "eve", "n", "1"))).await);
    missing(remove(&db, "unknown").await);
    assert_counted(&db, 3, &[("M", 1), ("n", 2)], &[("ann", 2), ("bob", 1)]).await;
    remove(&db, "3").await.unwrap();
    assert_counted(&db, 2, &[("n", 2)], &[("ann", 1), ("bob", 1)]).await;
    remove(&db, "1").await.unwrap();
    remove(&db, "2").await.unwrap();
    assert_counted(&db, 0, &[], &[]).await;
}

async fn distributions_are_sorted_by_name(db: Db) {
    let names = ["Z", "a", "b%", "ä", "日"];
    for (n, name) in names.iter().rev().enumerate() {
        db.write(register(on(&format!("{n}"), name, name, "x"))).await.unwrap();
        db.write(register(on(&format!("{n}+"), name, name, "y"))).await.unwrap();
    }
    let networks = names.map(|name| (name, 2));
    assert_counted(&db, 10, &networks, &networks).await;
}

async fn a_distribution_has_any_number_of_names(db: Db) {
    const MANY: i64 = 600;
    let name = |n| format!("n-{n:03}");
    let registered =
        join_all((0..MANY).map(|n| db.write(register(on(&name(n), "ann", &name(n), "x"))))).await;
    registered.into_iter().collect::<Result<Vec<_>>>().unwrap();
    for n in 0..MANY / 2 {
        remove(&db, &name(n)).await.unwrap();
    }
    let left: Vec<String> = (MANY / 2..MANY).map(name).collect();
    let networks: Vec<(&str, i64)> = left.iter().map(|name| (name.as_str(), 1)).collect();
    assert_counted(&db, MANY / 2, &networks, &[("ann", MANY / 2)]).await;
}

async fn one_of_many_concurrent_registrations_succeeds(db: Db) {
    let outcomes =
        join_all((0..20).map(|n| db.write(register(on(&format!("{n}"), "ann", "helium", "wanted"))))).await;
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    for outcome in lost {
        assert!(matches!(outcome, Err(Error::Conflict(ErrorCode::DeviceExists))), "{outcome:?}");
    }
    assert_counted(&db, 1, &[("helium", 1)], &[("ann", 1)]).await;
}
