//! Committing: rows, versions, nonce and signature in one transaction of the database.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use portico_domain::Timestamp;
use portico_store::chain::{
    Accepted, Heartbeat, Lease, NewRecord, RecordListings, Recorded, Refusal, SealWaiting,
};
use portico_store::sql::{Op, Tx};

use super::engine::Engine;
use super::{Step, lease::to_i64};
use crate::node::Node;
use crate::{Error, Result};

/// A group that is durable in the database.
#[derive(Debug)]
pub struct Committed {
    /// What became of each record.
    pub answers: Vec<Result<Accepted, Refusal>>,
    /// The nonce of the batch that carries the new ones.
    pub nonce: Option<i64>,
}

/// Work whose outcome is kept beside, for when the answer to the commit gets lost.
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

/// How long to wait before a database that does not answer is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(200);

/// The most items of any kind that go into one transaction of 2^24 gas, the cap of newer networks.
const SEALED_AT_ONCE: usize = 128;

impl<N: Node> Engine<N> {
    /// Stores a group of listings and signs one call for them. When this answers, both are durable.
    pub async fn commit(&self, records: Arc<[NewRecord]>, now: Timestamp) -> Result<Committed> {
        if self.unmined_items() > to_i64(self.settings.backlog as u64) {
            return Err(Error::Busy);
        }
        let (lease, signer) = self.signing()?;
        let note = Arc::default();
        let op = RecordListings { records, lease, signer: Arc::new(signer), at: now };
        let noted = CapturedOutcome { op, note: Arc::clone(&note) };
        let (answers, batch) = match self.write_under(lease, noted).await {
            Ok(recorded) => recorded,
            // Nobody knows whether it was committed: that is found out before anything else is signed.
            Err(Error::Store(portico_store::Error::Unavailable(why)) | Error::Unreachable(why)) => {
                let noted = note.lock().unwrap_or_else(PoisonError::into_inner).take();
                self.recall(lease, noted, why).await?
            }
            Err(error) => return Err(error),
        };
        let nonce = batch.as_ref().map(|batch| batch.nonce);
        if let Some(batch) = batch {
            self.remember(lease, batch);
        }
        Ok(Committed { answers, nonce })
    }

    /// Reads back whether a commit happened whose answer was lost.
    async fn recall(&self, lease: Lease, noted: Option<Recorded>, why: String) -> Result<Recorded> {
        let unavailable = || Error::Store(portico_store::Error::Unavailable(why.clone()));
        // Without a batch there is nothing to find it by, and what the answers rest on may have been undone.
        let Some((answers, Some(batch))) = noted else { return Err(unavailable()) };
        loop {
            // The same row is written, so that a commit which is still under way has ended before it is read.
            let found = match self.db.write(Heartbeat(lease)).await {
                Ok(_) => self.db.chain_attempt(&batch.signed.hash).await,
                Err(error) => Err(error),
            };
            match found {
                Ok(Some(_)) => return Ok((answers, Some(batch))),
                Ok(None) => return Err(unavailable()),
                Err(error) => {
                    tracing::warn!(%error, "waiting for the database to say what became of a commit");
                    tokio::time::sleep(ASK_AGAIN).await;
                }
            }
        }
    }

    /// Signs one batch of the items that wait longest; tells whether there was one.
    pub async fn seal(&self, now: Timestamp) -> Result<bool> {
        let (lease, signer) = self.signing()?;
        let limit = to_i64(self.settings.batch.min(SEALED_AT_ONCE) as u64);
        let note = Arc::default();
        let op = SealWaiting { lease, signer: Arc::new(signer), limit, at: now };
        let noted = CapturedOutcome { op, note: Arc::clone(&note) };
        let batch = match self.write_under(lease, noted).await {
            Ok(batch) => batch,
            Err(Error::Store(portico_store::Error::Unavailable(why)) | Error::Unreachable(why)) => {
                let noted = note.lock().unwrap_or_else(PoisonError::into_inner).take();
                self.recall(lease, noted.map(|batch| (Vec::new(), batch)), why).await?.1
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
        self.watch.at(Step::Sending)?;
        let sent = self.node.send(&attempt.raw).await;
        self.watch.at(Step::Sent)?;
        if let Err(Error::Refused(why)) = &sent {
            tracing::warn!(nonce, why, "the node refused a transaction; it is sent again later");
            self.memory().trouble = Some(why.clone());
        }
        self.with_open(lease, nonce, |open| match &sent {
            // Without those before it, it is sent again as soon as they are.
            Ok(Sent::Gap) => open.sent = None,
            Ok(Sent::Underpriced) => (open.sent, open.underpriced) = (Some(now), true),
            Ok(Sent::Accepted | Sent::Known) => {
                self.given.fetch_add(u64::from(open.sent.replace(now).is_none()), Ordering::AcqRel);
            }
            // Whatever it is, paying more would not help: a signer without funds would only become poorer.
            Err(Error::Refused(_)) => (open.sent, open.next_since) = (Some(now), None),
            Err(_) => {}
        });
        match sent {
            Err(Error::Refused(_)) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
