//! Budgets of what costs money: checks by bureaus, writes to the chain, reads of a remote chain.

use portico_app::budgets::{Budgets, DailyLimits};
use serde_json::{Value, json};

use crate::support::node_proxy::NodeProxy;
use crate::support::{
    Answer, Anvil, App, Engine, NodeOptions, Options, applicant, on_both_engines, on_chain, unique, with,
};

on_both_engines! {
    own:
        checks_have_a_daily_budget_that_survives_a_restart,
        accounts_share_a_budget_of_checks,
        keys_of_users_pay_from_their_account,
        records_have_a_daily_budget,
        everything_that_is_written_to_the_chain_is_budgeted,
        result_pays_for_the_flags_of_every_application;
}

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// How much is not limited.
const UNLIMITED: DailyLimits = DailyLimits { person: 0, account: 0 };

async fn with_checks(engine: Engine, checks: DailyLimits) -> App {
    let budgets = Budgets { checks, ..Budgets::default() };
    Options { budgets, ..Options::new(engine) }.start().await
}

async fn with_records(engine: Engine, records: DailyLimits) -> App {
    let budgets = Budgets { records, ..Budgets::default() };
    Options { budgets, ..Options::new(engine) }.start().await
}

/// The answer tells which budget is used up, and until when.
#[track_caller]
fn is_over(answer: Answer, name: &str, limit: u64) {
    assert_eq!(answer.header("ratelimit-policy"), format!("\"{name}\";q={limit};w={DAY_SECONDS}"));
    let retry_after: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=DAY_SECONDS + 1).contains(&retry_after), "{retry_after}");
    let state = answer.header("ratelimit").to_owned();
    assert!(state.starts_with(&format!("\"{name}\";r=")), "{state}");
    assert!(state.ends_with(&format!(";t={retry_after}")), "{state}");
    let problem = answer.problem(429);
    assert_eq!(problem["code"], "quota_exhausted");
    assert!(problem["detail"].as_str().unwrap().contains(&format!("{name} is {limit}")), "{problem}");
}

/// Four checks.
async fn verify(app: &App, bearer: &str, case: &str, last: &str) -> Answer {
    app.verify(bearer, &format!("?caseId={case}"), &applicant(last)).await
}

async fn checks_have_a_daily_budget_that_survives_a_restart(engine: Engine) {
    let app = with_checks(engine, DailyLimits { person: 6, ..UNLIMITED }).await;
    let (ada, bob) = (app.someone().await, app.someone().await);
    let case = unique("case");
    verify(&app, &ada.token, &case, "Lovelace").await.status(200);
    verify(&app, &ada.token, &case, "Lovelace").await.status(200);
    is_over(verify(&app, &ada.token, &case, "Byron").await, "checks-per-person", 6);
    // A refusal begins no check: what is known stays known.
    verify(&app, &ada.token, &case, "Lovelace").await.status(200);
    let app = app.restart().await;
    is_over(verify(&app, &ada.token, &case, "Byron").await, "checks-per-person", 6);
    verify(&app, &bob.token, &unique("case"), "Byron").await.status(200);
    app.post("/v1/sandbox/clock", json!({"advanceSeconds": DAY_SECONDS})).await.status(200);
    verify(&app, &ada.token, &case, "Byron").await.status(200);
}

async fn accounts_share_a_budget_of_checks(engine: Engine) {
    let app = with_checks(engine, DailyLimits { account: 6, ..UNLIMITED }).await;
    let of = |user: &str, account: &str| app.token(&["--sub", user, "--account", account]);
    verify(&app, &of("ada", "acme"), &unique("case"), "Lovelace").await.status(200);
    is_over(verify(&app, &of("bob", "acme"), &unique("case"), "Byron").await, "checks-per-account", 6);
    verify(&app, &of("cyd", "emca"), &unique("case"), "Charisse").await.status(200);
}

async fn keys_of_users_pay_from_their_account(engine: Engine) {
    let app = with_records(engine, DailyLimits { account: 1, ..UNLIMITED }).await;
    let own_key = async |user: &str, account: &str| {
        let token = app.token(&["--sub", user, "--account", account]);
        let made = app.to_post("/v1/keys", &json!({"name": "laptop"})).bearer(&token).send().await;
        made.json(201)["apiKey"].as_str().unwrap().to_owned()
    };
    let record = async |key: &str, user: &str| {
        app.to_post("/stage/listings", &on_chain(&unique("elm"), user)).key(key).send().await
    };
    let (ada, bob) = (own_key("ada", "acme").await, own_key("bob", "acme").await);
    record(&ada, "ada").await.status(201);
    is_over(record(&ada, "ada").await, "records-per-account", 1);
    is_over(record(&bob, "bob").await, "records-per-account", 1);
    record(&own_key("cyd", "emca").await, "cyd").await.status(201);
}

async fn records_have_a_daily_budget(engine: Engine) {
    let app = with_records(engine, DailyLimits { person: 2, ..UNLIMITED }).await;
    let (ada, bob) = (app.someone().await, app.someone().await);
    let record = async |key: &str, user: &str, id: &str| {
        app.to_post("/stage/listings", &on_chain(id, user)).key(key).once(id).send().await
    };
    let ids: Vec<String> = (0..4).map(|_| unique("elm")).collect();
    record(&ada.key, &ada.user, &ids[0]).await.status(201);
    let taken = app.to_post("/stage/listings", &on_chain(&ids[0], &ada.user)).key(&ada.key);
    taken.send().await.refused(409, "listing_exists");
    record(&ada.key, &ada.user, &ids[0]).await.status(201);
    record(&ada.key, &ada.user, &ids[1]).await.status(201);
    is_over(record(&ada.key, &ada.user, &ids[2]).await, "records-per-person", 2);
    assert_eq!(app.get(&format!("/listings?listingId={}", ids[2])).await.json(200), json!([]));
    record(&bob.key, &bob.user, &ids[3]).await.status(201);
    // The operator's money is the operator's.
    for _ in 0..3 {
        record(app.operator(), &ada.user, &unique("elm")).await.status(201);
    }
    // Taking a listing back is never refused.
    app.request(reqwest::Method::DELETE, &format!("/listings/{}", ids[0]))
        .key(&ada.key)
        .send()
        .await
        .status(200);
}

