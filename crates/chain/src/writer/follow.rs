//! Following: every nonce to its receipt, and every receipt until it cannot be undone any more.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::Poll;

use alloy_primitives::{B256, Bytes};
use portico_domain::Timestamp;
use portico_store::chain::{
    BatchStatus, FILLER, FailItems, FillNonce, ItemVersion, Lease, ReplaceAttempt, Requeue, SettleBatches,
    Settled, SignedBatch, Word,
};

use super::engine::{Engine, MAX_CONSECUTIVE_REVERTS, Open, micros, since};
use super::lease::to_i64;
use crate::contracts::{ItemKind, calldata, carried, rejected};
use crate::node::{Block, BlockId, Node, Receipt};
use crate::signer::{Price, data_of};
use crate::{Error, Result};

/// A nonce that nobody signed is filled after it was missing for so long.
const GAP_TIMEOUT_MICROS: i64 = 5_000_000;

/// Questions that a node is asked at the same time.
const MAX_CONCURRENT_CALLS: usize = 16;

/// A question, on its way to a node.
type NodeRequest<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Asks several questions at the same time; one that gets no answer ends it.
async fn try_buffered<T>(questions: Vec<NodeRequest<'_, T>>) -> Result<Vec<T>> {
    let mut answers = Vec::with_capacity(questions.len());
    let mut questions = questions.into_iter();
    loop {
        let mut asked: Vec<_> =
            questions.by_ref().take(MAX_CONCURRENT_CALLS).map(|question| (question, None)).collect();
        if asked.is_empty() {
            return Ok(answers);
        }
        poll_fn(|context| {
            for (question, answer) in asked.iter_mut().filter(|(_, answer)| answer.is_none()) {
                match question.as_mut().poll(context) {
                    Poll::Ready(Ok(answered)) => *answer = Some(answered),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => {}
                }
            }
            let all = asked.iter().all(|(_, answer)| answer.is_some());
            if all { Poll::Ready(Ok(())) } else { Poll::Pending }
        })
        .await?;
        answers.extend(asked.into_iter().filter_map(|(_, answer)| answer));
    }
}

impl<N: Node> Engine<N> {
    /// Looks once at everything that is not final: sends, finds receipts, notices what was undone, replaces
    /// what does not get in, and signs what waits.
    pub async fn follow(&self, now: Timestamp) -> Result<()> {
        let outcome = match self.look(now, false).await {
            Ok(()) => self.follow_orphaned_signers(now).await,
            failed => failed,
        };
        let trouble = outcome.as_ref().err().map(ToString::to_string);
        if trouble.is_some() || self.caught_up() {
            self.memory().trouble = trouble;
        }
        outcome
    }

