//! Underpriced transactions, and nonces that somebody else uses.

use portico_chain::node::{Node as _, Sent};
use portico_chain::signer::{CallSigner, Price};
use portico_records::ItemKind;
use portico_store::chain::BatchStatus;
use serde_json::json;

use super::*;

async fn base_fee(scene: &Scene, gwei: u64) {
    let wei = format!("{:#x}", gwei * 1_000_000_000);
    scene.anvil.ask("anvil_setNextBlockBaseFeePerGas", json!([wei])).await;
}

#[test]
fn stuck_transaction_is_replaced_at_a_higher_price() {
    run(async {
        let scene = Scene::new().await;
        scene.stop_mining().await;
        let portico = scene.portico().await;
        let first = portico.record("oak").await.unwrap().hash;
        until("the node has it", DEFAULT_DEADLINE, || async { pending(&scene.anvil).await == 1 }).await;
        // Blocks are mined without it.
        let blocks = || async {
            base_fee(&scene, 50).await;
            scene.mine(1).await;
            let attempt = portico.db.chain_attempt(&first).await.unwrap().unwrap();
            attempt.newest != first
        };
        until("it is replaced", DEFAULT_DEADLINE, blocks).await;
        let attempt = portico.db.chain_attempt(&first).await.unwrap().unwrap();
        assert_eq!((attempt.status, attempt.mined), (BatchStatus::Signed, None));
        let blocks = || async {
            scene.mine(1).await;
            portico.agrees(1).await
        };
        until("it is mined", DEFAULT_DEADLINE, blocks).await;
        // The first hash leads to the mined transaction.
        let attempt = portico.db.chain_attempt(&first).await.unwrap().unwrap();
        let mined = attempt.mined.expect("one of them was mined");
        assert_ne!(mined, first);
        let node = portico.writer.engine().node();
        assert!(node.receipt(mined.into()).await.unwrap().unwrap().success);
        assert_eq!(node.receipt(first.into()).await.unwrap(), None);
    });
}

#[test]
fn price_never_exceeds_the_cap() {
    run(async {
        let scene = Scene::new().await;
        scene.stop_mining().await;
        let cap = 3_000_000_000;
        let settings = WriterSettings { fee_cap: cap, replace: Duration::from_millis(100), ..settings() };
        let portico = scene.portico_at(&[&scene.anvil.url], settings).await;
        base_fee(&scene, 50).await;
        scene.mine(1).await;
        let first = portico.record("oak").await.unwrap().hash;
        for _ in 0..10 {
            base_fee(&scene, 50).await;
            scene.mine(1).await;
            portico.writer.wake();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let signer = portico.db.chain_signers().await.unwrap()[0].id;
        let open = portico.db.open_batches(signer).await.unwrap();
        assert!(open[0].attempts.iter().all(|attempt| attempt.max_fee <= i64::try_from(cap).unwrap()));
        assert!(!portico.agrees(1).await);
        // It is mined as soon as it pays enough.
        let blocks = || async {
            base_fee(&scene, 1).await;
            scene.mine(1).await;
            portico.agrees(1).await
        };
        until("it is mined", DEFAULT_DEADLINE, blocks).await;
        assert!(portico.db.chain_attempt(&first).await.unwrap().unwrap().mined.is_some());
    });
}

#[test]
fn items_of_a_taken_nonce_are_signed_again() {
    run(async {
        let scene = Scene::new().await;
        scene.stop_mining().await;
        let portico = scene.portico().await;
        let told = portico.record("oak").await.unwrap().hash;
        until("the node has it", DEFAULT_DEADLINE, || async { pending(&scene.anvil).await == 1 }).await;
        let price = Price { max_fee: 90_000_000_000, tip: 20_000_000_000 };
        let thief = CallSigner { key: samples::key(1), chain_id: 31337, contracts: scene.contracts, price };
        let node = Remote::new(vec![scene.anvil.url.clone()], 0).unwrap();
        assert_eq!(node.send(&thief.filler(4).raw).await.unwrap(), Sent::Accepted);
        scene.mine(1).await;
        assert_eq!(used(&scene.anvil, samples::key(1).address()).await, 5);

        let blocks = || async {
            scene.mine(1).await;
            portico.agrees(1).await
        };
        until("it is on the chain all the same", DEFAULT_DEADLINE, blocks).await;
        let attempt = portico.db.chain_attempt(&told).await.unwrap().unwrap();
        assert_eq!((attempt.nonce, attempt.status, attempt.mined), (4, BatchStatus::Foreign, None));
        let item = portico.db.chain_item(ItemKind::Listing, &samples::key_of("oak")).await.unwrap().unwrap();
        assert_eq!(item.version, 1);
        assert!(item.hash.is_some_and(|hash| hash != told));
    });
}

#[test]
fn used_nonces_are_skipped() {
    run(async {
        let scene = Scene::new().await;
        let portico = scene.portico().await;
        let node = Remote::new(vec![scene.anvil.url.clone()], 0).unwrap();
        let price = Price { max_fee: 90_000_000_000, tip: 20_000_000_000 };
        let other = CallSigner { key: samples::key(1), chain_id: 31337, contracts: scene.contracts, price };
        for nonce in 4..7 {
            assert_eq!(node.send(&other.filler(nonce).raw).await.unwrap(), Sent::Accepted);
        }
        until("they are seen", DEFAULT_DEADLINE, || async {
            portico.writer.wake();
            portico.writer.status().next_nonce == Some(7)
        })
        .await;
        portico.record("oak").await.unwrap();
        portico.until_it_agrees(1, DEFAULT_DEADLINE).await;
        assert_eq!(used(&scene.anvil, samples::key(1).address()).await, 8);
    });
}
