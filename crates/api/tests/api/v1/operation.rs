//! What operators look after: the audit log, everybody's keys, the queue for the chain, the bureaus, the configuration.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    Answer, App, Cell, Engine, Options, Raw, applicant, encoded, ids, listing, moment, on_both_engines,
    on_chain, unique, until,
};

on_both_engines! {
    shared:
        audit_entries_are_listed_newest_first,
        audit_filters_are_checked,
        reading_the_audit_log_is_on_record,
        operator_sees_everybodys_keys,
        keys_are_filtered,
        operator_sees_how_much_there_is_of_a_user,
        administrator_revokes_any_key,
        bureaus_tell_how_they_are_doing,
        sandbox_session_may_be_an_operators;
    own:
        audit_log_is_verified_in_the_background,
        altered_entry_is_found,
        rejected_item_is_queued_again;
}

/// As an operator.
async fn read(app: &App, path: &str) -> Answer {
    app.to_get(path).key(app.operator()).send().await
}

/// The next page's path.
fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link").strip_prefix('<')?;
    Some(link.split_once('>')?.0.to_owned())
}

fn actions(entries: &Value) -> Vec<String> {
    ids(entries, "action")
}

/// A user with a key that was made and revoked; the key's id.
async fn with_a_revoked_key(app: &App) -> (String, String) {
    let ada = app.someone().await;
    let made = app
        .to_post("/v1/keys", &json!({"name": "k"}))
        .bearer(&ada.token)
        .send()
        .await
        .json_without_message(201);
    let id = made["id"].as_str().unwrap().to_owned();
    let revoke = app.request(Method::DELETE, &format!("/v1/keys/{id}")).bearer(&ada.token);
    revoke.send().await.only_message(200);
    (ada.user, id)
}

async fn audit_entries_are_listed_newest_first(app: &App) {
    let (user, key) = with_a_revoked_key(app).await;
    let by_actor = format!("/v1/audit?actor={}", encoded(&format!("user {user}")));
    let entries = read(app, &by_actor).await.json(200);
    assert_eq!(actions(&entries), ["key.revoked", "key.created"]);
    let expected = json!({
        "number": entries[0]["number"], "at": moment(&entries[0]["at"]), "actor": format!("user {user}"),
        "action": "key.revoked", "subject": key, "detail": "", "hash": entries[0]["hash"],
    });
    assert_eq!(entries[0], expected);
    assert!(entries[0]["number"].as_i64() > entries[1]["number"].as_i64(), "{entries}");
    assert_eq!(entries[0]["hash"].as_str().unwrap().len(), 66);
    let by_subject = read(app, &format!("/v1/audit?subject={key}")).await.json(200);
    assert_eq!(by_subject, entries);
    let created = read(app, &format!("{by_actor}&action=key.c")).await.json(200);
    assert_eq!(actions(&created), ["key.created"]);
    let (early, late) = (entries[1]["at"].as_str().unwrap(), entries[0]["at"].as_str().unwrap());
    let before = read(app, &format!("{by_actor}&from={early}&to={late}")).await.json(200);
    assert_eq!(actions(&before), ["key.created"]);
    let first = read(app, &format!("{by_actor}&limit=1")).await;
    let second = read(app, &next(&first).unwrap()).await;
    assert_eq!(actions(&first.json(200)), ["key.revoked"]);
    assert_eq!(actions(&second.json(200)), ["key.created"]);
}

async fn audit_filters_are_checked(app: &App) {
    let wrong = "/v1/audit?from=yesterday&to=1&limit=0&cursor=x&actor=";
    let faults = [
        ("from", "not_a_moment"),
        ("to", "not_a_moment"),
        ("limit", "out_of_range"),
        ("cursor", "not_a_cursor"),
        ("actor", "empty"),
    ];
    read(app, wrong).await.has_faults(&faults);
    let hostile = encoded("' OR 1=1 --");
    let path = format!("/v1/audit?actor={hostile}&action={hostile}&subject={hostile}");
    assert_eq!(read(app, &path).await.json(200), json!([]));
}

