//! The clients' requests, the replies they got, and the promises that follow.

use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_primitives::hex;
use portico_domain::{ErrorCode, Timestamp};
use portico_records::{Content, ItemKind};
use portico_store::chain::{AcceptedListing, NewRecord, Refusal, StoredItem, Word};
use portico_store::{IdempotencyClaim, Seal};

use super::ledger::POISON;
use super::rng::Rng;
use crate::samples;

/// Its digest is unique.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) slot: usize,
    digest: Word,
    idempotency_key: Option<Word>,
}

impl std::fmt::Display for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "listing-{} {}", self.slot, hex::encode(&self.digest[8..11]))?;
        self.idempotency_key
            .map_or(Ok(()), |idempotency_key| write!(f, " under {}", hex::encode(&idempotency_key[8..11])))
    }
}

/// The desired state of an item of another kind.
#[derive(Debug, Default)]
pub(crate) struct OtherItem {
    pub(crate) version: i64,
    pub(crate) payload: Vec<u8>,
}

/// A listing id and its state.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) id: String,
    pub(crate) key: Word,
    pub(crate) present: bool,
    /// The contract cannot accept its newest version.
    pub(crate) bad: bool,
    pub(crate) thing: OtherItem,
    /// A request for it is in flight.
    pub(crate) busy: bool,
    /// The request that a client without a reply sends again.
    retry: Option<Request>,
    /// The idempotency keys under which it was recorded, and the hash in each reply.
    idempotency_key: BTreeMap<Word, Option<Word>>,
}

#[derive(Debug)]
pub(crate) struct Clients {
    pub(crate) slots: Vec<Slot>,
    pub(crate) things: BTreeMap<(ItemKind, Word), OtherItem>,
    /// Every hash in a reply.
    pub(crate) told: Vec<Word>,
    pub(crate) recorded: u64,
    pub(crate) bad_items: u64,
}

/// Mostly valid; sometimes one that a contract rejects, or that makes the whole call revert.
fn digest(bad: u64, rng: &mut Rng) -> Word {
    let mut digest = rng.word();
    if rng.chance(bad) {
        digest[0] = POISON;
    } else if rng.chance(bad) {
        digest = [0; 32];
    }
    digest
}

#[derive(Debug)]
struct Plain;

impl Seal for Plain {
    fn seal(&self, _: &[u8], plain: &[u8]) -> portico_store::Result<Vec<u8>> {
        Ok(plain.to_vec())
    }
    fn open(&self, _: &[u8], sealed: &[u8]) -> portico_store::Result<Vec<u8>> {
        Ok(sealed.to_vec())
    }
}

impl Clients {
    pub(crate) fn new(slots: usize) -> Self {
        let slot = |number: usize| {
            let id = format!("listing-{number}");
            let (key, thing) = (samples::key_of(&id), OtherItem::default());
            let idempotency_key = BTreeMap::new();
            Slot { id, key, present: false, bad: false, thing, busy: false, retry: None, idempotency_key }
        };
        Self {
            slots: (0..slots).map(slot).collect(),
            things: BTreeMap::new(),
            told: Vec::new(),
            recorded: 0,
            bad_items: 0,
        }
    }

    /// Slots without a request in flight.
    pub(crate) fn idle(&self, present: bool) -> Vec<usize> {
        let idle = |slot: &usize| !self.slots[*slot].busy && (!present || self.slots[*slot].present);
        (0..self.slots.len()).filter(idle).collect()
    }

