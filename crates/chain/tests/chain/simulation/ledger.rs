//! A model of a chain: blocks, a transaction pool, and the rules of our contracts. It runs no code; it decodes the
//! calls and applies what the contracts promise.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use alloy_consensus::{SignableTransaction as _, Transaction as _, TxEnvelope};
use alloy_eips::eip2718::Decodable2718 as _;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::{SolCall as _, SolEvent as _, SolValue as _};
use portico_chain::contracts::{Contracts, anchor, checks, identity, registry};
use portico_chain::node::{Block, Log, Receipt, Sent};
use portico_domain::chain::Terms;
use portico_domain::{Credit, Income};
use portico_records::{Commitment, Content, ItemKind};
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{Message, Secp256k1, VerifyOnly};

use super::rng::Rng;

pub(crate) type Word = [u8; 32];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tx {
    pub(crate) hash: B256,
    pub(crate) from: Address,
    pub(crate) nonce: u64,
    pub(crate) to: Option<Address>,
    pub(crate) input: Bytes,
    max_fee: u128,
    tip: u128,
}

impl Tx {
    pub(crate) fn read(raw: &[u8]) -> Self {
        static SECP: LazyLock<Secp256k1<VerifyOnly>> = LazyLock::new(Secp256k1::verification_only);
        let envelope = TxEnvelope::decode_2718(&mut &*raw).unwrap();
        let TxEnvelope::Eip1559(signed) = &envelope else { panic!("not a transaction of ours") };
        let signature = signed.signature();
        let id = if signature.v() { RecoveryId::One } else { RecoveryId::Zero };
        let compact = RecoverableSignature::from_compact(&signature.as_bytes()[..64], id).unwrap();
        let message = Message::from_digest(signed.tx().signature_hash().0);
        let public = SECP.recover_ecdsa(message, &compact).unwrap().serialize_uncompressed();
        Self {
            hash: *signed.hash(),
            from: Address::from_slice(&keccak256(&public[1..])[12..]),
            nonce: envelope.nonce(),
            to: envelope.to(),
            input: envelope.input().clone(),
            max_fee: envelope.max_fee_per_gas(),
            tip: envelope.max_priority_fee_per_gas().unwrap(),
        }
    }
}

/// A listing whose digest begins with this byte makes its whole call revert.
pub(crate) const POISON: u8 = 0xEE;

pub(crate) struct ItemInCall {
    pub(crate) kind: ItemKind,
    pub(crate) key: Word,
    pub(crate) version: u64,
    pub(crate) payload: Vec<u8>,
    /// The contract rejects it, whatever is stored.
    pub(crate) bad: bool,
    /// It makes the whole call revert.
    poison: bool,
}

fn listing_of(item: &registry::Item) -> Content {
    if item.retired {
        return Content::RetiredListing;
    }
    let credit = |points: u16| Some(Credit::from_units(points.into()));
    let income = |cents: u64| Some(Income::from_units(i64::try_from(cents).unwrap()));
    let terms = Terms::new(
        (credit(item.minCredit), credit(item.prefCredit)),
        (income(item.minIncome), income(item.prefIncome)),
    );
    Content::Listing { terms: terms.unwrap(), digest: item.digest.0 }
}

fn listing_record((version, content): (u64, Option<Content>)) -> registry::Record {
    let mut record = registry::Record {
        version,
        retired: version > 0,
        minCredit: 0,
        prefCredit: 0,
        minIncome: 0,
        prefIncome: 0,
        digest: B256::ZERO,
    };
    if let Some(Content::Listing { terms, digest }) = content {
        record.retired = false;
        record.minCredit = u16::try_from(terms.min_credit().units()).unwrap();
        record.prefCredit = u16::try_from(terms.pref_credit().units()).unwrap();
        record.minIncome = terms.min_income().units().unsigned_abs();
        record.prefIncome = terms.pref_income().units().unsigned_abs();
        record.digest = digest.into();
    }
    record
}