async fn reading_the_audit_log_is_on_record(app: &App) {
    let admin = unique("root");
    let token = app.token(&["--sub", &admin, "--scope", "admin"]);
    app.to_get("/v1/audit?limit=5").bearer(&token).send().await.json(200);
    app.to_get("/v1/keys/all?limit=5").bearer(&token).send().await.json(200);
    let actor = encoded(&format!("administrator {admin}"));
    let entries = read(app, &format!("/v1/audit?actor={actor}")).await.json(200);
    assert_eq!(actions(&entries), ["keys.listed", "audit.read"]);
}

/// From the newest on, until the key is there.
async fn listed_key(app: &App, id: &str) -> Option<Value> {
    let mut path = "/v1/keys/all?limit=20".to_owned();
    loop {
        let page = read(app, &path).await;
        let link = next(&page);
        let keys = page.json(200);
        if let Some(key) = keys.as_array().unwrap().iter().find(|key| key["id"] == id) {
            return Some(key.clone());
        }
        path = link?;
    }
}

async fn operator_sees_everybodys_keys(app: &App) {
    let (user, account) = (unique("ada"), unique("acme"));
    let made = [
        (vec!["--user", &user], json!({"scope": "user", "owner": user})),
        (vec!["--account", &account], json!({"scope": "account", "owner": account})),
        (vec![], json!({"scope": "operator"})),
    ];
    for (arguments, whose) in made {
        let secret = app.new_key(&arguments);
        let id = secret.split('_').nth(1).unwrap();
        let key = listed_key(app, id).await.expect("it is listed");
        let mut expected = json!({"id": id, "name": "test", "createdAt": moment(&key["createdAt"])});
        expected.as_object_mut().unwrap().extend(whose.as_object().unwrap().clone());
        assert_eq!(key, expected);
    }
    let whole = read(app, "/v1/keys/all").await.json(200);
    let moments: Vec<&str> =
        whole.as_array().unwrap().iter().map(|key| key["createdAt"].as_str().unwrap()).collect();
    assert!(moments.first() >= moments.last(), "the newest first");
}

async fn keys_are_filtered(app: &App) {
    let user = unique("ada");
    let id = |secret: &str| secret.split('_').nth(1).unwrap().to_owned();
    let (own, account) = (id(&app.new_key(&["--user", &user])), id(&app.new_key(&["--account", &user])));
    let listed = async |query: &str| ids(&read(app, &format!("/v1/keys/all?{query}")).await.json(200), "id");
    assert_eq!(listed(&format!("owner={user}")).await, [account.as_str(), own.as_str()]);
    assert_eq!(listed(&format!("owner={user}&scope=user")).await, [own.as_str()]);
    let operators = read(app, "/v1/keys/all?scope=operator").await.json(200);
    assert!(!operators.as_array().unwrap().is_empty());
    assert!(operators.as_array().unwrap().iter().all(|key| key["scope"] == "operator"), "{operators}");
    let on_record = read(app, &format!("/v1/audit?subject={user}&action=keys.listed")).await.json(200);
    assert_eq!(ids(&on_record, "detail"), ["user", ""]);
    let wrong = read(app, "/v1/keys/all?scope=root&owner=").await;
    wrong.has_faults(&[("scope", "unknown_scope"), ("owner", "empty")]);
}

