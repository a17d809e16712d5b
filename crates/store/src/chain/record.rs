//! Signing: rows, versions, nonce and signed transaction in one database transaction, so that everything that is
//! accepted is signed and vice versa.

use portico_domain::listings::Listing;
use portico_domain::{ErrorCode, ListingId, Quota, Timestamp};
use portico_records::{DesiredItem, ItemKind};
use serde::{Deserialize, Serialize};

use super::batches::{Payers, SignedBatch, insert_batch};
use super::items::put_item;
use super::signers::Lease;
use super::signing::{Signer, VersionedItem};
use crate::budgets::Budget;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, select, sql, statements};
use crate::engine::word::Word;
use crate::idempotency::IdempotencyClaim;
use crate::listings::create::CreateListing;

#[derive(Debug)]
pub struct NewRecord {
    pub listing: Listing,
    pub desired: DesiredItem,
    pub by: ChangeContext,
    pub idempotency_key: Option<IdempotencyClaim>,
    pub budget: Budget,
    /// Digest of the account whose share of the waiting listings is charged; `None`: no account.
    pub payer: Option<Word>,
}

/// The response for an accepted listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedListing {
    pub id: ListingId,
    pub hash: Word,
}

/// Stores listings and signs one contract call for all of them.
#[derive(Debug)]
pub struct RecordListings {
    /// All items have the same kind.
    pub records: std::sync::Arc<[NewRecord]>,
    /// How many listings each payer may have waiting, and how many are.
    pub max_waiting_per_payer: i64,
    pub waiting: Payers,
    pub lease: Lease,
    pub signer: Signer,
    pub at: Timestamp,
}

/// The result for each listing, and the batch with the new ones.
pub type Recorded = (Vec<Result<AcceptedListing, Refusal>>, Option<SignedBatch>);

/// Why one listing of a group was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The id is taken.
    Conflict(ErrorCode),
    KeyReused,
    OverQuota(Quota),
    /// The payer's share of the waiting listings is full.
    TooManyWaiting,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Conflict(code) => Self::Conflict(code),
            Refusal::KeyReused => Self::KeyReused,
            Refusal::OverQuota(quota) => Self::OverQuota(quota),
            Refusal::TooManyWaiting => Self::TooMany(ErrorCode::TooManyWaiting),
        }
    }
}

enum RecordOutcome {
    Refused(Refusal),
    Replayed(AcceptedListing),
    /// The same request is already in the group, at this index, under the same key.
    Duplicate(usize),
    New,
}

impl Op for RecordListings {
    type Out = Recorded;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Recorded> {
        let nonce = self.lease.next_nonce(tx).await?;
        let mut items = Vec::with_capacity(self.records.len());
        let mut outcomes = Vec::with_capacity(self.records.len());
        let mut payers = Payers::default();
        for new in &*self.records {
            let outcome = match self.duplicate(new, &outcomes) {
                Some(outcome) => outcome,
                None => {
                    let waiting = self.waiting.of(new.payer) + payers.of(new.payer);
                    self.one(tx, new, nonce, waiting, &mut items).await?
                }
            };
            if let RecordOutcome::New = outcome {
                payers.add(new.payer);
            }
            outcomes.push(outcome);
        }
        let Some(kind) = self.records.first().map(|new| new.desired.kind).filter(|_| !items.is_empty())
        else {
            self.lease.return_nonce(tx).await?;
            return Ok((self.answers(&outcomes, [0; 32]), None));
        };
        let signed = self.signer.sign(nonce, kind, &items)?;
        let batch = SignedBatch { nonce, kind: Some(kind), items: items.len(), payers, signed };
        insert_batch(tx, self.lease.signer, &batch, self.at).await?;
        for (new, outcome) in self.records.iter().zip(&outcomes) {
            if let (Some(idempotency_key), RecordOutcome::New) = (&new.idempotency_key, outcome) {
                idempotency_key
                    .keep(tx, &AcceptedListing { id: new.listing.id.clone(), hash: batch.signed.hash })
                    .await?;
            }
        }
        let answers = self.answers(&outcomes, batch.signed.hash);
        Ok((answers, Some(batch)))
    }
}

impl RecordListings {
    /// The outcome of a listing whose key another one of this group has claimed; its reply is not stored yet.
    fn duplicate(&self, new: &NewRecord, outcomes: &[RecordOutcome]) -> Option<RecordOutcome> {
        let idempotency_key = new.idempotency_key.as_ref()?;
        let earlier = self.records.iter().zip(outcomes).enumerate();
        let mut claims = earlier.filter_map(|(at, (other, outcome))| match outcome {
            RecordOutcome::New => Some((at, other.idempotency_key.as_ref()?)),
            _ => None,
        });
        let (at, claim) = claims.find(|(_, claim)| claim.scope == idempotency_key.scope)?;
        let same = claim.fingerprint == idempotency_key.fingerprint;
        Some(if same { RecordOutcome::Duplicate(at) } else { RecordOutcome::Refused(Refusal::KeyReused) })
    }

    /// Stores one listing, unless its key or its id was used before.
    async fn one<T: Tx>(
        &self,
        tx: &mut T,
        new: &NewRecord,
        nonce: i64,
        waiting: i64,
        items: &mut Vec<VersionedItem>,
    ) -> Result<RecordOutcome> {
        if let Some(idempotency_key) = &new.idempotency_key {
            match idempotency_key.claim(tx).await {
                Ok(None) => {}
                Ok(Some(before)) => return Ok(RecordOutcome::Replayed(before)),
                Err(Error::KeyReused) => return Ok(RecordOutcome::Refused(Refusal::KeyReused)),
                Err(error) => return Err(error),
            }
        }
        if let Some(refusal) = self.insert(tx, new, waiting).await? {
            if let Some(idempotency_key) = &new.idempotency_key {
                idempotency_key.release(tx).await?;
            }
            return Ok(RecordOutcome::Refused(refusal));
        }
        recorded(tx, new).await?;
        let version = put_item(tx, &new.desired, Some((self.lease.signer, nonce))).await?;
        items.push(VersionedItem { key: new.desired.key, version, payload: new.desired.payload.clone() });
        Ok(RecordOutcome::New)
    }

