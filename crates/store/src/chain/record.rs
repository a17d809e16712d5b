//! Signing: rows, versions, nonce and the signed transaction in one transaction, so that nothing is ever
//! accepted that is not signed, and nothing signed that is not accepted.

use portico_domain::listings::Listing;
use portico_domain::{ErrorCode, ListingId, Timestamp};
use serde::{Deserialize, Serialize};

use super::batches::insert_batch;
use super::items::{DesiredItem, want};
use super::{Lease, Signed, Signer, Versioned, Word, word};
use crate::counters::{ChangeContext, record};
use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, sql};
use crate::{CreateListing, Error, IdempotencyKey, Result};

/// A listing that is to be stored here and on the chain.
#[derive(Debug)]
pub struct NewRecord {
    pub listing: Listing,
    /// What is wanted of it on the chain.
    pub wanted: DesiredItem,
    pub by: ChangeContext,
    /// The key under which it is done once.
    pub once: Option<IdempotencyKey>,
}

/// What a caller is told of a listing that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    pub id: ListingId,
    /// The hash of the transaction that carries it.
    pub hash: Word,
}

/// A batch that was signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedBatch {
    pub nonce: i64,
    /// What kind of items it carries.
    pub kind: i64,
    pub items: usize,
    pub signed: Signed,
}

/// Stores listings and signs one contract call for all of them.
#[derive(Debug)]
pub struct RecordListings {
    /// The listings; all of one kind of item.
    pub records: std::sync::Arc<[NewRecord]>,
    /// The right to sign.
    pub lease: Lease,
    pub signer: Signer,
    pub at: Timestamp,
}

/// What became of each listing, and the batch that carries those that were new.
pub type Recorded = (Vec<Result<Accepted, Refusal>>, Option<SignedBatch>);

/// Why one listing of several was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Something of that name is there already.
    Conflict(ErrorCode),
    /// The idempotency key was used with another request.
    KeyReused,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Conflict(code) => Self::Conflict(code),
            Refusal::KeyReused => Self::KeyReused,
        }
    }
}

enum Step {
    Refused(Refusal),
    Before(Accepted),
    /// The same request is in the group already, at this place, under the same key.
    Twin(usize),
    New,
}

impl Op for RecordListings {
    type Out = Recorded;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Recorded> {
        let nonce = self.lease.next_nonce(tx).await?;
        let mut items = Vec::with_capacity(self.records.len());
        let mut steps = Vec::with_capacity(self.records.len());
        for new in &*self.records {
            let step = match self.twin(new, &steps) {
                Some(step) => step,
                None => self.one(tx, new, nonce, &mut items).await?,
            };
            steps.push(step);
        }
        let Some(kind) = self.records.first().map(|new| new.wanted.kind).filter(|_| !items.is_empty()) else {
            self.lease.give_back(tx).await?;
            return Ok((self.answers(&steps, [0; 32]), None));
        };
        let signed = self.signer.sign(nonce, kind, &items)?;
        insert_batch(tx, (self.lease.signer, nonce), (kind, items.len()), &signed, self.at).await?;
        for (new, step) in self.records.iter().zip(&steps) {
            if let (Some(once), Step::New) = (&new.once, step) {
                once.keep(tx, &Accepted { id: new.listing.id.clone(), hash: signed.hash }).await?;
            }
        }
        let answers = self.answers(&steps, signed.hash);
        Ok((answers, Some(SignedBatch { nonce, kind, items: items.len(), signed })))
    }
}

impl RecordListings {
    /// What becomes of a listing whose key another one of this group has claimed: nothing is kept under it yet.
    fn twin(&self, new: &NewRecord, steps: &[Step]) -> Option<Step> {
        let once = new.once.as_ref()?;
        let earlier = self.records.iter().zip(steps).enumerate();
        let mut claims = earlier.filter_map(|(at, (other, step))| match step {
            Step::New => Some((at, other.once.as_ref()?)),
            _ => None,
        });
        let (at, claim) = claims.find(|(_, claim)| claim.scope == once.scope)?;
        let same = claim.fingerprint == once.fingerprint;
        Some(if same { Step::Twin(at) } else { Step::Refused(Refusal::KeyReused) })
    }

