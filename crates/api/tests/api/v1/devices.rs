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
        device_errors_are_all_reported,
        several_devices_are_registered_at_once,
        one_taken_device_refuses_all_and_is_named,
        errors_of_several_devices_name_their_row;
}

/// Returns the id.
async fn register(app: &App, user: &str, network: &str, identifier: &str) -> String {
    let body = json!({"userId": user, "network": network, "deviceIdentifier": identifier});
    let answer = app.post("/v1/depin-device", body).await.json_without_message(201);
    answer["depinDeviceId"].as_str().unwrap().to_owned()
}

async fn read(app: &App, id: &str) -> Value {
    app.get(&format!("/v1/depin-device/{id}")).await.json(200)
}

async fn device_round_trips_with_exact_fields(app: &App) {
    let (user, network) = (unique("ada"), unique("Helium"));
    let body = json!({"userId": user, "network": format!(" {network} "), "deviceIdentifier": "112qB3"});
    let registered = app.post("/v1/depin-device", body).await.json_without_message(201);
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
    app.delete(&path).await.only_message(200);
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

async fn several_devices_are_registered_at_once(app: &App) {
    let (user, network) = (unique("ada"), unique("Helium"));
    let rows: Vec<Value> =
        (0..1000).map(|n| json!({"network": network, "deviceIdentifier": format!("d-{n}")})).collect();
    let answer = app
        .post("/v1/depin-devices", json!({"userId": user, "devices": rows}))
        .await
        .json_without_message(201);
    let registered = answer["depinDeviceIds"].as_array().unwrap();
    assert_eq!(registered.len(), 1000);
    let device = read(app, registered[999].as_str().unwrap()).await;
    assert_eq!((&device["deviceIdentifier"], &device["userId"]), (&json!("d-999"), &json!(user)));
    let list = app.get(&format!("/v1/depin-devices/user/{user}")).await.json(200);
    assert_eq!(&json!(ids(&list, "depinDeviceId")), &answer["depinDeviceIds"], "in the order of the request");
}

async fn one_taken_device_refuses_all_and_is_named(app: &App) {
    let (user, network) = (unique("ada"), unique("Helium"));
    register(app, &unique("bob"), &network, "taken").await;
    let row = |identifier: &str| json!({"network": network, "deviceIdentifier": identifier});
    let rows = json!({"userId": user, "devices": [row("one"), row("taken"), row("two"), row("one")]});
    let problem = app.post("/v1/depin-devices", rows).await.problem(409);
    assert_eq!(problem["code"], "device_exists");
    let pointers: Vec<_> =
        problem["errors"].as_array().unwrap().iter().map(|error| &error["pointer"]).collect();
    assert_eq!(pointers, [&json!("/devices/1"), &json!("/devices/3")]);
    let list = app.get(&format!("/v1/depin-devices/user/{user}")).await.json(200);
    assert_eq!(list, json!([]), "nothing is registered");
    let rest = json!({"userId": user, "devices": [row("one"), row("two")]});
    app.post("/v1/depin-devices", rest).await.json_without_message(201);
}

async fn errors_of_several_devices_name_their_row(app: &App) {
    let good = json!({"network": "Helium", "deviceIdentifier": "a"});
    let bad = json!({"network": "He\u{202e}lium"});
    app.post("/v1/depin-devices", json!({"userId": "ada", "devices": [good, bad, 1]})).await.has_faults(&[
        ("/devices/1/network", "control_character"),
        ("/devices/1/deviceIdentifier", "missing"),
        ("/devices/2", "wrong_type"),
    ]);
    app.post("/v1/depin-devices", json!({"userId": "ada", "devices": []}))
        .await
        .has_faults(&[("/devices", "empty")]);
}
