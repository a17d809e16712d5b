//! `/v1/chain`, proofs and attested flags: the public view of the chain.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    App, Engine, Options, Raw, applicant, listing, on_both_engines, on_chain, unique, until, with,
};

on_both_engines! {
    shared:
        status_has_head_contracts_signers_and_queue,
        blocks_are_listed_newest_first_and_read_singly,
        transaction_is_traced_to_its_block,
        transaction_has_its_data_and_logs,
        transactions_of_an_address_are_listed_in_pages,
        unknown_transaction_is_not_found,
        listing_is_proved_by_its_digest,
        altered_row_no_longer_matches_the_chain,
        unrecorded_listing_has_no_proof,
        listing_record_has_its_transaction,
        attested_flags_are_read_from_the_chain;
    own:
        recording_works_on_a_real_node;
}

async fn record(app: &App, body: Value) -> Value {
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201)
}

async fn status_has_head_contracts_signers_and_queue(app: &App) {
    let status = app.get("/v1/chain/status").await.json(200);
    assert_eq!(status["node"], "embedded");
    assert_eq!((&status["reachable"], &status["signing"]), (&json!(true), &json!(true)));
    assert!(status["head"]["number"].as_u64().unwrap() >= 4, "four contracts were deployed: {status}");
    for contract in ["listingRegistry", "identityToken", "applicationChecks", "auditAnchor"] {
        assert!(status["contracts"][contract].as_str().unwrap().starts_with("0x"), "{status}");
    }
    assert_eq!(status["signers"].as_array().unwrap().len(), 1);
    assert_eq!(status["queue"]["failed"], 0);
}

async fn blocks_are_listed_newest_first_and_read_singly(app: &App) {
    let blocks = app.get("/v1/chain/blocks?limit=3").await.json(200);
    let blocks = blocks.as_array().unwrap();
    assert_eq!(blocks.len(), 3);
    for pair in blocks.windows(2) {
        assert_eq!(pair[0]["parentHash"], pair[1]["hash"], "each block names the one before it");
    }
    let number = blocks[1]["number"].as_u64().unwrap();
    assert_eq!(app.get(&format!("/v1/chain/blocks/{number}")).await.json(200), blocks[1]);
    let below = app.get(&format!("/v1/chain/blocks?before={number}")).await.json(200);
    assert_eq!(below[0], blocks[2]);
    assert_eq!(app.get("/v1/chain/blocks?before=0").await.json(200), json!([]));
    app.get("/v1/chain/blocks/999999999").await.refused(404, "block_not_found");
    app.get("/v1/chain/blocks/first").await.refused(404, "not_found");
    app.get("/v1/chain/blocks?limit=101").await.problem(400);
}

async fn transaction_is_traced_to_its_block(app: &App) {
    let recorded = record(app, on_chain(&unique("traced"), "ada")).await;
    let hash = recorded["transactionHash"].as_str().unwrap();
    let traced = app.get(&format!("/v1/chain/transactions/{hash}")).await.json(200);
    assert_eq!((&traced["hash"], &traced["status"]), (&json!(hash), &json!("mined")), "{traced}");
    assert_eq!(traced["contract"], "ListingRegistry");
    let block = app.get(&format!("/v1/chain/blocks/{}", traced["blockNumber"])).await.json(200);
    assert!(block["transactions"].as_array().unwrap().contains(&json!(hash)), "{block}");
    // Deployment transactions are in no database but are found.
    let first = app.get("/v1/chain/blocks/1").await.json(200);
    let deployed = first["transactions"][0].as_str().unwrap();
    let traced = app.get(&format!("/v1/chain/transactions/{deployed}")).await.json(200);
    assert_eq!((&traced["status"], &traced["blockNumber"]), (&json!("mined"), &json!(1)));
}

async fn transaction_has_its_data_and_logs(app: &App) {
    let recorded = record(app, on_chain(&unique("decoded"), "ada")).await;
    let hash = recorded["transactionHash"].as_str().unwrap();
    let found = app.get(&format!("/v1/chain/transactions/{hash}")).await.json(200);
    let registry = app.get("/v1/chain/status").await.json(200)["contracts"]["listingRegistry"].clone();
    assert_eq!(found["to"], registry);
    assert!(found["input"].as_str().unwrap().len() > 10, "{found}");
    assert!(found["gasUsed"].as_u64().unwrap() > 21_000, "{found}");
    let logs = found["logs"].as_array().unwrap();
    assert!(!logs.is_empty() && logs.iter().all(|log| log["address"] == registry), "{found}");
    assert_eq!(logs[0]["topics"][0].as_str().unwrap().len(), 66);
    // One that deploys a contract is sent to nobody.
    let first = app.get("/v1/chain/blocks/1").await.json(200);
    let deployed = first["transactions"][0].as_str().unwrap();
    let found = app.get(&format!("/v1/chain/transactions/{deployed}")).await.json(200);
    assert_eq!((&found["to"], found["input"].as_str().unwrap().len() > 1000), (&Value::Null, true));
}

