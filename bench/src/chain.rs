//! What a node takes without the service: listings recorded by signed transactions of one or many listings. The
//! next transaction is sent when the receipt of the last one is there.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use portico_chain::deploy::DeployOptions;
use portico_chain::remote::Remote;
use portico_chain::signer::{CallSigner, Key, Price};
use portico_chain::{Node as _, setup};
use portico_domain::chain::Terms;
use portico_records::{Content, ItemKind};
use portico_store::chain::{Sign as _, VersionedItem};
use portico_store::{Db, Location, Role};

const FEE_CAP: u64 = 500_000_000_000;

/// Listings recorded per second by transactions of `batch` listings each.
pub(crate) async fn measure(url: &str, key: &str, batch: usize, time: Duration) -> Result<f64> {
    let folder = std::env::temp_dir().join(format!("portico-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let db = Db::open(&Location::Sqlite(folder.join("chain.db")), Role::Tool).await?;
    let (node, key) = (Remote::new(vec![url.into()], 1)?, Key::parse(&key.to_owned().into())?);
    let wanted = DeployOptions { deploy: true, fee_cap: FEE_CAP, ..DeployOptions::default() };
    let (chain_id, contracts) = setup::establish(&node, &db, std::slice::from_ref(&key), &wanted).await?;
    std::fs::remove_dir_all(&folder)?;
    let fees = node.fees().await?;
    let price = Price { max_fee: fees.base * 2 + fees.tip, tip: fees.tip };
    let mut nonce = node.nonce(key.address()).await?;
    let signer = CallSigner { key, chain_id, contracts, price };
    let terms = Terms::new((None, None), (None, None)).map_err(|_| anyhow::anyhow!("terms"))?;
    let (started, mut recorded) = (Instant::now(), 0_u32);
    while started.elapsed() < time {
        let items: Vec<VersionedItem> = (0..batch).map(|_| item(&mut recorded, terms)).collect();
        let signed = signer.sign(i64::try_from(nonce)?, ItemKind::Listing, &items)?;
        node.send(&signed.raw).await?;
        let receipt = loop {
            if let Some(receipt) = node.receipt(signed.hash.into()).await? {
                break receipt;
            }
        };
        if !receipt.success {
            bail!("the contract undid a batch");
        }
        nonce += 1;
    }
    Ok(f64::from(recorded) / started.elapsed().as_secs_f64())
}

fn item(recorded: &mut u32, terms: Terms) -> VersionedItem {
    *recorded += 1;
    let mut key = [7; 32];
    key[..4].copy_from_slice(&recorded.to_be_bytes());
    VersionedItem { key, version: 1, payload: Content::Listing { terms, digest: key }.encode() }
}

/// A new key with funds, on an Anvil node.
pub(crate) async fn funded_key(url: &str) -> Result<String> {
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), url);
    let secret = format!("{:064x}", (u128::from(random) << 64) | u128::from(std::process::id()));
    let address = Key::parse(&secret.clone().into())?.address();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"anvil_setBalance","params":["{address}","0x21e19e0c9bab2400000"]}}"#
    );
    let client = reqwest::Client::builder().no_proxy().build()?;
    let request = client.post(url).header("content-type", "application/json").body(body);
    request.send().await?.error_for_status().context("the node gave no funds")?;
    Ok(secret)
}