    /// The same for one signer; for a ward nothing new is signed.
    pub(super) async fn look(&self, now: Timestamp, is_orphaned: bool) -> Result<()> {
        if !self.hold(now).await? {
            return Ok(());
        }
        let held = self.memory().held.as_ref().map(|held| (held.lease, held.key.address()));
        let Some((lease, account)) = held else { return Ok(()) };
        // In this order: whatever has used a nonce by now is in a block up to the head.
        let used = self.node.nonce(account).await?;
        let head = self.node.head().await?;
        let fees = self.node.fees().await?;
        self.memory().fees = fees;
        self.raise_nonce(used).await?;
        self.undo(lease, &head, used).await?;
        self.find(lease, &head, used, now).await?;
        // Only now it counts as seen: what it undid and what it brought are known.
        self.memory().head = Some(head.clone());
        self.finish(lease, &head).await?;
        self.fill_gap(lease, now).await?;
        self.resume(account).await?;
        self.deliver(lease, &head, used, now).await?;
        let nothing_waits = is_orphaned || self.seal_waiting(now).await?;
        self.deliver(lease, &head, used, now).await?;
        if self.node.confirmations() == 0 {
            let used = self.node.nonce(account).await?;
            self.find(lease, &self.node.head().await?, used, now).await?;
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

    /// What is open under a lease.
    fn open(&self, lease: Lease) -> BTreeMap<i64, Open> {
        self.memory().under(lease).map(|held| held.open.clone()).unwrap_or_default()
    }

    async fn settle(&self, lease: Lease, settled: Vec<Settled>) -> Result<()> {
        if settled.is_empty() {
            return Ok(());
        }
        // Before anybody knows whether it will be written down: the answer may get lost, and then the blocks
        // have to be compared with the chain all the same.
        for Settled { nonce, block, .. } in settled.iter().filter(|settled| settled.block.is_some()) {
            self.with_open(lease, *nonce, |open| open.batch.block = *block);
        }
        self.write_under(lease, SettleBatches(settled.clone())).await?;
        self.apply(&settled);
        Ok(())
    }

    /// Whether a block is part of the chain.
    async fn is_on_chain(&self, (number, hash): (u64, B256)) -> Result<bool> {
        Ok(self.node.block(BlockId::Number(number)).await?.is_some_and(|block| block.hash == hash))
    }

    /// The same for many blocks.
    async fn are_on_chain(&self, blocks: BTreeSet<(i64, Word)>) -> Result<BTreeMap<(i64, Word), bool>> {
        let asked = blocks.iter().map(|(number, hash)| -> NodeRequest<'_, bool> {
            Box::pin(self.is_on_chain((number.unsigned_abs(), (*hash).into())))
        });
        let stands = try_buffered(asked.collect()).await?;
        Ok(blocks.into_iter().zip(stands).collect())
    }

    /// Batches whose block is no longer part of the chain are on their way again.
    async fn undo(&self, lease: Lease, head: &Block, used: u64) -> Result<()> {
        if self.only_grew(lease, head).await? {
            // What is new in it is noted below.
            self.compared(lease, Some(head));
            return Ok(());
        }
        let open = self.open(lease);
        let believed = || open.iter().filter_map(|(nonce, open)| Some((*nonce, open.batch.block?)));
        let blocks = believed().map(|(_, block)| block).filter(|block| block.0 <= to_i64(head.number));
        let stands = self.are_on_chain(blocks.collect()).await?;
        let undone: Vec<(i64, i64)> = believed()
            .filter(|(nonce, block)| stands.get(block) != Some(&true) || to_i64(used) <= *nonce)
            .map(|(nonce, (number, _))| (nonce, number))
            .collect();
        self.undone(lease, &undone).await?;
        // Only now: if anything above failed, it is done again.
        self.compared(lease, Some(head));
        Ok(())
    }

    /// Whether every block that a batch is believed to be in is part of the chain that ends with this head.
    async fn only_grew(&self, lease: Lease, head: &Block) -> Result<bool> {
        let Some(before) = self.memory().under(lease).and_then(|held| held.compared) else {
            return Ok(false);
        };
        if before.1 == head.hash || before.1 == head.parent {
            return Ok(true);
        }
        Ok(before.0 < head.number && self.is_on_chain(before).await?)
    }

    fn compared(&self, lease: Lease, head: Option<&Block>) {
        if let Some(held) = self.memory().under(lease) {
            held.compared = head.map(|head| (head.number, head.hash));
        }
    }

    async fn undone(&self, lease: Lease, batches: &[(i64, i64)]) -> Result<()> {
        for (nonce, block) in batches {
            tracing::info!(nonce, block, "a block was undone; its transaction is followed again");
            self.with_open(lease, *nonce, |open| {
                (open.sent, open.next_since, open.missing_since, open.reverted) = (None, None, None, false);
                open.was_mined = true;
            });
        }
        let again = |(nonce, _): &(i64, i64)| Settled {
            lease,
            nonce: *nonce,
            status: BatchStatus::Signed,
            block: None,
            mined: None,
        };
        self.settle(lease, batches.iter().map(again).collect()).await
    }

    /// Finds the receipts of nonces that are used.
    async fn find(&self, lease: Lease, head: &Block, used: u64, now: Timestamp) -> Result<()> {
        let mut signed = self.open(lease);
        signed.retain(|_, open| open.batch.status == BatchStatus::Signed);
        for nonce in signed.split_off(&to_i64(used)).into_keys() {
            self.with_open(lease, nonce, |open| open.missing_since = None);
        }
        let asked = signed.values().map(|open| -> NodeRequest<'_, _> { Box::pin(self.receipt_of(open)) });
        let receipts = try_buffered(asked.collect()).await?;
        let mut mined = Vec::new();
        for ((nonce, open), found) in signed.into_iter().zip(receipts) {
            let Some((hash, receipt)) = found else {
                self.missing(lease, &open, head, now).await?;
                continue;
            };
            let is_final = self.is_final(head, receipt.block);
            let block = Some((to_i64(receipt.block), receipt.block_hash.0));
            let settled = |status| Settled { lease, nonce, status, block, mined: Some(hash) };
            if receipt.success {
                self.reverts.store(0, Ordering::Release);
                self.note_refused(&receipt, now).await?;
                mined.push(settled(if is_final { BatchStatus::Final } else { BatchStatus::Mined }));
                continue;
            }
            self.count_revert(lease, nonce);
            // A block that may still be undone may be followed by one in which the same call succeeds.
            if is_final {
                tracing::warn!(nonce, "the chain undid a batch; its items are signed again in halves");
                self.requeue(&open, settled(BatchStatus::Reverted), now).await?;
            }
        }
        self.note_mined(lease, head, mined).await
    }

    /// Writes down what was found. The chain may have changed since its head was read, so that the blocks are
    /// not those before that head; unless that is certain, all of them are compared the next time.
    async fn note_mined(&self, lease: Lease, head: &Block, mined: Vec<Settled>) -> Result<()> {
        let blocks =
            mined.iter().filter(|settled| !settled.status.is_over()).filter_map(|settled| settled.block);
        let others: Vec<i64> = blocks
            .filter(|(_, hash)| head.hash != *hash && head.parent != *hash)
            .map(|(number, _)| number)
            .collect();
        if others.is_empty() {
            return self.settle(lease, mined).await;
        }
        let are_before = others.iter().all(|number| *number < to_i64(head.number));
        let certain = are_before && self.is_on_chain((head.number, head.hash)).await?;
        self.compared(lease, None);
        self.settle(lease, mined).await?;
        self.compared(lease, Some(head).filter(|_| certain));
        Ok(())
    }

    /// A nonce is used and none of our transactions has it: once that is certain, its items are signed again.
    async fn missing(&self, lease: Lease, open: &Open, head: &Block, now: Timestamp) -> Result<()> {
        let nonce = open.batch.nonce;
        let since = match open.missing_since {
            Some(since) if self.is_on_chain(since).await? => since,
            // Not at first sight: a node may count a transaction a moment before it has its receipt.
            _ => {
                self.with_open(lease, nonce, |open| open.missing_since = Some((head.number, head.hash)));
                return Ok(());
            }
        };
        // One more than for a receipt: the nonce may have been used in the block after the one that was seen.
        let deep = self.node.confirmations() + u64::from(self.node.confirmations() > 0);
        if head.number.saturating_sub(since.0) >= deep {
            tracing::warn!(nonce, "somebody else used this nonce; its items are signed again");
            let foreign = Settled { lease, nonce, status: BatchStatus::Foreign, block: None, mined: None };
            self.requeue(open, foreign, now).await?;
        }
        Ok(())
    }

    async fn receipt_of(&self, open: &Open) -> Result<Option<(Word, Receipt)>> {
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
    fn refused(&self, receipt: &Receipt) -> Vec<ItemVersion> {
        let refused = receipt
            .logs
            .iter()
            .filter_map(|log| rejected(self.contracts.kind_at(log.address)?, &log.topics, &log.data));
        refused.collect()
    }

    async fn note_refused(&self, receipt: &Receipt, now: Timestamp) -> Result<()> {
        let items = self.refused(receipt);
        if items.is_empty() {
            return Ok(());
        }
        tracing::error!(items = items.len(), "a contract could not take items");
        self.write(FailItems { items, at: now }).await
    }

    /// Counts each batch that the chain undid, once.
    fn count_revert(&self, lease: Lease, nonce: i64) {
        if self.with_open(lease, nonce, |open| std::mem::replace(&mut open.reverted, true)) != Some(false) {
            return;
        }
        let row = self.reverts.fetch_add(1, Ordering::AcqRel) + 1;
        tracing::warn!(nonce, row, "the chain undid a batch");
        if row == MAX_CONSECUTIVE_REVERTS {
            tracing::error!("the contracts undo every call: nothing more is signed until they take one");
        }
    }

    async fn requeue(&self, open: &Open, batch: Settled, now: Timestamp) -> Result<()> {
        let items = match (ItemKind::from_number(open.batch.kind), open.newest()) {
            (Some(kind), Some(attempt)) => carried(kind, &data_of(&attempt.raw)?)?,
            _ => Vec::new(),
        };
        self.write_under(batch.lease, Requeue { batch, items, at: now }).await?;
        self.apply(&[batch]);
        Ok(())
    }

    /// Batches deep enough under the head are final, if their block is still there.
    async fn finish(&self, lease: Lease, head: &Block) -> Result<()> {
        let mut open = self.open(lease);
        open.retain(|_, open| open.batch.status == BatchStatus::Mined);
        let believed = open.into_iter().filter_map(|(nonce, open)| Some((nonce, open.batch.block?, open)));
        let deep: Vec<_> =
            believed.filter(|(_, (number, _), _)| self.is_final(head, number.unsigned_abs())).collect();
        let stands = self.are_on_chain(deep.iter().map(|(_, block, _)| *block).collect()).await?;
        let (deep, undone): (Vec<_>, Vec<_>) =
            deep.into_iter().partition(|(_, block, _)| stands.get(block) == Some(&true));
        let undone: Vec<(i64, i64)> =
            undone.into_iter().map(|(nonce, (number, _), _)| (nonce, number)).collect();
        let deep = deep
            .into_iter()
            .map(|(nonce, block, open)| Settled {
                lease,
                nonce,
                status: BatchStatus::Final,
                block: Some(block),
                mined: open.batch.mined,
            })
            .collect();
        self.undone(lease, &undone).await?;
        self.settle(lease, deep).await
    }

    /// Fills nonces that the chain waits for and nobody signed, so that those after them get in.
    async fn fill_gap(&self, lease: Lease, now: Timestamp) -> Result<()> {
        // First what we know, then what the chain says: whatever happens in between only closes the gap.
        let known = self.memory().under(lease).map(|held| {
            let open: BTreeSet<i64> = held.open.keys().copied().collect();
            (held.key.address(), open, held.next_nonce)
        });
        let Some((account, open, next)) = known else { return Ok(()) };
        let used = to_i64(self.node.nonce(account).await?);
        if open.contains(&used) || used >= next {
            if let Some(held) = self.memory().under(lease) {
                held.gap_since = None;
            }
            return Ok(());
        }
        let missing_since = self.memory().under(lease).map(|held| *held.gap_since.get_or_insert(now));
        if missing_since.is_none_or(|then| since(then, now) < GAP_TIMEOUT_MICROS) {
            return Ok(());
        }
        for nonce in used..open.range(used..).next().copied().unwrap_or(next) {
            let Some(signer) = self.signer_under(lease) else { return Ok(()) };
            let signed = signer.filler(nonce.unsigned_abs());
            if !self.write_under(lease, FillNonce { lease, nonce, signed: signed.clone(), at: now }).await? {
                tracing::warn!(
                    nonce,
                    "the node has not seen a nonce that is final: it is behind, or it forgot"
                );
                return Ok(());
            }
            tracing::warn!(nonce, "the chain waits for a nonce that nobody signed: it is filled");
            self.remember(lease, SignedBatch { nonce, kind: FILLER, items: 0, signed });
        }
        Ok(())
    }

    /// After too many reverts: asks every contract whether it would take an empty call of ours.
    async fn resume(&self, account: alloy_primitives::Address) -> Result<()> {
        if !self.is_stopped() {
            return Ok(());
        }
        for kind in ItemKind::ALL {
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
    async fn deliver(&self, lease: Lease, head: &Block, used: u64, now: Timestamp) -> Result<()> {
        let mut waiting = self.open(lease);
        waiting.retain(|nonce, open| open.batch.status == BatchStatus::Signed && *nonce >= to_i64(used));
        // What was in blocks that are gone the node had before, all of it: that goes back at once.
        let window = waiting.values().filter(|open| open.was_mined).count().max(self.settings.window);
        let (mut lost, mut heard) = (None, false);
        for (nonce, open) in waiting.into_iter().take(window) {
            let due = open.sent.is_none_or(|sent| since(sent, now) >= micros(self.settings.resend));
            let is_next = nonce == to_i64(used);
            if is_next && open.sent.is_some() {
                self.with_open(lease, nonce, |open| open.next_since.get_or_insert((now, head.number)).0);
            }
            if is_next && self.needs_more(&open, head, now) {
                self.replace(lease, &open, now).await?;
            } else if !due {
                continue;
            }
            match self.send_under(lease, nonce, now).await {
                Ok(()) => (lost, heard) = (None, true),
                // One answer that gets lost holds up nobody else; after two the node is away.
                Err(error @ Error::Unreachable(_)) if lost.is_none() => lost = Some(error),
                Err(error) => return Err(error),
            }
        }
        // Who was heard in between is not away: what got lost is sent again with the next ones, without a pause.
        lost.filter(|_| !heard).map_or(Ok(()), Err)
    }

    /// Whether a transaction does not get in for what it pays.
    fn needs_more(&self, open: &Open, head: &Block, now: Timestamp) -> bool {
        let stuck = open.next_since.is_some_and(|(at, block)| {
            since(at, now) >= micros(self.settings.replace) && head.number >= block + 2
        });
        stuck || open.underpriced
    }

    /// Stores an attempt that pays more, unless it may not.
    async fn replace(&self, lease: Lease, open: &Open, now: Timestamp) -> Result<()> {
        let Some(newest) = open.newest() else { return Ok(()) };
        let Some(mut signer) = self.signer_under(lease) else { return Ok(()) };
        let (least, today) = (Price::of(newest).raised(), signer.price);
        if least.max_fee > self.settings.fee_cap {
            tracing::warn!(nonce = open.batch.nonce, "a transaction does not get in, and may not pay more");
            return Ok(());
        }
        let price = Price { max_fee: least.max_fee.max(today.max_fee), tip: least.tip.max(today.tip) };
        signer.price = price.capped(self.settings.fee_cap);
        let (nonce, signed) = (open.batch.nonce, signer.again(&newest.raw)?);
        tracing::info!(nonce, max_fee = signed.max_fee, "a transaction is replaced by one that pays more");
        self.write_under(lease, ReplaceAttempt { lease, nonce, signed: signed.clone(), at: now }).await?;
        self.with_open(lease, nonce, |open| {
            open.batch.attempts.push(signed);
            (open.sent, open.next_since, open.underpriced) = (None, None, false);
        });
        Ok(())
    }

    /// On a chain that mines at once: sends a batch and sees it mined. What became of it is written down later.
    pub async fn deliver_now(&self, nonce: i64, now: Timestamp) -> Result<Option<Settled>> {
        let Some(lease) = self.lease() else { return Ok(None) };
        // Those before it first, if they were signed by the task that follows and not sent yet.
        for before in self.unsent_before(lease, nonce) {
            self.send_under(lease, before, now).await?;
        }
        self.send_under(lease, nonce, now).await?;
        let Some(Some(hash)) = self.with_open(lease, nonce, |open| open.newest().map(|attempt| attempt.hash))
        else {
            return Ok(None);
        };
        let Some(receipt) = self.node.receipt(hash.into()).await? else { return Ok(None) };
        // Whatever is unusual is seen to by the task that follows.
        if !receipt.success || !self.refused(&receipt).is_empty() {
            return Ok(None);
        }
        self.reverts.store(0, Ordering::Release);
        let block = Some((to_i64(receipt.block), receipt.block_hash.0));
        Ok(Some(Settled { lease, nonce, status: BatchStatus::Final, block, mined: Some(hash) }))
    }

    /// Writes down what became of batches that were delivered at once.
    pub async fn note_delivered(&self, settled: Vec<Settled>) -> Result<()> {
        for settled in settled.chunk_by(|one, next| one.lease == next.lease) {
            self.settle(settled[0].lease, settled.to_vec()).await?;
        }
        Ok(())
    }
}
