//! Applications of users to listings, in the order of applying.

use portico_domain::applications::{Applicant, Application};
use portico_domain::{ErrorCode, ListingId, Timestamp, UserId};

use crate::chain::{DesiredItem, Word, retire, word};
use crate::counters::{ChangeContext, record};
use crate::page::{Cursor, Page};
use crate::screening::add_intent;
use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, dialects, sql};
use crate::{Db, Error, Result};

/// Per user.
const MAX_APPLICATIONS: i64 = 10_000;

static COUNT: Sql =
    sql("SELECT count(*) FROM (SELECT 1 FROM applications WHERE user_id = ?1 LIMIT ?2) AS applied");
// Locks the listing until this transaction ends, so that deleting it also ends the application made here.
static LOCK_LISTING: Sql =
    dialects("SELECT seq FROM listings WHERE id = ?1", "SELECT seq FROM listings WHERE id = ?1 FOR SHARE");
static INSERT: Sql =
    sql("INSERT INTO applications (seq, user_id, listing_id, created_at) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (user_id, listing_id) DO NOTHING");
static OF_USER: Sql = sql("SELECT listing_id FROM applications WHERE user_id = ?1 ORDER BY seq");
static APPLICATIONS: Sql = sql(
    "SELECT listing_id, created_at, seq, seq FROM applications WHERE user_id = ?3 AND seq > ?1 ORDER BY seq LIMIT ?2",
);
static APPLICANTS: Sql = sql(
    "SELECT user_id, created_at, seq, seq FROM applications WHERE listing_id = ?3 AND seq > ?1 ORDER BY seq LIMIT ?2",
);

/// Applying twice changes nothing. All or nothing: if one listing does not exist, none is added.
#[derive(Debug)]
pub struct Apply {
    pub user: UserId,
    pub listings: Vec<ListingId>,
    pub by: ChangeContext,
}

impl Op for Apply {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let limit = MAX_APPLICATIONS + 1;
        let count = tx.one::<(i64,)>(&COUNT, &[(&self.user).into(), limit.into()]).await?;
        let mut applied = count.map_or(0, |(count,)| count);
        let mut unknown = Vec::new();
        for (place, listing) in self.listings.iter().enumerate() {
            if tx.one::<(i64,)>(&LOCK_LISTING, &[listing.into()]).await?.is_none() {
                unknown.push(place);
            }
        }
        if !unknown.is_empty() {
            return Err(Error::UnknownListings(unknown));
        }
        for listing in &self.listings {
            let params = [tx.seq(), (&self.user).into(), listing.into(), self.by.at.into()];
            if tx.exec(&INSERT, &params).await? == 0 {
                continue;
            }
            applied += 1;
            if applied > MAX_APPLICATIONS {
                return Err(Error::Conflict(ErrorCode::TooManyApplications));
            }
            record(tx, &self.by, "application.made", listing.as_str(), &[("applications", "total", 1)])
                .await?;
            add_intent(tx, &self.user, listing).await?;
        }
        Ok(())
    }
}

/// Builds the chain item that clears the flags of an ended application, from the listing and the applicant's
/// reference.
pub type ClearFlags = fn(&ListingId, &Word, Timestamp) -> DesiredItem;

static END: Sql = sql("DELETE FROM applications WHERE listing_id = ?1 RETURNING user_id");
static END_INTENTS: Sql = sql("DELETE FROM attestations WHERE listing_id = ?1");
static REFERENCE: Sql = sql("SELECT reference FROM chain_references WHERE user_id = ?1");

/// Ends every application to a listing and clears their flags on the chain, so that a later listing with the same id
/// inherits nothing.
pub(crate) async fn end_applications<T: Tx>(
    tx: &mut T,
    listing: &ListingId,
    clear: ClearFlags,
    by: &ChangeContext,
) -> Result<()> {
    let applicants: Vec<(UserId,)> = tx.rows(&END, &[listing.into()]).await?;
    tx.exec(&END_INTENTS, &[listing.into()]).await?;
    for (user,) in applicants {
        let reference: Option<(Vec<u8>,)> = tx.one(&REFERENCE, &[(&user).into()]).await?;
        if let Some((reference,)) = reference {
            retire(tx, &clear(listing, &word(&reference)?, by.at)).await?;
        }
        record(tx, by, "application.ended", listing.as_str(), &[("applications", "total", -1)]).await?;
    }
    Ok(())
}

static IS_LISTED: Sql = sql("SELECT seq FROM listings WHERE id = ?1");

/// Versions before 0.2 left such applications behind.
#[derive(Debug)]
pub struct EndOrphanedApplications {
    pub listing: ListingId,
    pub clear: ClearFlags,
    pub by: ChangeContext,
}

impl Op for EndOrphanedApplications {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        if tx.one::<(i64,)>(&IS_LISTED, &[(&self.listing).into()]).await?.is_some() {
            return Ok(());
        }
        end_applications(tx, &self.listing, self.clear, &self.by).await
    }
}

static ORPHANED: Sql = sql("SELECT DISTINCT listing_id FROM applications \
     WHERE NOT EXISTS (SELECT 1 FROM listings WHERE listings.id = applications.listing_id) LIMIT ?1");
static APPLIED: Sql = sql("SELECT seq FROM applications WHERE user_id = ?1 AND listing_id = ?2");

impl FromRow for Applicant {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { user: c.get()?, applied_at: c.get()? })
    }
}

impl FromRow for Application {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { listing: c.get()?, applied_at: c.get()? })
    }
}

impl Db {
    pub async fn applications(&self, user: &UserId) -> Result<Vec<ListingId>> {
        let ids = self.read::<(ListingId,)>(&OF_USER, &[user.into()], Weight::Scan).await?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    /// Listings that were applied to and do not exist.
    pub async fn orphaned_applications(&self, limit: i64) -> Result<Vec<ListingId>> {
        let ids = self.read::<(ListingId,)>(&ORPHANED, &[limit.into()], Weight::Scan).await?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    pub async fn has_applied(&self, user: &UserId, listing: &ListingId) -> Result<bool> {
        Ok(self.one::<(i64,)>(&APPLIED, &[user.into(), listing.into()]).await?.is_some())
    }

    pub async fn applications_of(
        &self,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Application>> {
        self.page(&APPLICATIONS, &[user.into()], after, limit).await
    }

    pub async fn applicants(
        &self,
        listing: &ListingId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Applicant>> {
        self.page(&APPLICANTS, &[listing.into()], after, limit).await
    }
}
