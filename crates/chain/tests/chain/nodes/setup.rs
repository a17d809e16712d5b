//! Finding or deploying the contracts, and the checks before anything is signed.

use alloy_primitives::{Address, B256};
use alloy_sol_types::SolCall as _;
use portico_chain::contracts::{Contracts, deployed_code, registry};
use portico_chain::deploy::{self, DeployOptions};
use portico_chain::node::BlockId;
use portico_chain::signer::Key;
use portico_chain::{Error, Node as _, binding, setup};
use portico_records::ItemKind;
use portico_store::Db;
use portico_store::chain::{AdoptChain, ChainIdentity};

use crate::node_fixture::NodeFixture;

super::on_both_nodes! {
    contracts_are_deployed_once_and_found_again,
    nothing_is_deployed_unless_configured,
    a_chain_without_a_key_is_refused,
    a_chain_with_another_id_is_refused,
    a_database_of_another_chain_is_refused,
    a_database_of_other_contracts_is_refused,
    addresses_without_our_contracts_are_refused,
    database_is_compared_only_with_its_own_chain,
    a_signer_without_funds_is_refused,
    a_signer_without_the_role_is_refused,
    genesis_hash_identifies_the_chain,
    contracts_may_belong_to_another_account,
}

/// The error message for the operator.
async fn refusal(fixture: &NodeFixture, db: &Db, keys: &[Key], options: &DeployOptions) -> String {
    match setup::establish(&fixture.node, db, keys, options).await {
        Err(Error::Setup(text)) => text,
        other => panic!("{other:?}"),
    }
}

async fn contracts_are_deployed_once_and_found_again(fixture: NodeFixture) {
    assert_eq!(binding::stored_chain(&fixture.db).await.unwrap(), None);
    let contracts = fixture.deployed().await;
    let used = fixture.node.nonce(fixture.key.address()).await.unwrap();
    assert_eq!(used, 4, "one transaction for each contract");
    let keys = [fixture.key.clone()];
    let again = setup::establish(&fixture.node, &fixture.db, &keys, &fixture.options(true)).await.unwrap();
    assert_eq!(again, (31337, contracts));
    assert_eq!(fixture.node.nonce(fixture.key.address()).await.unwrap(), used);
    assert_eq!(binding::stored_chain(&fixture.db).await.unwrap(), Some((31337, contracts)));
    for kind in ItemKind::ALL {
        let code = fixture.node.code(contracts.of(kind)).await.unwrap();
        assert_eq!(code, deployed_code(kind).unwrap(), "{}", kind.contract());
    }
    assert!(fixture.node.code(fixture.key.address()).await.unwrap().is_empty());
    // Another database gets their addresses.
    let options = DeployOptions { contracts: Some(contracts), ..fixture.options(false) };
    let other = fixture.other_database().await;
    let told = setup::establish(&fixture.node, &other, &keys, &options).await.unwrap();
    assert_eq!(told, (31337, contracts));
}

async fn nothing_is_deployed_unless_configured(fixture: NodeFixture) {
    let said =
        refusal(&fixture, &fixture.db, std::slice::from_ref(&fixture.key), &fixture.options(false)).await;
    assert!(said.contains("portico chain deploy"), "{said}");
    assert_eq!(fixture.node.nonce(fixture.key.address()).await.unwrap(), 0);
}

async fn a_chain_without_a_key_is_refused(fixture: NodeFixture) {
    let said = refusal(&fixture, &fixture.db, &[], &fixture.options(true)).await;
    assert!(said.contains("PORTICO_CHAIN_KEY"), "{said}");
}

async fn a_chain_with_another_id_is_refused(fixture: NodeFixture) {
    let options = DeployOptions { chain_id: Some(1), ..fixture.options(true) };
    let said = refusal(&fixture, &fixture.db, std::slice::from_ref(&fixture.key), &options).await;
    assert!(said.contains("on chain 31337, not on chain 1"), "{said}");
}

async fn a_database_of_another_chain_is_refused(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let genesis = fixture.node.genesis().await.unwrap().0;
    let contracts = contracts.0.map(|address| address.0.0).to_vec();
    let identity = ChainIdentity { chain_id: 5, genesis, contracts };
    let keys = [fixture.key.clone()];
    let other = fixture.other_database().await;
    other.write(AdoptChain(identity)).await.unwrap();
    let said = refusal(&fixture, &other, &keys, &fixture.options(true)).await;
    assert!(said.contains("belongs to chain 5"), "{said}");
}

async fn a_database_of_other_contracts_is_refused(fixture: NodeFixture) {
    fixture.deployed().await;
    let elsewhere = Contracts([1, 2, 3, 4].map(Address::repeat_byte));
    let options = DeployOptions { contracts: Some(elsewhere), ..fixture.options(true) };
    let said = refusal(&fixture, &fixture.db, std::slice::from_ref(&fixture.key), &options).await;
    assert!(said.contains("other contracts than --chain-contracts"), "{said}");
}

