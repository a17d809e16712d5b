//! `/v1/predefined-portfolio`: templates that users copy.

use serde_json::{Value, json};

use crate::support::{App, encoded, ids, item, moment, on_both_engines, unique, with};

on_both_engines! {
    shared:
        template_round_trips_with_exact_fields,
        absent_template_fields_have_defaults,
        inactive_template_is_readable_but_not_listed,
        lists_have_exactly_the_template_fields,
        templates_are_listed_by_risk_level,
        unknown_risk_level_is_an_error,
        update_changes_only_given_fields,
        every_update_advances_updated_at,
        deactivating_twice_succeeds,
        deactivated_template_can_be_reactivated,
        null_is_an_absent_member,
        template_errors_are_all_reported,
        unknown_id_is_not_found;
}

/// Returns the id.
async fn make(app: &App, body: Value) -> String {
    let answer = app.post("/v1/predefined-portfolio", body).await.json_without_message(201);
    answer["predefinedPortfolioId"].as_str().unwrap().to_owned()
}

async fn read(app: &App, id: &str) -> Value {
    app.get(&format!("/v1/predefined-portfolio/{id}")).await.json(200)
}

async fn listed(app: &App, path: &str) -> Vec<Value> {
    app.get(path).await.json(200).as_array().unwrap().clone()
}

async fn is_listed(app: &App, id: &str) -> bool {
    let active = listed(app, "/v1/predefined-portfolios").await;
    assert!(active.iter().all(|template| template["isActive"] == true));
    ids(&json!(active), "predefinedPortfolioId").contains(&id.to_owned())
}

async fn template_round_trips_with_exact_fields(app: &App) {
    let body = json!({
        "name": "Balanced", "description": "Half storage, half wireless", "riskLevel": "Moderate Conservative",
        "protocolItems": [item("Filecoin", json!(62.5)), item("Helium", json!(37.4999))], "isActive": true,
    });
    let made = app.post("/v1/predefined-portfolio", body.clone()).await.json_without_message(201);
    let id = made["predefinedPortfolioId"].as_str().unwrap();
    assert_eq!(made, json!({"predefinedPortfolioId": id, "totalAllocation": 99.9999}));
    let template = read(app, id).await;
    let created = moment(&template["createdAt"]);
    let assigned = json!({
        "predefinedPortfolioId": id, "totalAllocation": 99.9999, "createdAt": created, "updatedAt": created,
    });
    assert_eq!(template, with(body, assigned));
}

async fn absent_template_fields_have_defaults(app: &App) {
    let made = app
        .post("/v1/predefined-portfolio", json!({"name": "Bare", "riskLevel": "Moderate"}))
        .await
        .json_without_message(201);
    let id = made["predefinedPortfolioId"].as_str().unwrap();
    assert_eq!(made["totalAllocation"], json!(0));
    let template = read(app, id).await;
    let expected = json!({
        "predefinedPortfolioId": id, "name": "Bare", "riskLevel": "Moderate", "protocolItems": [],
        "totalAllocation": 0, "isActive": true, "createdAt": template["createdAt"],
        "updatedAt": template["updatedAt"],
    });
    assert_eq!(template, expected);
}

async fn inactive_template_is_readable_but_not_listed(app: &App) {
    let id = make(app, json!({"name": "Draft", "riskLevel": "Aggressive", "isActive": false})).await;
    make(app, json!({"name": "Offered", "riskLevel": "Aggressive"})).await;
    assert_eq!(read(app, &id).await["isActive"], false);
    assert!(!is_listed(app, &id).await);
    let by_risk = listed(app, "/v1/predefined-portfolios/risk/Aggressive").await;
    assert!(!ids(&json!(by_risk), "predefinedPortfolioId").contains(&id));
}

async fn lists_have_exactly_the_template_fields(app: &App) {
    let body = json!({"name": unique("Listed"), "riskLevel": "Moderate Aggressive", "description": ""});
    let id = make(app, body).await;
    let template = read(app, &id).await;
    for path in ["/v1/predefined-portfolios", "/v1/predefined-portfolios/risk/Moderate%20Aggressive"] {
        assert!(listed(app, path).await.contains(&template), "{path}");
    }
}

async fn templates_are_listed_by_risk_level(app: &App) {
    let levels = ["Conservative", "Moderate Conservative", "Moderate", "Moderate Aggressive", "Aggressive"];
    for level in levels {
        let id = make(app, json!({"name": "Of a level", "riskLevel": level})).await;
        for other in levels {
            make(app, json!({"name": "Of another", "riskLevel": other})).await;
            let found = listed(app, &format!("/v1/predefined-portfolios/risk/{}", encoded(other))).await;
            assert!(found.iter().all(|template| template["riskLevel"] == other));
            let is_there = ids(&json!(found), "predefinedPortfolioId").contains(&id);
            assert_eq!(is_there, level == other, "{level} in {other}");
        }
    }
}

async fn unknown_risk_level_is_an_error(app: &App) {
    for level in ["Reckless", "moderate", "Moderate%20", "%20"] {
        let answer = app.get(&format!("/v1/predefined-portfolios/risk/{level}")).await;
        answer.has_faults(&[("riskLevel", "unknown_risk_level")]);
    }
}

