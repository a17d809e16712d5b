//! Applications: which user applied to which listing, in the order of applying.

use portico_domain::applications::{Applicant, Application};
use portico_domain::{ListingId, UserId};

use crate::ledger::{By, record};
use crate::page::{Cursor, Page};
use crate::screening::intend;
use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, sql};
use crate::{Db, Error, Result};

/// How many listings one user may apply to.
const MAX_APPLICATIONS: i64 = 10_000;

static COUNT: Sql =
    sql("SELECT count(*) FROM (SELECT 1 FROM applications WHERE user_id = ?1 LIMIT ?2) AS applied");
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

/// Adds listings to what a user applied to. Applying twice changes nothing.
#[derive(Debug)]
pub struct Apply {
    /// The applicant.
    pub user: UserId,
    /// The listings.
    pub listings: Vec<ListingId>,
    /// Who, and when.
    pub by: By,
}

impl Op for Apply {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let limit = MAX_APPLICATIONS + 1;
        let count = tx.one::<(i64,)>(&COUNT, &[(&self.user).into(), limit.into()]).await?;
        let mut applied = count.map_or(0, |(count,)| count);
        for listing in &self.listings {
            let params = [tx.seq(), (&self.user).into(), listing.into(), self.by.at.into()];
            if tx.exec(&INSERT, &params).await? == 0 {
                continue;
            }
            applied += 1;
            if applied > MAX_APPLICATIONS {
                return Err(Error::Conflict("too_many_applications"));
            }
            record(tx, &self.by, "application.made", listing.as_str(), &[("applications", "total", 1)])
                .await?;
            intend(tx, &self.user, listing).await?;
        }
        Ok(())
    }
}

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
    /// The listings a user applied to.
    pub async fn applications(&self, user: &UserId) -> Result<Vec<ListingId>> {
        let ids = self.read::<(ListingId,)>(&OF_USER, &[user.into()], Weight::Scan).await?;
        Ok(ids.into_iter().map(|(id,)| id).collect())
    }

    /// Whether a user applied to a listing.
    pub async fn has_applied(&self, user: &UserId, listing: &ListingId) -> Result<bool> {
        Ok(self.one::<(i64,)>(&APPLIED, &[user.into(), listing.into()]).await?.is_some())
    }

    /// A piece of what a user applied to.
    pub async fn applications_of(
        &self,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Application>> {
        self.page(&APPLICATIONS, &[user.into()], after, limit).await
    }

    /// A piece of those who applied to a listing.
    pub async fn applicants(
        &self,
        listing: &ListingId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Applicant>> {
        self.page(&APPLICANTS, &[listing.into()], after, limit).await
    }
}
