//! The sandbox's clock: its effects, its bounds, and restarts.

use serde_json::{Value, json};

use crate::support::{App, Engine, Options, applicant, on_both_engines, on_chain, unique};

on_both_engines! {
    own:
        results_expire_by_the_moved_clock_and_tokens_do_not,
        moved_clock_survives_a_restart,
        clock_moves_within_its_bounds;
}

const DAY: i64 = 86_400;

async fn advance(app: &App, seconds: i64) -> Value {
    app.post("/v1/sandbox/clock", json!({"advanceSeconds": seconds})).await.json(200)
}

async fn results_expire_by_the_moved_clock_and_tokens_do_not(engine: Engine) {
    let app = Options::new(engine).start().await;
    let ada = app.sign_in(&unique("ada")).await;
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    let again = format!("?verifiedId={}", made.id);
    advance(&app, 29 * DAY).await;
    app.verify(&ada.token, &again, &json!({})).await.status(200);
    let moved = advance(&app, 2 * DAY).await;
    assert_eq!(moved["aheadSeconds"], 31 * DAY);
    app.verify(&ada.token, &again, &json!({})).await.refused(404, "verification_not_found");
    // The same token is still valid, and a block carries the new time.
    let listing = unique("elm");
    app.to_post("/stage/listings", &on_chain(&listing, &ada.user)).key(&ada.key).send().await.json(201);
    let blocks = app.get("/v1/chain/blocks?limit=1").await.json(200);
    let now = moved["now"].as_str().unwrap();
    assert!(blocks[0]["timestamp"].as_str().unwrap()[..10] >= now[..10], "{blocks} {now}");
}

async fn moved_clock_survives_a_restart(engine: Engine) {
    let app = Options::new(engine).start().await;
    let ada = app.sign_in(&unique("ada")).await;
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    advance(&app, 31 * DAY).await;
    let app = app.restart().await;
    let again = format!("?verifiedId={}", made.id);
    app.verify(&ada.token, &again, &json!({})).await.refused(404, "verification_not_found");
    assert_eq!(advance(&app, 1).await["aheadSeconds"], 31 * DAY + 1);
}

async fn clock_moves_within_its_bounds(engine: Engine) {
    let app = Options::new(engine).start().await;
    let refused = |body: Value| app.post("/v1/sandbox/clock", body);
    refused(json!({})).await.has_faults(&[("/advanceSeconds", "missing")]);
    for seconds in [json!(0), json!(-5), json!(315_360_001)] {
        refused(json!({"advanceSeconds": seconds})).await.has_faults(&[("/advanceSeconds", "out_of_range")]);
    }
    for _ in 0..10 {
        advance(&app, 315_360_000).await;
    }
    refused(json!({"advanceSeconds": 315_360_000})).await.has_faults(&[("/advanceSeconds", "out_of_range")]);
    // Everything still works a hundred years later.
    let ada = app.sign_in(&unique("ada")).await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
}
