//! Finding or deploying the contracts, and everything that must be right before anything is signed.

use alloy_primitives::Address;
use portico_chain::contracts::{Contracts, Kind};
use portico_chain::deploy::{self, DeployOptions};
use portico_chain::node::At;
use portico_chain::signer::Key;
use portico_chain::{Error, Node as _};
use portico_store::Db;
use portico_store::chain::{AdoptChain, ChainIdentity};

use crate::node_fixture::Ground;

super::on_both_nodes! {
    contracts_are_deployed_once_and_found_again,
    nothing_is_deployed_unless_that_is_wanted,
    a_chain_without_a_key_is_refused,
    a_chain_with_another_id_is_refused,
    a_database_of_another_chain_is_refused,
    a_database_of_other_contracts_is_refused,
    addresses_where_our_contracts_are_not_are_refused,
    a_database_is_compared_with_the_chain_it_has_met_only,
    a_signer_without_funds_is_refused,
    a_signer_without_the_role_is_refused,
    the_first_block_tells_which_chain_it_is,
}

/// What the operator is told.
async fn refusal(node_fixture: &Ground, db: &Db, keys: &[Key], wanted: &DeployOptions) -> String {
    match deploy::establish(&node_fixture.node, db, keys, wanted).await {
        Err(Error::Setup(text)) => text,
        other => panic!("{other:?}"),
    }
}

async fn contracts_are_deployed_once_and_found_again(node_fixture: Ground) {
    assert_eq!(deploy::remembered(&node_fixture.db).await.unwrap(), None);
    let contracts = node_fixture.deployed().await;
    let used = node_fixture.node.nonce(node_fixture.key.address()).await.unwrap();
    assert_eq!(used, 4, "one transaction for each contract");
    let keys = [node_fixture.key.clone()];
    let again = deploy::establish(&node_fixture.node, &node_fixture.db, &keys, &node_fixture.wanted(true))
        .await
        .unwrap();
    assert_eq!(again, (31337, contracts));
    assert_eq!(node_fixture.node.nonce(node_fixture.key.address()).await.unwrap(), used);
    assert_eq!(deploy::remembered(&node_fixture.db).await.unwrap(), Some((31337, contracts)));
    for kind in Kind::ALL {
        let code = node_fixture.node.code(contracts.of(kind)).await.unwrap();
        assert_eq!(code, kind.deployed_code().unwrap(), "{}", kind.contract());
    }
    assert!(node_fixture.node.code(node_fixture.key.address()).await.unwrap().is_empty());
    // Another database is told where they are.
    let wanted = DeployOptions { contracts: Some(contracts), ..node_fixture.wanted(false) };
    let other = node_fixture.other_database().await;
    let told = deploy::establish(&node_fixture.node, &other, &keys, &wanted).await.unwrap();
    assert_eq!(told, (31337, contracts));
}

async fn nothing_is_deployed_unless_that_is_wanted(node_fixture: Ground) {
    let said = refusal(
        &node_fixture,
        &node_fixture.db,
        std::slice::from_ref(&node_fixture.key),
        &node_fixture.wanted(false),
    )
    .await;
    assert!(said.contains("portico chain deploy"), "{said}");
    assert_eq!(node_fixture.node.nonce(node_fixture.key.address()).await.unwrap(), 0);
}

async fn a_chain_without_a_key_is_refused(node_fixture: Ground) {
    let said = refusal(&node_fixture, &node_fixture.db, &[], &node_fixture.wanted(true)).await;
    assert!(said.contains("PORTICO_CHAIN_KEY"), "{said}");
}

async fn a_chain_with_another_id_is_refused(node_fixture: Ground) {
    let wanted = DeployOptions { chain_id: Some(1), ..node_fixture.wanted(true) };
    let said =
        refusal(&node_fixture, &node_fixture.db, std::slice::from_ref(&node_fixture.key), &wanted).await;
    assert!(said.contains("on chain 31337, not on chain 1"), "{said}");
}

async fn a_database_of_another_chain_is_refused(node_fixture: Ground) {
    let contracts = node_fixture.deployed().await;
    let genesis = node_fixture.node.genesis().await.unwrap().0;
    let identity =
        ChainIdentity { chain_id: 5, genesis, contracts: contracts.0.map(|address| address.0.0).to_vec() };
    let keys = [node_fixture.key.clone()];
    let other = node_fixture.other_database().await;
    other.write(AdoptChain(identity)).await.unwrap();
    let said = refusal(&node_fixture, &other, &keys, &node_fixture.wanted(true)).await;
    assert!(said.contains("belongs to chain 5"), "{said}");
}

