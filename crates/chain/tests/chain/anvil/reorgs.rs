//! Reorganisations.

use portico_store::chain::BatchStatus;
use serde_json::json;

use super::*;

async fn head(anvil: &Anvil) -> String {
    anvil.ask("eth_getBlockByNumber", json!(["latest", false])).await["hash"].as_str().unwrap().into()
}

/// Waits until the writer has seen the head, and the node has every unmined transaction.
async fn until_up_to_date(portico: &Portico, anvil: &Anvil, round: u64) {
    let give_up = tokio::time::Instant::now() + DEFAULT_DEADLINE;
    let signer = portico.db.chain_signers().await.unwrap()[0].id;
    loop {
        // In this order: once the head is seen, reorganised items wait again; waiting items are signed; and signed
        // ones are looked up at the node.
        let (head, status) = (head(anvil).await, portico.writer.status());
        let seen = status.head.as_ref().is_some_and(|seen| seen.hash.to_string() == head);
        let backlog = portico.db.chain_backlog().await.unwrap();
        let open = portico.db.open_batches(signer).await.unwrap();
        let signed = open.iter().filter(|batch| batch.status == BatchStatus::Signed).count() as u64;
        let pending = pending(anvil).await;
        if seen && backlog.waiting == 0 && signed == pending {
            return;
        }
        let pool = anvil.ask("txpool_status", json!([])).await;
        assert!(
            tokio::time::Instant::now() < give_up,
            "round {round}: the head is {head}, the pool {pool}, {backlog:?}, {status:?}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn database_and_chain_agree_two_blocks_after_a_reorg() {
    run(async {
        let rounds = if is_long() { 100 } else { 10 };
        let scene = Scene::new().await;
        scene.stop_mining().await;
        scene.mine(20).await;
        let portico = scene
            .portico_at(&[&scene.anvil.url], WriterSettings { replace: DEFAULT_DEADLINE, ..settings() })
            .await;
        let (mut listings, mut undone, mut most) = (0, 0, 0);
        for round in 0..rounds {
            let depth = round % 12 + 1;
            // Listings in several of the blocks that will be reorganised, some of them deleted.
            for _ in 0..3 {
                for _ in 0..2 {
                    portico.record(&format!("listing-{listings}")).await.unwrap();
                    listings += 1;
                }
                if listings % 4 == 0 {
                    portico.delete(&format!("listing-{}", listings - 3)).await;
                }
                until_up_to_date(&portico, &scene.anvil, round).await;
                scene.mine(depth / 4 + 1).await;
            }
            portico.until_it_agrees(listings, DEFAULT_DEADLINE).await;
            until_up_to_date(&portico, &scene.anvil, round).await;

            let before = head(&scene.anvil).await;
            scene.anvil.ask("anvil_reorg", json!([depth, []])).await;
            assert_ne!(head(&scene.anvil).await, before);
            // The first block shows what is missing, the second one contains it.
            scene.mine(1).await;
            until_up_to_date(&portico, &scene.anvil, round).await;
            let waiting = pending(&scene.anvil).await;
            (undone, most) = (undone + waiting, most.max(waiting));
            scene.mine(1).await;
            portico.until_it_agrees(listings, DEFAULT_DEADLINE).await;
        }
        assert!(undone >= rounds, "only {undone} transactions were undone");
        println!(
            "{rounds} reorganisations, {undone} transactions undone, up to {most} at once, {listings} listings agree"
        );
        if is_long() {
            assert!(most > WriterSettings::default().window as u64, "never more than the window: {most}");
        }

        // Deep enough, everything is final.
        scene.mine(CONFIRMATIONS + 1).await;
        let signer = portico.db.chain_signers().await.unwrap()[0].id;
        until("everything is final", DEFAULT_DEADLINE, || async {
            portico.db.open_batches(signer).await.unwrap().is_empty()
        })
        .await;
        portico.until_it_agrees(listings, DEFAULT_DEADLINE).await;
        assert_eq!(portico.db.chain_backlog().await.unwrap().rejected, 0);
    });
}
