//! Statistics and empty lists, each on a separate database.

use serde_json::{Value, json};

use crate::support::{App, Engine, Options, ids, item, listing, on_both_engines, with};

on_both_engines! {
    own:
        new_instance_has_empty_statistics,
        device_statistics_follow_every_change,
        portfolio_statistics_follow_every_change,
        listing_statistics_follow_every_change,
        statistics_are_right_after_many_changes_at_once;
}

async fn devices(app: &App) -> Value {
    app.get("/v1/depin-devices/stats/overview").await.json(200)
}

async fn portfolios(app: &App) -> Value {
    app.get("/v1/portfolios/stats/overview").await.json(200)
}

async fn listings(app: &App) -> Value {
    app.get("/v1/listings/stats/overview").await.json(200)
}

async fn new_instance_has_empty_statistics(engine: Engine) {
    let app = Options::new(engine).start().await;
    assert_eq!(app.get("/listings").await.json(200), json!([]));
    app.get("/v1/predefined-portfolios").await.refused(404, "no_active_templates");
    app.get("/v1/predefined-portfolios/risk/Moderate").await.refused(404, "no_active_templates");
    let none = json!({"totalDevices": 0, "networkDistribution": {}, "userDistribution": {}});
    assert_eq!(devices(&app).await, none);
    let none = json!({
        "predefinedPortfolios": {"total": 0, "active": 0, "riskDistribution": {}},
        "userPortfolios": {"total": 0, "custom": 0, "basedOnPredefined": 0, "riskDistribution": {}},
    });
    assert_eq!(portfolios(&app).await, none);
    let none = json!({
        "totalListings": 0, "onChain": 0, "offChain": 0, "totalApplications": 0, "stateDistribution": {},
    });
    assert_eq!(listings(&app).await, none);
    // With one template of one level, the other levels are still empty; and without it, so is the list.
    let made = app
        .post("/v1/predefined-portfolio", json!({"name": "T", "riskLevel": "Moderate"}))
        .await
        .json_without_message(201);
    assert_eq!(ids(&app.get("/v1/predefined-portfolios").await.json(200), "name"), ["T"]);
    app.get("/v1/predefined-portfolios/risk/Aggressive").await.refused(404, "no_active_templates");
    let id = made["predefinedPortfolioId"].as_str().unwrap();
    app.delete(&format!("/v1/predefined-portfolio/{id}")).await.only_message(200);
    app.get("/v1/predefined-portfolios").await.refused(404, "no_active_templates");
    app.get("/v1/predefined-portfolios/risk/Moderate").await.refused(404, "no_active_templates");
}

