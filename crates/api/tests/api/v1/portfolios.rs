//! `/v1/user-portfolio`: portfolios of users.

use serde_json::{Value, json};

use crate::support::{App, ids, item, moment, on_both_engines, unique, with};

on_both_engines! {
    shared:
        portfolio_round_trips_with_exact_fields,
        absent_fields_are_omitted,
        allocations_are_exact,
        allocations_total_at_most_100,
        portfolio_needs_an_existing_template,
        a_copy_has_the_content_of_its_template,
        a_copy_may_be_customized,
        copy_is_independent_of_its_template,
        only_an_active_template_is_copied,
        portfolios_are_listed_by_user,
        update_changes_only_given_fields,
        updated_at_grows,
        history_tells_what_changed,
        null_is_an_absent_member,
        a_deleted_portfolio_is_gone,
        portfolio_errors_are_all_reported,
        unknown_id_is_not_found;
}

fn bare(user: &str) -> Value {
    json!({"userId": user, "riskLevel": "Moderate", "isCustom": true})
}

/// Returns the id.
async fn make(app: &App, body: Value) -> String {
    let answer = app.post("/v1/user-portfolio", body).await.json_without_message(201);
    answer["userPortfolioId"].as_str().unwrap().to_owned()
}

async fn read(app: &App, id: &str) -> Value {
    app.get(&format!("/v1/user-portfolio/{id}")).await.json(200)
}

async fn template(app: &App, body: Value) -> String {
    let answer = app.post("/v1/predefined-portfolio", body).await.json_without_message(201);
    answer["predefinedPortfolioId"].as_str().unwrap().to_owned()
}

async fn portfolio_round_trips_with_exact_fields(app: &App) {
    let (user, based_on) =
        (unique("ada"), template(app, json!({"name": "T", "riskLevel": "Moderate"})).await);
    let body = json!({
        "userId": user, "name": "Storage first", "description": "Mine", "riskLevel": "Moderate Aggressive",
        "protocolItems": [item("Filecoin", json!(60)), item("Helium", json!(12.5))],
        "basedOnPredefinedId": based_on, "isCustom": true,
    });
    let made = app.post("/v1/user-portfolio", body.clone()).await.json_without_message(201);
    let id = made["userPortfolioId"].as_str().unwrap();
    assert_eq!(made, json!({"userPortfolioId": id, "totalAllocation": 72.5}));
    let portfolio = read(app, id).await;
    let created = moment(&portfolio["createdAt"]);
    let assigned =
        json!({"userPortfolioId": id, "totalAllocation": 72.5, "createdAt": created, "updatedAt": created});
    assert_eq!(portfolio, with(body, assigned));
}

async fn history_tells_what_changed(app: &App) {
    let id =
        make(app, with(bare(&unique("ada")), json!({"protocolItems": [item("Filecoin", json!(60))]}))).await;
    let path = format!("/v1/user-portfolio/{id}");
    let history = format!("{path}/history");
    assert_eq!(app.get(&history).await.json(200), json!([]));
    for body in [
        json!({"name": "Storage"}),
        json!({"riskLevel": "Aggressive", "protocolItems": [item("Filecoin", json!(62.5))]}),
    ] {
        app.put(&path, body).await.json_without_message(200);
    }
    let edits = app.get(&history).await.json(200);
    let expected = json!([
        {"number": 1, "at": edits[0]["at"], "changes": [{"field": "name", "before": null, "after": "Storage"}]},
        {"number": 2, "at": read(app, &id).await["updatedAt"], "changes": [
            {"field": "riskLevel", "before": "Moderate", "after": "Aggressive"},
            {
                "field": "protocolItems",
                "before": [item("Filecoin", json!(60))], "after": [item("Filecoin", json!(62.5))],
            },
        ]},
    ]);
    assert_eq!(edits, expected);
    app.get("/v1/user-portfolio/unknown/history").await.refused(404, "portfolio_not_found");
}

async fn absent_fields_are_omitted(app: &App) {
    let user = unique("ada");
    let id = make(app, json!({"userId": user, "riskLevel": "Conservative", "isCustom": false})).await;
    let portfolio = read(app, &id).await;
    let expected = json!({
        "userPortfolioId": id, "userId": user, "riskLevel": "Conservative", "protocolItems": [],
        "totalAllocation": 0, "isCustom": false, "createdAt": portfolio["createdAt"],
        "updatedAt": portfolio["updatedAt"],
    });
    assert_eq!(portfolio, expected);
}

async fn allocations_are_exact(app: &App) {
    let cases = [
        (vec![json!(0.1), json!(0.2)], json!(0.3)),
        (vec![json!(33.3333), json!(33.3333), json!(33.3334)], json!(100)),
        (vec![json!(5.0), json!(0)], json!(5)),
        (vec![json!(0.0001); 3], json!(0.0003)),
        (vec![json!(0.1 + 0.2)], json!(0.3)),
    ];
    for (shares, total) in cases {
        let items: Vec<Value> = shares.iter().map(|share| item("A", share.clone())).collect();
        let body = with(bare(&unique("ada")), json!({"protocolItems": items}));
        let made = app.post("/v1/user-portfolio", body).await.json_without_message(201);
        assert_eq!(made["totalAllocation"], total, "{shares:?}");
        let portfolio = read(app, made["userPortfolioId"].as_str().unwrap()).await;
        assert_eq!(portfolio["totalAllocation"], total, "{shares:?}");
    }
}

