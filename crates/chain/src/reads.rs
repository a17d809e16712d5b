//! Reads the contracts.

use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::SolCall;
use portico_domain::chain::Terms;
use portico_domain::{Credit, Income};
use portico_records::{Commitment, Content, ItemKind};
use portico_store::chain::Word;

use crate::contracts::{Contracts, anchor, checks, identity, registry};
use crate::node::Node;
use crate::{Error, Result};

async fn ask<C: SolCall, N: Node>(node: &N, to: Address, call: &C) -> Result<C::Return> {
    let answer = node.call(Address::ZERO, to, call.abi_encode().into()).await?;
    C::abi_decode_returns(&answer)
        .map_err(|error| Error::Refused(format!("the answer of {} makes no sense: {error}", C::SIGNATURE)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListingRecord {
    /// 0: the chain has no record of it.
    pub version: u64,
    /// `None`: the listing is retired.
    pub content: Option<(Terms, Word)>,
}

impl TryFrom<registry::Record> for ListingRecord {
    type Error = Error;
    fn try_from(record: registry::Record) -> Result<Self> {
        if record.version == 0 || record.retired {
            return Ok(Self { version: record.version, content: None });
        }
        let credit = |points: u16| Some(Credit::from_units(points.into()));
        let income = |cents: u64| i64::try_from(cents).ok().map(Income::from_units);
        let terms = Terms::new(
            (credit(record.minCredit), credit(record.prefCredit)),
            (income(record.minIncome), income(record.prefIncome)),
        );
        let terms = terms.map_err(|_| Error::Refused("a listing's record contradicts itself".into()))?;
        Ok(Self { version: record.version, content: Some((terms, record.digest.0)) })
    }
}

pub async fn listing<N: Node>(node: &N, contracts: Contracts, key: &Word) -> Result<ListingRecord> {
    let call = registry::recordOfCall { key: B256::from(*key) };
    ask(node, contracts.of(ItemKind::Listing), &call).await?.try_into()
}

/// Version and commitment, expired or not; no commitment: it was cleared.
pub async fn application<N: Node>(
    node: &N,
    contracts: Contracts,
    key: &Word,
) -> Result<(u64, Option<Commitment>)> {
    let call = checks::recordOfCall { key: B256::from(*key) };
    let record = ask(node, contracts.of(ItemKind::Check), &call).await?;
    Ok((record.version, commitment_of(&record)))
}

fn commitment_of(record: &checks::Record) -> Option<Commitment> {
    let commitment = Commitment { hash: record.commitment.0, expiry_day: record.expiryDay };
    (!record.commitment.is_zero()).then_some(commitment)
}

/// Version, holder and commitment; no holder: the token was revoked.
pub async fn identity<N: Node>(
    node: &N,
    contracts: Contracts,
    token: &Word,
) -> Result<(u64, Option<(Address, Word)>)> {
    let call = identity::identityOfCall { tokenId: U256::from_be_bytes(*token) };
    let found = ask(node, contracts.of(ItemKind::Identity), &call).await?;
    let content = (found.version > 0 && !found.revoked).then_some((found.holder, found.commitment.0));
    Ok((found.version, content))
}

/// Version and anchored hash; `None`: there is no anchor.
pub async fn anchor<N: Node>(node: &N, contracts: Contracts, log: &Word) -> Result<Option<(u64, Word)>> {
    let found =
        ask(node, contracts.of(ItemKind::Anchor), &anchor::anchorOfCall { log: B256::from(*log) }).await?;
    Ok((found.version > 0).then_some((found.version, found.head.0)))
}

/// The chain's versions and contents of many items of a kind, encoded as in the database.
pub(crate) async fn items<N: Node>(
    node: &N,
    contracts: Contracts,
    kind: ItemKind,
    keys: impl Iterator<Item = Word>,
) -> Result<Vec<(u64, Vec<u8>)>> {
    let (to, keys) = (contracts.of(kind), keys.map(B256::from));
    Ok(match kind {
        ItemKind::Listing => {
            let call = registry::recordsOfCall { keys: keys.collect() };
            let record = |record: registry::Record| {
                let ListingRecord { version, content } = record.try_into()?;
                let content = content
                    .map_or(Content::RetiredListing, |(terms, digest)| Content::Listing { terms, digest });
                Ok((version, content.encode()))
            };
            ask(node, to, &call).await?.into_iter().map(record).collect::<Result<_>>()?
        }
        ItemKind::Identity => {
            let token_ids = keys.map(|key| U256::from_be_bytes(key.0)).collect();
            let call = identity::identitiesOfCall { tokenIds: token_ids };
            let record = |found: identity::Identity| {
                let content = if found.revoked || found.version == 0 {
                    Content::RevokedIdentity
                } else {
                    Content::Identity { holder: found.holder, commitment: found.commitment.0 }
                };
                (found.version, content.encode())
            };
            ask(node, to, &call).await?.into_iter().map(record).collect()
        }
        ItemKind::Check => {
            let found = ask(node, to, &checks::recordsOfCall { keys: keys.collect() }).await?;
            let content = |found| commitment_of(found).map_or(Content::ClearedCheck, Content::Check);
            found.iter().map(|found| (found.version, content(found).encode())).collect()
        }
        ItemKind::Anchor => {
            let found = ask(node, to, &anchor::anchorsOfCall { logs: keys.collect() }).await?;
            found.into_iter().map(|anchor| (anchor.version, anchor.head.to_vec())).collect()
        }
    })
}
