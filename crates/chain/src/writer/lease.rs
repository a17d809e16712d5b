//! The right to sign: taken, kept and inherited.

use alloy_primitives::Address;
use portico_domain::Timestamp;
use portico_store::chain::{Beat, RaiseNonce, SignerRow, TakeLease};

use super::engine::{Engine, Held, micros, since};
use crate::node::Node;
use crate::signer::Key;
use crate::{Error, Result};

impl<N: Node> Engine<N> {
    /// Makes sure that this process may sign for one of its accounts, if one is free; tells whether it may.
    ///
    /// A holder shows that it lives by counting. Whoever has watched a count stand still for long enough takes
    /// the lease; should the old holder live after all, its epoch is over and it cannot sign.
    pub async fn hold(&self, now: Timestamp) -> Result<bool> {
        if self.memory().held.is_some() {
            return self.keep(now).await;
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

    /// Whether nobody seems to hold the lease.
    fn is_free(&self, address: Address, row: Option<&SignerRow>, now: Timestamp) -> bool {
        let Some(row) = row else { return true };
        if self.settings.alone || row.epoch == 0 || row.beat < 0 {
            return true;
        }
        let seen = (row.epoch, row.beat);
        let mut memory = self.memory();
        let (before, at) = *memory.others.entry(address).or_insert((seen, now));
        if before != seen {
            memory.others.insert(address, (seen, now));
            return false;
        }
        since(at, now) >= micros(self.settings.patience)
    }

    async fn take(&self, key: &Key, row: Option<&SignerRow>, now: Timestamp) -> Result<bool> {
        // An account may have a past from before this database.
        let first_nonce = match row {
            Some(row) => row.next_nonce,
            None => to_i64(self.node.nonce(key.address()).await?),
        };
        let seen = row.map_or((0, 0), |row| (row.epoch, row.beat));
        let take = TakeLease { address: key.address().0.0, seen, first_nonce };
        let Some(row) = self.write(take).await? else { return Ok(false) };
        let open = self.db.open_batches(row.id).await?;
        let held = Held {
            lease: portico_store::chain::Lease { signer: row.id, epoch: row.epoch },
            key: key.clone(),
            next_nonce: row.next_nonce,
            open: open.into_iter().map(|batch| (batch.nonce, batch.into())).collect(),
            gap_since: None,
            beat_at: now,
        };
        tracing::info!(signer = %key.address(), epoch = row.epoch, open = held.open.len(), "signing for this account");
        self.memory().held = Some(held);
        Ok(true)
    }

    /// Counts on, from time to time.
    async fn keep(&self, now: Timestamp) -> Result<bool> {
        let due = {
            let mut memory = self.memory();
            let held = memory.held.as_mut().filter(|_| !self.settings.alone);
            held.filter(|held| since(held.beat_at, now) >= micros(self.settings.patience) / 5).map(|held| {
                held.beat_at = now;
                held.lease
            })
        };
        let Some(lease) = due else { return Ok(true) };
        let holds = self.write(Beat(lease)).await?;
        if !holds {
            tracing::warn!("another process has taken the signer");
            self.memory().held = None;
        }
        Ok(holds)
    }

    /// Skips nonces that somebody else has used.
    pub(super) async fn raise_nonce(&self, used: u64) -> Result<()> {
        let due = {
            let memory = self.memory();
            let held = memory.held.as_ref();
            held.filter(|held| held.next_nonce < to_i64(used)).map(|held| (held.lease, held.next_nonce))
        };
        let Some((lease, next)) = due else { return Ok(()) };
        tracing::warn!(next, used, "the chain has transactions of this account that are not ours: their nonces are skipped");
        self.write(RaiseNonce { lease, to: to_i64(used) }).await?;
        if let Some(held) = &mut self.memory().held {
            held.next_nonce = held.next_nonce.max(to_i64(used));
        }
        Ok(())
    }

    /// Gives the lease back, so that another process need not wait.
    pub async fn release(&self) -> Result<()> {
        let lease = self.memory().held.take().map(|held| held.lease);
        match lease {
            Some(lease) if !self.settings.alone => {
                self.db.write(portico_store::chain::ReleaseLease(lease)).await.map_err(Error::from)
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