async fn allocations_total_at_most_100(app: &App) {
    let of = |shares: [Value; 2]| {
        with(bare("ada"), json!({"protocolItems": shares.map(|share| item("A", share))}))
    };
    let made = app.post("/v1/user-portfolio", of([json!(60), json!(40)])).await.json_without_message(201);
    assert_eq!(made["totalAllocation"], json!(100));
    app.post("/v1/user-portfolio", of([json!(60), json!(40.0001)]))
        .await
        .has_faults(&[("/protocolItems", "over_allocated")]);
    app.post("/v1/user-portfolio", of([json!(100.0001), json!(0.00001)])).await.has_faults(&[
        ("/protocolItems/0/allocationPercentage", "out_of_range"),
        ("/protocolItems/1/allocationPercentage", "too_precise"),
    ]);
    app.post("/v1/user-portfolio", of([json!(-0.0001), json!(1)]))
        .await
        .has_faults(&[("/protocolItems/0/allocationPercentage", "out_of_range")]);
}

async fn portfolio_needs_an_existing_template(app: &App) {
    let (user, unknown) = (unique("ada"), unique("never"));
    let body = with(bare(&user), json!({"basedOnPredefinedId": unknown}));
    app.post("/v1/user-portfolio", body).await.has_faults(&[("/basedOnPredefinedId", "unknown_template")]);
    assert_eq!(app.get(&format!("/v1/user-portfolios/{user}")).await.json(200), json!([]));
    let inactive = template(app, json!({"name": "T", "riskLevel": "Moderate", "isActive": false})).await;
    make(app, with(bare(&user), json!({"basedOnPredefinedId": inactive}))).await;
}

async fn a_copy_has_the_content_of_its_template(app: &App) {
    let items = json!([item("Filecoin", json!(62.5)), item("Helium", json!(37.5))]);
    let content =
        json!({"name": "Balanced", "description": "Half", "riskLevel": "Aggressive", "protocolItems": items});
    let (user, based_on) = (unique("ada"), template(app, content.clone()).await);
    let copied = app
        .post(&format!("/v1/user-portfolio/copy/{based_on}"), json!({"userId": user}))
        .await
        .json_without_message(201);
    let id = copied["userPortfolioId"].as_str().unwrap();
    assert_eq!(copied, json!({"userPortfolioId": id, "basedOnPredefinedId": based_on, "isCustom": false}));
    let portfolio = read(app, id).await;
    let assigned = json!({
        "userPortfolioId": id, "userId": user, "totalAllocation": 100, "basedOnPredefinedId": based_on,
        "isCustom": false, "createdAt": moment(&portfolio["createdAt"]), "updatedAt": portfolio["createdAt"],
    });
    assert_eq!(portfolio, with(content, assigned));
}

async fn a_copy_may_be_customized(app: &App) {
    let based_on = template(app, json!({"name": "T", "riskLevel": "Moderate"})).await;
    for customize in [true, false] {
        let body = json!({"userId": unique("ada"), "customize": customize});
        let copied =
            app.post(&format!("/v1/user-portfolio/copy/{based_on}"), body).await.json_without_message(201);
        assert_eq!(copied["isCustom"], customize);
        assert_eq!(read(app, copied["userPortfolioId"].as_str().unwrap()).await["isCustom"], customize);
    }
}

async fn copy_is_independent_of_its_template(app: &App) {
    let based_on = template(app, json!({"name": "First", "riskLevel": "Moderate"})).await;
    let body = json!({"userId": unique("ada")});
    let copied =
        app.post(&format!("/v1/user-portfolio/copy/{based_on}"), body).await.json_without_message(201);
    let id = copied["userPortfolioId"].as_str().unwrap();
    let before = read(app, id).await;
    app.put(&format!("/v1/predefined-portfolio/{based_on}"), json!({"name": "Second"}))
        .await
        .json_without_message(200);
    app.delete(&format!("/v1/predefined-portfolio/{based_on}")).await.only_message(200);
    assert_eq!(read(app, id).await, before);
}

async fn only_an_active_template_is_copied(app: &App) {
    let user = unique("ada");
    let inactive = template(app, json!({"name": "T", "riskLevel": "Moderate", "isActive": false})).await;
    for id in [inactive, unique("never")] {
        let answer = app.post(&format!("/v1/user-portfolio/copy/{id}"), json!({"userId": user})).await;
        answer.refused(404, "template_not_found");
    }
    assert_eq!(app.get(&format!("/v1/user-portfolios/{user}")).await.json(200), json!([]));
    let active = template(app, json!({"name": "T", "riskLevel": "Moderate"})).await;
    app.post(&format!("/v1/user-portfolio/copy/{active}"), json!({"customize": 1}))
        .await
        .has_faults(&[("/userId", "missing"), ("/customize", "wrong_type")]);
}

