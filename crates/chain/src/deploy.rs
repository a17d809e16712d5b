//! Finds or deploys the contracts, and verifies chain, contracts and keys before anything is signed.

use std::time::Duration;

use alloy_primitives::{Address, B256, Bytes, TxKind};
use portico_store::Db;
use portico_store::chain::{AdoptChain, ChainIdentity};

use crate::contracts::{Contracts, ItemKind, calldata};
use crate::migration;
use crate::node::{Node, Receipt};
use crate::signer::{CallSigner, Key, Price};
use crate::writer::{Failpoint, FailpointHook, NoFailpoints};
use crate::{Error, Result};

/// The version of `ApplicationChecks` that this service uses. 1: flags have no expiry.
pub(crate) const CHECKS_VERSION: i64 = 2;
const REPLACE_CHECKS: &str = "this database is bound to an ApplicationChecks of an earlier version: stop every server, run \
     `portico chain deploy` once, then start again";
/// Per contract.
const DEPLOY_GAS: u64 = 6_000_000;
/// Polls until a deployment counts as not mined, every [`POLL_INTERVAL`].
pub(crate) const MAX_POLLS: u32 = 1200;
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Default)]
pub struct DeployOptions {
    /// The expected chain id.
    pub chain_id: Option<u64>,
    pub contracts: Option<Contracts>,
    /// Deploy the contracts if the database is not bound to any, and replace what is of an earlier version.
    pub deploy: bool,
    /// The owner of contracts that are deployed: it grants and revokes roles. `None`: the first key's account.
    pub owner: Option<Address>,
    /// The node runs in this process, and no other process uses it. What is of an earlier version is replaced.
    pub is_embedded: bool,
    /// The highest fee per gas, in wei.
    pub fee_cap: u64,
}

/// Verifies chain, contracts and keys; deploys the contracts if that is configured and the database is not bound to
/// any. Returns the chain id and the contracts.
pub async fn establish<N: Node>(
    node: &N,
    db: &Db,
    keys: &[Key],
    options: &DeployOptions,
) -> Result<(u64, Contracts)> {
    if keys.is_empty() {
        let advice = "set PORTICO_CHAIN_KEY, or --chain-key-file";
        return Err(Error::Setup(format!("a chain needs a key to sign with: {advice}")));
    }
    let (chain_id, genesis) = (node.chain_id().await?, node.genesis().await?);
    if options.deploy || options.is_embedded {
        migration::migrate(node, db, keys, options).await?;
    }
    let contracts =
        if let Some(contracts) = verify_bound_chain(node, db, options, (chain_id, genesis)).await? {
            contracts
        } else {
            let contracts = match options.contracts {
                Some(contracts) => contracts,
                None if options.deploy => deploy(node, keys, options).await?,
                None => {
                    return Err(Error::Setup(
                    "no contracts are known: run `portico chain deploy`, or name them with --chain-contracts"
                        .into(),
                ));
                }
            };
            let advice = "run `portico chain deploy` on this chain, or correct --chain-contracts";
            check_contracts(node, contracts, advice).await?;
            contracts
        };
    for key in keys {
        check_signer(node, key.address(), contracts).await?;
    }
    let identity = identity_of((chain_id, genesis), contracts)?;
    let adopted = db.write(AdoptChain(identity)).await?;
    // If two replicas deploy concurrently, both continue with what the first one stored.
    check_identity(&adopted, chain_id, genesis, options)?;
    Ok((chain_id, contracts_of(&adopted)?))
}

/// The chain that the database is bound to, if any: the node must be on it and have our contracts.
pub async fn bound_chain<N: Node>(
    node: &N,
    db: &Db,
    options: &DeployOptions,
) -> Result<Option<(u64, Contracts)>> {
    let (chain_id, genesis) = (node.chain_id().await?, node.genesis().await?);
    let contracts = verify_bound_chain(node, db, options, (chain_id, genesis)).await?;
    Ok(contracts.map(|contracts| (chain_id, contracts)))
}

/// Like [`bound_chain`], with the node's chain id and genesis hash.
async fn verify_bound_chain<N: Node>(
    node: &N,
    db: &Db,
    options: &DeployOptions,
    (chain_id, genesis): (u64, B256),
) -> Result<Option<Contracts>> {
    check_chain_id(chain_id, options)?;
    let Some(known) = db.chain_identity().await? else { return Ok(None) };
    check_identity(&known, chain_id, genesis, options)?;
    check_version(&known)?;
    let contracts = contracts_of(&known)?;
    let advice = "this database belongs to a chain where it was: use that one, or another database";
    check_contracts(node, contracts, advice).await?;
    Ok(Some(contracts))
}

fn check_chain_id(chain_id: u64, options: &DeployOptions) -> Result<()> {
    if let Some(expected) = options.chain_id.filter(|expected| *expected != chain_id) {
        return Err(Error::Setup(format!(
            "the node is on chain {chain_id}, not on chain {expected}: check --chain and --chain-id"
        )));
    }
    Ok(())
}

fn check_version(known: &ChainIdentity) -> Result<()> {
    if known.checks_version < CHECKS_VERSION {
        return Err(Error::Setup(REPLACE_CHECKS.into()));
    }
    Ok(())
}

/// Checks that the node is on the chain that the database is bound to.
pub(crate) async fn bound_identity<N: Node>(
    node: &N,
    known: &ChainIdentity,
    options: &DeployOptions,
) -> Result<()> {
    let (chain_id, genesis) = (node.chain_id().await?, node.genesis().await?);
    check_chain_id(chain_id, options)?;
    check_identity(known, chain_id, genesis, options)
}

