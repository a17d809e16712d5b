//! Following: every nonce to its receipt, and every receipt until it cannot be undone any more.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use alloy_primitives::{B256, Bytes};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use portico_domain::Timestamp;
use portico_records::ItemKind;
use portico_store::chain::{
    BatchStatus, BatchUpdate, CloseBatches, ItemVersion, Lease, RejectItems, Requeue, VersionedItem, Word,
};

use super::engine::{Engine, MAX_CONSECUTIVE_REVERTS, TrackedBatch};
use super::lease::to_i64;
use crate::catch_up::{CatchUpSummary, overtake};
use crate::contracts::{calldata, items_in_call, rejected, stale};
use crate::node::{Block, Node, Receipt};
use crate::signer::data_of;
use crate::{Error, Result};

pub(super) const MAX_CONCURRENT_CALLS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowedSigner {
    /// This process signs new batches for it.
    Held,
    /// Another holder left it behind.
    Orphaned,
}

impl<N: Node> Engine<N> {
    /// Looks once at everything that is not final: sends, finds receipts, notices what was undone, replaces
    /// what is not mined, and signs what waits.
    pub async fn follow(&self, now: Timestamp) -> Result<()> {
        self.follow_signer(now, FollowedSigner::Held).await?;
        self.follow_orphaned_signers(now).await
    }

    /// The same for one signer; for an orphaned one nothing new is signed.
    pub(super) async fn follow_signer(&self, now: Timestamp, signer: FollowedSigner) -> Result<()> {
        if !self.hold(now).await? {
            return Ok(());
        }
        let held = self.state().held.as_ref().map(|held| (held.lease, held.key.address()));
        let Some((lease, account)) = held else { return Ok(()) };
        // In this order: whatever has used a nonce by now is in a block up to the head.
        let used = self.node.nonce(account).await?;
        let head = self.node.head().await?;
        let fees = self.node.fees().await?;
        self.state().fees = fees;
        self.raise_nonce(used, now).await?;
        self.handle_reorg(lease, &head, used).await?;
        self.find_receipts(lease, &head, used, now).await?;
        // The head counts as seen only now, when its effects are stored.
        self.state().head = Some(head.clone());
        self.finish(lease, &head).await?;
        self.fill_gap(lease, now).await?;
        self.resume(account).await?;
        self.deliver(lease, &head, used, now).await?;
        let nothing_waits = signer == FollowedSigner::Orphaned || self.seal_waiting(now).await?;
        self.deliver(lease, &head, used, now).await?;
        if self.node.confirmations() == 0 {
            let used = self.node.nonce(account).await?;
            self.find_receipts(lease, &self.node.head().await?, used, now).await?;
        }
        self.caught_up.fetch_or(nothing_waits && self.unmined_items() == 0, Ordering::AcqRel);
        Ok(())
    }

    /// Signs waiting items up to the window; returns whether none are left.
    async fn seal_waiting(&self, now: Timestamp) -> Result<bool> {
        let nothing_waits = self.seal_window(now).await?;
        self.has_waiting.store(!nothing_waits, Ordering::Release);
        Ok(nothing_waits)
    }

