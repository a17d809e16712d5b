//! A node that is away, hangs, or answers and is not heard.

use std::sync::Arc;

use portico_store::chain::ItemStatus;
use serde_json::json;

use super::proxy::{Proxy, Way};
use super::*;

#[test]
fn five_hundred_transactions_whose_replies_are_lost_are_each_recorded_once() {
    run(async {
        const LOST: usize = 500;
        let scene = Scene::new().await;
        let proxy = Proxy::start(&scene.anvil.url).await;
        // One listing a transaction.
        let settings = Settings { batch: 1, ..settings() };
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
        portico.until_it_agrees(2 * LOST as u64, 2 * PATIENCE).await;
        assert_eq!(proxy.lost(), LOST);

        // As many transactions as listings after the four that deployed the contracts, as many records, and
        // none of them came twice.
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

/// Clients record as fast as they are let while the way to the node is in some state.
async fn outage(way: Way) {
    let length = Duration::from_secs(if is_long() { 60 } else { 3 });
    let scene = Scene::new().await;
    let proxy = Proxy::start(&scene.anvil.url).await;
    let portico = Arc::new(scene.portico_at(&[&proxy.url], Settings::default()).await);
    portico.record("before").await.unwrap();
    portico.until_it_agrees(1, PATIENCE).await;

    proxy.set(way);
    let back = tokio::time::Instant::now() + length;
    let client = |client: usize| {
        let portico = portico.clone();
        async move {
            let mut accepted = 0;
            while tokio::time::Instant::now() < back {
                match portico.record(&format!("listing-{client}-{accepted}")).await {
                    Ok(_) => accepted += 1,
                    // Told to come back later, clients do.
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
    proxy.set(Way::Open);
    let start = tokio::time::Instant::now();
    portico.until_it_agrees(accepted, Duration::from_secs(10)).await;
    let took = start.elapsed();
    println!("{way:?} for {length:?}: {accepted} accepted, all of them on the chain {took:.1?} later");
    // A hash that was told is one that was mined.
    let item =
        portico.db.chain_item(samples::LISTING, &samples::key_of("listing-0-0")).await.unwrap().unwrap();
    assert_eq!(item.standing, ItemStatus::Mined);
}

#[test]
fn what_was_accepted_while_the_node_was_down_is_on_the_chain_ten_seconds_after() {
    run(outage(Way::Shut));
}

#[test]
fn what_was_accepted_while_the_node_hung_is_on_the_chain_ten_seconds_after() {
    run(outage(Way::Hanging));
}

#[test]
fn beyond_the_bound_nothing_is_accepted_and_afterwards_it_is_again() {
    run(async {
        let scene = Scene::new().await;
        let proxy = Proxy::start(&scene.anvil.url).await;
        let settings = Settings { backlog: 3, ..settings() };
        let portico = scene.portico_at(&[&proxy.url], settings).await;
        proxy.set(Way::Shut);
        let mut accepted = 0;
        while portico.record(&format!("listing-{accepted}")).await.is_ok() {
            accepted += 1;
        }
        assert_eq!(accepted, 4, "one more than the bound tells that it is reached");
        assert!(matches!(portico.record("late").await, Err(Error::Busy)));
        proxy.set(Way::Open);
        portico.until_it_agrees(accepted, PATIENCE).await;
        until("it is accepted", PATIENCE, || async { portico.record("late").await.is_ok() }).await;
        portico.until_it_agrees(accepted + 1, PATIENCE).await;
    });
}

#[test]
fn of_two_addresses_whichever_answers_is_used() {
    run(async {
        let scene = Scene::new().await;
        let (first, second) = (Proxy::start(&scene.anvil.url).await, Proxy::start(&scene.anvil.url).await);
        let portico = scene.portico_at(&[&first.url, &second.url], settings()).await;
        for (round, (one, two)) in
            [(Way::Open, Way::Shut), (Way::Shut, Way::Open), (Way::Open, Way::Shut)].into_iter().enumerate()
        {
            first.set(one);
            second.set(two);
            portico.record(&format!("listing-{round}")).await.unwrap();
            portico.until_it_agrees(round as u64 + 1, PATIENCE).await;
        }
        first.set(Way::Shut);
        portico.record("later").await.unwrap();
        assert!(portico.compared().await.is_err(), "nobody answers");
        second.set(Way::Open);
        portico.until_it_agrees(4, PATIENCE).await;
    });
}

#[test]
fn a_node_that_forgets_its_pool_is_given_everything_again() {
    run(async {
        let scene = Scene::new().await;
        scene.stop_mining().await;
        let portico = scene
            .portico_at(&[&scene.anvil.url], Settings { resend: Duration::from_secs(1), ..settings() })
            .await;
        for n in 0..5 {
            portico.record(&format!("listing-{n}")).await.unwrap();
        }
        until("the node has them", PATIENCE, || async { pending(&scene.anvil).await == 5 }).await;
        scene.anvil.ask("anvil_dropAllTransactions", json!([])).await;
        assert_eq!(pending(&scene.anvil).await, 0);
        until("the node has them again", PATIENCE, || async { pending(&scene.anvil).await == 5 }).await;
        scene.mine(1).await;
        portico.until_it_agrees(5, PATIENCE).await;
    });
}