pub(crate) fn identity_of((chain_id, genesis): (u64, B256), contracts: Contracts) -> Result<ChainIdentity> {
    Ok(ChainIdentity {
        chain_id: i64::try_from(chain_id).map_err(|_| Error::Setup("the chain's id is too large".into()))?,
        genesis: genesis.0,
        contracts: contracts.0.map(|address| address.0.0).to_vec(),
        checks_version: CHECKS_VERSION,
    })
}

pub(crate) fn contracts_of(identity: &ChainIdentity) -> Result<Contracts> {
    let addresses: Vec<Address> = identity.contracts.iter().map(|address| Address::from(*address)).collect();
    let addresses = addresses.try_into().map_err(|_| Error::Bug("the contracts' row is wrong".into()))?;
    Ok(Contracts(addresses))
}

/// For a start while the node is unreachable: its contracts must be this version's.
pub async fn offline_chain(db: &Db) -> Result<Option<(u64, Contracts)>> {
    if let Some(known) = db.chain_identity().await? {
        check_version(&known)?;
    }
    stored_chain(db).await
}

/// The chain that the database is bound to, unchecked.
pub async fn stored_chain(db: &Db) -> Result<Option<(u64, Contracts)>> {
    let identity = db.chain_identity().await?;
    identity.map(|known| Ok((known.chain_id.unsigned_abs(), contracts_of(&known)?))).transpose()
}

fn check_identity(
    known: &ChainIdentity,
    chain_id: u64,
    genesis: B256,
    options: &DeployOptions,
) -> Result<()> {
    let advice = "use the node it was made for, or another database";
    if known.chain_id.unsigned_abs() != chain_id {
        return Err(Error::Setup(format!(
            "this database belongs to chain {}, and the node is on chain {chain_id}: {advice}",
            known.chain_id
        )));
    }
    if known.genesis != genesis {
        return Err(Error::Setup(format!(
            "this database belongs to a chain {chain_id} that begins with block {}, and the node's begins with \
             {genesis}: {advice}",
            B256::from(known.genesis)
        )));
    }
    let known = contracts_of(known)?;
    if options.contracts.is_some_and(|contracts| contracts != known) {
        return Err(Error::Setup(
            "this database belongs to other contracts than --chain-contracts names: leave the flag away, or use \
             another database"
                .into(),
        ));
    }
    Ok(())
}

/// Verifies our contracts' code byte for byte: this version's, or an earlier one that can be used.
async fn check_contracts<N: Node>(node: &N, contracts: Contracts, advice: &str) -> Result<()> {
    for kind in ItemKind::ALL {
        let (name, address) = (kind.contract(), contracts.of(kind));
        let code = node.code(address).await?;
        if !kind.is_usable(&code)? {
            let found = match kind.is_former(&code) {
                true => "one of an earlier version",
                false if code.is_empty() => "nothing",
                false => "another contract",
            };
            return Err(Error::Setup(format!(
                "at {address} there is {found}, not this version's {name}: {advice}"
            )));
        }
    }
    Ok(())
}

async fn check_signer<N: Node>(node: &N, signer: Address, contracts: Contracts) -> Result<()> {
    if node.balance(signer).await?.is_zero() {
        return Err(Error::Setup(format!(
            "the signer {signer} has no funds: send it some of the chain's currency"
        )));
    }
    for kind in ItemKind::ALL {
        match node.call(signer, contracts.of(kind), calldata(kind, &[])?).await {
            Err(Error::Reverted(_)) => {
                return Err(Error::Setup(format!(
                    "the signer {signer} may not record in {}: its owner must grant it RECORDER_ROLE",
                    kind.contract()
                )));
            }
            answered => drop(answered?),
        }
    }
    Ok(())
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
        contracts.0[at] = deploy_contract(node, &signer, keys, options, kind, &NoFailpoints).await?;
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
pub(crate) async fn deploy_contract<N: Node>(
    node: &N,
    signer: &CallSigner,
    keys: &[Key],
    options: &DeployOptions,
    kind: ItemKind,
    watch: &dyn FailpointHook,
) -> Result<Address> {
    let owner = options.owner.unwrap_or(signer.key.address());
    let recorders: Vec<Address> = keys.iter().map(Key::address).collect();
    let data = kind.deployment(owner, &recorders)?;
    let receipt = send(node, signer, (TxKind::Create, DEPLOY_GAS, data), watch).await?;
    let address = receipt.contract.filter(|_| receipt.success).ok_or_else(|| {
        Error::Setup(format!("{} could not be deployed: its transaction was undone", kind.contract()))
    })?;
    tracing::info!(contract = kind.contract(), %address, %owner, block = receipt.block, "deployed");
    Ok(address)
}

/// Twice the base fee, so that it may double meanwhile.
pub(crate) async fn price<N: Node>(node: &N, fee_cap: u64) -> Result<Price> {
    let fees = node.fees().await?;
    let max_fee = fees.base.saturating_mul(2).saturating_add(fees.tip);
    Ok(Price { max_fee, tip: fees.tip }.capped(fee_cap))
}

/// Sends a transaction at the account's next nonce, and waits until it is mined. Only while nothing else signs for the
/// account.
pub(crate) async fn send<N: Node>(
    node: &N,
    signer: &CallSigner,
    (to, gas_limit, data): (TxKind, u64, Bytes),
    watch: &dyn FailpointHook,
) -> Result<Receipt> {
    let nonce = node.nonce(signer.key.address()).await?;
    let signed = signer.key.sign(signer.transaction(nonce, to, gas_limit, data));
    watch.at(Failpoint::Sending)?;
    node.send(&signed.raw).await?;
    let receipt = wait_for_receipt(node, signed.hash.into()).await?;
    watch.at(Failpoint::Sent)?;
    Ok(receipt)
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