    async fn seal_window(&self, now: Timestamp) -> Result<bool> {
        // The rest is signed later. At least one batch is signed, so that a flood of listings does not block other
        // items.
        let room = self.settings.window.saturating_sub(self.status().unmined);
        for _ in 0..room.max(1) {
            if self.is_stopped() {
                return Ok(false);
            }
            if !self.seal(now).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The open batches of a lease.
    pub(super) fn open(&self, lease: Lease) -> BTreeMap<i64, TrackedBatch> {
        self.state().under(lease).map(|held| held.open.clone()).unwrap_or_default()
    }

    pub(super) async fn close_batches(&self, lease: Lease, updates: Vec<BatchUpdate>) -> Result<()> {
        if updates.is_empty() {
            return Ok(());
        }
        // Set before the write: its reply may get lost, and the blocks must be compared with the chain in that case
        // too.
        for BatchUpdate { nonce, block, .. } in updates.iter().filter(|update| update.block.is_some()) {
            self.with_open(lease, *nonce, |open| open.batch.block = *block);
        }
        self.write_under(lease, CloseBatches(updates.clone())).await?;
        self.apply(&updates);
        Ok(())
    }

    /// Finds the receipts of nonces that are used.
    async fn find_receipts(&self, lease: Lease, head: &Block, used: u64, now: Timestamp) -> Result<()> {
        let mut signed = self.open(lease);
        signed.retain(|_, open| open.batch.status == BatchStatus::Signed);
        for nonce in signed.split_off(&to_i64(used)).into_keys() {
            self.with_open(lease, nonce, |open| open.missing_since = None);
        }
        let found: Vec<_> = stream::iter(signed)
            .map(|(nonce, open)| async move { Ok::<_, Error>((nonce, self.receipt_of(&open).await?, open)) })
            .buffered(MAX_CONCURRENT_CALLS)
            .try_collect()
            .await?;
        let mut mined = Vec::new();
        for (nonce, found, open) in found {
            let Some((hash, receipt)) = found else {
                self.missing(lease, &open, head, now).await?;
                continue;
            };
            let is_final = self.is_final(head, receipt.block);
            let block = Some((to_i64(receipt.block), receipt.block_hash.0));
            let update = |status| BatchUpdate { lease, nonce, status, block, mined: Some(hash) };
            if receipt.success {
                self.reverts.store(0, Ordering::Release);
                self.note_rejected(&receipt, hash, now).await?;
                self.note_stale(&receipt, now).await?;
                mined.push(update(if is_final { BatchStatus::Final } else { BatchStatus::Mined }));
                continue;
            }
            self.count_revert(lease, nonce);
            // A block that may still be undone may be followed by one in which the same call succeeds.
            if is_final {
                tracing::warn!(nonce, "the chain reverted a batch; its items are signed again in halves");
                self.requeue(&open, update(BatchStatus::Reverted), now).await?;
            }
        }
        self.note_mined(lease, head, mined).await
    }

    /// Stores what was found. The chain may have changed since its head was read: unless the blocks are certainly
    /// before that head, all are compared next time.
    async fn note_mined(&self, lease: Lease, head: &Block, mined: Vec<BatchUpdate>) -> Result<()> {
        let blocks = mined.iter().filter(|update| !update.status.is_over()).filter_map(|update| update.block);
        let others: Vec<i64> = blocks
            .filter(|(_, hash)| head.hash != *hash && head.parent != *hash)
            .map(|(number, _)| number)
            .collect();
        if others.is_empty() {
            return self.close_batches(lease, mined).await;
        }
        let are_before = others.iter().all(|number| *number < to_i64(head.number));
        let certain = are_before && self.is_on_chain((head.number, head.hash)).await?;
        self.compared(lease, None);
        self.close_batches(lease, mined).await?;
        self.compared(lease, Some(head).filter(|_| certain));
        Ok(())
    }

    /// A nonce is used and none of our transactions has it: once that is certain, its items are signed again.
    async fn missing(&self, lease: Lease, open: &TrackedBatch, head: &Block, now: Timestamp) -> Result<()> {
        let nonce = open.batch.nonce;
        let since = match open.missing_since {
            Some(since) if self.is_on_chain(since).await? => since,
            // Not on first sight: a node may count a transaction shortly before it has the receipt.
            _ => {
                self.with_open(lease, nonce, |open| open.missing_since = Some((head.number, head.hash)));
                return Ok(());
            }
        };
        // One more than for a receipt: the nonce may have been used in the block after the one that was seen.
        let deep = self.node.confirmations() + u64::from(self.node.confirmations() > 0);
        if head.number.saturating_sub(since.0) >= deep {
            tracing::warn!(nonce, "somebody else used this nonce; its items are signed again");
            let foreign =
                BatchUpdate { lease, nonce, status: BatchStatus::Foreign, block: None, mined: None };
            self.requeue(open, foreign, now).await?;
        }
        Ok(())
    }

    async fn receipt_of(&self, open: &TrackedBatch) -> Result<Option<(Word, Receipt)>> {
        for attempt in open.batch.attempts.iter().rev() {
            if let Some(receipt) = self.node.receipt(attempt.hash.into()).await? {
                return Ok(Some((attempt.hash, receipt)));
            }
        }
        Ok(None)
    }

    pub(super) fn is_final(&self, head: &Block, block: u64) -> bool {
        head.number.saturating_sub(block) >= self.node.confirmations()
    }

    /// Items that a contract could not take. The rules at the edge make sure that there are none.
    pub(super) fn rejected_items(&self, receipt: &Receipt) -> Vec<ItemVersion> {
        let rejected = receipt
            .logs
            .iter()
            .filter_map(|log| rejected(self.contracts.kind_at(log.address)?, &log.topics, &log.data));
        rejected.collect()
    }

    async fn note_rejected(&self, receipt: &Receipt, hash: Word, now: Timestamp) -> Result<()> {
        let items = self.rejected_items(receipt);
        if items.is_empty() {
            return Ok(());
        }
        for ItemVersion { kind, key, version } in &items {
            let (key, transaction) = (B256::from(*key), B256::from(hash));
            tracing::error!(kind = kind.contract(), %key, version, %transaction, "a contract rejected an item");
        }
        self.write(RejectItems { items, at: now }).await
    }

    /// Items whose version the chain had already. Mostly they were delivered twice.
    pub(super) fn stale(&self, receipt: &Receipt) -> Vec<ItemVersion> {
        let stale = receipt
            .logs
            .iter()
            .filter_map(|log| stale(self.contracts.kind_at(log.address)?, &log.topics, &log.data));
        stale.collect()
    }

    /// The chain may be ahead of a database that was restored: then the item is written again, above it.
    async fn note_stale(&self, receipt: &Receipt, now: Timestamp) -> Result<()> {
        let mut done = CatchUpSummary::default();
        for ItemVersion { kind, key, version } in self.stale(receipt) {
            let Some(item) = self.db.chain_item(kind, &key).await? else { continue };
            // A newer version is on its way, or there.
            if item.version != version {
                continue;
            }
            let item = VersionedItem { key, version, payload: item.payload };
            overtake(&*self.node, &self.db, self.contracts, (kind, &[item]), now, &mut done).await?;
        }
        if !done.is_unchanged() {
            let CatchUpSummary { again, ended, .. } = done;
            tracing::warn!(
                again,
                ended,
                "the chain had newer versions of items: the database is of an older state"
            );
        }
        Ok(())
    }

    /// Counts each batch that the chain reverted, once.
    fn count_revert(&self, lease: Lease, nonce: i64) {
        if self.with_open(lease, nonce, |open| std::mem::replace(&mut open.reverted, true)) != Some(false) {
            return;
        }
        let row = self.reverts.fetch_add(1, Ordering::AcqRel) + 1;
        tracing::warn!(nonce, row, "the chain reverted a batch");
        if row == MAX_CONSECUTIVE_REVERTS {
            tracing::error!("the contracts revert every call: nothing more is signed until they take one");
        }
    }

    async fn requeue(&self, open: &TrackedBatch, batch: BatchUpdate, now: Timestamp) -> Result<()> {
        let items = match (open.batch.kind, open.newest()) {
            (Some(kind), Some(attempt)) => items_in_call(kind, &data_of(&attempt.raw)?)?,
            _ => Vec::new(),
        };
        self.write_under(batch.lease, Requeue { batch, items, at: now }).await?;
        self.apply(&[batch]);
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
}
