//! Commits rows, versions, nonce and signature in one database transaction.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::B256;
use portico_domain::Timestamp;
use portico_store::chain::{
    AcceptedListing, Heartbeat, Lease, NewRecord, RecordListings, Recorded, Refusal, SealWaiting,
};
use portico_store::sql::{Op, Tx};

use super::engine::Engine;
use super::{Failpoint, lease::to_i64};
use crate::node::Node;
use crate::{Error, Result};

/// A group that is durable in the database.
#[derive(Debug)]
pub struct CommittedGroup {
    /// One per record.
    pub answers: Vec<Result<AcceptedListing, Refusal>>,
    /// The nonce of the batch with the new records.
    pub nonce: Option<i64>,
}

/// Captures the outcome of the work, in case the reply to the commit is lost.
#[derive(Debug)]
struct CapturedOutcome<O: Op> {
    op: O,
    note: Arc<Mutex<Option<O::Out>>>,
}

impl<O: Op<Out: Clone>> Op for CapturedOutcome<O> {
    type Out = O::Out;
    async fn run<T: Tx>(&self, tx: &mut T) -> portico_store::Result<O::Out> {
        let out = self.op.run(tx).await?;
        *self.note.lock().unwrap_or_else(PoisonError::into_inner) = Some(out.clone());
        Ok(out)
    }
}

const RETRY_DELAY: Duration = Duration::from_millis(200);

/// The most items of any kind that fit one transaction of 2^24 gas, the cap of newer networks.
const MAX_SEALED_ITEMS: usize = 128;

impl<N: Node> Engine<N> {
    /// Stores a group of listings and signs one call for them. Both are durable when this returns.
    pub async fn commit(&self, records: Arc<[NewRecord]>, now: Timestamp) -> Result<CommittedGroup> {
        if self.unmined_items() > to_i64(self.settings.backlog as u64) {
            return Err(Error::Busy);
        }
        let (lease, signer) = self.signing()?;
        let note = Arc::default();
        let op = RecordListings {
            records,
            max_waiting_per_payer: to_i64(self.settings.max_waiting_per_payer as u64),
            waiting: self.unmined_by_payer(),
            lease,
            signer: Arc::new(signer),
            at: now,
        };
        let captured = CapturedOutcome { op, note: Arc::clone(&note) };
        let (answers, batch) = match self.write_under(lease, captured).await {
            Ok(recorded) => recorded,
            // The commit's outcome is unknown: find it out before anything else is signed.
            Err(Error::Store(portico_store::Error::Unavailable(why)) | Error::Unreachable(why)) => {
                let captured = note.lock().unwrap_or_else(PoisonError::into_inner).take();
                self.resolve_lost_commit(lease, captured, why).await?
            }
            Err(error) => return Err(error),
        };
        let nonce = batch.as_ref().map(|batch| batch.nonce);
        if let Some(batch) = batch {
            self.remember(lease, batch);
        }
        Ok(CommittedGroup { answers, nonce })
    }

    /// Reads back whether a commit with a lost reply happened.
    async fn resolve_lost_commit(
        &self,
        lease: Lease,
        captured: Option<Recorded>,
        why: String,
    ) -> Result<Recorded> {
        let unavailable = || Error::Store(portico_store::Error::Unavailable(why.clone()));
        // Without a batch nothing identifies the commit, and the answers may depend on rolled-back rows.
        let Some((answers, Some(batch))) = captured else { return Err(unavailable()) };
        loop {
            // Writes the same row, so that a commit that is still running ends before the read.
            let found = match self.db.write(Heartbeat(lease)).await {
                Ok(_) => self.db.chain_attempt(&batch.signed.hash).await,
                Err(error) => Err(error),
            };
            match found {
                Ok(Some(_)) => return Ok((answers, Some(batch))),
                Ok(None) => return Err(unavailable()),
                Err(error) => {
                    tracing::warn!(%error, "waiting for the database: the outcome of a commit is unknown");
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        }
    }

    /// Signs one batch of the oldest waiting items; returns whether there were any.
    pub async fn seal(&self, now: Timestamp) -> Result<bool> {
        let (lease, signer) = self.signing()?;
        let limit = to_i64(self.settings.batch.min(MAX_SEALED_ITEMS) as u64);
        let note = Arc::default();
        let op = SealWaiting { lease, signer: Arc::new(signer), limit, at: now };
        let captured = CapturedOutcome { op, note: Arc::clone(&note) };
        let batch = match self.write_under(lease, captured).await {
            Ok(batch) => batch,
            Err(Error::Store(portico_store::Error::Unavailable(why)) | Error::Unreachable(why)) => {
                let captured = note.lock().unwrap_or_else(PoisonError::into_inner).take();
                self.resolve_lost_commit(lease, captured.map(|batch| (Vec::new(), batch)), why).await?.1
            }
            Err(error) => return Err(error),
        };
        let sealed = batch.is_some();
        if let Some(batch) = batch {
            self.remember(lease, batch);
        }
        Ok(sealed)
    }

    /// Sends the newest attempt at a nonce.
    pub async fn send(&self, nonce: i64, now: Timestamp) -> Result<()> {
        match self.lease() {
            Some(lease) => self.send_under(lease, nonce, now).await,
            None => Ok(()),
        }
    }

    pub(super) async fn send_under(&self, lease: Lease, nonce: i64, now: Timestamp) -> Result<()> {
        use crate::node::Sent;
        let newest = self.with_open(lease, nonce, |open| open.newest().cloned());
        let Some(Some(attempt)) = newest else { return Ok(()) };
        self.failpoints.at(Failpoint::Sending)?;
        let sent = self.node.send(&attempt.raw).await;
        self.failpoints.at(Failpoint::Sent)?;
        let (transaction, is_taken) = (B256::from(attempt.hash), sent.is_ok());
        tracing::debug!(nonce, %transaction, is_taken, "a transaction is sent");
        if let Err(Error::Refused(why)) = &sent {
            tracing::warn!(nonce, why, "the node refused a transaction; it is sent again later");
        }
        self.with_open(lease, nonce, |open| match &sent {
            // Is sent again as soon as the earlier nonces are.
            Ok(Sent::Gap) => open.sent = None,
            Ok(Sent::Underpriced) => (open.sent, open.underpriced) = (Some(now), true),
            Ok(Sent::Accepted | Sent::Known) => {
                self.first_sends.fetch_add(u64::from(open.sent.replace(now).is_none()), Ordering::AcqRel);
            }
            // Paying more would not help: a signer without funds would only get poorer.
            Err(Error::Refused(_)) => (open.sent, open.next_since) = (Some(now), None),
            Err(_) => {}
        });
        match sent {
            Err(Error::Refused(_)) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