async fn update_changes_only_given_fields(app: &App) {
    let body = json!({
        "name": "Before", "description": "Before", "riskLevel": "Moderate", "protocolItems": [item("A", json!(10))],
    });
    let id = make(app, body).await;
    let path = format!("/v1/predefined-portfolio/{id}");
    let changes = [
        json!({"name": "After"}),
        json!({"description": ""}),
        json!({"riskLevel": "Aggressive"}),
        json!({"protocolItems": [item("B", json!(0.1)), item("C", json!(0.2))]}),
        json!({"isActive": false}),
        json!({"name": "Both", "isActive": true}),
        json!({"predefinedPortfolioId": "mine", "createdAt": "never", "totalAllocation": 7}),
        json!({}),
    ];
    for change in changes {
        let before = read(app, &id).await;
        let written = app.put(&path, change.clone()).await.json_without_message(200);
        let after = read(app, &id).await;
        let total = if change.get("protocolItems").is_some() {
            json!(0.3)
        } else {
            before["totalAllocation"].clone()
        };
        assert_eq!(written, json!({"predefinedPortfolioId": id, "totalAllocation": total}));
        let mut expected = before.clone();
        for name in ["name", "description", "riskLevel", "protocolItems", "isActive"] {
            if let Some(value) = change.get(name) {
                expected[name] = value.clone();
            }
        }
        let expected = with(expected, json!({"totalAllocation": total, "updatedAt": after["updatedAt"]}));
        assert_eq!(after, expected, "{change}");
    }
}

async fn every_update_advances_updated_at(app: &App) {
    let id = make(app, json!({"name": "Changing", "riskLevel": "Moderate"})).await;
    let path = format!("/v1/predefined-portfolio/{id}");
    let mut last = read(app, &id).await["updatedAt"].as_str().unwrap().to_owned();
    let created = last.clone();
    for _ in 0..5 {
        // Concurrent updates too.
        futures_util::future::join_all((0..8).map(|_| app.put(&path, json!({"name": "Changing"})))).await;
        let template = read(app, &id).await;
        let updated = moment(&template["updatedAt"]).as_str().unwrap().to_owned();
        assert!(updated > last, "{updated} > {last}");
        assert_eq!(template["createdAt"], created);
        last = updated;
    }
}

async fn deactivating_twice_succeeds(app: &App) {
    let id = make(app, json!({"name": "Old", "riskLevel": "Moderate"})).await;
    make(app, json!({"name": "Another", "riskLevel": "Moderate"})).await;
    assert!(is_listed(app, &id).await);
    for _ in 0..2 {
        app.delete(&format!("/v1/predefined-portfolio/{id}")).await.only_message(200);
        assert!(!is_listed(app, &id).await);
        assert_eq!(read(app, &id).await["isActive"], false, "the record stays");
    }
}

async fn deactivated_template_can_be_reactivated(app: &App) {
    let id = make(app, json!({"name": "Back", "riskLevel": "Moderate"})).await;
    app.delete(&format!("/v1/predefined-portfolio/{id}")).await.only_message(200);
    app.put(&format!("/v1/predefined-portfolio/{id}"), json!({"isActive": true}))
        .await
        .json_without_message(200);
    assert!(is_listed(app, &id).await);
}

async fn null_is_an_absent_member(app: &App) {
    let id = make(app, json!({"name": "Kept", "description": "Kept", "riskLevel": "Moderate"})).await;
    let before = read(app, &id).await;
    let nulls = json!({"name": null, "description": null, "riskLevel": null, "protocolItems": null, "isActive": null});
    app.put(&format!("/v1/predefined-portfolio/{id}"), nulls).await.json(200);
    let after = read(app, &id).await;
    for field in ["name", "description", "riskLevel", "protocolItems", "isActive"] {
        assert_eq!(after.get(field), before.get(field), "{field}");
    }
}

async fn template_errors_are_all_reported(app: &App) {
    let path = "/v1/predefined-portfolio";
    app.post(path, json!({})).await.has_faults(&[("/name", "missing"), ("/riskLevel", "missing")]);
    let body = json!({
        "name": " ", "description": "x".repeat(4001), "riskLevel": "Reckless", "isActive": "yes",
        "protocolItems": [
            item("A", json!(50)),
            {"protocolName": "", "protocolIdentifier": 5, "allocationPercentage": "50"},
            {},
            "item",
            item("E", json!(100.1)),
        ],
    });
    app.post(path, body).await.has_faults(&[
        ("/name", "empty"),
        ("/description", "too_long"),
        ("/riskLevel", "unknown_risk_level"),
        ("/isActive", "wrong_type"),
        ("/protocolItems/1/protocolName", "empty"),
        ("/protocolItems/1/protocolIdentifier", "wrong_type"),
        ("/protocolItems/1/allocationPercentage", "wrong_type"),
        ("/protocolItems/2/protocolName", "missing"),
        ("/protocolItems/2/protocolIdentifier", "missing"),
        ("/protocolItems/2/allocationPercentage", "missing"),
        ("/protocolItems/3", "wrong_type"),
        ("/protocolItems/4/allocationPercentage", "out_of_range"),
    ]);
}

async fn unknown_id_is_not_found(app: &App) {
    let path = format!("/v1/predefined-portfolio/{}", unique("never"));
    app.get(&path).await.refused(404, "template_not_found");
    app.put(&path, json!({"name": "New"})).await.refused(404, "template_not_found");
    app.delete(&path).await.refused(404, "template_not_found");
}
