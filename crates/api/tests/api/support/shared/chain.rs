//! What the chain holds.

use alloy_primitives::{Address, B256};
use alloy_sol_types::SolCall as _;
use portico_chain::contracts::checks;
use portico_chain::node::Node as _;
use portico_chain::reads;
use portico_records::{Commitment, ItemKind, token_key};
use serde_json::Value;

use super::{Raw, encoded, until};
use crate::support::App;

impl App {
    /// Holder and commitment of a token on the chain; `None` if absent or revoked.
    pub(crate) async fn token_on_chain(&self, token: &str) -> Option<(String, [u8; 32])> {
        let (node, contracts) = self.chain().await;
        let key = token_key(&token.parse::<u128>().unwrap().to_be_bytes());
        let (_, content) = reads::identity(&node, contracts, &key).await.unwrap();
        content.map(|(holder, commitment)| (holder.to_string().to_lowercase(), commitment))
    }

    /// Waits until a token is on the chain.
    pub(crate) async fn minted(&self, token: &str) -> (String, [u8; 32]) {
        until("the token is on the chain", 30, || self.token_on_chain(token)).await
    }

    /// Waits until a token is revoked on the chain.
    pub(crate) async fn burned(&self, token: &str) {
        until("the token is gone from the chain", 30, async || {
            self.token_on_chain(token).await.is_none().then_some(())
        })
        .await;
    }

    /// By what the chain knows an application.
    pub(crate) async fn chain_key(&self, user: &str, listing: &str) -> [u8; 32] {
        let path = format!("/v1/applications/{}/{}/records", encoded(user), encoded(listing));
        until("the flags are recorded", 30, async || {
            let records = self.to_get(&path).key(self.operator()).send().await.json(200);
            records.get(0)?["transactionHash"].as_str()?;
            hex::decode_to_array(records[0]["key"].as_str()?).ok()
        })
        .await
    }

    /// What the contract has of an application; `None`: nothing, or it is cleared.
    pub(crate) async fn commitment_on_chain(&self, key: &[u8; 32]) -> Option<Commitment> {
        let (node, contracts) = self.chain().await;
        reads::application(&node, contracts, key).await.unwrap().1
    }

    /// Whether the contract attests what the applicant's proof says.
    pub(crate) async fn is_attested(&self, proof: &Value) -> bool {
        let (node, contracts) = self.chain().await;
        let word = |name: &str| B256::from(hex::decode_to_array(proof[name].as_str().unwrap()).unwrap());
        let number = |name: &str| u32::try_from(proof[name].as_u64().unwrap()).unwrap();
        let call = checks::isAttestedCall {
            key: word("key"),
            flags: u8::try_from(number("flags")).unwrap(),
            expiryDay: number("expiryDay"),
            salt: word("salt"),
        };
        let contract = contracts.of(ItemKind::Check);
        let answer = node.call(Address::ZERO, contract, call.abi_encode().into()).await.unwrap();
        checks::isAttestedCall::abi_decode_returns(&answer).unwrap()
    }

    /// The hash of the anchored audit entry.
    pub(crate) async fn anchor_on_chain(&self) -> Option<Vec<u8>> {
        let (node, contracts) = self.chain().await;
        let log = Raw::open(self).await.rows("SELECT log FROM audit_head", &[]).await;
        let log = log[0][0].bytes().try_into().unwrap();
        reads::anchor(&node, contracts, &log).await.unwrap().map(|(_, head)| head.to_vec())
    }
}
