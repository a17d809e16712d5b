//! `kill -9` under load: acknowledged writes are in the database and on the chain exactly once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use futures_util::future::{join, join_all};

use crate::support::{App, Engine, Options, ids, on_chain, run, until};

/// `make kills` runs more.
const CYCLES: usize = 3;

fn cycles() -> usize {
    std::env::var("PORTICO_KILL_CYCLES").ok().and_then(|cycles| cycles.parse().ok()).unwrap_or(CYCLES)
}

/// Starts the server; returns how long it took to be ready.
async fn ready(data: &Path) -> (App, u128) {
    let started = Instant::now();
    let app = Options::new(Engine::Sqlite).data(data).start().await;
    until("the server is ready", 20, async || (app.get("/readyz").await.status == 200).then_some(())).await;
    (app, started.elapsed().as_millis())
}

/// Records listings until the server is killed.
async fn record_until_killed(app: &App, key: &str, name: &str, acknowledged: &Mutex<BTreeSet<String>>) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for number in 0.. {
        let id = format!("{name}-{number}");
        let request = client.post(format!("{}/stage/listings", app.url)).header("x-api-key", key);
        let request =
            request.header("content-type", "application/json").body(on_chain(&id, "ada").to_string());
        match request.send().await {
            Ok(answer) if answer.status() == 201 => _ = acknowledged.lock().unwrap().insert(id),
            Ok(answer) => panic!("{}", answer.status()),
            Err(_) => break,
        }
    }
}

#[test]
fn acknowledged_writes_survive_kills_on_both_sides() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let acknowledged = Mutex::new(BTreeSet::new());
        let (mut app, _) = ready(&data).await;
        let key = app.new_key(&[]);
        let mut slowest = 0;
        for cycle in 0..cycles() {
            let enough = acknowledged.lock().unwrap().len() + 100;
            let writers = (0..16).map(|writer| {
                let (app, key, acknowledged) = (&app, &key, &acknowledged);
                async move { record_until_killed(app, key, &format!("{cycle}-{writer}"), acknowledged).await }
            });
            let killing = async {
                until("some are acknowledged", 30, async || {
                    (acknowledged.lock().unwrap().len() >= enough).then_some(())
                })
                .await;
                app.signal("KILL");
            };
            join(join_all(writers), killing).await;
            assert!(!app.ended().await);
            let took;
            (app, took) = ready(&data).await;
            slowest = slowest.max(took);
        }
        let acknowledged = acknowledged.into_inner().unwrap();
        println!(
            "{} cycles, {} acknowledged, ready again in at most {slowest} ms",
            cycles(),
            acknowledged.len()
        );
        both_sides_agree(&app, &key, &acknowledged).await;
        app.signal("TERM");
        assert!(app.ended().await);
        let compared = app.prints(&["chain", "reconcile"]);
        assert!(compared.ends_with("0 on their way, 0 different, 0 refused by the chain"), "{compared}");
    });
}

async fn both_sides_agree(app: &App, key: &str, acknowledged: &BTreeSet<String>) {
    let stored = ids(&app.get("/listings").await.json(200), "listingId");
    let unique: BTreeSet<String> = stored.iter().cloned().collect();
    assert_eq!(unique.len(), stored.len(), "nothing is there twice");
    assert!(acknowledged.is_subset(&unique), "lost: {:?}", acknowledged.difference(&unique));
    let statistics = app.get("/v1/listings/stats/overview").await.json(200);
    assert_eq!(statistics["onChain"], stored.len());
    for id in &stored {
        let terms = app.to_get(&format!("/stage/listing/requirements/{id}")).key(key).send().await;
        terms.json(200);
    }
    // All transactions of the signer are in the database: none signed twice, no nonce skipped.
    let status = app.get("/v1/chain/status").await.json(200);
    let signed: u64 = {
        let head = status["head"]["number"].as_u64().unwrap();
        let mut count = 0;
        for number in 1..=head {
            let block = app.get(&format!("/v1/chain/blocks/{number}")).await.json(200);
            count += block["transactions"].as_array().unwrap().len() as u64;
        }
        count
    };
    assert_eq!(status["signers"][0]["nextNonce"], signed, "nonces have no gap");
}