async fn device_statistics_follow_every_change(engine: Engine) {
    let app = Options::new(engine).start().await;
    let mut made = Vec::new();
    for (user, network, identifier) in [
        ("ada", "Helium", "1"),
        ("ada", "Helium", "2"),
        ("bob", "Helium", "3"),
        ("bob", "Hive \"Map\" ü", "1"),
    ] {
        let body = json!({"userId": user, "network": network, "deviceIdentifier": identifier});
        made.push(
            app.post("/v1/depin-device", body).await.json_without_message(201)["depinDeviceId"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
    }
    let again = json!({"userId": "ada", "network": "Helium", "deviceIdentifier": "1"});
    app.post("/v1/depin-device", again).await.problem(409);
    let expected = json!({
        "totalDevices": 4, "networkDistribution": {"Helium": 3, "Hive \"Map\" ü": 1},
        "userDistribution": {"ada": 2, "bob": 2},
    });
    assert_eq!(devices(&app).await, expected);
    let top = async |count: &str| app.get(&format!("/v1/depin-devices/stats/overview?top={count}")).await;
    let first = top("1").await.json(200);
    assert_eq!((&first["totalDevices"], &first["userDistribution"]), (&json!(4), &json!({"ada": 2})));
    assert_eq!(top("1000").await.json(200), expected);
    for count in ["0", "1001", "all"] {
        top(count).await.has_faults(&[("top", "out_of_range")]);
    }
    app.delete(&format!("/v1/depin-device/{}", made[3])).await.only_message(200);
    app.delete(&format!("/v1/depin-device/{}", made[3])).await.problem(404);
    let expected = json!({
        "totalDevices": 3, "networkDistribution": {"Helium": 3}, "userDistribution": {"ada": 2, "bob": 1},
    });
    assert_eq!(devices(&app).await, expected);
}

async fn portfolio_statistics_follow_every_change(engine: Engine) {
    let app = Options::new(engine).start().await;
    let template = async |risk: &str, active: bool| {
        let body = json!({"name": "T", "riskLevel": risk, "isActive": active});
        let made = app.post("/v1/predefined-portfolio", body).await.json_without_message(201);
        made["predefinedPortfolioId"].as_str().unwrap().to_owned()
    };
    let (first, second) = (template("Moderate", true).await, template("Aggressive", true).await);
    template("Moderate", false).await;
    let own = json!({"userId": "ada", "riskLevel": "Conservative", "isCustom": true});
    let made = app.post("/v1/user-portfolio", own.clone()).await.json_without_message(201);
    let based = with(own.clone(), json!({"basedOnPredefinedId": first, "isCustom": false}));
    app.post("/v1/user-portfolio", based).await.json_without_message(201);
    let copy = json!({"userId": "bob", "customize": true});
    app.post(&format!("/v1/user-portfolio/copy/{second}"), copy).await.json_without_message(201);
    app.post("/v1/user-portfolio", with(own, json!({"protocolItems": [item("A", json!(101))]})))
        .await
        .problem(400);
    let expected = json!({
        "predefinedPortfolios": {"total": 3, "active": 2, "riskDistribution": {"Moderate": 2, "Aggressive": 1}},
        "userPortfolios": {
            "total": 3, "custom": 2, "basedOnPredefined": 2,
            "riskDistribution": {"Conservative": 2, "Aggressive": 1},
        },
    });
    assert_eq!(portfolios(&app).await, expected);
    for _ in 0..2 {
        app.delete(&format!("/v1/predefined-portfolio/{first}")).await.only_message(200);
    }
    app.put(&format!("/v1/predefined-portfolio/{second}"), json!({"riskLevel": "Moderate"}))
        .await
        .json_without_message(200);
    let id = made["userPortfolioId"].as_str().unwrap();
    app.put(&format!("/v1/user-portfolio/{id}"), json!({"riskLevel": "Moderate Aggressive"}))
        .await
        .json_without_message(200);
    let expected = json!({
        "predefinedPortfolios": {"total": 3, "active": 1, "riskDistribution": {"Moderate": 3}},
        "userPortfolios": {
            "total": 3, "custom": 2, "basedOnPredefined": 2,
            "riskDistribution": {"Conservative": 1, "Aggressive": 1, "Moderate Aggressive": 1},
        },
    });
    assert_eq!(portfolios(&app).await, expected, "distributions count all, active or not");
    app.delete(&format!("/v1/user-portfolio/{id}")).await.only_message(200);
    app.put(&format!("/v1/predefined-portfolio/{first}"), json!({"isActive": true}))
        .await
        .json_without_message(200);
    let expected = json!({
        "predefinedPortfolios": {"total": 3, "active": 2, "riskDistribution": {"Moderate": 3}},
        "userPortfolios": {
            "total": 2, "custom": 1, "basedOnPredefined": 2,
            "riskDistribution": {"Conservative": 1, "Aggressive": 1},
        },
    });
    assert_eq!(portfolios(&app).await, expected);
}

async fn listing_statistics_follow_every_change(engine: Engine) {
    let app = Options::new(engine).start().await;
    for (id, state) in [("a", "TX"), ("b", "TX"), ("c", "NY")] {
        app.add_listing(with(listing(id, "ada"), json!({"state": state}))).await;
    }
    app.post("/listings", listing("a", "ada")).await.problem(409);
    let body = json!({"userId": "bob", "listingIds": ["a", "b", "a"]});
    app.to_post("/applications", &body).key(app.operator()).send().await.only_message(201);
    app.to_post("/applications", &body).key(app.operator()).send().await.only_message(201);
    let expected = json!({
        "totalListings": 3, "onChain": 0, "offChain": 3, "totalApplications": 2,
        "stateDistribution": {"NY": 1, "TX": 2},
    });
    assert_eq!(listings(&app).await, expected);
    app.delete("/listings/c").await.status(200);
    let expected = json!({
        "totalListings": 2, "onChain": 0, "offChain": 2, "totalApplications": 2, "stateDistribution": {"TX": 2},
    });
    assert_eq!(listings(&app).await, expected);
}

async fn statistics_are_right_after_many_changes_at_once(engine: Engine) {
    let app = Options::new(engine).start().await;
    let changes = (0..200).map(async |number| {
        let user = format!("user {}", number % 4);
        let body = json!({"userId": user, "network": "Helium", "deviceIdentifier": number.to_string()});
        let made = app.post("/v1/depin-device", body).await.json_without_message(201);
        if number % 2 == 0 {
            let id = made["depinDeviceId"].as_str().unwrap();
            app.delete(&format!("/v1/depin-device/{id}")).await.only_message(200);
        }
    });
    futures_util::future::join_all(changes).await;
    let expected = json!({
        "totalDevices": 100, "networkDistribution": {"Helium": 100}, "userDistribution": {"user 1": 50, "user 3": 50},
    });
    assert_eq!(devices(&app).await, expected);
}
