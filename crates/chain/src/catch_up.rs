//! Brings a database that was restored from an older copy up to the versions that the chain has.
//!
//! Where the chain is newer, the database's desired state is written again above the chain's version. Ends are the
//! exception: revoked tokens and cleared flags stay so.

use alloy_primitives::B256;
use portico_domain::Timestamp;
use portico_records::{Content, ItemKind};
use portico_store::Db;
use portico_store::chain::{
    AdoptEnds, EndedItem, ItemVersion, PutItemsAgain, RaiseVersions, RejectItems, VersionedItem,
};

use crate::Result;
use crate::contracts::Contracts;
use crate::node::Node;
use crate::reads;
use crate::reconcile::ITEMS_PER_CALL;

/// Far above any count of ours, and far enough from the end of the numbers for what is added to it.
const MAX_FOLLOWED_VERSION: u64 = 1 << 62;

/// `None`: no version above this one can be written.
pub(crate) fn followable(version: u64) -> Option<i64> {
    i64::try_from(version).ok().filter(|_| version <= MAX_FOLLOWED_VERSION)
}

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CatchUpSummary {
    pub compared: u64,
    /// The content is the same, or need not be written: only the version was taken over.
    pub raised: u64,
    /// Will be written again, above the chain's version.
    pub again: u64,
    /// Taken over as revoked or cleared.
    pub ended: u64,
    /// Their versions on the chain cannot be followed.
    pub rejected: u64,
}

impl CatchUpSummary {
    pub fn is_unchanged(&self) -> bool {
        (self.raised, self.again, self.ended, self.rejected) == (0, 0, 0, 0)
    }
}

/// Compares every item. Other processes may go on writing.
pub async fn catch_up<N: Node>(
    node: &N,
    db: &Db,
    contracts: Contracts,
    at: Timestamp,
    mut progress: impl FnMut(u64),
) -> Result<CatchUpSummary> {
    let mut done = CatchUpSummary::default();
    for kind in ItemKind::ALL {
        let mut after: Vec<u8> = Vec::new();
        loop {
            let page = db.chain_items_after(kind, &after, ITEMS_PER_CALL).await?;
            let Some(last) = page.last() else { break };
            after = last.item.key.to_vec();
            let items: Vec<VersionedItem> = page.into_iter().map(|listed| listed.item).collect();
            overtake(node, db, contracts, (kind, &items), at, &mut done).await?;
            progress(done.compared);
        }
    }
    Ok(done)
}

/// Whether the chain has transactions of our signers that the database does not know.
pub async fn is_behind<N: Node>(node: &N, db: &Db) -> Result<bool> {
    for signer in db.chain_signers().await? {
        if node.nonce(signer.address.into()).await? > signer.next_nonce.unsigned_abs() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Acts on items of one kind whose version the chain has too, or is beyond.
pub(crate) async fn overtake<N: Node>(
    node: &N,
    db: &Db,
    contracts: Contracts,
    (kind, items): (ItemKind, &[VersionedItem]),
    at: Timestamp,
    done: &mut CatchUpSummary,
) -> Result<()> {
    let found = reads::items(node, contracts, kind, items.iter().map(|item| item.key)).await?;
    let (mut raised, mut again, mut ended, mut rejected) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (item, (version, payload)) in items.iter().zip(found) {
        let seen = ItemVersion { kind, key: item.key, version: item.version };
        let Some(version) = followable(version) else {
            let key = B256::from(item.key);
            tracing::error!(
                kind = kind.contract(),
                %key,
                version,
                "the chain has a version that cannot be followed; the item is rejected"
            );
            rejected.push(seen);
            continue;
        };
        let is_same = payload == item.payload;
        if version < item.version || (version == item.version && is_same) {
            continue;
        }
        if is_same || kind == ItemKind::Anchor {
            // The next anchor is above it.
            raised.extend((version > item.version).then_some((seen, version)));
        } else if kind.ends_for_good() && Content::decode(kind, &payload)?.is_deleted() {
            ended.push(EndedItem { seen, version, payload });
        } else {
            again.push((seen, version));
        }
    }
    done.compared += items.len() as u64;
    done.raised += raised.len() as u64;
    done.again += again.len() as u64;
    done.ended += ended.len() as u64;
    done.rejected += rejected.len() as u64;
    if !rejected.is_empty() {
        db.write(RejectItems { items: rejected, at }).await?;
    }
    if !raised.is_empty() {
        db.write(RaiseVersions(raised)).await?;
    }
    if !ended.is_empty() {
        db.write(AdoptEnds { items: ended, at }).await?;
    }
    if !again.is_empty() {
        db.write(PutItemsAgain { items: again, at }).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_near_the_end_of_the_numbers_cannot_be_followed() {
        assert_eq!([0, 1, 1 << 62].map(followable), [Some(0), Some(1), Some(1 << 62)]);
        assert_eq!([(1 << 62) + 1, 1 << 63, u64::MAX].map(followable), [None; 3]);
    }
}
