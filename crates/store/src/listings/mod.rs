//! Listings. A listing is stored as one JSON document; the other columns are those that an index needs.

mod clusters;
mod edit;
mod postgres_index;
mod search;
mod sqlite_index;

use portico_domain::geo::Point;
use portico_domain::listings::{Listing, ListingFilter, ListingStatistics, searchable_text};
use portico_domain::text::fold;
use portico_domain::{ErrorCode, ListingId, Timestamp, UserId};

use crate::applications::close_applications;
use crate::chain::{DesiredItem, retire};
use crate::engine::counters::{ChangeContext, record, total};
use crate::engine::page::{Cursor, Page};
use crate::engine::sql::{self, FromRow, Op, Param, Row, Sql, Tx, dialects, sql};
use crate::engine::sqlite::Sqlite;
use crate::engine::{Db, Engine, Error, Result};

pub use clusters::ListingClusters;
use edit::delete_history;
pub use edit::{EditListing, ListingCodec, ListingItem, ListingVersion, StoredListing};
pub(crate) use search::{AccessPath, KeyRange, ListingIndex, newest_bounds};

impl FromRow for Listing {
    fn from_row<R: Row>(columns: &mut sql::Columns<'_, R>) -> Result<Self> {
        serde_json::from_str(columns.text()?)
            .map_err(|error| Error::Bug(format!("a stored listing: {error}")))
    }
}

/// On `SQLite` a new listing's creation number is also its revision.
static INSERT: Sql = dialects(
    "INSERT INTO listings (seq, id, user_id, document, created_at, revision) VALUES (?1, ?2, ?3, ?4, ?5, \
     (SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'listings')) \
     ON CONFLICT (id) DO NOTHING",
    "INSERT INTO listings (seq, id, user_id, document, created_at, city_fold, postal, rent, bedrooms, bathrooms, \
     morton, search_fold) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (id) DO NOTHING",
);

#[derive(Debug)]
pub struct CreateListing {
    pub listing: Listing,
    pub by: ChangeContext,
}

impl Op for CreateListing {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        Self::insert(tx, &self.listing, self.by.at).await?;
        let counts = [("listings", "total", 1), ("listings.state", self.listing.state.as_str(), 1)];
        record(tx, &self.by, "listing.created", self.listing.id.as_str(), &counts).await
    }
}

impl CreateListing {
    /// Writes only the row.
    pub(crate) async fn insert<T: Tx>(tx: &mut T, listing: &Listing, at: Timestamp) -> Result<()> {
        let columns = Columns::of(listing)?;
        let mut params = vec![
            tx.creation_number().await?,
            (&listing.id).into(),
            (&listing.user).into(),
            columns.document.as_str().into(),
            at.into(),
        ];
        params.extend(columns.indexed(listing));
        match tx.exec(&INSERT, &params).await? {
            0 => Err(Error::Conflict(ErrorCode::ListingExists)),
            _ => Ok(()),
        }
    }
}

/// What is computed from a listing for its row.
struct Columns {
    document: String,
    city_fold: String,
    search_fold: String,
}

impl Columns {
    fn of(listing: &Listing) -> Result<Self> {
        Ok(Self {
            document: serde_json::to_string(listing).map_err(|error| Error::Bug(error.to_string()))?,
            city_fold: fold(listing.city.as_str()),
            search_fold: searchable_text(listing),
        })
    }

    /// The columns of `PostgreSQL`'s indexes, in the order of the statements.
    fn indexed<'a>(&'a self, listing: &'a Listing) -> [Param<'a>; 7] {
        [
            self.city_fold.as_str().into(),
            (&listing.postal).into(),
            listing.rent.into(),
            listing.bedrooms.into(),
            listing.bathrooms.into(),
            listing.place.map(Point::morton).into(),
            self.search_fold.as_str().into(),
        ]
    }
}

struct Deleted {
    listing: Listing,
    seq: i64,
}

impl FromRow for Deleted {
    fn from_row<R: Row>(columns: &mut sql::Columns<'_, R>) -> Result<Self> {
        Ok(Self { listing: Listing::from_row(columns)?, seq: columns.get()? })
    }
}

