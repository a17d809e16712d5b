//! Compares every item of the database with the chain.

use portico_domain::Timestamp;
use portico_records::ItemKind;
use portico_store::Db;
use portico_store::chain::{ItemStatus, ItemVersion, ListedItem, PutItemsAgain, Word};

use crate::Result;
use crate::catch_up::followable;
use crate::contracts::Contracts;
use crate::node::Node;
use crate::reads;

/// Items per contract call.
pub(crate) const ITEMS_PER_CALL: i64 = 200;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReconcileSummary {
    pub compared: u64,
    /// Items in flight, which were skipped.
    pub in_flight: u64,
    /// Items that differ, by contract and key.
    pub different: Vec<(&'static str, Word)>,
    /// Items that the chain rejected for good.
    pub rejected: Vec<(&'static str, Word)>,
}

/// With `repair`, items that differ or were rejected are written again as their next version.
pub async fn reconcile<N: Node>(
    node: &N,
    db: &Db,
    contracts: Contracts,
    repair: Option<Timestamp>,
    mut progress: impl FnMut(u64),
) -> Result<ReconcileSummary> {
    let mut findings = ReconcileSummary::default();
    for kind in ItemKind::ALL {
        let mut after: Vec<u8> = Vec::new();
        loop {
            let page = db.chain_items_after(kind, &after, ITEMS_PER_CALL).await?;
            let Some(last) = page.last() else { break };
            after = last.item.key.to_vec();
            let again = compare(node, db, contracts, kind, &page, &mut findings).await?;
            if let Some(at) = repair.filter(|_| !again.is_empty()) {
                // The next version is above what either side has.
                db.write(PutItemsAgain { items: again, at }).await?;
            }
            progress(findings.compared);
        }
    }
    Ok(findings)
}

/// An item that differs, and its version on the chain.
type Different = (ItemVersion, i64);

async fn compare<N: Node>(
    node: &N,
    db: &Db,
    contracts: Contracts,
    kind: ItemKind,
    page: &[ListedItem],
    findings: &mut ReconcileSummary,
) -> Result<Vec<Different>> {
    let is_over = |item: &&ListedItem| matches!(item.status, ItemStatus::Mined | ItemStatus::Rejected);
    let (over, moving): (Vec<_>, Vec<_>) = page.iter().partition(is_over);
    findings.in_flight += moving.len() as u64;
    findings.compared += over.len() as u64;
    if over.is_empty() {
        return Ok(Vec::new());
    }
    let found = reads::items(node, contracts, kind, over.iter().map(|item| item.item.key)).await?;
    let mut again = Vec::new();
    for (ListedItem { item, status, .. }, (version, payload)) in over.into_iter().zip(found) {
        if item.version.unsigned_abs() == version && item.payload == payload {
            continue;
        }
        // It may have changed between the two reads: then it is in flight, and nothing is wrong.
        let now = db.chain_item(kind, &item.key).await?;
        if now.is_some_and(|now| now.version == item.version && now.status == *status) {
            let item_version = ItemVersion { kind, key: item.key, version: item.version };
            again.extend(followable(version).map(|version| (item_version, version)));
            let of = if *status == ItemStatus::Rejected {
                &mut findings.rejected
            } else {
                &mut findings.different
            };
            of.push((kind.contract(), item.key));
        } else {
            findings.compared -= 1;
            findings.in_flight += 1;
        }
    }
    Ok(again)
}
