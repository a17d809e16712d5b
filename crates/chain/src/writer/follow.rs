//! Following: every nonce to its receipt, and every receipt until it cannot be undone any more.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use alloy_primitives::{B256, Bytes};
use portico_domain::Timestamp;
use portico_store::chain::{
    FILLER, FailItems, Fate, FillNonce, ReplaceAttempt, Requeue, SettleBatches, Settled,
    SignedBatch,
};

use super::engine::{Engine, Open, REVERTS_IN_A_ROW, micros, since};
use super::lease::to_i64;
use crate::contracts::{Kind, calldata, carried, rejected};
use crate::node::{At, Block, Node, Receipt};
use crate::signer::{Price, data_of};
use crate::{Error, Result};

/// A nonce that nobody signed is filled after it was missing for so long.
const GAP_PATIENCE: i64 = 5_000_000;

impl<N: Node> Engine<N> {
    /// Looks once at everything that is not final: sends, finds receipts, notices what was undone, replaces
    /// what does not get in, and signs what waits.
    pub async fn follow(&self, now: Timestamp) -> Result<()> {
        let outcome = self.look(now).await;
        let trouble = outcome.as_ref().err().map(ToString::to_string);
        if trouble.is_some() || self.caught_up() {
            self.memory().trouble = trouble;
        }
        outcome
    }

    async fn look(&self, now: Timestamp) -> Result<()> {
        if !self.hold(now).await? {
            return Ok(());
        }
        let head = self.node.head().await?;
        let fees = self.node.fees().await?;
        let Some(account) = self.memory().held.as_ref().map(|held| held.key.address()) else { return Ok(()) };
        let used = self.node.nonce(account).await?;
        let moved = {
            let mut memory = self.memory();
            memory.fees = fees;
            let before = memory.head.replace(head.clone());
            before.is_none_or(|before| before.hash != head.hash && before.hash != head.parent)
        };
        self.raise_nonce(used).await?;
        if moved {
            self.undo(&head, used).await?;
        }
        self.find(&head, used, now).await?;
        self.finish(&head).await?;
        self.fill_gap(now).await?;
        self.resume(account).await?;
        self.deliver(&head, used, now).await?;
        let nothing_waits = self.seal_waiting(now).await?;
        self.deliver(&head, used, now).await?;
        if self.node.confirmations() == 0 {
            let used = self.node.nonce(account).await?;
            self.find(&self.node.head().await?, used, now).await?;
        }
        self.caught_up.fetch_or(nothing_waits && self.unmined_items() == 0, Ordering::AcqRel);
        Ok(())
    }

