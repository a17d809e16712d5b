//! Records on the chain that the database does not know, found by the contracts' events: what a restored database lost.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{Address, B256};
use portico_domain::Timestamp;
use portico_records::{Content, DesiredItem, ItemKind};
use portico_store::Db;
use portico_store::chain::{EndUnknownItems, Word};

use crate::contracts::{Contracts, written};
use crate::node::Node;
use crate::reads;
use crate::reconcile::ITEMS_PER_CALL;
use crate::{Error, Result};

/// Blocks per request; fewer if the node refuses.
const BLOCKS_PER_CALL: u64 = 5_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    pub kind: ItemKind,
    pub key: Word,
    /// The version on the chain.
    pub version: u64,
    /// The account that wrote it.
    pub signer: Address,
    /// Written by one of our signers. Another database may use the same contracts with other keys.
    pub is_ours: bool,
}

/// Finds records that are not retired, revoked or cleared. `signers` are ours, besides those that the database knows.
pub async fn find<N: Node>(
    node: &N,
    db: &Db,
    contracts: Contracts,
    signers: &[Address],
    mut progress: impl FnMut(u64, u64),
) -> Result<Vec<Orphan>> {
    let mut ours: BTreeSet<Address> = signers.iter().copied().collect();
    ours.extend(db.chain_signers().await?.iter().map(|row| Address::from(row.address)));
    let head = node.head().await?.number;
    let mut from = db.first_chain_block().await?.map_or(0, i64::unsigned_abs);
    let (mut unknown, mut blocks) = (BTreeMap::new(), BLOCKS_PER_CALL);
    while from <= head {
        let to = head.min(from + blocks - 1);
        let events = match node.logs(&contracts.0, from, to).await {
            // Too many for one answer.
            Err(Error::Refused(_)) if blocks > 1 => {
                blocks /= 2;
                continue;
            }
            found => found?,
        };
        for event in events {
            let Some(kind) = contracts.kind_at(event.log.address) else { continue };
            let Some(key) = written(kind, &event.log.topics, &event.log.data) else { continue };
            let is_found = unknown.contains_key(&(kind, key));
            if !is_found && db.chain_item_state(kind, &key).await?.is_none() {
                unknown.insert((kind, key), event.transaction);
            }
        }
        progress(to, head);
        from = to + 1;
        blocks = (blocks * 2).min(BLOCKS_PER_CALL);
    }
    present(node, contracts, &ours, unknown).await
}

/// Those that the chain still has.
async fn present<N: Node>(
    node: &N,
    contracts: Contracts,
    ours: &BTreeSet<Address>,
    unknown: BTreeMap<(ItemKind, Word), B256>,
) -> Result<Vec<Orphan>> {
    let mut orphans = Vec::new();
    for kind in ItemKind::ALL {
        let of_kind: Vec<(Word, B256)> = unknown
            .iter()
            .filter(|((other, _), _)| *other == kind)
            .map(|((_, key), transaction)| (*key, *transaction))
            .collect();
        for page in of_kind.chunks(usize::try_from(ITEMS_PER_CALL).unwrap_or(1)) {
            let found = reads::items(node, contracts, kind, page.iter().map(|(key, _)| *key)).await?;
            for ((key, transaction), (version, payload)) in page.iter().zip(found) {
                if version == 0 || Content::decode(kind, &payload)?.is_deleted() {
                    continue;
                }
                let sent = node.transaction(*transaction).await?;
                let signer = sent.map_or(Address::ZERO, |sent| sent.from);
                let is_ours = ours.contains(&signer);
                orphans.push(Orphan { kind, key: *key, version, signer, is_ours });
            }
        }
    }
    Ok(orphans)
}

/// `None`: an anchor, which has no end.
fn end_of(kind: ItemKind) -> Option<Content> {
    match kind {
        ItemKind::Listing => Some(Content::RetiredListing),
        ItemKind::Identity => Some(Content::RevokedIdentity),
        ItemKind::Check => Some(Content::ClearedCheck),
        ItemKind::Anchor => None,
    }
}

/// Retires listings, revokes tokens and clears flags that are ours; returns how many. What the database has come to
/// know meanwhile stays.
pub async fn end(db: &Db, orphans: &[Orphan], at: Timestamp) -> Result<usize> {
    let desired = |orphan: &Orphan| -> Option<DesiredItem> {
        let above = i64::try_from(orphan.version).ok()?;
        let end = end_of(orphan.kind).filter(|_| orphan.is_ours)?;
        Some(DesiredItem { above, ..end.desired(orphan.key, at) })
    };
    let items: Vec<DesiredItem> = orphans.iter().filter_map(desired).collect();
    let count = items.len();
    if count > 0 {
        db.write(EndUnknownItems(items)).await?;
    }
    Ok(count)
}