static DELETE: Sql = sql("DELETE FROM listings WHERE id = ?1 AND user_id = ?2 RETURNING document, seq");

/// Deletes a listing with its history, closes its applications, and deletes its record on the chain. The id may be used
/// again; saved entries keep it.
#[derive(Debug)]
pub struct DeleteListing {
    pub id: ListingId,
    /// Protects a newer listing with the same id and another owner.
    pub owner: UserId,
    pub retired: DesiredItem,
    pub by: ChangeContext,
}

impl Op for DeleteListing {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let deleted = tx.one::<Deleted>(&DELETE, &[(&self.id).into(), (&self.owner).into()]).await?;
        let Deleted { listing: deleted, seq } = deleted.ok_or(Error::Missing(ErrorCode::ListingNotFound))?;
        delete_history(tx, &self.id).await?;
        let recorded = retire(tx, &self.retired).await?;
        close_applications(tx, seq, &self.by).await?;
        let counts = [
            ("listings", "total", -1),
            ("listings.state", deleted.state.as_str(), -1),
            ("listings", "on_chain", -i64::from(recorded)),
        ];
        record(tx, &self.by, "listing.deleted", self.id.as_str(), &counts).await
    }
}

/// Attempts of a search whose index is found to be damaged, or is replaced meanwhile.
const MAX_ATTEMPTS: u32 = 5;

/// Runs a read of the search index until the index stays the same meanwhile.
async fn retry_in_sqlite<T, F: Future<Output = Result<T>>>(
    sqlite: &Sqlite,
    read: impl Fn() -> F,
) -> Result<T> {
    let mut reason = String::new();
    for _ in 0..MAX_ATTEMPTS {
        let epoch = sqlite.index_epoch();
        match read().await {
            Err(Error::Again(why)) => reason = why,
            found if sqlite.index_epoch() == epoch => return found,
            _ => reason = "the search index was replaced meanwhile".into(),
        }
    }
    Err(Error::Unavailable(reason))
}

static BY_ID: Sql = sql("SELECT document FROM listings WHERE id = ?1");
static NUMBER: Sql = sql("SELECT seq FROM listings WHERE id = ?1");

impl Db {
    pub async fn listing(&self, id: &ListingId) -> Result<Option<Listing>> {
        self.one(&BY_ID, &[id.into()]).await
    }

    /// The listing's creation number, which a later listing with the same id does not share.
    pub async fn listing_number(&self, id: &ListingId) -> Result<Option<i64>> {
        Ok(self.one::<(i64,)>(&NUMBER, &[id.into()]).await?.map(|(seq,)| seq))
    }

    /// In the filter's order; without one by Morton code if it names an area, by rent if it names rooms or a rent, by
    /// size if it names the fewest bedrooms, else by creation.
    pub async fn find_listings(
        &self,
        filter: &ListingFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Listing>> {
        if let Some(id) = &filter.id {
            let found = self.listing(id).await?.filter(|listing| filter.matches(listing));
            return Ok(Page::of(found.into_iter().collect()));
        }
        let postgres = match &self.0 {
            Engine::Sqlite(sqlite) => {
                let found = retry_in_sqlite(sqlite, || search::search(sqlite, filter, after, limit)).await?;
                return Ok(Page::cut(found, limit));
            }
            Engine::Postgres(postgres) => postgres,
        };
        let mut settled = None;
        loop {
            let found = search::search(postgres, filter, after, limit).await?;
            let page = Page { settled, ..Page::cut(found, limit) };
            if !search::is_by_creation(filter) || self.is_settled(&page) {
                return Ok(page);
            }
            settled = self.settle_order().await?;
        }
    }

    pub async fn listing_statistics(&self) -> Result<ListingStatistics> {
        let totals = self.totals("listings").await?;
        Ok(ListingStatistics {
            total: total(&totals, "total"),
            on_chain: total(&totals, "on_chain"),
            applications: total(&self.totals("applications").await?, "total"),
            by_state: self.totals("listings.state").await?,
        })
    }
}
