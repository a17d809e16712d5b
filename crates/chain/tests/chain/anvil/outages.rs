//! A node that is down, hangs, or whose replies are lost.

use std::sync::Arc;

use portico_domain::ErrorCode;
use portico_records::ItemKind;
use portico_store::chain::ItemStatus;
use serde_json::json;

use super::proxy::{Proxy, ProxyMode};
use super::*;

#[test]
fn lost_replies_record_each_listing_once() {
    run(async {
        const LOST: usize = 500;
        let scene = Scene::new().await;
        let proxy = Proxy::start(&scene.anvil.url).await;
        // One listing per transaction.
        let settings = WriterSettings { batch: 1, ..settings() };
        let portico = Arc::new(scene.portico_at(&[&proxy.url], settings).await);
        proxy.lose_every_second_answer();
        let client = |client: usize| {
            let portico = portico.clone();
            async move {
                for n in 0..2 * LOST / 20 {
                    portico.record(&format!("listing-{client}-{n}")).await.unwrap();
                }
            }
        };
        let clients: Vec<_> = (0..20).map(|number| tokio::spawn(client(number))).collect();
        for client in clients {
            client.await.unwrap();
        }
        portico.until_it_agrees(2 * LOST as u64, 2 * DEFAULT_DEADLINE).await;
        assert_eq!(proxy.lost(), LOST);

        // One transaction and one record per listing, after the four deployments; nothing was recorded twice.
        assert_eq!(used(&scene.anvil, samples::key(1).address()).await, 4 + 2 * LOST as u64);
        let filter = json!([{ "fromBlock": "0x0", "address": scene.contracts.0[0] }]);
        let logs = scene.anvil.ask("eth_getLogs", filter).await;
        let recorded = alloy_primitives::keccak256("Recorded(bytes32,uint64,bytes32)").to_string();
        let stale = alloy_primitives::keccak256("Stale(bytes32,uint64,uint64)").to_string();
        let count =
            |topic: &str| logs.as_array().unwrap().iter().filter(|log| log["topics"][0] == topic).count();
        assert_eq!((count(&recorded), count(&stale)), (2 * LOST, 0));
        println!(
            "{LOST} replies lost, {} records on the chain, {} of them twice",
            count(&recorded),
            count(&stale)
        );
    });
}

/// Clients record as fast as they can while the proxy is in some mode.
async fn outage(way: ProxyMode) {
    let length = Duration::from_secs(if is_long() { 60 } else { 3 });
    let scene = Scene::new().await;
    let proxy = Proxy::start(&scene.anvil.url).await;
    let portico = Arc::new(scene.portico_at(&[&proxy.url], WriterSettings::default()).await);
    portico.record("before").await.unwrap();
    portico.until_it_agrees(1, DEFAULT_DEADLINE).await;

    proxy.set(way);
    let back = tokio::time::Instant::now() + length;
    let client = |client: usize| {
        let portico = portico.clone();
        async move {
            let mut accepted = 0;
            while tokio::time::Instant::now() < back {
                match portico.record(&format!("listing-{client}-{accepted}")).await {
                    Ok(_) => accepted += 1,
                    // Clients retry when the writer is busy.
                    Err(Error::Busy) => tokio::time::sleep(Duration::from_millis(200)).await,
                    Err(error) => panic!("{error}"),
                }
            }
            accepted
        }
    };
    let clients: Vec<_> = (0..8).map(|number| tokio::spawn(client(number))).collect();
    let mut accepted = 1;
    for client in clients {
        accepted += client.await.unwrap();
    }
    assert!(accepted > 100, "only {accepted} were accepted");
    proxy.set(ProxyMode::Open);
    let start = tokio::time::Instant::now();
    portico.until_it_agrees(accepted, Duration::from_secs(10)).await;
    let took = start.elapsed();
    println!("{way:?} for {length:?}: {accepted} accepted, all of them on the chain {took:.1?} later");
    // Every returned hash was mined.
    let item =
        portico.db.chain_item(ItemKind::Listing, &samples::key_of("listing-0-0")).await.unwrap().unwrap();
    assert_eq!(item.status, ItemStatus::Mined);
}

#[test]
fn accepted_while_down_is_mined_within_ten_seconds() {
    run(outage(ProxyMode::Shut));
}

#[test]
fn accepted_while_hanging_is_mined_within_ten_seconds() {
    run(outage(ProxyMode::Hanging));
}

