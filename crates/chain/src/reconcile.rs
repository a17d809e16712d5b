//! Comparing every item of the database with the chain.

use portico_domain::Timestamp;
use portico_store::Db;
use portico_store::chain::{ListedItem, Want, Wanted, Word};

use crate::Result;
use crate::contracts::{Content, Contracts, Kind};
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
}

/// Compares; with `mend`, whatever differs is wanted again, as its next version.
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
            let different = compare(node, contracts, kind, &page, &mut findings).await?;
            if let Some(at) = mend {
                mend_items(db, kind, &different, at).await?;
            }
            findings.different.extend(different.iter().map(|(item, _)| (kind.contract(), item.item.key)));
            progress(findings.compared);
        }
    }
    Ok(findings)
}

async fn compare<N: Node>(
    node: &N,
    contracts: Contracts,
    kind: Kind,
    page: &[ListedItem],
    findings: &mut Findings,
) -> Result<Vec<(ListedItem, u64)>> {
    let (settled, moving): (Vec<_>, Vec<_>) = page.iter().cloned().partition(|item| item.settled);
    findings.on_their_way += moving.len() as u64;
    findings.compared += settled.len() as u64;
    if settled.is_empty() {
        return Ok(Vec::new());
    }
    let wanted: Vec<_> = settled.iter().map(|item| (item.item.key, item.item.payload.clone())).collect();
    let found = reads::items(node, contracts, kind, &wanted).await?;
    let differs = |item: &ListedItem, (version, payload): &(u64, Vec<u8>)| {
        item.item.version.unsigned_abs() != *version || item.item.payload != *payload
    };
    let pairs = settled.into_iter().zip(found).filter(|(item, found)| differs(item, found));
    Ok(pairs.map(|(item, (version, _))| (item, version)).collect())
}

/// The next version is above what either side has seen.
async fn mend_items(db: &Db, kind: Kind, items: &[(ListedItem, u64)], at: Timestamp) -> Result<()> {
    let again = items.iter().map(|(item, on_chain)| {
        let content = Content::decode(kind, &item.item.payload)?;
        Ok(Wanted {
            kind: kind.number(),
            key: item.item.key,
            payload: item.item.payload.clone(),
            gone: content.is_gone(),
            salt: None,
            above: i64::try_from(*on_chain).unwrap_or(i64::MAX - 1),
            at,
        })
    });
    db.write(Want(again.collect::<Result<_>>()?)).await?;
    Ok(())
}