/// Decodes a call without the code under test.
pub(crate) fn items_in_call(kind: ItemKind, input: &[u8]) -> Vec<ItemInCall> {
    let item = |key: Word, version: u64, content: Content, bad: bool| {
        let poison = matches!(content, Content::Listing { digest, .. } if digest[0] == POISON);
        ItemInCall { kind, key, version, payload: content.encode(), bad, poison }
    };
    match kind {
        ItemKind::Listing => {
            let items = registry::recordCall::abi_decode(input).unwrap().items;
            let read = |from: &registry::Item| {
                let bad = !from.retired && from.digest.is_zero();
                item(from.key.0, from.version, listing_of(from), bad)
            };
            items.iter().map(read).collect()
        }
        ItemKind::Identity => {
            let items = identity::recordCall::abi_decode(input).unwrap().items;
            let read = |from: &identity::Item| {
                let content = if from.revoked {
                    Content::RevokedIdentity
                } else {
                    Content::Identity { holder: from.holder, commitment: from.commitment.0 }
                };
                item(from.tokenId.to_be_bytes(), from.version, content, false)
            };
            items.iter().map(read).collect()
        }
        ItemKind::Check => {
            let items = checks::recordCall::abi_decode(input).unwrap().items;
            let read = |from: &checks::Item| {
                let commitment = Commitment { hash: from.commitment.0, expiry_day: from.expiryDay };
                let is_cleared = from.commitment.is_zero();
                let content = if is_cleared { Content::ClearedCheck } else { Content::Check(commitment) };
                item(from.key.0, from.version, content, !is_cleared && from.expiryDay == 0)
            };
            items.iter().map(read).collect()
        }
        ItemKind::Anchor => {
            let items = anchor::recordCall::abi_decode(input).unwrap().items;
            let read = |from: &anchor::Item| {
                item(from.log.0, from.version, Content::Anchor { head: from.head.0 }, false)
            };
            items.iter().map(read).collect()
        }
    }
}

/// The chain's state after a block.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) nonces: BTreeMap<Address, u64>,
    pub(crate) items: BTreeMap<(ItemKind, Word), (u64, Vec<u8>)>,
}

#[derive(Debug)]
pub(crate) struct Mined {
    pub(crate) tx: Arc<Tx>,
    pub(crate) success: bool,
    logs: Vec<Log>,
}

#[derive(Debug)]
struct Sealed {
    block: Block,
    mined: Vec<Mined>,
    state: State,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Every transaction is a final block at once; there is no pool.
    pub(crate) instant: bool,
    pub(crate) capacity: usize,
    /// The pool rejects transactions below the base fee.
    pub(crate) strict_fees: bool,
    /// The pool rejects transactions whose earlier nonces are missing.
    pub(crate) refuses_gaps: bool,
    /// The maximum depth of a reorganisation.
    pub(crate) depth: u64,
}

#[derive(Debug)]
pub(crate) struct Ledger {
    rules: Rules,
    contracts: Contracts,
    blocks: Vec<Sealed>,
    places: BTreeMap<B256, usize>,
    pool: BTreeMap<(Address, u64), Arc<Tx>>,
    highest: u64,
    /// Increases with every change of the chain.
    pub(crate) changes: u64,
    pub(crate) base_fee: u64,
    /// Whether our signers may record.
    pub(crate) granted: bool,
    pub(crate) stale: u64,
}

impl Ledger {
    pub(crate) fn new(rules: Rules, contracts: Contracts, rng: &mut Rng) -> Self {
        let block = Block {
            number: 0,
            hash: B256::from(rng.word()),
            parent: B256::ZERO,
            timestamp: 0,
            gas_used: 0,
            gas_limit: 30_000_000,
            base_fee: 1_000_000_000,
            transactions: Vec::new(),
        };
        Self {
            rules,
            contracts,
            blocks: vec![Sealed { block, mined: Vec::new(), state: State::default() }],
            places: BTreeMap::new(),
            pool: BTreeMap::new(),
            highest: 0,
            changes: 0,
            base_fee: 1_000_000_000,
            granted: true,
            stale: 0,
        }
    }

    pub(crate) fn height(&self) -> usize {
        self.blocks.len() - 1
    }

    pub(crate) fn state(&self) -> &State {
        &self.blocks[self.height()].state
    }

    pub(crate) fn mined(&self) -> impl Iterator<Item = &Mined> {
        self.blocks.iter().flat_map(|sealed| &sealed.mined)
    }

    pub(crate) fn block(&self, number: usize) -> Option<Block> {
        self.blocks.get(number).map(|sealed| sealed.block.clone())
    }