#[test]
fn full_backlog_rejects_until_it_drains() {
    run(async {
        let scene = Scene::new().await;
        let proxy = Proxy::start(&scene.anvil.url).await;
        let settings = WriterSettings { backlog: 3, ..settings() };
        let portico = scene.portico_at(&[&proxy.url], settings).await;
        proxy.set(ProxyMode::Shut);
        let mut accepted = 0;
        while portico.record(&format!("listing-{accepted}")).await.is_ok() {
            accepted += 1;
        }
        assert_eq!(accepted, 4, "one more than the bound tells that it is reached");
        assert!(matches!(portico.record("late").await, Err(Error::Busy)));
        proxy.set(ProxyMode::Open);
        portico.until_it_agrees(accepted, DEFAULT_DEADLINE).await;
        until("it is accepted", DEFAULT_DEADLINE, || async { portico.record("late").await.is_ok() }).await;
        portico.until_it_agrees(accepted + 1, DEFAULT_DEADLINE).await;
    });
}

#[test]
fn payer_holds_only_its_share_also_after_a_restart() {
    run(async {
        let scene = Scene::new().await;
        scene.stop_mining().await;
        let settings = WriterSettings { max_waiting_per_payer: 3, ..settings() };
        let portico = scene.portico_at(&[&scene.anvil.url], settings).await;
        let (greedy, other) = (Some([1; 32]), Some([2; 32]));
        // At once, so that several of them are in one transaction.
        let names: Vec<String> = (0..12).map(|n| format!("listing-{n}")).collect();
        let asked = names.iter().map(|id| portico.record_for(id, greedy));
        let outcomes = futures_util::future::join_all(asked).await;
        let is_full = |outcome: &Result<AcceptedListing>| {
            let full = portico_store::Error::TooMany(ErrorCode::TooManyWaiting);
            matches!(outcome, Err(Error::Store(error)) if error.to_string() == full.to_string())
        };
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 3, "{outcomes:?}");
        assert_eq!(outcomes.iter().filter(|outcome| is_full(outcome)).count(), 9, "{outcomes:?}");
        portico.record_for("other", other).await.unwrap();
        portico.record("nobody's").await.unwrap();

        portico.writer.release().await;
        drop(portico);
        let portico = scene.portico_at(&[&scene.anvil.url], settings).await;
        assert!(is_full(&portico.record_for("late", greedy).await));
        portico.record_for("other too", other).await.unwrap();

        scene.anvil.ask("evm_setAutomine", json!([true])).await;
        scene.mine(1).await;
        portico.until_it_agrees(6, DEFAULT_DEADLINE).await;
        portico.record_for("late", greedy).await.unwrap();
        portico.until_it_agrees(7, DEFAULT_DEADLINE).await;
    });
}

#[test]
fn fails_over_between_two_urls() {
    run(async {
        let scene = Scene::new().await;
        let (first, second) = (Proxy::start(&scene.anvil.url).await, Proxy::start(&scene.anvil.url).await);
        let portico = scene.portico_at(&[&first.url, &second.url], settings()).await;
        for (round, (one, two)) in [
            (ProxyMode::Open, ProxyMode::Shut),
            (ProxyMode::Shut, ProxyMode::Open),
            (ProxyMode::Open, ProxyMode::Shut),
        ]
        .into_iter()
        .enumerate()
        {
            first.set(one);
            second.set(two);
            portico.record(&format!("listing-{round}")).await.unwrap();
            portico.until_it_agrees(round as u64 + 1, DEFAULT_DEADLINE).await;
        }
        first.set(ProxyMode::Shut);
        portico.record("later").await.unwrap();
        assert!(portico.compared().await.is_err(), "nobody answers");
        second.set(ProxyMode::Open);
        portico.until_it_agrees(4, DEFAULT_DEADLINE).await;
    });
}

#[test]
fn resends_after_the_node_loses_its_pool() {
    run(async {
        let scene = Scene::new().await;
        scene.stop_mining().await;
        let portico = scene
            .portico_at(&[&scene.anvil.url], WriterSettings { resend: Duration::from_secs(1), ..settings() })
            .await;
        for n in 0..5 {
            portico.record(&format!("listing-{n}")).await.unwrap();
        }
        until("the node has them", DEFAULT_DEADLINE, || async { pending(&scene.anvil).await == 5 }).await;
        scene.anvil.ask("anvil_dropAllTransactions", json!([])).await;
        assert_eq!(pending(&scene.anvil).await, 0);
        until("the node has them again", DEFAULT_DEADLINE, || async { pending(&scene.anvil).await == 5 })
            .await;
        scene.mine(1).await;
        portico.until_it_agrees(5, DEFAULT_DEADLINE).await;
    });
}
