//! Encodes the calls that record items, and decodes what they carry.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::{SolCall, SolEvent};
use portico_domain::Credit;
use portico_records::{Content, ItemKind};
use portico_store::chain::{ItemVersion, VersionedItem, Word};

use super::{anchor, checks, identity, registry};
use crate::{Error, Result};

fn unsigned(number: i64) -> u64 {
    number.unsigned_abs()
}

fn points(credit: Credit) -> u16 {
    u16::try_from(credit.units()).unwrap_or(u16::MAX)
}

fn listing_item(item: &VersionedItem) -> Result<registry::Item> {
    let (key, version) = (item.key.into(), unsigned(item.version));
    Ok(match Content::decode(ItemKind::Listing, &item.payload)? {
        Content::Listing { terms, digest } => registry::Item {
            key,
            version,
            retired: false,
            minCredit: points(terms.min_credit()),
            prefCredit: points(terms.pref_credit()),
            minIncome: unsigned(terms.min_income().units()),
            prefIncome: unsigned(terms.pref_income().units()),
            digest: digest.into(),
        },
        _ => registry::Item {
            key,
            version,
            retired: true,
            minCredit: 0,
            prefCredit: 0,
            minIncome: 0,
            prefIncome: 0,
            digest: B256::ZERO,
        },
    })
}

fn identity_item(item: &VersionedItem) -> Result<identity::Item> {
    let (revoked, holder, commitment) = match Content::decode(ItemKind::Identity, &item.payload)? {
        Content::Identity { holder, commitment } => (false, holder, commitment.into()),
        _ => (true, Address::ZERO, B256::ZERO),
    };
    let token_id = U256::from_be_bytes(item.key);
    Ok(identity::Item { tokenId: token_id, version: unsigned(item.version), revoked, holder, commitment })
}

fn check_item(item: &VersionedItem) -> Result<checks::Item> {
    let (commitment, day) = match Content::decode(ItemKind::Check, &item.payload)? {
        Content::Check(commitment) => (commitment.hash, commitment.expiry_day),
        _ => ([0; 20], 0),
    };
    let (key, version) = (item.key.into(), unsigned(item.version));
    Ok(checks::Item { key, version, commitment: commitment.into(), expiryDay: day })
}

fn anchor_item(item: &VersionedItem) -> Result<anchor::Item> {
    match Content::decode(ItemKind::Anchor, &item.payload)? {
        Content::Anchor { head } => {
            Ok(anchor::Item { log: item.key.into(), version: unsigned(item.version), head: head.into() })
        }
        _ => Err(Error::Bug("an item is not an anchor".into())),
    }
}

pub fn calldata(kind: ItemKind, items: &[VersionedItem]) -> Result<Bytes> {
    Ok(match kind {
        ItemKind::Listing => {
            let items = items.iter().map(listing_item).collect::<Result<_>>()?;
            registry::recordCall { items }.abi_encode()
        }
        ItemKind::Identity => {
            let items = items.iter().map(identity_item).collect::<Result<_>>()?;
            identity::recordCall { items }.abi_encode()
        }
        ItemKind::Check => {
            let items = items.iter().map(check_item).collect::<Result<_>>()?;
            checks::recordCall { items }.abi_encode()
        }
        ItemKind::Anchor => {
            let items = items.iter().map(anchor_item).collect::<Result<_>>()?;
            anchor::recordCall { items }.abi_encode()
        }
    }
    .into())
}

