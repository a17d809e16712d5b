//! Sending: signed batches in the order of their nonces, replaced if they pay too little.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use alloy_primitives::B256;
use portico_domain::Timestamp;
use portico_store::chain::{BatchStatus, BatchUpdate, FillNonce, Lease, Payers, ReplaceAttempt, SignedBatch};

use super::engine::{Engine, TrackedBatch, micros, since};
use super::lease::to_i64;
use crate::node::{Block, Node};
use crate::signer::Price;
use crate::{Error, Result};

/// A nonce that nobody signed is filled after this time.
const NONCE_GAP_TIMEOUT_MICROS: i64 = 5_000_000;

impl<N: Node> Engine<N> {
    /// Fills nonces that the chain waits for and nobody signed, so that those after them are mined.
    pub(super) async fn fill_gap(&self, lease: Lease, now: Timestamp) -> Result<()> {
        // First what we know, then what the chain says: whatever happens in between only closes the gap.
        let known = self.state().under(lease).map(|held| {
            let open: BTreeSet<i64> = held.open.keys().copied().collect();
            (held.key.address(), open, held.next_nonce)
        });
        let Some((account, open, next)) = known else { return Ok(()) };
        let used = to_i64(self.node.nonce(account).await?);
        if open.contains(&used) || used >= next {
            if let Some(held) = self.state().under(lease) {
                held.gap_since = None;
            }
            return Ok(());
        }
        let missing_since = self.state().under(lease).map(|held| *held.gap_since.get_or_insert(now));
        if missing_since.is_none_or(|then| since(then, now) < NONCE_GAP_TIMEOUT_MICROS) {
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
            self.remember(
                lease,
                SignedBatch { nonce, kind: None, items: 0, payers: Payers::default(), signed },
            );
        }
        Ok(())
    }

    /// Sends what is due within the window, in the order of nonces.
    pub(super) async fn deliver(&self, lease: Lease, head: &Block, used: u64, now: Timestamp) -> Result<()> {
        let mut waiting = self.open(lease);
        waiting.retain(|nonce, open| open.batch.status == BatchStatus::Signed && *nonce >= to_i64(used));
        // The node already had the transactions of reorganised blocks: send all of them again immediately.
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
                // One lost reply does not stop the others; after two the node counts as unreachable.
                Err(error @ Error::Unreachable(_)) if lost.is_none() => lost = Some(error),
                Err(error) => return Err(error),
            }
        }
        // A reply arrived in between, so the node is reachable: lost transactions are sent again with the next ones.
        lost.filter(|_| !heard).map_or(Ok(()), Err)
    }

    /// Whether a transaction is not mined for what it pays.
    fn needs_more(&self, open: &TrackedBatch, head: &Block, now: Timestamp) -> bool {
        let stuck = open.next_since.is_some_and(|(at, block)| {
            since(at, now) >= micros(self.settings.replace) && head.number >= block + 2
        });
        stuck || open.underpriced
    }

    /// Stores an attempt that pays more, unless it may not.
    async fn replace(&self, lease: Lease, open: &TrackedBatch, now: Timestamp) -> Result<()> {
        let Some(newest) = open.newest() else { return Ok(()) };
        let Some(mut signer) = self.signer_under(lease) else { return Ok(()) };
        let (least, today) = (Price::of(newest).raised(), signer.price);
        if least.max_fee > self.settings.fee_cap {
            tracing::warn!(nonce = open.batch.nonce, "a transaction is not mined, and may not pay more");
            return Ok(());
        }
        let price = Price { max_fee: least.max_fee.max(today.max_fee), tip: least.tip.max(today.tip) };
        signer.price = price.capped(self.settings.fee_cap);
        let (nonce, signed) = (open.batch.nonce, signer.again(&newest.raw)?);
        let transaction = B256::from(signed.hash);
        tracing::info!(nonce, %transaction, max_fee = signed.max_fee, "a transaction is replaced by one that pays more");
        self.write_under(lease, ReplaceAttempt { lease, nonce, signed: signed.clone(), at: now }).await?;
        self.with_open(lease, nonce, |open| {
            open.batch.attempts.push(signed);
            (open.sent, open.next_since, open.underpriced) = (None, None, false);
        });
        Ok(())
    }

    /// On a chain that mines immediately: sends a batch and reads its receipt; the outcome is stored later.
    pub async fn deliver_now(&self, nonce: i64, now: Timestamp) -> Result<Option<BatchUpdate>> {
        let Some(lease) = self.lease() else { return Ok(None) };
        // First sends earlier batches that the follower signed and has not sent.
        for before in self.unsent_before(lease, nonce) {
            self.send_under(lease, before, now).await?;
        }
        self.send_under(lease, nonce, now).await?;
        let Some(Some(hash)) = self.with_open(lease, nonce, |open| open.newest().map(|attempt| attempt.hash))
        else {
            return Ok(None);
        };
        let Some(receipt) = self.node.receipt(hash.into()).await? else { return Ok(None) };
        // The follower handles everything unusual.
        if !receipt.success || !self.rejected_items(&receipt).is_empty() || !self.stale(&receipt).is_empty() {
            return Ok(None);
        }
        self.reverts.store(0, Ordering::Release);
        let block = Some((to_i64(receipt.block), receipt.block_hash.0));
        Ok(Some(BatchUpdate { lease, nonce, status: BatchStatus::Final, block, mined: Some(hash) }))
    }

    /// Stores the outcomes of batches that were delivered immediately.
    pub async fn note_delivered(&self, updates: Vec<BatchUpdate>) -> Result<()> {
        for updates in updates.chunk_by(|one, next| one.lease == next.lease) {
            self.close_batches(updates[0].lease, updates.to_vec()).await?;
        }
        Ok(())
    }
}
