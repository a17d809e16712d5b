//! Invariants after every run, checked without the code under test.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{Address, B256, hex};
use portico_records::ItemKind;
use rusqlite::Connection;

use super::clients::OtherItem;
use super::ledger::{ItemInCall, items_in_call};
use super::run::{Broken, Run};

/// A row of the database.
struct Batch {
    items: i64,
    state: i64,
    kind: i64,
    mined: Option<Vec<u8>>,
}

const FINAL: i64 = 2;
const REVERTED: i64 = 3;
const FOREIGN: i64 = 4;

struct Item {
    version: i64,
    payload: Vec<u8>,
    deleted: bool,
    rejected: bool,
}

/// The database's content on disk.
struct DatabaseContent {
    connection: Connection,
    signers: BTreeMap<Address, (i64, i64, i64)>,
    batches: BTreeMap<(Address, i64), Batch>,
    attempts: BTreeMap<B256, (Address, i64)>,
    items: BTreeMap<(ItemKind, [u8; 32]), Item>,
}

fn rows<T>(
    connection: &Connection,
    sql: &str,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], read).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

impl DatabaseContent {
    fn open(run: &Run) -> Self {
        let connection = Connection::open(&run.path).unwrap();
        let signer = |row: &rusqlite::Row<'_>| {
            let address: Vec<u8> = row.get(1)?;
            Ok((Address::from_slice(&address), (row.get(0)?, row.get(2)?, row.get(3)?)))
        };
        let signers: BTreeMap<Address, (i64, i64, i64)> =
            rows(&connection, "SELECT id, address, next_nonce, epoch FROM chain_signers", signer)
                .into_iter()
                .collect();
        let addresses: BTreeMap<i64, Address> =
            signers.iter().map(|(address, (id, ..))| (*id, *address)).collect();
        let batch = |row: &rusqlite::Row<'_>| {
            let batch =
                Batch { kind: row.get(2)?, items: row.get(3)?, state: row.get(4)?, mined: row.get(5)? };
            Ok(((addresses[&row.get(0)?], row.get(1)?), batch))
        };
        let batches =
            rows(&connection, "SELECT signer, nonce, kind, items, state, mined FROM chain_batches", batch);
        let attempt = |row: &rusqlite::Row<'_>| {
            let hash: Vec<u8> = row.get(0)?;
            Ok((B256::from_slice(&hash), (addresses[&row.get(1)?], row.get(2)?)))
        };
        let attempts = rows(&connection, "SELECT hash, signer, nonce FROM chain_attempts", attempt);
        let item = |row: &rusqlite::Row<'_>| {
            let (kind, key): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
            let item = Item {
                version: row.get(2)?,
                payload: row.get(3)?,
                deleted: row.get(4)?,
                rejected: row.get(5)?,
            };
            Ok(((ItemKind::from_number(kind).unwrap(), key.try_into().unwrap()), item))
        };
        let items =
            rows(&connection, "SELECT kind, key, version, payload, deleted, rejected FROM chain_items", item);
        Self {
            signers,
            batches: batches.into_iter().collect(),
            attempts: attempts.into_iter().collect(),
            items: items.into_iter().collect(),
            connection,
        }
    }

    fn number(&self, sql: &str) -> i64 {
        self.connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

fn must(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Whether no item and no holder of a signer has work left.
pub(crate) fn is_idle(run: &Run) -> bool {
    let connection = Connection::open(&run.path).unwrap();
    let left = "SELECT (SELECT count(*) FROM chain_batches WHERE state < 2) + \
         (SELECT count(*) FROM chain_items WHERE signer IS NULL AND rejected = 0)";
    let signers = "SELECT address, next_nonce FROM chain_signers";
    let signers: Vec<(Vec<u8>, i64)> = rows(&connection, signers, |row| Ok((row.get(0)?, row.get(1)?)));
    let used = |address: &[u8]| run.used(Address::from_slice(address));
    let held = |address: &[u8]| run.held().contains(&Address::from_slice(address));
    rows(&connection, left, |row| row.get::<_, i64>(0)) == [0]
        && signers.iter().all(|(address, next)| !held(address) || next.unsigned_abs() == used(address))
}

pub(crate) fn everything(run: &mut Run) -> Result<(), Broken> {
    let database = DatabaseContent::open(run);
    listings(run, &database)?;
    items(run, &database)?;
    nonces(run, &database)?;
    transactions(run, &database)?;
    summary(run, &database);
    Ok(())
}

/// Every promised listing is stored once, and no other.
fn listings(run: &Run, database: &DatabaseContent) -> Result<(), Broken> {
    for slot in &run.clients.slots {
        let rows = database.number(&format!("SELECT count(*) FROM listings WHERE id = '{}'", slot.id));
        must(rows == i64::from(slot.present), || {
            format!("{}: {rows} rows, present: {}", slot.id, slot.present)
        })?;
    }
    let present = run.clients.slots.iter().filter(|slot| slot.present).count();
    for name in ["total", "on_chain"] {
        let counted = database.number(&format!(
            "SELECT coalesce(sum(n), 0) FROM counters WHERE scope = 'listings' AND name = '{name}'"
        ));
        must(counted == i64::try_from(present).unwrap(), || format!("{name} is {counted}, not {present}"))?;
    }
    let recorded = database.number("SELECT count(*) FROM events WHERE kind = 'listing.recorded'");
    must(recorded == i64::try_from(run.clients.recorded).unwrap(), || {
        format!("{recorded} listings were recorded, not {}", run.clients.recorded)
    })
}

/// Database and chain agree on every item, and it is what clients asked for.
fn items(run: &Run, database: &DatabaseContent) -> Result<(), Broken> {
    let world = run.world();
    let mut promised: BTreeMap<(ItemKind, [u8; 32]), (&OtherItem, bool)> = BTreeMap::new();
    for slot in run.clients.slots.iter().filter(|slot| slot.thing.version > 0) {
        promised.insert((ItemKind::Listing, slot.key), (&slot.thing, slot.bad));
    }
    promised.extend(run.clients.things.iter().map(|(place, thing)| (*place, (thing, false))));
    must(promised.keys().eq(database.items.keys()), || {
        "the database has other items than were asked for".into()
    })?;
    let chain = &world.ledger.state().items;
    for (place, (thing, bad)) in &promised {
        let item = &database.items[place];
        let name = format!("{:?} {}", place.0, hex::encode(&place.1[..4]));
        must((item.version, &item.payload) == (thing.version, &thing.payload), || {
            format!("{name}: the database has version {}, promised is {}", item.version, thing.version)
        })?;
        let empty = thing.payload.is_empty();
        must(!empty || item.deleted, || format!("{name}: a tombstone that is not gone"))?;
        let (version, payload) = chain.get(place).cloned().unwrap_or_default();
        if item.rejected {
            let alone = single_item_reverts(run, &world, place, thing.version);
            must(*bad || alone >= 2, || format!("{name} was rejected after {alone} lone reverts"))?;
            must(version < thing.version.unsigned_abs(), || {
                format!("{name} was rejected, and is on the chain")
            })?;
        } else {
            must(!bad, || format!("{name} cannot be taken, and did not fail"))?;
            must((version, &payload) == (thing.version.unsigned_abs(), &thing.payload), || {
                format!("{name}: the chain has version {version}, the database {}", thing.version)
            })?;
        }
    }
    must(chain.keys().all(|place| promised.contains_key(place)), || {
        "nobody asked for an item of the chain".into()
    })
}

/// Reverts of calls that carried only this version.
fn single_item_reverts(
    run: &Run,
    world: &super::node::World,
    (kind, key): &(ItemKind, [u8; 32]),
    version: i64,
) -> usize {
    let undone =
        world.ledger.mined().filter(|mined| !mined.success && mined.tx.to == Some(run.contracts.of(*kind)));
    undone
        .filter(|mined| match &items_in_call(*kind, &mined.tx.input)[..] {
            [one] => one.key == *key && one.version == version.unsigned_abs(),
            _ => false,
        })
        .count()
}

/// Every nonce up to the chain's count is accounted for, and there are no others.
fn nonces(run: &Run, database: &DatabaseContent) -> Result<(), Broken> {
    let held = run.held();
    let world = run.world();
    let mut on_chain: BTreeMap<(Address, i64), (B256, bool)> = BTreeMap::new();
    for mined in world.ledger.mined() {
        let place = (mined.tx.from, i64::try_from(mined.tx.nonce).unwrap());
        must(on_chain.insert(place, (mined.tx.hash, mined.success)).is_none(), || "a nonce twice".into())?;
    }
    // A signer without a holder learns of foreign transactions when it is held again.
    for (address, (_, next_nonce, _)) in database.signers.iter().filter(|(address, _)| held.contains(address))
    {
        let used = i64::try_from(world.ledger.nonce(*address, world.ledger.height())).unwrap();
        must(used == *next_nonce, || {
            format!("{address}: {used} nonces are used, next would be {next_nonce}")
        })?;
    }
    for ((address, nonce), (hash, success)) in &on_chain {
        let name = format!("{address} #{nonce} {hash:.4}");
        let batch = database.batches.get(&(*address, *nonce));
        if world.foreign.contains(hash) {
            let skipped = batch.is_none_or(|batch| batch.state == FOREIGN && batch.mined.is_none());
            must(skipped, || format!("{name} is somebody else's, and not known as such"))?;
            continue;
        }
        let attempt = database.attempts.get(hash);
        must(attempt == Some(&(*address, *nonce)), || format!("{name} was mined and never stored"))?;
        let batch = batch.ok_or_else(|| format!("{name} was mined without a batch"))?;
        let expected = if *success { FINAL } else { REVERTED };
        must(batch.state == expected && batch.mined.as_deref() == Some(hash.as_slice()), || {
            format!("{name} (success: {success}) has state {} in the database", batch.state)
        })?;
    }
    for (address, nonce) in database.batches.keys() {
        must(on_chain.contains_key(&(*address, *nonce)), || {
            format!("{address} #{nonce} is not on the chain")
        })?;
    }
    Ok(())
}

/// Every sent transaction was stored, and all attempts at a nonce carry the same call.
fn transactions(run: &Run, database: &DatabaseContent) -> Result<(), Broken> {
    let world = run.world();
    let mut calls = BTreeMap::new();
    for tx in world.seen.values() {
        must(database.attempts.contains_key(&tx.hash), || {
            format!("{:.4} was sent and never stored", tx.hash)
        })?;
        let call = (tx.to, tx.input.clone());
        let same = calls.entry((tx.from, tx.nonce)).or_insert_with(|| call.clone()) == &call;
        must(same, || format!("{} #{} carried two different calls", tx.from, tx.nonce))?;
    }
    for hash in &run.clients.told {
        must(database.attempts.contains_key(&B256::from(*hash)), || {
            "a hash that was told is unknown".into()
        })?;
    }
    // A version that is carried twice has the same content.
    let mut carriers: BTreeMap<(ItemKind, [u8; 32], u64), Vec<u8>> = BTreeMap::new();
    for tx in world.seen.values() {
        let Some(kind) = tx.to.and_then(|to| run.contracts.kind_at(to)) else { continue };
        for ItemInCall { key, version, payload, .. } in items_in_call(kind, &tx.input) {
            let before = carriers.entry((kind, key, version)).or_insert_with(|| payload.clone());
            must(*before == payload, || format!("{kind:?}: one version stands for two contents"))?;
        }
    }
    Ok(())
}

fn summary(run: &mut Run, database: &DatabaseContent) {
    let mut summary = run.summary;
    {
        let world = run.world();
        summary.counts = world.counts;
        summary.stale = world.ledger.stale;
        summary.blocks = world.ledger.height() as u64;
        summary.reverted = world.ledger.mined().filter(|mined| !mined.success).count() as u64;
        summary.foreign =
            world.ledger.mined().filter(|mined| world.foreign.contains(&mined.tx.hash)).count() as u64;
        let nonces: BTreeSet<_> = world.seen.values().map(|tx| (tx.from, tx.nonce)).collect();
        summary.replacements = (world.seen.len() - nonces.len()) as u64;
        summary.calls = nonces.len() as u64;
    }
    summary.recorded = run.clients.recorded;
    summary.bad_items = run.clients.bad_items;
    summary.rejected_items = database.items.values().filter(|item| item.rejected).count() as u64;
    summary.fillers =
        database.batches.values().filter(|batch| batch.kind < 0 && batch.items == 0).count() as u64;
    let epochs: i64 = database.signers.values().map(|(_, _, epoch)| epoch - 1).sum();
    summary.takeovers = epochs.unsigned_abs();
    run.summary = summary;
}
