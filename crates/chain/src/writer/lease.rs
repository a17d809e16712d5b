//! The signing lease: acquiring, renewing and taking over.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use alloy_primitives::Address;
use portico_domain::Timestamp;
use portico_store::chain::{Heartbeat, Lease, RaiseNonce, ReleaseLease, SignerRow, TakeLease};

use super::engine::{Engine, HeldLease, micros, since};
use super::follow::FollowedSigner;
use crate::Result;
use crate::catch_up::{CatchUpSummary, catch_up};
use crate::node::Node;
use crate::signer::Key;

impl<N: Node> Engine<N> {
    /// Acquires or renews a lease for one of our accounts; returns whether this process may sign. A holder shows that
    /// it is alive by counting up. A process that has watched the count stand still for long enough takes the lease;
    /// if the old holder is alive after all, its epoch is over and it cannot sign.
    pub async fn hold(&self, now: Timestamp) -> Result<bool> {
        if self.released.load(Ordering::Acquire) {
            return Ok(false);
        }
        if let Some(lease) = self.lease() {
            return self.keep(lease, now).await;
        }
        let rows = self.db.chain_signers().await?;
        for key in &self.keys {
            let row = rows.iter().find(|row| row.address == key.address().0.0);
            if self.is_free(key.address(), row, now) && self.take(key, row, now).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn lease(&self) -> Option<Lease> {
        self.state().held.as_ref().map(|held| held.lease)
    }

    fn is_free(&self, address: Address, row: Option<&SignerRow>, now: Timestamp) -> bool {
        let Some(row) = row else { return true };
        if self.settings.is_only_process || row.epoch == 0 || row.beat < 0 {
            return true;
        }
        let seen = (row.epoch, row.beat);
        let mut state = self.state();
        let (before, at) = *state.others.entry(address).or_insert((seen, now));
        if before != seen {
            state.others.insert(address, (seen, now));
            return false;
        }
        since(at, now) >= micros(self.settings.lease_timeout)
    }

    async fn take(&self, key: &Key, row: Option<&SignerRow>, now: Timestamp) -> Result<bool> {
        // The account may have been used before this database existed.
        let first_nonce = match row {
            Some(row) => row.next_nonce,
            None => to_i64(self.node.nonce(key.address()).await?),
        };
        let seen = row.map_or((0, 0), |row| (row.epoch, row.beat));
        let take = TakeLease { address: key.address().0.0, seen, first_nonce };
        let Some(row) = self.write(take).await? else { return Ok(false) };
        let open = self.db.open_batches(row.id).await?;
        let held = HeldLease {
            lease: Lease { signer: row.id, epoch: row.epoch },
            key: key.clone(),
            next_nonce: row.next_nonce,
            open: open.into_iter().map(|batch| (batch.nonce, batch.into())).collect(),
            compared: None,
            gap_since: None,
            beat_at: now,
        };
        tracing::info!(signer = %key.address(), epoch = row.epoch, open = held.open.len(), "signing for this account");
        self.state().held = Some(held);
        Ok(true)
    }

    /// Renews the lease from time to time.
    async fn keep(&self, lease: Lease, now: Timestamp) -> Result<bool> {
        let due = !self.settings.is_only_process
            && self.state().under(lease).is_some_and(|held| {
                let due = since(held.beat_at, now) >= micros(self.settings.lease_timeout) / 5;
                held.beat_at = if due { now } else { held.beat_at };
                due
            });
        if due && !self.write(Heartbeat(lease)).await? {
            self.forget(lease);
            return Ok(false);
        }
        Ok(true)
    }

    /// Follows the batches that other holders of our keys left behind: they must not wait until another process signs
    /// for that account.
    pub(super) async fn follow_orphaned_signers(&self, now: Timestamp) -> Result<()> {
        self.find_orphaned_signers(now).await?;
        let orphaned_signers = self.orphaned_signers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for orphaned in orphaned_signers {
            Box::pin(orphaned.follow_signer(now, FollowedSigner::Orphaned)).await?;
            let is_done = orphaned.state().held.as_ref().is_none_or(|held| held.open.is_empty());
            if is_done {
                orphaned.release().await?;
                self.orphaned_signers
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .retain(|other| !Arc::ptr_eq(other, &orphaned));
            }
        }
        Ok(())
    }

    async fn find_orphaned_signers(&self, now: Timestamp) -> Result<()> {
        let own = self.state().held.as_ref().map(|held| held.key.address());
        if self.keys.len() < 2 || own.is_none() {
            return Ok(());
        }
        let rows = self.db.chain_signers().await?;
        for key in self.keys.iter().filter(|key| Some(key.address()) != own) {
            let Some(row) = rows.iter().find(|row| row.address == key.address().0.0) else { continue };
            let known =
                |orphaned: &Arc<Self>| orphaned.keys.iter().any(|other| other.address() == key.address());
            let is_orphaned =
                self.orphaned_signers.lock().unwrap_or_else(PoisonError::into_inner).iter().any(known);
            if is_orphaned
                || !self.is_free(key.address(), Some(row), now)
                || self.db.open_batches(row.id).await?.is_empty()
            {
                continue;
            }
            let orphaned = self.orphaned(key.clone());
            if orphaned.take(key, Some(row), now).await? {
                self.orphaned_signers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(orphaned));
            }
        }
        Ok(())
    }

    /// Skips nonces that somebody else has used, or this service before its database was restored. In that case items
    /// may have newer versions on the chain.
    pub(super) async fn raise_nonce(&self, used: u64, now: Timestamp) -> Result<()> {
        let due = {
            let state = self.state();
            let held = state.held.as_ref();
            held.filter(|held| held.next_nonce < to_i64(used)).map(|held| (held.lease, held.next_nonce))
        };
        let Some((lease, next)) = due else { return Ok(()) };
        tracing::warn!(
            next,
            used,
            "the chain has transactions of this account that are not ours: their nonces are skipped"
        );
        let done = catch_up(&*self.node, &self.db, self.contracts, now, |_| ()).await?;
        if !done.is_unchanged() {
            let CatchUpSummary { raised, again, ended, .. } = done;
            tracing::warn!(raised, again, ended, "the database was behind the chain, and has caught up");
        }
        // Only now: until then the next process does it.
        self.write(RaiseNonce { lease, to: to_i64(used) }).await?;
        if let Some(held) = self.state().under(lease) {
            held.next_nonce = held.next_nonce.max(to_i64(used));
        }
        Ok(())
    }

    /// Releases the lease, so that another process need not wait. Nothing is signed here afterwards.
    pub async fn release(&self) -> Result<()> {
        self.released.store(true, Ordering::Release);
        let orphaned_signers =
            std::mem::take(&mut *self.orphaned_signers.lock().unwrap_or_else(PoisonError::into_inner));
        let leases: Vec<Lease> = orphaned_signers
            .iter()
            .filter_map(|orphaned| orphaned.drop_lease())
            .chain(self.drop_lease())
            .collect();
        for lease in leases.into_iter().filter(|_| !self.settings.is_only_process) {
            self.db.write(ReleaseLease(lease)).await?;
        }
        Ok(())
    }

    fn drop_lease(&self) -> Option<Lease> {
        self.state().held.take().map(|held| held.lease)
    }
}

pub(super) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
