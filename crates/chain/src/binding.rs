//! The chain and the contracts that a database is bound to, verified before anything is signed.

use alloy_primitives::{Address, B256};
use portico_records::ItemKind;
use portico_store::Db;
use portico_store::chain::ChainIdentity;

use crate::contracts::{Contracts, deployed_code};
use crate::deploy::DeployOptions;
use crate::node::Node;
use crate::{Error, Result};

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
pub(crate) async fn verify_bound_chain<N: Node>(
    node: &N,
    db: &Db,
    options: &DeployOptions,
    (chain_id, genesis): (u64, B256),
) -> Result<Option<Contracts>> {
    check_chain_id(chain_id, options)?;
    let Some(known) = db.chain_identity().await? else { return Ok(None) };
    check_identity(&known, chain_id, genesis, options)?;
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

pub(crate) fn identity_of((chain_id, genesis): (u64, B256), contracts: Contracts) -> Result<ChainIdentity> {
    Ok(ChainIdentity {
        chain_id: i64::try_from(chain_id).map_err(|_| Error::Setup("the chain's id is too large".into()))?,
        genesis: genesis.0,
        contracts: contracts.0.map(|address| address.0.0).to_vec(),
    })
}

pub(crate) fn contracts_of(identity: &ChainIdentity) -> Result<Contracts> {
    let addresses: Vec<Address> = identity.contracts.iter().map(|address| Address::from(*address)).collect();
    let addresses = addresses.try_into().map_err(|_| Error::Bug("the contracts' row is wrong".into()))?;
    Ok(Contracts(addresses))
}

/// The chain that the database is bound to, unchecked.
pub async fn stored_chain(db: &Db) -> Result<Option<(u64, Contracts)>> {
    let identity = db.chain_identity().await?;
    identity.map(|known| Ok((known.chain_id.unsigned_abs(), contracts_of(&known)?))).transpose()
}

pub(crate) fn check_identity(
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
            "this database belongs to other contracts than --chain-contracts names: omit the flag, or use \
             another database"
                .into(),
        ));
    }
    Ok(())
}

/// Verifies our contracts' code byte for byte.
pub(crate) async fn check_contracts<N: Node>(node: &N, contracts: Contracts, advice: &str) -> Result<()> {
    for kind in ItemKind::ALL {
        let (name, address) = (kind.contract(), contracts.of(kind));
        let code = node.code(address).await?;
        if deployed_code(kind)? != code {
            let found = if code.is_empty() { "nothing" } else { "another contract" };
            return Err(Error::Setup(format!(
                "at {address} there is {found}, not this version's {name}: {advice}"
            )));
        }
    }
    Ok(())
}