async fn transactions_of_an_address_are_listed_in_pages(app: &App) {
    let hashes = [(); 3].map(|()| unique("paged"));
    let mut sent = Vec::new();
    for id in &hashes {
        sent.push(record(app, on_chain(id, "ada")).await["transactionHash"].clone());
    }
    let status = app.get("/v1/chain/status").await.json(200);
    for address in [&status["contracts"]["listingRegistry"], &status["signers"][0]["address"]] {
        let address = address.as_str().unwrap();
        let (mut found, mut next) =
            (Vec::new(), Some(format!("/v1/chain/transactions?address={address}&limit=2")));
        while let Some(path) = next {
            let answer = app.get(&path).await;
            next = answer.next_page();
            assert_ne!(next.as_ref(), Some(&path), "it goes on");
            let page = answer.json(200);
            assert!(page.as_array().unwrap().len() <= 2, "{page}");
            found.extend(page.as_array().unwrap().clone());
        }
        let listed: Vec<&Value> = found.iter().map(|one| &one["hash"]).collect();
        let places: Vec<usize> =
            sent.iter().map(|hash| listed.iter().position(|one| *one == hash).unwrap()).collect();
        assert!(places.is_sorted_by(|one, next| one > next), "the newest first: {places:?}");
        assert!(found.iter().any(|one| one["status"] == "mined" && one["contract"] == "ListingRegistry"));
    }
    let nobody = format!("/v1/chain/transactions?address=0x{}", "ab".repeat(20));
    assert_eq!(app.get(&nobody).await.json(200), json!([]));
    app.get("/v1/chain/transactions").await.problem(400);
    app.get("/v1/chain/transactions?address=0x12").await.problem(400);
}

async fn unknown_transaction_is_not_found(app: &App) {
    let nobody = format!("/v1/chain/transactions/0x{}", "0".repeat(64));
    app.get(&nobody).await.refused(404, "transaction_not_found");
    app.get("/v1/chain/transactions/0x12").await.refused(404, "not_found");
}

async fn listing_is_proved_by_its_digest(app: &App) {
    let id = unique("proved");
    let recorded = record(app, with(on_chain(&id, "ada"), json!({"propertyValue": 1.5}))).await;
    let proof = app.get(&format!("/v1/listings/{id}/proof")).await.json(200);
    assert_eq!(proof["matches"], true);
    assert_eq!(proof["digest"], proof["chainDigest"]);
    assert_eq!(proof["transactionHash"], recorded["transactionHash"]);
    let content = proof["content"].as_array().unwrap();
    let field = |name: &str| content.iter().find(|field| field["name"] == name).unwrap()["value"].clone();
    assert_eq!((field("propertyValue"), field("listingId")), (json!("1.5"), json!(id)));
    assert!(!content.iter().any(|field| field["name"] == "userId"), "whose it is, is not on the chain");
}

async fn altered_row_no_longer_matches_the_chain(app: &App) {
    let id = unique("altered");
    record(app, on_chain(&id, "ada")).await;
    let statement = format!(
        "UPDATE listings SET document = replace(document, '\"rent\":', '\"rent\":1') WHERE id = '{id}'"
    );
    assert_eq!(Raw::open(app).await.change(&statement, &[]).await, Some(1));
    // Until its transaction is known to be in a block, the record might still follow.
    let proof = until("the record is on the chain", 10, async || {
        let answer = app.get(&format!("/v1/listings/{id}/proof")).await;
        (answer.status != 503).then_some(answer)
    });
    let proof = proof.await.json(200);
    assert_eq!(proof["matches"], false);
    assert_ne!(proof["digest"], proof["chainDigest"]);
}

async fn unrecorded_listing_has_no_proof(app: &App) {
    let id = unique("simple");
    app.get(&format!("/v1/listings/{id}/proof")).await.refused(404, "listing_not_found");
    app.add_listing(listing(&id, "ada")).await;
    app.get(&format!("/v1/listings/{id}/proof")).await.refused(404, "record_not_found");
}

