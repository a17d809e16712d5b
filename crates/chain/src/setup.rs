//! Finds or deploys the contracts, and verifies chain, contracts and keys before anything is signed.

use alloy_primitives::Address;
use portico_records::ItemKind;
use portico_store::Db;
use portico_store::chain::AdoptChain;

use crate::binding::{check_contracts, check_identity, contracts_of, identity_of, verify_bound_chain};
use crate::contracts::{Contracts, calldata};
use crate::deploy::{DeployOptions, deploy};
use crate::node::Node;
use crate::signer::Key;
use crate::{Error, Result};

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