pub fn items_in_call(kind: ItemKind, data: &[u8]) -> Result<Vec<ItemVersion>> {
    let wrong =
        |error: alloy_sol_types::Error| Error::Bug(format!("one of our calls cannot be decoded: {error}"));
    let item_version = |key: Word, version: u64| ItemVersion {
        kind,
        key,
        version: i64::try_from(version).unwrap_or(i64::MAX),
    };
    Ok(match kind {
        ItemKind::Listing => {
            let call = registry::recordCall::abi_decode(data).map_err(wrong)?;
            call.items.iter().map(|item| item_version(item.key.0, item.version)).collect()
        }
        ItemKind::Identity => {
            let call = identity::recordCall::abi_decode(data).map_err(wrong)?;
            call.items.iter().map(|item| item_version(item.tokenId.to_be_bytes(), item.version)).collect()
        }
        ItemKind::Check => {
            let call = checks::recordCall::abi_decode(data).map_err(wrong)?;
            call.items.iter().map(|item| item_version(item.key.0, item.version)).collect()
        }
        ItemKind::Anchor => {
            let call = anchor::recordCall::abi_decode(data).map_err(wrong)?;
            call.items.iter().map(|item| item_version(item.log.0, item.version)).collect()
        }
    })
}

/// The item that a log reports as rejected.
pub fn rejected(kind: ItemKind, topics: &[B256], data: &[u8]) -> Option<ItemVersion> {
    let log = registry::Rejected::decode_raw_log(topics.iter().copied(), data).ok()?;
    let version = i64::try_from(log.version).unwrap_or(i64::MAX);
    Some(ItemVersion { kind, key: log.key.0, version })
}

/// The item that a log reports as stale: the contract has its version, or a higher one.
pub fn stale(kind: ItemKind, topics: &[B256], data: &[u8]) -> Option<ItemVersion> {
    let log = registry::Stale::decode_raw_log(topics.iter().copied(), data).ok()?;
    let version = i64::try_from(log.version).unwrap_or(i64::MAX);
    Some(ItemVersion { kind, key: log.key.0, version })
}

/// The key of the item that a log reports as written.
pub(crate) fn written(kind: ItemKind, topics: &[B256], data: &[u8]) -> Option<Word> {
    let topics = || topics.iter().copied();
    match kind {
        ItemKind::Listing => registry::Recorded::decode_raw_log(topics(), data)
            .map(|log| log.key)
            .or_else(|_| registry::Retired::decode_raw_log(topics(), data).map(|log| log.key)),
        ItemKind::Identity => identity::Recorded::decode_raw_log(topics(), data)
            .map(|log| log.tokenId.into())
            .or_else(|_| identity::Revoked::decode_raw_log(topics(), data).map(|log| log.tokenId.into())),
        ItemKind::Check => checks::Recorded::decode_raw_log(topics(), data)
            .map(|log| log.key)
            .or_else(|_| checks::Cleared::decode_raw_log(topics(), data).map(|log| log.key)),
        ItemKind::Anchor => anchor::Recorded::decode_raw_log(topics(), data).map(|log| log.log),
    }
    .ok()
    .map(|key| key.0)
}

#[cfg(test)]
mod tests {
    use alloy_sol_types::SolValue as _;

    use super::*;

    #[test]
    fn all_contracts_share_the_stale_event() {
        let topics = [
            registry::Stale::SIGNATURE_HASH,
            identity::Stale::SIGNATURE_HASH,
            checks::Stale::SIGNATURE_HASH,
            anchor::Stale::SIGNATURE_HASH,
        ];
        for (kind, topic) in ItemKind::ALL.into_iter().zip(topics) {
            let data = (3_u64, 7_u64).abi_encode();
            let item_version = ItemVersion { kind, key: [8; 32], version: 3 };
            assert_eq!(stale(kind, &[topic, B256::repeat_byte(8)], &data), Some(item_version));
            assert_eq!(rejected(kind, &[topic, B256::repeat_byte(8)], &data), None);
        }
    }

    #[test]
    fn all_contracts_share_the_rejection_event() {
        let topics = [
            registry::Rejected::SIGNATURE_HASH,
            identity::Rejected::SIGNATURE_HASH,
            checks::Rejected::SIGNATURE_HASH,
            anchor::Rejected::SIGNATURE_HASH,
        ];
        for (kind, topic) in ItemKind::ALL.into_iter().zip(topics) {
            let data = (3_u64, U256::from(1)).abi_encode();
            let item_version = ItemVersion { kind, key: [8; 32], version: 3 };
            assert_eq!(rejected(kind, &[topic, B256::repeat_byte(8)], &data), Some(item_version));
        }
    }
}