    /// Stores one listing, unless its key or its id was used before.
    async fn one<T: Tx>(
        &self,
        tx: &mut T,
        new: &NewRecord,
        nonce: i64,
        items: &mut Vec<Versioned>,
    ) -> Result<Step> {
        if let Some(once) = &new.once {
            match once.claim(tx).await {
                Ok(None) => {}
                Ok(Some(before)) => return Ok(Step::Before(before)),
                Err(Error::KeyReused) => return Ok(Step::Refused(Refusal::KeyReused)),
                Err(error) => return Err(error),
            }
        }
        match CreateListing::insert(tx, &new.listing, new.by.at).await {
            Ok(()) => {}
            Err(Error::Conflict(code)) => {
                if let Some(once) = &new.once {
                    once.release(tx).await?;
                }
                return Ok(Step::Refused(Refusal::Conflict(code)));
            }
            Err(error) => return Err(error),
        }
        recorded(tx, new).await?;
        let version = want(tx, &new.wanted, Some((self.lease.signer, nonce))).await?;
        items.push(Versioned { key: new.wanted.key, version, payload: new.wanted.payload.clone() });
        Ok(Step::New)
    }

    fn answers(&self, steps: &[Step], hash: Word) -> Vec<Result<Accepted, Refusal>> {
        let accepted = |new: &NewRecord| Accepted { id: new.listing.id.clone(), hash };
        let answer = |(new, step): (&NewRecord, &Step)| match step {
            Step::Refused(refusal) => Err(*refusal),
            Step::Before(accepted) => Ok(accepted.clone()),
            Step::New => Ok(accepted(new)),
            // Its own id may be another one, if it was made for the request.
            Step::Twin(at) => Ok(accepted(&self.records[*at])),
        };
        self.records.iter().zip(steps).map(answer).collect()
    }
}

/// Stores a listing and wants its record; whoever holds a signer signs it later.
#[derive(Debug)]
pub struct RecordLater(pub NewRecord);

impl Op for RecordLater {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let new = &self.0;
        CreateListing::insert(tx, &new.listing, new.by.at).await?;
        recorded(tx, new).await?;
        want(tx, &new.wanted, None).await.map(drop)
    }
}

/// The event and the totals of a listing that is recorded.
async fn recorded<T: Tx>(tx: &mut T, new: &NewRecord) -> Result<()> {
    let counts = [
        ("listings", "total", 1),
        ("listings.state", new.listing.state.as_str(), 1),
        ("listings", "on_chain", 1),
    ];
    record(tx, &new.by, "listing.recorded", new.listing.id.as_str(), &counts).await
}

static OLDEST: Sql = sql("SELECT kind, share FROM chain_items WHERE signer IS NULL AND failed = 0 \
     ORDER BY wanted_at LIMIT 1");
static WAITING: Sql = sql("SELECT key, version, payload FROM chain_items \
     WHERE signer IS NULL AND failed = 0 AND kind = ?1 AND share = ?2 ORDER BY wanted_at LIMIT ?3");
static CARRY: Sql = sql("UPDATE chain_items SET signer = ?4, nonce = ?5 \
     WHERE kind = ?1 AND key = ?2 AND version = ?3 AND signer IS NULL");

impl FromRow for Versioned {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { key: word(&c.get::<Vec<u8>>()?)?, version: c.get()?, payload: c.get()? })
    }
}

/// Signs one contract call for the items that have waited longest.
#[derive(Debug)]
pub struct SealWaiting {
    /// The right to sign.
    pub lease: Lease,
    pub signer: Signer,
    pub limit: i64,
    pub at: Timestamp,
}

impl Op for SealWaiting {
    type Out = Option<SignedBatch>;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<SignedBatch>> {
        let Some((kind, share)) = tx.one::<(i64, i64)>(&OLDEST, &[]).await? else { return Ok(None) };
        let limit = share.min(self.limit);
        let waiting: Vec<Versioned> = tx.rows(&WAITING, &[kind.into(), share.into(), limit.into()]).await?;
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
            // Another replica may have been quicker.
            if tx.exec(&CARRY, &params).await? > 0 {
                items.push(item);
            }
        }
        if items.is_empty() {
            self.lease.give_back(tx).await?;
            return Ok(None);
        }
        let signed = self.signer.sign(nonce, kind, &items)?;
        insert_batch(tx, (self.lease.signer, nonce), (kind, items.len()), &signed, self.at).await?;
        Ok(Some(SignedBatch { nonce, kind, items: items.len(), signed }))
    }
}
