//! Items that the chain has rejected, with the versions above which they can be written again.

use portico_records::ItemKind;
use portico_store::Db;
use portico_store::chain::ItemVersion;

use crate::Result;
use crate::catch_up::followable;
use crate::contracts::Contracts;
use crate::node::Node;
use crate::reads;

/// At once: one contract call for each kind.
const MAX_RETRIED_ITEMS: usize = 200;

/// Each with its version on the chain. The next version is above what either side has.
pub async fn rejected<N: Node>(node: &N, db: &Db, contracts: Contracts) -> Result<Vec<(ItemVersion, i64)>> {
    let items = db.rejected_items(MAX_RETRIED_ITEMS).await?;
    let mut rejected = Vec::with_capacity(items.len());
    for kind in ItemKind::ALL {
        let of_kind: Vec<_> = items.iter().filter(|rejected| rejected.item.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let keys = of_kind.iter().map(|rejected| rejected.item.key);
        let found = reads::items(node, contracts, kind, keys).await?;
        let with_version = of_kind.into_iter().zip(found);
        rejected
            .extend(with_version.filter_map(|(item, (version, _))| Some((item.item, followable(version)?))));
    }
    Ok(rejected)
}
