//! Submitting applications.

use portico_domain::applications::ApplicationStatus;
use portico_domain::{ApplicationId, CaseId, ErrorCode, ListingId, Timestamp, UserId};

use super::stored::visible_to_owner;
use crate::budgets::Budget;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::creation_number::creation_number;
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, dialects, params, sql, statements};
use crate::engine::word::Word;
use crate::keystore::store::PersonId;
use crate::listings::edit::ListingVersion;
use crate::screening::lifetimes::Lifetime;

/// Applications per person, in any status.
const MAX_APPLICATIONS: i64 = 10_000;

/// An application that is not stored yet.
#[derive(Debug, Clone)]
pub struct NewApplication {
    pub id: ApplicationId,
    pub listing: i64,
    pub status: ApplicationStatus,
    /// Digests under the person's key: of the owner's account, and of that with the terms.
    pub owner: Word,
    pub terms: Word,
    /// Of the record on the chain: random bytes.
    pub chain_key: Word,
    /// Sealed.
    pub document: Vec<u8>,
    pub created_at: Timestamp,
}

static INSERT: Sql = sql("INSERT INTO applications (seq, id, person, listing, status, version, generation, \
     computed, owner, terms, chain_key, document, created_at) VALUES (?1, ?2, ?3, ?4, ?5, 1, 1, 0, ?6, ?7, ?8, ?9, ?10) \
     ON CONFLICT (person, listing) WHERE status = 'submitted' DO NOTHING");

/// False: the person has an open application to this listing.
async fn insert<T: Tx>(tx: &mut T, person: &PersonId, new: &NewApplication) -> Result<bool> {
    let params = params![
        creation_number(tx).await?,
        &new.id,
        person,
        new.listing,
        new.status.name(),
        &new.owner[..],
        &new.terms[..],
        &new.chain_key[..],
        &new.document[..],
        new.created_at
    ];
    Ok(tx.exec(&INSERT, &params).await? > 0)
}

/// One listing of a submission.
#[derive(Debug)]
pub struct ListingSubmission {
    pub listing: ListingId,
    /// With the state of the listing that it was made from; `None`: the listing does not exist.
    pub new: Option<(NewApplication, ListingVersion)>,
    /// Why no new application can be made. An open one is kept in any case.
    pub refusal: Option<ErrorCode>,
}

/// Submits applications, all or none. Listings with an open application are skipped.
#[derive(Debug)]
pub struct SubmitApplications {
    pub user: UserId,
    pub person: PersonId,
    pub lifetime: Lifetime,
    pub wanted: Vec<ListingSubmission>,
    /// Pays a record for each new application.
    pub budget: Budget,
    pub by: ChangeContext,
}

static COUNT: Sql =
    sql("SELECT count(*) FROM (SELECT 1 FROM applications WHERE person = ?1 LIMIT ?2) AS submitted");
// Locks the listing until this transaction ends, so that deleting it also closes the application made here.
static LOCK_LISTING: Sql = dialects(
    "SELECT seq, version FROM listings WHERE id = ?1",
    "SELECT seq, version FROM listings WHERE id = ?1 FOR SHARE",
);
static OPEN: Sql =
    sql("SELECT id FROM applications WHERE person = ?1 AND listing = ?2 AND status = 'submitted'");

/// Earlier applications to the listing stop sharing: only the newest one has flags.
static SUPERSEDE: Sql = sql(concat!(
    "UPDATE applications SET generation = generation + 1 WHERE person = ?1 AND listing = ?2 AND id <> ?3 AND ",
    visible_to_owner!()
));
/// Locks the person's cases until this transaction ends: a result that is being stored comes before this, and has the
/// reports of what is submitted here extended, or after it.
static LOCK_CASES: Sql = dialects(
    "SELECT id FROM cases WHERE user_id = ?1 AND false",
    "SELECT id FROM cases WHERE user_id = ?1 ORDER BY id FOR SHARE",
);

impl Op for SubmitApplications {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        self.lifetime.check(tx).await?;
        tx.rows::<(CaseId,)>(&LOCK_CASES, &[(&self.user).into()]).await?;
        let limit = MAX_APPLICATIONS + 1;
        let count = tx.one::<(i64,)>(&COUNT, &[(&self.person).into(), limit.into()]).await?;
        let before = count.map_or(0, |(count,)| count);
        let mut submitted = before;
        let (mut unknown, mut listings) = (Vec::new(), Vec::with_capacity(self.wanted.len()));
        for (index, wanted) in self.wanted.iter().enumerate() {
            match tx.one::<(i64, i64)>(&LOCK_LISTING, &[(&wanted.listing).into()]).await? {
                Some((seq, version)) => listings.push(ListingVersion { seq, version }),
                None => unknown.push(index),
            }
        }
        if !unknown.is_empty() {
            return Err(Error::UnknownListings(unknown));
        }
        for (wanted, listing) in self.wanted.iter().zip(listings) {
            let open = [(&self.person).into(), listing.seq.into()];
            if tx.one::<(ApplicationId,)>(&OPEN, &open).await?.is_some() {
                continue;
            }
            // The listing was edited or replaced after it was read.
            let Some((new, _)) = wanted.new.as_ref().filter(|(_, seen)| *seen == listing) else {
                return Err(Error::Outdated);
            };
            if let Some(refusal) = wanted.refusal {
                return Err(Error::Conflict(refusal));
            }
            if !insert(tx, &self.person, new).await? {
                continue;
            }
            tx.exec(&SUPERSEDE, &[(&self.person).into(), listing.seq.into(), (&new.id).into()]).await?;
            submitted += 1;
            if submitted > MAX_APPLICATIONS {
                return Err(Error::Conflict(ErrorCode::TooManyApplications));
            }
            record(tx, &self.by, "application.made", new.id.as_str(), &[("applications", "total", 1)])
                .await?;
        }
        self.budget.take(tx, submitted - before).await
    }
}

statements! { INSERT, COUNT, LOCK_LISTING, OPEN, SUPERSEDE, LOCK_CASES }