async fn listing_record_has_its_transaction(app: &App) {
    let (simple, id) = (unique("simple"), unique("recorded"));
    app.get(&format!("/v1/listings/{id}/records")).await.refused(404, "listing_not_found");
    app.add_listing(listing(&simple, "ada")).await;
    assert_eq!(app.get(&format!("/v1/listings/{simple}/records")).await.json(200), json!([]));
    let recorded = record(app, on_chain(&id, "ada")).await;
    let records = app.get(&format!("/v1/listings/{id}/records")).await.json(200);
    let proof = app.get(&format!("/v1/listings/{id}/proof")).await.json(200);
    assert_eq!(records.as_array().unwrap().len(), 1);
    assert_eq!(records[0]["status"], "mined");
    assert_eq!(records[0]["transactionHash"], recorded["transactionHash"]);
    for field in ["key", "version", "transactionHash", "blockNumber", "contract", "chainId"] {
        assert_eq!(records[0][field], proof[field], "{field}");
    }
}

const NOTHING: [bool; 4] = [false; 4];

async fn check(app: &App, user: &str, listing: &str) -> [bool; 4] {
    let answer = app.get(&format!("/applications/{user}/{listing}/check")).await.json(200);
    assert_eq!(answer.as_object().unwrap().len(), 4);
    ["passMinCredit", "passPrefCred", "passMinIncome", "passPrefIncome"]
        .map(|flag| answer[flag].as_bool().unwrap())
}

async fn apply(app: &App, user: &str, listing: &str) {
    app.offer(&[listing]).await;
    let body = json!({"userId": user, "listingIds": []});
    app.post(&format!("/applications/{user}/{listing}/check"), body).await.only_message(201);
}

async fn attested_flags_are_read_from_the_chain(app: &App) {
    let (ada, id, other) = (app.someone().await, unique("elm"), unique("oak"));
    let terms = json!({"minCredit": 620, "prefCredit": 700, "minIncome": 50_000, "prefIncome": 90_000});
    record(app, with(on_chain(&id, "landlord"), terms)).await;
    apply(app, &ada.user, &id).await;
    apply(app, &ada.user, &other).await;
    let records = format!("/v1/applications/{}/{id}/records", ada.user);
    let nowhere = format!("/v1/applications/{}/nowhere/records", ada.user);
    app.get(&nowhere).await.refused(404, "application_not_found");
    assert_eq!(app.get(&records).await.json(200), json!([]));
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.flags_become(&ada.user, &id, [true, true, true, false]).await;
    assert_eq!(check(app, &ada.user, &id).await, [true, true, true, false]);
    let found = app.get(&records).await.json(200);
    assert_eq!((&found[0]["status"], &found[0]["version"]), (&json!("mined"), &json!(1)), "{found}");
    let status = app.get("/v1/chain/status").await.json(200);
    assert_eq!(found[0]["contract"], status["contracts"]["applicationChecks"]);
    let block = app.get(&format!("/v1/chain/blocks/{}", found[0]["blockNumber"])).await.json(200);
    assert!(block["transactions"].as_array().unwrap().contains(&found[0]["transactionHash"]), "{block}");
    assert_eq!(check(app, &ada.user, &other).await, NOTHING, "a listing without terms has no flags");
    let path = format!("/v1/applications/{}/{id}", ada.user);
    app.request(Method::DELETE, &path).bearer(&ada.token).send().await.only_message(200);
    assert_eq!(check(app, &ada.user, &id).await, NOTHING);
    until("the record is gone", 30, async || (app.get(&records).await.json(200) == json!([])).then_some(()))
        .await;
}

async fn recording_works_on_a_real_node(engine: Engine) {
    let app = Options::new(engine).anvil().start().await;
    let status = app.get("/v1/chain/status").await.json(200);
    assert_eq!((&status["node"], &status["signing"]), (&json!("remote"), &json!(true)));
    let id = unique("remote");
    let recorded = record(&app, with(on_chain(&id, "ada"), json!({"minCredit": 640}))).await;
    let terms = app.to_get(&format!("/stage/listing/requirements/{id}")).key(app.operator()).send().await;
    assert_eq!(terms.json(200)["minCreditScore"], 640);
    let hash = recorded["transactionHash"].as_str().unwrap();
    let traced = app.get(&format!("/v1/chain/transactions/{hash}")).await.json(200);
    assert_eq!(traced["status"], "mined");
    assert_eq!(app.get(&format!("/v1/listings/{id}/proof")).await.json(200)["matches"], true);
    assert_eq!(app.get("/v1/chain/blocks?limit=2").await.json(200).as_array().unwrap().len(), 2);
    attested_flags_are_read_from_the_chain(&app).await;
    altered_row_no_longer_matches_the_chain(&app).await;
}