async fn operator_sees_how_much_there_is_of_a_user(app: &App) {
    let admin = unique("root");
    let token = app.token(&["--sub", &admin, "--scope", "admin"]);
    let seen = async |user: &str| {
        app.to_get(&format!("/v1/users/{}", encoded(user))).bearer(&token).send().await.json(200)
    };
    let expected = |user: &str, account: Option<&str>, n: i64, keys: i64| {
        let mut expected = json!({
            "userId": user, "hasPersonalData": n > 0, "listings": n, "savedListings": n, "applications": n,
            "verifications": n, "portfolios": n, "devices": n, "keys": keys,
        });
        if let Some(account) = account {
            expected["account"] = json!(account);
        }
        expected
    };
    let stranger = unique("nobody ' OR 1=1 --");
    assert_eq!(seen(&stranger).await, expected(&stranger, None, 0, 0));

    let (user, account) = (unique("ada"), unique("acme"));
    let (bearer, home) = (app.token(&["--sub", &user, "--account", &account]), unique("home"));
    app.verified(&bearer, &format!("?caseId={}", unique("case")), &applicant("Lovelace")).await;
    app.offer(&[&home]).await;
    app.apply(&bearer, &user, &[&home]).await;
    app.add_listing(listing(&unique("own"), &user)).await;
    let item = json!({"protocolName": "Helium", "protocolIdentifier": "hnt", "allocationPercentage": 100});
    let portfolio =
        json!({"userId": user, "riskLevel": "Moderate", "isCustom": true, "protocolItems": [item]});
    for (path, body, status) in [
        ("/stage/savedListings", json!({"userId": user, "listingId": home}), 200),
        (
            "/v1/depin-device",
            json!({"userId": user, "network": "Helium", "deviceIdentifier": unique("device")}),
            201,
        ),
        ("/v1/user-portfolio", portfolio, 201),
    ] {
        app.to_post(path, &body).key(app.operator()).send().await.json(status);
    }
    app.new_key(&["--user", &user]);
    assert_eq!(seen(&user).await, expected(&user, Some(&account), 1, 1));

    let path = format!("/v1/users/{user}/personal-data");
    app.request(Method::DELETE, &path).bearer(&token).send().await.only_message(200);
    let after = seen(&user).await;
    for gone in ["applications", "verifications", "keys"] {
        assert_eq!(after[gone], 0, "{after}");
    }
    assert_eq!((&after["hasPersonalData"], &after["listings"]), (&json!(false), &json!(1)), "{after}");
    let actor = encoded(&format!("administrator {admin}"));
    let entries = read(app, &format!("/v1/audit?actor={actor}&action=user.")).await.json(200);
    assert_eq!(ids(&entries, "subject"), [user.as_str(), &user, &stranger]);
}

async fn administrator_revokes_any_key(app: &App) {
    let admin = app.token(&["--sub", &unique("root"), "--scope", "admin"]);
    let secret = app.new_key(&["--account", &unique("acme")]);
    let id = secret.split('_').nth(1).unwrap();
    app.request(Method::DELETE, &format!("/v1/keys/{id}")).bearer(&admin).send().await.only_message(200);
    moment(&listed_key(app, id).await.unwrap()["revokedAt"]);
    app.to_get("/listings?listingId=x").key(&secret).send().await.refused(401, "unauthenticated");
}

async fn bureaus_tell_how_they_are_doing(app: &App) {
    let ada = app.someone().await;
    app.verified(&ada.token, &format!("?caseId={}", unique("case")), &applicant("Lovelace")).await;
    let bureaus = read(app, "/v1/bureaus").await.json(200);
    assert_eq!(ids(&bureaus, "check"), ["eviction", "income", "softCredit", "criminalBackground"]);
    let eviction = &bureaus[0];
    assert_eq!((&eviction["bureau"], &eviction["circuit"]), (&json!("sandbox"), &json!("closed")));
    assert!(eviction["answered"].as_u64() >= Some(1), "{eviction}");
    let latency = &eviction["latency"];
    assert!(latency["medianMillis"].as_u64() <= latency["slowestMillis"].as_u64(), "{eviction}");
}

async fn sandbox_session_may_be_an_operators(app: &App) {
    let user = unique("root");
    let session = app.post("/v1/sandbox/sessions", json!({"userId": user, "admin": true})).await.json(201);
    let (token, key) = (session["token"].as_str().unwrap(), session["apiKey"].as_str().unwrap());
    app.to_get("/v1/bureaus").bearer(token).send().await.json(200);
    app.to_get("/v1/bureaus").key(key).send().await.refused(403, "forbidden");
    let plain = app.post("/v1/sandbox/sessions", json!({"userId": user, "admin": false})).await.json(201);
    let token = plain["token"].as_str().unwrap();
    app.to_get("/v1/bureaus").bearer(token).send().await.refused(403, "forbidden");
}

/// Verifies the whole log; returns the state when it has ended.
async fn verified(app: &App) -> Value {
    app.request(Method::POST, "/v1/audit/verification").key(app.operator()).send().await.json(200);
    until("the log is verified", 60, async || {
        let state = read(app, "/v1/audit/verification").await.json(200);
        (state.get("running").is_none() && state.get("latest").is_some()).then_some(state)
    })
    .await
}