async fn a_database_of_other_contracts_is_refused(node_fixture: Ground) {
    node_fixture.deployed().await;
    let elsewhere = Contracts([1, 2, 3, 4].map(Address::repeat_byte));
    let wanted = DeployOptions { contracts: Some(elsewhere), ..node_fixture.wanted(true) };
    let said =
        refusal(&node_fixture, &node_fixture.db, std::slice::from_ref(&node_fixture.key), &wanted).await;
    assert!(said.contains("other contracts than --chain-contracts"), "{said}");
}

async fn a_database_is_compared_with_the_chain_it_has_met_only(node_fixture: Ground) {
    let contracts = node_fixture.deployed().await;
    let wanted = node_fixture.wanted(false);
    let met =
        async |wanted: &DeployOptions| deploy::recognised(&node_fixture.node, &node_fixture.db, wanted).await;
    assert_eq!(met(&wanted).await.unwrap().unwrap().1, contracts);
    let said = met(&DeployOptions { chain_id: Some(5), ..wanted.clone() }).await.unwrap_err().to_string();
    assert!(said.contains("not on chain 5"), "{said}");
    let other = node_fixture.other_database().await;
    assert_eq!(deploy::recognised(&node_fixture.node, &other, &wanted).await.unwrap(), None);
    // It has met one where its contracts were, which are gone.
    let identity = node_fixture.db.chain_identity().await.unwrap().unwrap();
    other.write(AdoptChain(ChainIdentity { contracts: vec![[7; 20]; 4], ..identity })).await.unwrap();
    let said = deploy::recognised(&node_fixture.node, &other, &wanted).await.unwrap_err().to_string();
    assert!(
        said.contains("there is nothing") && said.contains("use that one, or another database"),
        "{said}"
    );
}

async fn addresses_where_our_contracts_are_not_are_refused(node_fixture: Ground) {
    let Contracts([listings, identities, checks, anchors]) = node_fixture.deployed().await;
    let keys = [node_fixture.key.clone()];
    let other = node_fixture.other_database().await;
    for (addresses, found) in [
        (
            [Address::repeat_byte(1), identities, checks, anchors],
            "nothing, not this version's ListingRegistry",
        ),
        ([listings, identities, anchors, checks], "another contract, not this version's ApplicationChecks"),
    ] {
        let wanted = DeployOptions { contracts: Some(Contracts(addresses)), ..node_fixture.wanted(true) };
        let said = refusal(&node_fixture, &other, &keys, &wanted).await;
        assert!(said.contains(found), "{said}");
    }
    assert_eq!(deploy::remembered(&other).await.unwrap(), None, "what was refused is not remembered");
}

async fn a_signer_without_funds_is_refused(node_fixture: Ground) {
    assert!(node_fixture.node.balance(node_fixture.poor.address()).await.unwrap().is_zero());
    assert!(!node_fixture.node.balance(node_fixture.key.address()).await.unwrap().is_zero());
    let (poor, key) = (node_fixture.poor.clone(), node_fixture.key.clone());
    for keys in [vec![poor.clone()], vec![key, poor.clone()]] {
        let said =
            refusal(&node_fixture, &node_fixture.other_database().await, &keys, &node_fixture.wanted(true))
                .await;
        assert!(said.contains(&format!("{} has no funds", poor.address())), "{said}");
    }
}

async fn a_signer_without_the_role_is_refused(node_fixture: Ground) {
    node_fixture.deployed().await;
    let keys = [node_fixture.key.clone(), node_fixture.stranger.clone()];
    let said = refusal(&node_fixture, &node_fixture.db, &keys, &node_fixture.wanted(true)).await;
    let stranger = node_fixture.stranger.address();
    assert!(said.contains(&format!("{stranger} may not record in ListingRegistry")), "{said}");
    assert!(said.contains("RECORDER_ROLE"), "{said}");
}

async fn the_first_block_tells_which_chain_it_is(node_fixture: Ground) {
    let genesis = node_fixture.node.genesis().await.unwrap();
    node_fixture.deployed().await;
    assert_eq!(node_fixture.node.genesis().await.unwrap(), genesis);
    assert_eq!(node_fixture.node.block(At::Number(0)).await.unwrap().unwrap().hash, genesis);
    assert_eq!(node_fixture.node.chain_id().await.unwrap(), 31337);
}