    /// Signs what waits, as far as the window goes; tells whether nothing is left.
    async fn seal_waiting(&self, now: Timestamp) -> Result<bool> {
        for _ in 0..self.settings.window {
            if self.is_stopped() {
                return Ok(false);
            }
            if !self.seal(now).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn open(&self) -> BTreeMap<i64, Open> {
        self.memory().held.as_ref().map(|held| held.open.clone()).unwrap_or_default()
    }

    fn signer_id(&self) -> i64 {
        self.memory().held.as_ref().map_or(-1, |held| held.lease.signer)
    }

    fn settled(&self, nonce: i64, fate: Fate, block: Option<(i64, [u8; 32])>, mined: Option<[u8; 32]>) -> Settled {
        Settled { signer: self.signer_id(), nonce, fate, block, mined }
    }

    async fn settle(&self, settled: Vec<Settled>) -> Result<()> {
        if settled.is_empty() {
            return Ok(());
        }
        self.write(SettleBatches(settled.clone())).await?;
        self.apply(&settled);
        Ok(())
    }

    /// Batches whose block is no longer part of the chain are on their way again.
    async fn undo(&self, head: &Block, used: u64) -> Result<()> {
        let mut undone = Vec::new();
        let mut blocks: BTreeMap<i64, Option<B256>> = BTreeMap::new();
        for (nonce, open) in self.open() {
            let Some((number, hash)) = open.batch.block else { continue };
            let now_there = match blocks.get(&number) {
                Some(known) => *known,
                None if number > to_i64(head.number) => None,
                None => self.node.block(At::Number(number.unsigned_abs())).await?.map(|block| block.hash),
            };
            blocks.insert(number, now_there);
            if now_there != Some(B256::from(hash)) || to_i64(used) <= nonce {
                tracing::info!(nonce, block = number, "a block was undone; its transaction is followed again");
                undone.push(self.settled(nonce, Fate::Signed, None, None));
            }
        }
        for settled in &undone {
            self.with_open(settled.nonce, |open| (open.sent, open.missing_since) = (None, None));
        }
        self.settle(undone).await
    }

    /// Finds the receipts of nonces that are used.
    async fn find(&self, head: &Block, used: u64, now: Timestamp) -> Result<()> {
        let mut mined = Vec::new();
        for (nonce, open) in self.open() {
            if open.batch.fate != Fate::Signed || nonce >= to_i64(used) {
                continue;
            }
            match self.receipt_of(&open).await? {
                Some((hash, receipt)) if receipt.success => {
                    self.reverts.store(0, Ordering::Release);
                    self.note_refused(&receipt, now).await?;
                    let fate = if self.is_final(head, receipt.block) { Fate::Final } else { Fate::Mined };
                    let block = Some((to_i64(receipt.block), receipt.block_hash.0));
                    mined.push(self.settled(nonce, fate, block, Some(hash)));
                }
                Some((hash, receipt)) => {
                    let block = Some((to_i64(receipt.block), receipt.block_hash.0));
                    self.undone_by_chain(&open, self.settled(nonce, Fate::Reverted, block, Some(hash)), now).await?;
                }
                None => {
                    let since = self.with_open(nonce, |open| *open.missing_since.get_or_insert(head.number));
                    if head.number.saturating_sub(since.unwrap_or(head.number)) >= self.node.confirmations() {
                        tracing::warn!(nonce, "somebody else used this nonce; its items are signed again");
                        self.requeue(&open, self.settled(nonce, Fate::Foreign, None, None), now).await?;
                    }
                }
            }
        }
        self.settle(mined).await
    }

    async fn receipt_of(&self, open: &Open) -> Result<Option<([u8; 32], Receipt)>> {
        for attempt in open.batch.attempts.iter().rev() {
            if let Some(receipt) = self.node.receipt(attempt.hash.into()).await? {
                return Ok(Some((attempt.hash, receipt)));
            }
        }
        Ok(None)
    }

    fn is_final(&self, head: &Block, block: u64) -> bool {
        head.number.saturating_sub(block) >= self.node.confirmations()
    }

    /// Items that a contract could not take. The rules at the edge make sure that there are none.
    async fn note_refused(&self, receipt: &Receipt, now: Timestamp) -> Result<()> {
        let refused = receipt.logs.iter().filter_map(|log| {
            rejected(self.contracts.kind_at(log.address)?, &log.topics, &log.data)
        });
        let items: Vec<_> = refused.collect();
        if items.is_empty() {
            return Ok(());
        }
        tracing::error!(items = items.len(), "a contract could not take items");
        self.write(FailItems { items, at: now }).await
    }

    async fn undone_by_chain(&self, open: &Open, settled: Settled, now: Timestamp) -> Result<()> {
        let row = self.reverts.fetch_add(1, Ordering::AcqRel) + 1;
        tracing::warn!(nonce = settled.nonce, row, "the chain undid a batch; its items are signed again in halves");
        if row == REVERTS_IN_A_ROW {
            tracing::error!("the contracts undo every call: nothing more is signed until they take one");
        }
        self.requeue(open, settled, now).await
    }

    async fn requeue(&self, open: &Open, batch: Settled, now: Timestamp) -> Result<()> {
        let items = match (Kind::from_number(open.batch.kind), open.newest()) {
            (Some(kind), Some(attempt)) => carried(kind, &data_of(&attempt.raw)?)?,
            _ => Vec::new(),
        };
        self.write(Requeue { batch, items, at: now }).await?;
        self.apply(&[batch]);
        Ok(())
    }

    /// Batches deep enough under the head are final.
    async fn finish(&self, head: &Block) -> Result<()> {
        let deep = self.open().into_iter().filter_map(|(nonce, open)| {
            let (block, hash) = open.batch.block.filter(|_| open.batch.fate == Fate::Mined)?;
            let deep = self.is_final(head, block.unsigned_abs());
            deep.then(|| self.settled(nonce, Fate::Final, Some((block, hash)), open.batch.mined))
        });
        self.settle(deep.collect()).await
    }

    /// Fills nonces that the chain waits for and nobody signed, so that those after them get in.
    async fn fill_gap(&self, now: Timestamp) -> Result<()> {
        // First what we know, then what the chain says: whatever happens in between only closes the gap.
        let known = self.memory().held.as_ref().map(|held| {
            let unmined = held.open.values().filter(|open| open.batch.fate == Fate::Signed);
            (held.key.address(), unmined.map(|open| open.batch.nonce).min().unwrap_or(held.next_nonce))
        });
        let Some((account, first)) = known else { return Ok(()) };
        let used = to_i64(self.node.nonce(account).await?);
        if first <= used {
            if let Some(held) = &mut self.memory().held {
                held.gap_since = None;
            }
            return Ok(());
        }
        let missing_since = self.memory().held.as_mut().map(|held| *held.gap_since.get_or_insert(now));
        if missing_since.is_none_or(|then| since(then, now) < GAP_PATIENCE) {
            return Ok(());
        }
        for nonce in used..first {
            tracing::warn!(nonce, "the chain waits for a nonce that nobody signed: it is filled");
            let (lease, signer) = self.signing()?;
            let signed = signer.filler(nonce.unsigned_abs());
            self.write(FillNonce { lease, nonce, signed: signed.clone(), at: now }).await?;
            self.remember(SignedBatch { nonce, kind: FILLER, items: 0, signed });
        }
        Ok(())
    }

    /// After too many reverts: asks every contract whether it would take an empty call of ours.
    async fn resume(&self, account: alloy_primitives::Address) -> Result<()> {
        if !self.is_stopped() {
            return Ok(());
        }
        for kind in Kind::ALL {
            let empty: Bytes = calldata(kind, &[])?;
            match self.node.call(account, self.contracts.of(kind), empty).await {
                Err(Error::Reverted(_) | Error::Refused(_)) => return Ok(()),
                answered => drop(answered?),
            }
        }
        tracing::info!("the contracts take calls again");
        self.reverts.store(0, Ordering::Release);
        Ok(())
    }

    /// Sends what is due within the window, in the order of nonces.
    async fn deliver(&self, head: &Block, used: u64, now: Timestamp) -> Result<()> {
        let waiting = self.open().into_iter().filter(|(nonce, open)| {
            open.batch.fate == Fate::Signed && *nonce >= to_i64(used)
        });
        for (nonce, open) in waiting.take(self.settings.window) {
            let due = open.sent.is_none_or(|sent| since(sent, now) >= micros(self.settings.resend));
            if nonce == to_i64(used) && self.needs_more(&open, head, now) {
                self.replace(&open, now).await?;
            } else if !due {
                continue;
            }
            self.send(nonce, now).await?;
        }
        Ok(())
    }

    /// Whether a transaction does not get in for what it pays.
    fn needs_more(&self, open: &Open, head: &Block, now: Timestamp) -> bool {
        let stuck = open.first_sent.is_some_and(|(at, block)| {
            since(at, now) >= micros(self.settings.replace) && head.number >= block + 2
        });
        stuck || open.underpriced
    }

    /// Stores an attempt that pays more, unless it may not.
    async fn replace(&self, open: &Open, now: Timestamp) -> Result<()> {
        let Some(newest) = open.newest() else { return Ok(()) };
        let (lease, signer) = {
            let memory = self.memory();
            let Some(held) = &memory.held else { return Ok(()) };
            let (least, today) = (Price::of(newest).raised(), self.price(memory.fees));
            let price = Price { max_fee: least.max_fee.max(today.max_fee), tip: least.tip.max(today.tip) };
            if least.max_fee > self.settings.fee_cap {
                tracing::warn!(nonce = open.batch.nonce, "a transaction does not get in, and may not pay more");
                return Ok(());
            }
            (held.lease, self.signer(held, price.capped(self.settings.fee_cap)))
        };
        let (nonce, signed) = (open.batch.nonce, signer.again(&newest.raw)?);
        tracing::info!(nonce, max_fee = signed.max_fee, "a transaction is replaced by one that pays more");
        self.write(ReplaceAttempt { lease, nonce, signed: signed.clone(), at: now }).await?;
        self.with_open(nonce, |open| {
            open.batch.attempts.push(signed);
            (open.sent, open.first_sent, open.underpriced) = (None, None, false);
        });
        Ok(())
    }

    /// On a chain that mines at once: sends a batch and sees it mined. What became of it is written down later.
    pub async fn deliver_now(&self, nonce: i64, now: Timestamp) -> Result<Option<Settled>> {
        self.send(nonce, now).await?;
        let Some(Some(hash)) = self.with_open(nonce, |open| open.newest().map(|attempt| attempt.hash)) else {
            return Ok(None);
        };
        let receipt = self.node.receipt(hash.into()).await?;
        Ok(receipt.filter(|receipt| receipt.success).map(|receipt| {
            self.reverts.store(0, Ordering::Release);
            let block = Some((to_i64(receipt.block), receipt.block_hash.0));
            self.settled(nonce, Fate::Final, block, Some(hash))
        }))
    }

    /// Writes down what became of batches that were delivered at once.
    pub async fn note_delivered(&self, settled: Vec<Settled>) -> Result<()> {
        self.settle(settled).await
    }
}
