//! What the chain holds.

use portico_chain::node::Node as _;
use portico_chain::reads;
use portico_domain::ListingId;
use portico_domain::chain::Passes;
use portico_records::{check_key, listing_key, token_key};

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

    /// By what the chain knows an application, from the transaction that recorded its flags.
    pub(crate) async fn reference(&self, user: &str, listing: &str) -> [u8; 32] {
        let path = format!("/v1/applications/{}/{}/records", encoded(user), encoded(listing));
        let (node, _) = self.chain().await;
        until("the flags are recorded", 30, async || {
            let records = self.to_get(&path).key(self.operator()).send().await.json(200);
            let record = records.get(0)?;
            let key: [u8; 32] = hex::decode_to_array(record["key"].as_str()?).unwrap();
            let receipt =
                node.receipt(record["transactionHash"].as_str()?.parse().unwrap()).await.unwrap()?;
            receipt.logs.iter().find_map(|log| match log.topics[..] {
                [_, listing, applicant] => (check_key(&listing, &applicant) == key).then_some(applicant.0),
                _ => None,
            })
        })
        .await
    }

    /// The flags of an application in the contract.
    pub(crate) async fn flags_on_chain(&self, reference: &[u8; 32], listing: &str) -> Option<Passes> {
        let (node, contracts) = self.chain().await;
        let listing = listing_key(&ListingId::stored(listing));
        reads::application(&node, contracts, &listing, reference).await.unwrap().1.map(|flags| flags.passes)
    }

    /// The hash of the anchored audit entry.
    pub(crate) async fn anchor_on_chain(&self) -> Option<Vec<u8>> {
        let (node, contracts) = self.chain().await;
        let log = Raw::open(self).await.rows("SELECT log FROM audit_head", &[]).await;
        let log = log[0][0].bytes().try_into().unwrap();
        reads::anchor(&node, contracts, &log).await.unwrap().map(|(_, head)| head.to_vec())
    }
}
