//! The four flags of an application, computed from the listing's terms and the newest result.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    App, Engine, Options, Session, applicant, on_both_engines, on_chain, unique, until, with,
};

on_both_engines! {
    shared:
        application_after_verification_sets_flags,
        verification_after_application_sets_flags,
        renewed_report_attests_again,
        new_terms_attest_anew,
        scores_and_incomes_are_not_on_the_chain;
    own:
        flags_work_on_a_real_node;
}

const NONE: [bool; 4] = [false; 4];
const ALL: [bool; 4] = [true; 4];

fn terms(credit: (u32, u32), income: (u32, u32)) -> Value {
    json!({"minCredit": credit.0, "prefCredit": credit.1, "minIncome": income.0, "prefIncome": income.1})
}

async fn record(app: &App, id: &str, terms: Value) {
    let body = with(on_chain(id, "landlord"), terms);
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201);
}

/// The contract and the service agree on the flags.
async fn the_contract_agrees(app: &App, who: &Session, listing: &str, expected: [bool; 4]) {
    app.flags_become(&who.user, listing, expected).await;
    let bits = expected.iter().enumerate().fold(0_u8, |bits, (at, flag)| bits | u8::from(*flag) << at);
    let path = format!("/v1/applications/{}/{listing}/proof", who.user);
    let proof = app.to_get(&path).bearer(&who.token).send().await.json(200);
    assert_eq!(proof["flags"], bits);
    until("the contract agrees", 30, async || app.is_attested(&proof).await.then_some(())).await;
    let other = with(proof.clone(), json!({"flags": bits ^ 1}));
    assert!(!app.is_attested(&other).await);
    for key in [&who.key, app.operator()] {
        app.to_get(&path).key(key).send().await.refused(401, "unauthenticated");
    }
}

async fn application_after_verification_sets_flags(app: &App) {
    let (ada, elm) = (app.someone().await, unique("elm"));
    record(app, &elm, terms((620, 700), (50_000, 90_000))).await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.apply(&ada.token, &ada.user, &[&elm]).await;
    the_contract_agrees(app, &ada, &elm, [true, true, true, false]).await;
    // The other operation that applies.
    let oak = unique("oak");
    record(app, &oak, terms((720, 721), (90_000, 90_000))).await;
    let path = format!("/applications/{}/{oak}/check", ada.user);
    app.post(&path, json!({"userId": ada.user, "listingIds": []})).await.only_message(201);
    the_contract_agrees(app, &ada, &oak, [true, false, false, false]).await;
}

async fn verification_after_application_sets_flags(app: &App) {
    let (ada, elm, oak) = (app.someone().await, unique("elm"), unique("oak"));
    record(app, &elm, terms((1, 1), (0, 0))).await;
    record(app, &oak, terms((800, 850), (85_000, 85_001))).await;
    app.apply(&ada.token, &ada.user, &[&elm, &oak]).await;
    assert_eq!(app.flags(&ada.user, &elm).await, NONE, "nobody is known yet");
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    the_contract_agrees(app, &ada, &elm, ALL).await;
    the_contract_agrees(app, &ada, &oak, [false, false, true, false]).await;
}

async fn renewed_report_attests_again(app: &App) {
    let (ada, elm) = (app.someone().await, unique("elm"));
    record(app, &elm, terms((620, 700), (50_000, 80_000))).await;
    app.apply(&ada.token, &ada.user, &[&elm]).await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    the_contract_agrees(app, &ada, &elm, ALL).await;
    let poorer = json!({"OpenBankingToken": "income-60000"});
    app.verified(&ada.token, "", &with(applicant("Lovelace"), poorer)).await;
    the_contract_agrees(app, &ada, &elm, ALL).await;
    let path = format!("/v1/applications/{}/{elm}/report", ada.user);
    app.request(Method::PUT, &path).bearer(&ada.token).json(&json!({})).send().await.only_message(200);
    the_contract_agrees(app, &ada, &elm, [true, true, true, false]).await;
}

async fn new_terms_attest_anew(app: &App) {
    let (ada, elm) = (app.someone().await, unique("elm"));
    record(app, &elm, terms((620, 700), (50_000, 80_000))).await;
    app.apply(&ada.token, &ada.user, &[&elm]).await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    the_contract_agrees(app, &ada, &elm, ALL).await;
    app.request(Method::DELETE, &format!("/stage/listing/{elm}"))
        .key(app.operator())
        .send()
        .await
        .status(200);
    record(app, &elm, terms((750, 800), (50_000, 90_000))).await;
    // Deleting the listing ended the application.
    assert_eq!(app.flags(&ada.user, &elm).await, NONE);
    app.apply(&ada.token, &ada.user, &[&elm]).await;
    the_contract_agrees(app, &ada, &elm, [false, false, true, false]).await;
}

async fn scores_and_incomes_are_not_on_the_chain(app: &App) {
    let (ada, elm) = (app.someone().await, unique("elm"));
    record(app, &elm, terms((620, 700), (50_000, 80_000))).await;
    app.apply(&ada.token, &ada.user, &[&elm]).await;
    let unusual = json!({"OpenBankingToken": "income-81733.77"});
    app.verified(&ada.token, "", &with(applicant("Lovelace"), unusual)).await;
    the_contract_agrees(app, &ada, &elm, ALL).await;
    let amount = format!("{:016x}", 8_173_377);
    let head = app.get("/v1/chain/status").await.json(200)["head"]["number"].as_u64().unwrap();
    for number in head.saturating_sub(200)..=head {
        let block = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByNumber",
                           "params": [format!("{number:#x}"), true]});
        let block = app.post("/rpc", block).await;
        assert!(block.text().contains("transactions"), "{}", block.text());
        assert!(!block.text().contains(&amount), "block {number}");
    }
}

async fn flags_work_on_a_real_node(engine: Engine) {
    let app = Options::new(engine).anvil().start().await;
    application_after_verification_sets_flags(&app).await;
    verification_after_application_sets_flags(&app).await;
    renewed_report_attests_again(&app).await;
    new_terms_attest_anew(&app).await;
}