    pub(crate) fn number_of(&self, hash: B256) -> Option<usize> {
        self.blocks.iter().position(|sealed| sealed.block.hash == hash)
    }

    pub(crate) fn nonce(&self, account: Address, at: usize) -> u64 {
        self.blocks[at].state.nonces.get(&account).copied().unwrap_or_default()
    }

    /// Answers a contract's read of many items. `None`: the call is none.
    pub(crate) fn read(&self, to: Address, input: &[u8], at: usize) -> Option<Bytes> {
        let kind = self.contracts.kind_at(to)?;
        let stored = |key: Word| match self.blocks[at].state.items.get(&(kind, key)) {
            Some((version, payload)) => (*version, Some(Content::decode(kind, payload).unwrap())),
            None => (0, None),
        };
        let answer = match kind {
            ItemKind::Listing => {
                let keys = registry::recordsOfCall::abi_decode(input).ok()?.keys;
                let records = keys.iter().map(|key| listing_record(stored(key.0))).collect();
                registry::recordsOfCall::abi_encode_returns(&records)
            }
            ItemKind::Identity => {
                let ids = identity::identitiesOfCall::abi_decode(input).ok()?.tokenIds;
                let read = |id: &U256| {
                    let (version, content) = stored(id.to_be_bytes());
                    let (holder, commitment) = match content {
                        Some(Content::Identity { holder, commitment }) => (holder, commitment.into()),
                        _ => (Address::ZERO, B256::ZERO),
                    };
                    let revoked = version > 0 && holder.is_zero();
                    identity::Identity { version, revoked, holder, commitment }
                };
                identity::identitiesOfCall::abi_encode_returns(&ids.iter().map(read).collect())
            }
            ItemKind::Check => {
                let keys = checks::recordsOfCall::abi_decode(input).ok()?.keys;
                let read = |key: &B256| {
                    let (version, content) = stored(key.0);
                    let (hash, expiry_day) = match content {
                        Some(Content::Check(Commitment { hash, expiry_day })) => (hash, expiry_day),
                        _ => ([0; 20], 0),
                    };
                    checks::Record { version, commitment: hash.into(), expiryDay: expiry_day }
                };
                checks::recordsOfCall::abi_encode_returns(&keys.iter().map(read).collect())
            }
            ItemKind::Anchor => {
                let logs = anchor::anchorsOfCall::abi_decode(input).ok()?.logs;
                let read = |log: &B256| {
                    let (version, content) = stored(log.0);
                    let head = match content {
                        Some(Content::Anchor { head }) => head.into(),
                        _ => B256::ZERO,
                    };
                    anchor::Anchor { version, head }
                };
                anchor::anchorsOfCall::abi_encode_returns(&logs.iter().map(read).collect())
            }
        };
        Some(answer.into())
    }

    pub(crate) fn place(&self, hash: B256) -> Option<usize> {
        self.places.get(&hash).copied()
    }

    pub(crate) fn receipt(&self, hash: B256) -> Option<Receipt> {
        let Sealed { block, mined, .. } = &self.blocks[self.place(hash)?];
        let Mined { success, logs, .. } = mined.iter().find(|mined| mined.tx.hash == hash)?;
        Some(Receipt {
            block: block.number,
            block_hash: block.hash,
            success: *success,
            gas_used: 21_000,
            contract: None,
            logs: logs.clone(),
        })
    }

    /// The next nonce after the account's pending transactions.
    pub(crate) fn next_pending(&self, account: Address) -> u64 {
        let mut next = self.nonce(account, self.height());
        while self.pool.contains_key(&(account, next)) {
            next += 1;
        }
        next
    }

    pub(crate) fn pool_size(&self) -> usize {
        self.pool.len()
    }

    /// Adds a transaction to the pool, or to a block.
    pub(crate) fn submit(&mut self, tx: &Arc<Tx>, rng: &mut Rng) -> Sent {
        let next = self.nonce(tx.from, self.height());
        let place = (tx.from, tx.nonce);
        if tx.nonce < next {
            return Sent::Known;
        }
        if let Some(before) = self.pool.get(&place) {
            if before.hash == tx.hash {
                return Sent::Known;
            }
            let more = |new: u128, old: u128| new * 10 >= old * 11;
            if !(more(tx.max_fee, before.max_fee) && more(tx.tip, before.tip)) {
                return Sent::Underpriced;
            }
        } else if self.rules.refuses_gaps && tx.nonce > self.next_pending(tx.from) {
            return Sent::Gap;
        }
        if self.rules.strict_fees && tx.max_fee < self.base_fee.into() {
            return Sent::Underpriced;
        }
        self.pool.insert(place, tx.clone());
        if self.rules.instant {
            self.mine(rng);
        }
        Sent::Accepted
    }

