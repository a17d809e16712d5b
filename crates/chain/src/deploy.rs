//! Deploys the contracts.

use std::time::Duration;

use alloy_primitives::{Address, B256, TxKind};

use portico_records::ItemKind;

use crate::contracts::{self, Contracts};
use crate::node::{Node, Receipt};
use crate::signer::{CallSigner, Key, Price};
use crate::{Error, Result};

/// Per contract.
const DEPLOY_GAS: u64 = 6_000_000;
/// Polls until a deployment counts as not mined, every [`POLL_INTERVAL`].
const MAX_POLLS: u32 = 1200;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Default)]
pub struct DeployOptions {
    /// The expected chain id.
    pub chain_id: Option<u64>,
    pub contracts: Option<Contracts>,
    /// Deploy the contracts if the database is not bound to any.
    pub deploy: bool,
    /// The owner of contracts that are deployed: it grants and revokes roles. `None`: the first key's account.
    pub owner: Option<Address>,
    /// The node runs in this process, and no other process uses it.
    pub is_embedded: bool,
    /// The highest fee per gas, in wei.
    pub fee_cap: u64,
}

/// Deploys the contracts, paid by the first key. All keys may record.
pub async fn deploy<N: Node>(node: &N, keys: &[Key], options: &DeployOptions) -> Result<Contracts> {
    let payer = keys.first().ok_or_else(|| Error::Bug("there is no key to deploy with".into()))?;
    if node.balance(payer.address()).await?.is_zero() {
        let address = payer.address();
        return Err(Error::Setup(format!(
            "the signer {address} has no funds: send it some of the chain's currency"
        )));
    }
    if let Some(warning) = ownership_warning(keys, options) {
        tracing::warn!("{warning}");
    }
    let (chain_id, mut contracts) = (node.chain_id().await?, Contracts([Address::ZERO; 4]));
    for (at, kind) in ItemKind::ALL.into_iter().enumerate() {
        let price = price(node, options.fee_cap).await?;
        let signer = CallSigner { key: payer.clone(), chain_id, contracts, price };
        contracts.0[at] = deploy_contract(node, &signer, keys, options, kind).await?;
    }
    Ok(contracts)
}

/// Why it is risky that one key is all there is. The embedded chain's keys are as safe as its file.
pub fn ownership_warning(keys: &[Key], options: &DeployOptions) -> Option<String> {
    let [key] = keys else { return None };
    let is_owner = options.owner.is_none_or(|owner| owner == key.address());
    (is_owner && !options.is_embedded).then(|| {
        format!(
            "{} owns the contracts and is their only recorder: whoever steals its key can record anything, and nobody can \
             take the role away. Name another account with --chain-owner, whose key is kept offline",
            key.address()
        )
    })
}

/// Returns the address.
async fn deploy_contract<N: Node>(
    node: &N,
    signer: &CallSigner,
    keys: &[Key],
    options: &DeployOptions,
    kind: ItemKind,
) -> Result<Address> {
    let owner = options.owner.unwrap_or(signer.key.address());
    let recorders: Vec<Address> = keys.iter().map(Key::address).collect();
    let data = contracts::deployment(kind, owner, &recorders)?;
    let nonce = node.nonce(signer.key.address()).await?;
    let signed = signer.key.sign(signer.transaction(nonce, TxKind::Create, DEPLOY_GAS, data));
    node.send(&signed.raw).await?;
    let receipt = wait_for_receipt(node, signed.hash.into()).await?;
    let address = receipt.contract.filter(|_| receipt.success).ok_or_else(|| {
        Error::Setup(format!("{} could not be deployed: its transaction was undone", kind.contract()))
    })?;
    tracing::info!(contract = kind.contract(), %address, %owner, block = receipt.block, "deployed");
    Ok(address)
}

/// Twice the base fee, so that it may double meanwhile.
async fn price<N: Node>(node: &N, fee_cap: u64) -> Result<Price> {
    let fees = node.fees().await?;
    let max_fee = fees.base.saturating_mul(2).saturating_add(fees.tip);
    Ok(Price { max_fee, tip: fees.tip }.capped(fee_cap))
}

async fn wait_for_receipt<N: Node>(node: &N, hash: B256) -> Result<Receipt> {
    for _ in 0..MAX_POLLS {
        if let Some(receipt) = node.receipt(hash).await? {
            return Ok(receipt);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Err(Error::Setup(format!("the transaction {hash} was not mined in two minutes: try again later")))
}