    /// Concurrent requests: mostly for new listings, sometimes for an existing one, for one twice, or a retry.
    pub(crate) fn ask(&mut self, most: u64, bad: u64, rng: &mut Rng) -> Vec<Request> {
        let mut group: Vec<Request> = Vec::new();
        for _ in 0..rng.between(1, most) {
            let idle = self.idle(false);
            if idle.is_empty() {
                break;
            }
            let slot = rng.pick(&idle);
            let again = self.slots[slot].retry.take().filter(|_| rng.chance(900));
            let request = again.unwrap_or_else(|| Request {
                slot,
                digest: digest(bad, rng),
                idempotency_key: rng.chance(400).then(|| rng.word()),
            });
            group.push(request.clone());
            if rng.chance(80) {
                group.push(Request { digest: rng.word(), idempotency_key: None, ..request });
            } else if rng.chance(80) {
                group.push(request);
            }
            self.slots[slot].busy = true;
        }
        group
    }

    /// The request as the writer gets it.
    pub(crate) fn record(&self, request: &Request, at: Timestamp) -> NewRecord {
        let mut record = samples::record(&self.slots[request.slot].id, request.digest, at);
        let fingerprint = request.digest;
        record.idempotency_key = request.idempotency_key.map(|scope| IdempotencyClaim {
            scope,
            fingerprint,
            at,
            seal: Arc::new(Plain),
        });
        record
    }

    fn payload(&self, request: &Request) -> Vec<u8> {
        self.record(request, Timestamp::from_micros(0)).desired.payload
    }

    fn create(&mut self, request: &Request, hash: Option<Word>) {
        let payload = self.payload(request);
        let slot = &mut self.slots[request.slot];
        slot.present = true;
        slot.bad = request.digest == [0; 32] || request.digest[0] == POISON;
        slot.thing = OtherItem { version: slot.thing.version + 1, payload };
        slot.idempotency_key.extend(request.idempotency_key.map(|scope| (scope, hash)));
        self.recorded += 1;
        self.bad_items += u64::from(slot.bad);
    }

    /// Handles a reply.
    pub(crate) fn told(
        &mut self,
        request: &Request,
        answer: &Result<AcceptedListing, Refusal>,
    ) -> Result<(), String> {
        let slot = &mut self.slots[request.slot];
        match answer {
            Ok(accepted) => {
                self.told.push(accepted.hash);
                // A retry gets the first reply, whatever has happened to the listing since.
                match request.idempotency_key.and_then(|scope| slot.idempotency_key.get_mut(&scope)) {
                    Some(hash) => {
                        if *hash.get_or_insert(accepted.hash) != accepted.hash {
                            return Err(format!("{} was told two hashes for one key", slot.id));
                        }
                    }
                    None if slot.present => {
                        return Err(format!("{} was accepted although it exists", slot.id));
                    }
                    None => self.create(request, Some(accepted.hash)),
                }
                Ok(())
            }
            Err(Refusal::Conflict(ErrorCode::ListingExists)) if slot.present => Ok(()),
            Err(refusal) => Err(format!("{} was refused: {refusal:?}", slot.id)),
        }
    }

    /// No reply arrived; the database tells what happened.
    pub(crate) fn unheard(
        &mut self,
        request: &Request,
        item: Option<StoredItem>,
        rng: &mut Rng,
    ) -> Result<(), String> {
        let payload = self.payload(request);
        let slot = &mut self.slots[request.slot];
        if request.idempotency_key.is_some() && rng.chance(800) {
            slot.retry = Some(request.clone());
        }
        let Some(item) = item.filter(|item| item.payload == payload && item.version > slot.thing.version)
        else {
            return Ok(());
        };
        if item.version != slot.thing.version + 1 {
            return Err(format!("{} has version {} after {}", slot.id, item.version, slot.thing.version));
        }
        self.create(request, None);
        Ok(())
    }

    pub(crate) fn deleted(&mut self, slot: usize) {
        let slot = &mut self.slots[slot];
        (slot.present, slot.bad) = (false, false);
        slot.thing = OtherItem { version: slot.thing.version + 1, payload: Vec::new() };
    }

    pub(crate) fn put_item(&mut self, key: Word, content: &Content) {
        let thing = self.things.entry((content.kind(), key)).or_default();
        *thing = OtherItem { version: thing.version + 1, payload: content.encode() };
    }
}
