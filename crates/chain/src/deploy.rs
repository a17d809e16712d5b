//! Finds or deploys the contracts, and verifies chain, contracts and keys before anything is signed.

use std::time::Duration;

use alloy_primitives::{Address, B256, Bytes, TxKind};
use portico_store::Db;
use portico_store::chain::{AdoptChain, ChainIdentity};

use crate::contracts::{Contracts, ItemKind, calldata};
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
    let first = keys.first().ok_or_else(|| {
        Error::Setup("a chain needs a key to sign with: set PORTICO_CHAIN_KEY, or --chain-key-file".into())
    })?;
    let (chain_id, genesis) = (node.chain_id().await?, node.genesis().await?);
    let contracts =
        if let Some(contracts) = verify_bound_chain(node, db, options, (chain_id, genesis)).await? {
            contracts
        } else {
            let contracts = match options.contracts {
                Some(contracts) => contracts,
                None if options.deploy => deploy(node, first, keys, options.fee_cap).await?,
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
    let identity = ChainIdentity {
        chain_id: i64::try_from(chain_id).map_err(|_| Error::Setup("the chain's id is too large".into()))?,
        genesis: genesis.0,
        contracts: contracts.0.map(|address| address.0.0).to_vec(),
    };
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
    if let Some(expected) = options.chain_id.filter(|expected| *expected != chain_id) {
        return Err(Error::Setup(format!(
            "the node is on chain {chain_id}, not on chain {expected}: check --chain and --chain-id"
        )));
    }
    let Some(known) = db.chain_identity().await? else { return Ok(None) };
    check_identity(&known, chain_id, genesis, options)?;
    let contracts = contracts_of(&known)?;
    let advice = "this database belongs to a chain where it was: use that one, or another database";
    check_contracts(node, contracts, advice).await?;
    Ok(Some(contracts))
}

fn contracts_of(identity: &ChainIdentity) -> Result<Contracts> {
    let addresses: Vec<Address> = identity.contracts.iter().map(|address| Address::from(*address)).collect();
    let addresses = addresses.try_into().map_err(|_| Error::Bug("the contracts' row is wrong".into()))?;
    Ok(Contracts(addresses))
}

/// For a start while the node is unreachable.
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

/// Verifies our contracts' code byte for byte.
async fn check_contracts<N: Node>(node: &N, contracts: Contracts, advice: &str) -> Result<()> {
    for kind in ItemKind::ALL {
        let (name, address) = (kind.contract(), contracts.of(kind));
        let code = node.code(address).await?;
        if code != kind.deployed_code()? {
            let found = if code.is_empty() { "nothing" } else { "another contract" };
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

/// The first key's account owns the contracts; all keys may record.
pub async fn deploy<N: Node>(node: &N, owner: &Key, keys: &[Key], fee_cap: u64) -> Result<Contracts> {
    let recorders: Vec<Address> = keys.iter().map(Key::address).collect();
    if node.balance(owner.address()).await?.is_zero() {
        let address = owner.address();
        return Err(Error::Setup(format!(
            "the signer {address} has no funds: send it some of the chain's currency"
        )));
    }
    let mut contracts = Contracts([Address::ZERO; 4]);
    for (at, kind) in ItemKind::ALL.into_iter().enumerate() {
        let fees = node.fees().await?;
        let price = Price { max_fee: fees.base.saturating_mul(2).saturating_add(fees.tip), tip: fees.tip };
        let signer = CallSigner {
            key: owner.clone(),
            chain_id: node.chain_id().await?,
            contracts,
            price: price.capped(fee_cap),
        };
        let data: Bytes = kind.deployment(owner.address(), &recorders)?;
        let nonce = node.nonce(owner.address()).await?;
        let signed = owner.sign(signer.transaction(nonce, TxKind::Create, DEPLOY_GAS, data));
        node.send(&signed.raw).await?;
        let receipt = wait_for_receipt(node, signed.hash.into()).await?;
        let address = receipt.contract.filter(|_| receipt.success).ok_or_else(|| {
            Error::Setup(format!("{} could not be deployed: its transaction was undone", kind.contract()))
        })?;
        tracing::info!(contract = kind.contract(), %address, block = receipt.block, "deployed");
        contracts.0[at] = address;
    }
    Ok(contracts)
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
