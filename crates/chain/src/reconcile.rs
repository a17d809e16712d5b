//! Comparing every item of the database with the chain.

use portico_domain::Timestamp;
use portico_store::Db;
use portico_store::chain::{ItemStatus, ItemVersion, ListedItem, WantAgain, Word};

use crate::Result;
use crate::contracts::{Contracts, Kind};
use crate::node::Node;
use crate::reads;

/// Items that are compared with one question.
const PAGE: i64 = 200;

/// What the comparison found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Items that were compared.
    pub compared: u64,
    /// Items that are still on their way, and were left out.
    pub on_their_way: u64,
    /// Items of which the chain says something else than the database, by contract and key.
    pub different: Vec<(&'static str, Word)>,
    /// Items that the chain refused for good, likewise.
    pub refused: Vec<(&'static str, Word)>,
}

/// Compares; with `mend`, whatever differs or was refused is wanted again, as its next version.
pub async fn reconcile<N: Node>(
    node: &N,
    db: &Db,
    contracts: Contracts,
    mend: Option<Timestamp>,
    mut progress: impl FnMut(u64),
) -> Result<Findings> {
    let mut findings = Findings::default();
    for kind in Kind::ALL {
        let mut after: Vec<u8> = Vec::new();
        loop {
            let page = db.chain_items_after(kind.number(), &after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.item.key.to_vec();
            let again = compare(node, db, contracts, kind, &page, &mut findings).await?;
            if let Some(at) = mend.filter(|_| !again.is_empty()) {
                // The next version is above what either side has seen.
                db.write(WantAgain { items: again, at }).await?;
            }
            progress(findings.compared);
        }
    }
    Ok(findings)
}

/// An item of which the chain says something else, and the version that it has there.
type Different = (ItemVersion, i64);

async fn compare<N: Node>(
    node: &N,
    db: &Db,
    contracts: Contracts,
    kind: Kind,
    page: &[ListedItem],
    findings: &mut Findings,
) -> Result<Vec<Different>> {
    let over = |item: &&ListedItem| matches!(item.standing, ItemStatus::Mined | ItemStatus::Failed);
    let (settled, moving): (Vec<_>, Vec<_>) = page.iter().partition(over);
    findings.on_their_way += moving.len() as u64;
    findings.compared += settled.len() as u64;
    if settled.is_empty() {
        return Ok(Vec::new());
    }
    let wanted: Vec<_> = settled.iter().map(|item| (item.item.key, item.item.payload.clone())).collect();
    let found = reads::items(node, contracts, kind, &wanted).await?;
    let mut again = Vec::new();
    for (ListedItem { item, standing, .. }, (version, payload)) in settled.into_iter().zip(found) {
        if item.version.unsigned_abs() == version && item.payload == payload {
            continue;
        }
        // It may have changed between the two looks: then it is on its way, and nothing is wrong.
        let now = db.chain_item(kind.number(), &item.key).await?;
        if now.is_some_and(|now| now.version == item.version && now.standing == *standing) {
            let drawn = ItemVersion { kind: kind.number(), key: item.key, version: item.version };
            again.push((drawn, i64::try_from(version).unwrap_or(i64::MAX - 1)));
            let of =
                if *standing == ItemStatus::Failed { &mut findings.refused } else { &mut findings.different };
            of.push((kind.contract(), item.key));
        } else {
            findings.compared -= 1;
            findings.on_their_way += 1;
        }
    }
    Ok(again)
}
