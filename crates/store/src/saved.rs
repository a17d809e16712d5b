//! Saved listings per user, in the order of saving. Ids are references.

use portico_domain::listings::Listing;
use portico_domain::{ErrorCode, ListingId, UserId};

use crate::engine::counters::{ChangeContext, record};
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, Weight, sql, statements};

/// Per user.
const MAX_SAVED: i64 = 10_000;

static COUNT: Sql =
    sql("SELECT count(*) FROM (SELECT 1 FROM saved_listings WHERE user_id = ?1 LIMIT ?2) AS saved");
static INSERT: Sql = sql(
    "INSERT INTO saved_listings (seq, user_id, listing_id) VALUES (?1, ?2, ?3) ON CONFLICT (user_id, listing_id) DO NOTHING",
);
static DELETE: Sql = sql("DELETE FROM saved_listings WHERE user_id = ?1 AND listing_id = ?2");
static IDS: Sql = sql("SELECT listing_id FROM saved_listings WHERE user_id = ?1 ORDER BY seq");
static DETAILS: Sql =
    sql("SELECT document FROM saved_listings JOIN listings ON listings.id = saved_listings.listing_id \
     WHERE saved_listings.user_id = ?1 ORDER BY saved_listings.seq");

/// Saving a listing twice changes nothing.
#[derive(Debug)]
pub struct SaveListing {
    pub user: UserId,
    pub listing: ListingId,
    pub by: ChangeContext,
}

impl Op for SaveListing {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let params = [tx.context().seq(), (&self.user).into(), (&self.listing).into()];
        if tx.exec(&INSERT, &params).await? == 0 {
            return Ok(());
        }
        let count = tx.one::<(i64,)>(&COUNT, &[(&self.user).into(), (MAX_SAVED + 1).into()]).await?;
        if count.is_some_and(|(saved,)| saved > MAX_SAVED) {
            return Err(Error::Conflict(ErrorCode::TooManySaved));
        }
        record(tx, &self.by, "listing.saved", self.listing.as_str(), &[]).await
    }
}

#[derive(Debug)]
pub struct UnsaveListing {
    pub user: UserId,
    pub listing: ListingId,
    pub by: ChangeContext,
}

impl Op for UnsaveListing {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        if tx.exec(&DELETE, &[(&self.user).into(), (&self.listing).into()]).await? == 0 {
            return Err(Error::Missing(ErrorCode::SavedListingNotFound));
        }
        record(tx, &self.by, "listing.unsaved", self.listing.as_str(), &[]).await
    }
}

impl Db {
    /// The saved ids, and the listings among them that exist.
    pub async fn saved_listings(&self, user: &UserId) -> Result<(Vec<ListingId>, Vec<Listing>)> {
        let ids = self.read::<(ListingId,)>(&IDS, &[user.into()], Weight::Scan).await?;
        let details = self.read(&DETAILS, &[user.into()], Weight::Scan).await?;
        Ok((ids.into_iter().map(|(id,)| id).collect(), details))
    }
}

statements! { COUNT, INSERT, DELETE, IDS, DETAILS }