async fn portfolios_are_listed_by_user(app: &App) {
    let (ada, bob) = (unique("ada"), unique("bob"));
    let mut expected = Vec::new();
    for _ in 0..3 {
        let id = make(app, bare(&ada)).await;
        expected.push(read(app, &id).await);
        make(app, bare(&bob)).await;
    }
    let list = app.get(&format!("/v1/user-portfolios/{ada}")).await.json(200);
    assert_eq!(list, json!(expected), "whole portfolios, in the order of creation");
    assert_eq!(app.get(&format!("/v1/user-portfolios/{}", unique("nobody"))).await.json(200), json!([]));
}

async fn update_changes_only_given_fields(app: &App) {
    let body = json!({"name": "Before", "description": "Before", "protocolItems": [item("A", json!(10))]});
    let id = make(app, with(bare(&unique("ada")), body)).await;
    let path = format!("/v1/user-portfolio/{id}");
    let changes = [
        json!({"name": "After"}),
        json!({"description": ""}),
        json!({"riskLevel": "Aggressive"}),
        json!({"protocolItems": [item("B", json!(0.1)), item("C", json!(0.2))]}),
        json!({"userId": "bob", "isCustom": false, "basedOnPredefinedId": "x", "userPortfolioId": "mine"}),
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
        assert_eq!(written, json!({"userPortfolioId": id, "totalAllocation": total}));
        let mut expected = before.clone();
        for name in ["name", "description", "riskLevel", "protocolItems"] {
            if let Some(value) = change.get(name) {
                expected[name] = value.clone();
            }
        }
        let expected = with(expected, json!({"totalAllocation": total, "updatedAt": after["updatedAt"]}));
        assert_eq!(after, expected, "{change}");
    }
}

async fn updated_at_grows(app: &App) {
    let id = make(app, bare(&unique("ada"))).await;
    let mut last = String::new();
    for _ in 0..10 {
        app.put(&format!("/v1/user-portfolio/{id}"), json!({"name": "Again"}))
            .await
            .json_without_message(200);
        let updated = moment(&read(app, &id).await["updatedAt"]).as_str().unwrap().to_owned();
        assert!(updated > last, "{updated} > {last}");
        last = updated;
    }
}

async fn null_is_an_absent_member(app: &App) {
    let id = make(app, with(bare(&unique("ada")), json!({"name": "Kept"}))).await;
    let before = read(app, &id).await;
    let nulls = json!({"name": null, "description": null, "riskLevel": null, "protocolItems": null});
    app.put(&format!("/v1/user-portfolio/{id}"), nulls).await.json(200);
    let after = read(app, &id).await;
    for field in ["name", "description", "riskLevel", "protocolItems", "totalAllocation"] {
        assert_eq!(after.get(field), before.get(field), "{field}");
    }
    let body = with(bare("ada"), json!({"name": null, "basedOnPredefinedId": null, "protocolItems": null}));
    let made = read(app, &make(app, body).await).await;
    assert_eq!((made.get("name"), made.get("basedOnPredefinedId")), (None, None));
    assert_eq!(made["protocolItems"], json!([]));
}

async fn a_deleted_portfolio_is_gone(app: &App) {
    let user = unique("ada");
    let (id, kept) = (make(app, bare(&user)).await, make(app, bare(&user)).await);
    let path = format!("/v1/user-portfolio/{id}");
    app.delete(&path).await.only_message(200);
    app.get(&path).await.refused(404, "portfolio_not_found");
    app.delete(&path).await.refused(404, "portfolio_not_found");
    let list = app.get(&format!("/v1/user-portfolios/{user}")).await.json(200);
    assert_eq!(ids(&list, "userPortfolioId"), [kept]);
}

async fn portfolio_errors_are_all_reported(app: &App) {
    let missing = [("/userId", "missing"), ("/riskLevel", "missing"), ("/isCustom", "missing")];
    app.post("/v1/user-portfolio", json!({})).await.has_faults(&missing);
    let body = json!({
        "userId": "", "name": "x".repeat(256), "description": 5, "riskLevel": 3, "isCustom": "false",
        "basedOnPredefinedId": "", "protocolItems": {"protocolName": "A"},
    });
    app.post("/v1/user-portfolio", body).await.has_faults(&[
        ("/userId", "empty"),
        ("/name", "too_long"),
        ("/description", "wrong_type"),
        ("/riskLevel", "wrong_type"),
        ("/isCustom", "wrong_type"),
        ("/basedOnPredefinedId", "empty"),
        ("/protocolItems", "wrong_type"),
    ]);
}

async fn unknown_id_is_not_found(app: &App) {
    let path = format!("/v1/user-portfolio/{}", unique("never"));
    app.get(&path).await.refused(404, "portfolio_not_found");
    app.put(&path, json!({"name": "New"})).await.refused(404, "portfolio_not_found");
    app.delete(&path).await.refused(404, "portfolio_not_found");
}