async fn database_is_compared_only_with_its_own_chain(fixture: NodeFixture) {
    let contracts = fixture.deployed().await;
    let options = fixture.options(false);
    let verify_bound_chain =
        async |options: &DeployOptions| binding::bound_chain(&fixture.node, &fixture.db, options).await;
    assert_eq!(verify_bound_chain(&options).await.unwrap().unwrap().1, contracts);
    let said = verify_bound_chain(&DeployOptions { chain_id: Some(5), ..options.clone() })
        .await
        .unwrap_err()
        .to_string();
    assert!(said.contains("not on chain 5"), "{said}");
    let other = fixture.other_database().await;
    assert_eq!(binding::bound_chain(&fixture.node, &other, &options).await.unwrap(), None);
    // Its contracts no longer exist on the chain that it is bound to.
    let identity = fixture.db.chain_identity().await.unwrap().unwrap();
    other.write(AdoptChain(ChainIdentity { contracts: vec![[7; 20]; 4], ..identity })).await.unwrap();
    let said = binding::bound_chain(&fixture.node, &other, &options).await.unwrap_err().to_string();
    assert!(
        said.contains("there is nothing") && said.contains("use that one, or another database"),
        "{said}"
    );
}

async fn addresses_without_our_contracts_are_refused(fixture: NodeFixture) {
    let Contracts([listings, identities, checks, anchors]) = fixture.deployed().await;
    let keys = [fixture.key.clone()];
    let other = fixture.other_database().await;
    for (addresses, found) in [
        (
            [Address::repeat_byte(1), identities, checks, anchors],
            "nothing, not this version's ListingRegistry",
        ),
        ([listings, identities, anchors, checks], "another contract, not this version's ApplicationChecks"),
    ] {
        let options = DeployOptions { contracts: Some(Contracts(addresses)), ..fixture.options(true) };
        let said = refusal(&fixture, &other, &keys, &options).await;
        assert!(said.contains(found), "{said}");
    }
    assert_eq!(binding::stored_chain(&other).await.unwrap(), None, "what was refused is not remembered");
}

async fn a_signer_without_funds_is_refused(fixture: NodeFixture) {
    assert!(fixture.node.balance(fixture.poor.address()).await.unwrap().is_zero());
    assert!(!fixture.node.balance(fixture.key.address()).await.unwrap().is_zero());
    let (poor, key) = (fixture.poor.clone(), fixture.key.clone());
    for keys in [vec![poor.clone()], vec![key, poor.clone()]] {
        let said = refusal(&fixture, &fixture.other_database().await, &keys, &fixture.options(true)).await;
        assert!(said.contains(&format!("{} has no funds", poor.address())), "{said}");
    }
}

async fn a_signer_without_the_role_is_refused(fixture: NodeFixture) {
    fixture.deployed().await;
    let keys = [fixture.key.clone(), fixture.stranger.clone()];
    let said = refusal(&fixture, &fixture.db, &keys, &fixture.options(true)).await;
    let stranger = fixture.stranger.address();
    assert!(said.contains(&format!("{stranger} may not record in ListingRegistry")), "{said}");
    assert!(said.contains("RECORDER_ROLE"), "{said}");
}

async fn contracts_may_belong_to_another_account(fixture: NodeFixture) {
    let owner = Address::repeat_byte(7);
    let options = DeployOptions { owner: Some(owner), ..fixture.options(true) };
    let keys = [fixture.key.clone()];
    let (_, contracts) = setup::establish(&fixture.node, &fixture.db, &keys, &options).await.unwrap();
    let own = deploy::deploy(&fixture.node, &keys, &fixture.options(true)).await.unwrap();
    let signer = fixture.key.address();
    for (contracts, expected) in [(contracts, [true, false]), (own, [false, true])] {
        for kind in ItemKind::ALL {
            for (account, is_owner) in [owner, signer].into_iter().zip(expected) {
                let call = registry::hasRoleCall { role: B256::ZERO, account };
                let answer =
                    fixture.node.call(signer, contracts.of(kind), call.abi_encode().into()).await.unwrap();
                assert_eq!(registry::hasRoleCall::abi_decode_returns(&answer).unwrap(), is_owner);
            }
        }
    }
    let warned = |keys: &[Key], owner| {
        let options = DeployOptions { owner, is_embedded: false, ..fixture.options(true) };
        deploy::ownership_warning(keys, &options).is_some()
    };
    assert!(warned(&keys, None) && warned(&keys, Some(signer)));
    assert!(!warned(&keys, Some(owner)));
    assert!(!warned(&[fixture.key.clone(), fixture.stranger.clone()], None));
}

async fn genesis_hash_identifies_the_chain(fixture: NodeFixture) {
    let genesis = fixture.node.genesis().await.unwrap();
    fixture.deployed().await;
    assert_eq!(fixture.node.genesis().await.unwrap(), genesis);
    assert_eq!(fixture.node.block(BlockId::Number(0)).await.unwrap().unwrap().hash, genesis);
    assert_eq!(fixture.node.chain_id().await.unwrap(), 31337);
}
