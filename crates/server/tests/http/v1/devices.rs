//! `/v1/depin-device`: infrastructure devices.

use serde_json::{Value, json};

use crate::support::{App, encoded, ids, moment, on_both_engines, unique};

on_both_engines! {
    shared:
        device_round_trips_with_exact_fields,
        device_is_unique_on_its_network,
        devices_are_listed_by_user,
        devices_are_listed_by_network,
        empty_device_list_is_200,
        deleted_device_can_be_registered_again,
        unknown_id_is_not_found,
        device_errors_are_all_reported;
}

/// Returns the id.
async fn register(app: &App, user: &str, network: &str, identifier: &str) -> String {
    let body = json!({"userId": user, "network": network, "deviceIdentifier": identifier});
    let answer = app.post("/v1/depin-device", body).await.says(201);
    answer["depinDeviceId"].as_str().unwrap().to_owned()
}

async fn read(app: &App, id: &str) -> Value {
    app.get(&format!("/v1/depin-device/{id}")).await.json(200)
}

async fn device_round_trips_with_exact_fields(app: &App) {
    let (user, network) = (unique("ada"), unique("Helium"));
    let body = json!({"userId": user, "network": format!(" {network} "), "deviceIdentifier": "112qB3"});
    let registered = app.post("/v1/depin-device", body).await.says(201);
    let id = registered["depinDeviceId"].as_str().unwrap();
    let expected =
        json!({"depinDeviceId": id, "userId": user, "network": network, "deviceIdentifier": "112qB3"});
    assert_eq!(registered, expected);
    let device = read(app, id).await;
    let created = moment(&device["createdAt"]);
    let expected = json!({
        "depinDeviceId": id, "userId": user, "network": network, "deviceIdentifier": "112qB3",
        "createdAt": created, "updatedAt": created,
    });
    assert_eq!(device, expected);
}

async fn device_is_unique_on_its_network(app: &App) {
    let (ada, network) = (unique("ada"), unique("Helium"));
    let first = register(app, &ada, &network, "one").await;
    for user in [&ada, &unique("bob")] {
        let body = json!({"userId": user, "network": network, "deviceIdentifier": "one"});
        app.post("/v1/depin-device", body).await.refused(409, "device_exists");
    }
    let second = register(app, &ada, &network, "two").await;
    let elsewhere = register(app, &ada, &unique("Hivemapper"), "one").await;
    let list = app.get(&format!("/v1/depin-devices/user/{ada}")).await.json(200);
    assert_eq!(ids(&list, "depinDeviceId"), [first, second, elsewhere]);
}

async fn devices_are_listed_by_user(app: &App) {
    let (ada, bob, network) = (unique("ada"), unique("bob"), unique("Helium"));
    let mut expected = Vec::new();
    for number in 0..3 {
        let id = register(app, &ada, &network, &format!("a{number}")).await;
        expected.push(read(app, &id).await);
        register(app, &bob, &network, &format!("b{number}")).await;
    }
    assert_eq!(app.get(&format!("/v1/depin-devices/user/{ada}")).await.json(200), json!(expected));
}

async fn devices_are_listed_by_network(app: &App) {
    let network = format!("{} / 5G %", unique("Helium"));
    let mut expected = Vec::new();
    for number in 0..3 {
        let id = register(app, &unique("ada"), &network, &number.to_string()).await;
        expected.push(read(app, &id).await);
        register(app, &unique("ada"), &unique("Other"), &number.to_string()).await;
    }
    let path = format!("/v1/depin-devices/network/{}", encoded(&network));
    assert_eq!(app.get(&path).await.json(200), json!(expected));
    let other_case = format!("/v1/depin-devices/network/{}", encoded(&network.to_lowercase()));
    assert_eq!(app.get(&other_case).await.json(200), json!([]));
}

async fn empty_device_list_is_200(app: &App) {
    for path in ["/v1/depin-devices/user/nobody-at-all", "/v1/depin-devices/network/nowhere-at-all"] {
        assert_eq!(app.get(path).await.json(200), json!([]));
    }
}

async fn deleted_device_can_be_registered_again(app: &App) {
    let (ada, network) = (unique("ada"), unique("Helium"));
    let id = register(app, &ada, &network, "one").await;
    let path = format!("/v1/depin-device/{id}");
    app.delete(&path).await.only_says(200);
    app.get(&path).await.refused(404, "device_not_found");
    app.delete(&path).await.refused(404, "device_not_found");
    assert_eq!(app.get(&format!("/v1/depin-devices/user/{ada}")).await.json(200), json!([]));
    let again = register(app, &ada, &network, "one").await;
    assert_ne!(again, id);
}

async fn unknown_id_is_not_found(app: &App) {
    let path = format!("/v1/depin-device/{}", unique("never"));
    app.get(&path).await.refused(404, "device_not_found");
    app.delete(&path).await.refused(404, "device_not_found");
}

async fn device_errors_are_all_reported(app: &App) {
    let missing = [("/userId", "missing"), ("/network", "missing"), ("/deviceIdentifier", "missing")];
    app.post("/v1/depin-device", json!({})).await.has_faults(&missing);
    let body = json!({"userId": null, "network": "x".repeat(256), "deviceIdentifier": "a\tb"});
    app.post("/v1/depin-device", body).await.has_faults(&[
        ("/userId", "wrong_type"),
        ("/network", "too_long"),
        ("/deviceIdentifier", "control_character"),
    ]);
}