    async fn insert<T: Tx>(&self, tx: &mut T, new: &NewRecord, waiting: i64) -> Result<Option<Refusal>> {
        if new.payer.is_some() && waiting >= self.max_waiting_per_payer {
            return Ok(Some(Refusal::TooManyWaiting));
        }
        if let Some(quota) = new.budget.try_take(tx, 1).await? {
            return Ok(Some(Refusal::OverQuota(quota)));
        }
        match CreateListing::insert(tx, &new.listing, new.by.at).await {
            Ok(()) => Ok(None),
            Err(Error::Conflict(code)) => {
                new.budget.give_back(tx, 1).await?;
                Ok(Some(Refusal::Conflict(code)))
            }
            Err(error) => Err(error),
        }
    }

    fn answers(&self, outcomes: &[RecordOutcome], hash: Word) -> Vec<Result<AcceptedListing, Refusal>> {
        let accepted = |new: &NewRecord| AcceptedListing { id: new.listing.id.clone(), hash };
        let answer = |(new, outcome): (&NewRecord, &RecordOutcome)| match outcome {
            RecordOutcome::Refused(refusal) => Err(*refusal),
            RecordOutcome::Replayed(accepted) => Ok(accepted.clone()),
            RecordOutcome::New => Ok(accepted(new)),
            // Uses the first record's id: the server may have generated another one for this request.
            RecordOutcome::Duplicate(at) => Ok(accepted(&self.records[*at])),
        };
        self.records.iter().zip(outcomes).map(answer).collect()
    }
}

/// Stores a listing and queues its item; the holder of a lease signs it later.
#[derive(Debug)]
pub struct QueueRecord(pub NewRecord);

impl Op for QueueRecord {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let new = &self.0;
        CreateListing::insert(tx, &new.listing, new.by.at).await?;
        recorded(tx, new).await?;
        put_item(tx, &new.desired, None).await.map(drop)
    }
}

/// Writes the event and totals.
async fn recorded<T: Tx>(tx: &mut T, new: &NewRecord) -> Result<()> {
    let counts = [
        ("listings", "total", 1),
        ("listings.state", new.listing.state.as_str(), 1),
        ("listings", "on_chain", 1),
    ];
    record(tx, &new.by, "listing.recorded", new.listing.id.as_str(), &counts).await
}

static NEXT: Sql = sql("SELECT kind, max_batch FROM chain_items \
     WHERE signer IS NULL AND rejected = 0 AND due_at <= ?1 ORDER BY max_batch DESC, wanted_at LIMIT 1");
static WAITING: Sql = select::<VersionedItem>(
    "SELECT {columns} FROM chain_items \
     WHERE signer IS NULL AND rejected = 0 AND kind = ?1 AND max_batch = ?2 AND due_at <= ?4 \
     ORDER BY wanted_at, key LIMIT ?3",
);
static CARRY: Sql = sql("UPDATE chain_items SET signer = ?4, nonce = ?5 \
     WHERE kind = ?1 AND key = ?2 AND version = ?3 AND signer IS NULL");

/// Signs one contract call for the oldest items that are due. Among items of one moment the order is that of their keys,
/// which says nothing about whose they are.
#[derive(Debug)]
pub struct SealWaiting {
    pub lease: Lease,
    pub signer: Signer,
    pub limit: i64,
    pub at: Timestamp,
}

impl Op for SealWaiting {
    type Out = Option<SignedBatch>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<SignedBatch>> {
        let Some((kind, max_batch)) = tx.one::<(ItemKind, i64)>(&NEXT, &[self.at.into()]).await? else {
            return Ok(None);
        };
        let limit = max_batch.min(self.limit);
        let waiting: Vec<VersionedItem> =
            tx.rows(&WAITING, &[kind.into(), max_batch.into(), limit.into(), self.at.into()]).await?;
        let nonce = self.lease.next_nonce(tx).await?;
        let mut items = Vec::with_capacity(waiting.len());
        for item in waiting {
            let params = [
                kind.into(),
                item.key.as_slice().into(),
                item.version.into(),
                self.lease.signer.into(),
                nonce.into(),
            ];
            // Another replica may have been faster.
            if tx.exec(&CARRY, &params).await? > 0 {
                items.push(item);
            }
        }
        if items.is_empty() {
            self.lease.return_nonce(tx).await?;
            return Ok(None);
        }
        let signed = self.signer.sign(nonce, kind, &items)?;
        for VersionedItem { key, version, .. } in &items {
            let (key, transaction) = (hex::encode_prefixed(key), hex::encode_prefixed(signed.hash));
            tracing::debug!(
                kind = kind.contract(),
                key,
                version,
                nonce,
                transaction,
                "a chain item is signed"
            );
        }
        // What waited for a nonce has no payer: only new listings are bounded by shares.
        let batch =
            SignedBatch { nonce, kind: Some(kind), items: items.len(), payers: Payers::default(), signed };
        insert_batch(tx, self.lease.signer, &batch, self.at).await?;
        Ok(Some(batch))
    }
}

statements! { NEXT, WAITING, CARRY }