    /// A foreign transaction replaces whatever waits at its nonce.
    pub(crate) fn force(&mut self, tx: Arc<Tx>, rng: &mut Rng) {
        if tx.nonce >= self.nonce(tx.from, self.height()) {
            self.pool.insert((tx.from, tx.nonce), tx);
        }
        if self.rules.instant {
            self.mine(rng);
        }
    }

    pub(crate) fn forget_pool(&mut self) {
        self.pool.clear();
    }

    pub(crate) fn mine(&mut self, rng: &mut Rng) {
        let mut state = self.state().clone();
        let mut mined = Vec::new();
        let waiting: Vec<Arc<Tx>> = self.pool.values().cloned().collect();
        for tx in waiting {
            let next = state.nonces.entry(tx.from).or_default();
            if tx.nonce < *next {
                self.pool.remove(&(tx.from, tx.nonce));
                continue;
            }
            if tx.nonce > *next || tx.max_fee < self.base_fee.into() || mined.len() >= self.rules.capacity {
                continue;
            }
            *next += 1;
            self.pool.remove(&(tx.from, tx.nonce));
            let (success, logs) = self.execute(&tx, &mut state);
            self.places.insert(tx.hash, self.blocks.len());
            mined.push(Mined { tx, success, logs });
        }
        let parent = &self.blocks[self.height()].block;
        let block = Block {
            number: parent.number + 1,
            hash: keccak256([parent.hash.as_slice(), &rng.next().to_be_bytes()].concat()),
            parent: parent.hash,
            timestamp: parent.timestamp + 1,
            gas_used: 0,
            gas_limit: parent.gas_limit,
            base_fee: self.base_fee,
            transactions: mined.iter().map(|mined| mined.tx.hash).collect(),
        };
        self.highest = self.highest.max(block.number);
        self.changes += 1;
        self.blocks.push(Sealed { block, mined, state });
    }

    /// Replaces the newest blocks, up to the maximum depth. Their transactions wait again or are lost. Returns how
    /// many blocks it replaced.
    pub(crate) fn reorg(&mut self, depth: u64, kept: u64, grown: u64, rng: &mut Rng) -> u64 {
        let floor = self.highest.saturating_sub(self.rules.depth);
        let depth = depth.min((self.height() as u64).saturating_sub(floor));
        self.changes += depth;
        for _ in 0..depth {
            let undone = self.blocks.pop().unwrap();
            for Mined { tx, .. } in undone.mined {
                self.places.remove(&tx.hash);
                if rng.chance(kept) {
                    self.pool.entry((tx.from, tx.nonce)).or_insert(tx);
                }
            }
        }
        for _ in 0..grown {
            self.mine(rng);
        }
        depth
    }

    /// Executes a call to one of our contracts.
    fn execute(&mut self, tx: &Tx, state: &mut State) -> (bool, Vec<Log>) {
        let Some((kind, address)) = tx.to.and_then(|to| Some((self.contracts.kind_at(to)?, to))) else {
            return (true, Vec::new());
        };
        let items = items_in_call(kind, &tx.input);
        if !self.granted || items.iter().any(|item| item.poison) {
            return (false, Vec::new());
        }
        let mut logs = Vec::new();
        for ItemInCall { kind, key, version, payload, bad, .. } in items {
            let stored = state.items.entry((kind, key)).or_default();
            if bad {
                let topics = vec![registry::Rejected::SIGNATURE_HASH, B256::from(key)];
                let data = (version, U256::from(6)).abi_encode().into();
                logs.push(Log { address, topics, data });
            } else if version > stored.0 {
                *stored = (version, payload);
            } else {
                self.stale += 1;
                let topics = vec![registry::Stale::SIGNATURE_HASH, B256::from(key)];
                let data = (version, stored.0).abi_encode().into();
                logs.push(Log { address, topics, data });
            }
        }
        state.items.retain(|_, (version, _)| *version > 0);
        (true, logs)
    }
}