async fn everything_that_is_written_to_the_chain_is_budgeted(engine: Engine) {
    let app = with_records(engine, DailyLimits { person: 1, ..UNLIMITED }).await;
    app.offer(&["oak", "ash"]).await;
    let over = |answer: Answer| is_over(answer, "records-per-person", 1);

    let ada = app.someone().await;
    let (case, wallet) = (unique("case"), "0x52908400098527886E0F7030069857D2E4169EE7");
    app.identity(&ada.token, &case, wallet).await.status(200);
    app.identity(&ada.token, &case, wallet).await.status(200);
    over(app.identity(&ada.token, &unique("case"), wallet).await);
    over(verify(&app, &ada.token, &case, "Lovelace").await);

    let bob = app.someone().await;
    let listings = json!({"userId": bob.user, "listingIds": ["oak", "ash"]});
    over(app.to_post("/applications", &listings).bearer(&bob.token).send().await);
    app.apply(&bob.token, &bob.user, &["oak"]).await;
    let apply = |listings: Value| {
        let body = json!({"userId": bob.user, "listingIds": listings});
        app.to_post("/applications", &body).bearer(&bob.token).send()
    };
    over(apply(json!(["ash"])).await);
    // An open application is none that is made, and a fault is told before the budget.
    app.apply(&bob.token, &bob.user, &["oak"]).await;
    apply(json!(["ash", "no-such-listing"])).await.refused(400, "unknown_listing");

    let cyd = app.someone().await;
    let id = unique("elm");
    app.to_post("/stage/listings", &on_chain(&id, &cyd.user)).key(&cyd.key).send().await.status(201);
    let edit = async |change: Value| {
        let path = format!("/v1/listings/{id}");
        app.request(reqwest::Method::PATCH, &path).bearer(&cyd.token).json(&change).send().await
    };
    over(edit(json!({"city": "Elsewhere"})).await);
}

/// Regression: alternating between two identities rewrote the flags of all applications for one record each time.
async fn result_pays_for_the_flags_of_every_application(engine: Engine) {
    let app = with_records(engine, DailyLimits { person: 5, ..UNLIMITED }).await;
    let offer = async |ids: &[&str]| {
        for id in ids {
            let body = with(on_chain(id, "landlord"), json!({"minCredit": 620}));
            app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201);
        }
    };
    offer(&["oak", "ash"]).await;
    let (ada, bob) = (app.someone().await, app.someone().await);
    app.apply(&ada.token, &ada.user, &["oak", "ash"]).await;
    verify(&app, &ada.token, &unique("case"), "Lovelace").await.status(200);
    // Nothing is left of 2 and 3.
    is_over(verify(&app, &ada.token, &unique("case"), "Lovelace").await, "records-per-person", 5);
    for _ in 0..5 {
        verify(&app, &bob.token, &unique("case"), "Lovelace").await.status(200);
    }
    is_over(verify(&app, &bob.token, &unique("case"), "Lovelace").await, "records-per-person", 5);
    // A result never costs more than a whole day's budget: somebody with more applications than that is verified too.
    let (cyd, root) = (app.someone().await, app.token(&["--sub", "root", "--scope", "admin"]));
    for offered in [["elm", "fir", "yew"], ["ivy", "bay", "box"]] {
        offer(&offered).await;
        app.apply(&root, &cyd.user, &offered).await;
    }
    verify(&app, &cyd.token, &unique("case"), "Lovelace").await.status(200);
    is_over(verify(&app, &cyd.token, &unique("case"), "Lovelace").await, "records-per-person", 5);
}

#[test]
fn final_blocks_are_cached_and_reads_limited() {
    crate::support::run(async {
        let anvil = Anvil::shared();
        anvil.ask("anvil_mine", json!(["0x190"])).await;
        let node = NodeProxy::to(&anvil.url).await;
        let budgets = Budgets { chain_reads: 1, ..Budgets::default() };
        let node_options = Some(NodeOptions { url: node.url.clone(), key: anvil.new_key() });
        let app = Options { budgets, node: node_options, ..Options::new(Engine::Sqlite) }.start().await;
        node.asked_below(0);
        let page = "/v1/chain/blocks?before=101&limit=100";
        let first = app.get(page).await.json(200);
        assert_eq!(first.as_array().unwrap().len(), 100);
        assert_eq!(node.asked_below(101), 100);
        assert_eq!(app.get(page).await.json(200), first);
        app.get("/v1/chain/blocks/50").await.status(200);
        assert_eq!(node.asked_below(101), 0, "they are remembered");
        let another = "/v1/chain/blocks?before=201&limit=100";
        let over = app.get(another).await;
        assert_eq!(over.header("ratelimit-policy"), r#""chain-reads";q=1;w=1"#);
        assert!(over.header("retry-after").parse::<u64>().unwrap() > 60);
        over.refused(429, "rate_limited");
        assert_eq!(node.asked_below(201), 0);
        app.to_get(another).bearer(&app.token(&["--sub", "ada"])).send().await.status(200);
        app.to_get("/v1/chain/blocks?before=301&limit=100").key(app.operator()).send().await.status(200);
    });
}