async fn audit_log_is_verified_in_the_background(engine: Engine) {
    let app = Options::new(engine).start().await;
    let before = read(&app, "/v1/audit/verification").await.json(200);
    assert!(before.get("latest").is_none() && before.get("running").is_none(), "{before}");
    with_a_revoked_key(&app).await;
    let state = verified(&app).await;
    let latest = &state["latest"];
    // The key on the command line, and the two of the user.
    assert!(latest["entries"].as_i64() >= Some(2), "{state}");
    assert_eq!(latest["entries"], state["entries"]);
    let expected = json!({
        "at": moment(&latest["at"]), "isComplete": true, "isCompared": true, "entries": latest["entries"],
        "faultCount": 0, "faults": [],
    });
    let mut latest = latest.clone();
    latest.as_object_mut().unwrap().remove("anchoredEntry");
    assert_eq!(latest, expected);
    assert_eq!((&state["isKeyed"], &state["isAltered"]), (&json!(true), &json!(false)));
    assert_eq!(state["isChainKnown"], true);
    let entries = read(&app, "/v1/audit?limit=1000").await.json(200);
    let head = entries.as_array().unwrap().iter().find(|entry| entry["number"] == state["entries"]).unwrap();
    assert_eq!(head["hash"], state["head"]);
}

async fn altered_entry_is_found(engine: Engine) {
    let app = Options::new(engine).start().await;
    // Not the first entry, which would look like one from before the log was keyed.
    app.operator();
    let (_, key) = with_a_revoked_key(&app).await;
    let raw = Raw::open(&app).await;
    let change = "UPDATE audit SET actor = 'user mallory' WHERE subject = ?1 AND action = 'key.created'";
    assert_eq!(raw.change(change, &[Cell::Text(key.clone())]).await, Some(1));
    let sql = "SELECT seq FROM audit WHERE subject = ?1 AND action = 'key.created'";
    let place = raw.rows(sql, &[Cell::Text(key)]).await[0][0].int();
    let latest = &verified(&app).await["latest"];
    assert_eq!(latest["faultCount"], 1, "{latest}");
    let text =
        format!("entry {place} was altered, or the one before it, or it was not written by this instance");
    assert_eq!(latest["faults"], json!([{"code": "altered", "entry": place, "text": text}]));
}

async fn rejected_item_is_queued_again(engine: Engine) {
    let app = Options::new(engine).start().await;
    let (id, user) = (unique("home"), unique("ada"));
    let body = on_chain(&id, &user);
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json_without_message(201);
    let records = format!("/v1/listings/{id}/records");
    until("it is recorded", 30, async || {
        let records = app.get(&records).await.json(200);
        (records[0]["status"] == "mined").then_some(())
    })
    .await;
    let raw = Raw::open(&app).await;
    // As if the contract had refused its next version.
    let fail = "UPDATE chain_items SET rejected = 1, version = version + 1, signer = NULL, nonce = NULL WHERE kind = 0";
    assert_eq!(raw.change(fail, &[]).await, Some(1));
    let queue = read(&app, "/v1/chain/queue").await.json(200);
    assert_eq!((&queue["failed"], &queue["waiting"]), (&json!(1), &json!(0)), "{queue}");
    let failed = &queue["failedItems"];
    let expected = json!([{
        "contract": "ListingRegistry", "key": failed[0]["key"], "version": 2, "isDeletion": false,
        "since": moment(&failed[0]["since"]),
    }]);
    assert_eq!(*failed, expected);
    assert_eq!(app.get(&records).await.json(200)[0]["status"], "refused");

    let retry = app.request(Method::POST, "/v1/chain/queue/retry").key(app.operator()).once("again");
    assert_eq!(retry.send().await.json_without_message(200), json!({"items": 1}));
    until("it is recorded again", 30, async || {
        let records = app.get(&records).await.json(200);
        (records[0]["status"] == "mined" && records[0]["version"] == 3).then_some(())
    })
    .await;
    let queue = read(&app, "/v1/chain/queue").await.json(200);
    assert_eq!((&queue["failed"], &queue["failedItems"]), (&json!(0), &json!([])), "{queue}");
    let again = app.request(Method::POST, "/v1/chain/queue/retry").key(app.operator());
    assert_eq!(again.send().await.json_without_message(200), json!({"items": 0}));
    let entries = read(&app, "/v1/audit?action=chain.").await.json(200);
    assert_eq!(actions(&entries), ["chain.retried"]);
    assert_eq!(entries[0]["detail"], "1 items");
}
