//! Finding listings, by id or by filter.

use portico_domain::ListingId;
use portico_domain::listings::{Listing, ListingFilter, ListingStatistics};

use super::search;
use crate::engine::db::{Db, Engine};
use crate::engine::error::{Error, Result};
use crate::engine::page::{Cursor, Page};
use crate::engine::sql::{Sql, sql, statements};
use crate::engine::sqlite::database::Sqlite;
use crate::engine::totals::total;

/// Attempts of a search whose index is found to be damaged, or is replaced meanwhile.
const MAX_ATTEMPTS: u32 = 5;

/// Runs a read of the search index until the index stays the same meanwhile.
pub(super) async fn retry_in_sqlite<T, F: Future<Output = Result<T>>>(
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
        let mut stable_up_to = None;
        loop {
            let found = search::search(postgres, filter, after, limit).await?;
            let page = Page { stable_up_to, ..Page::cut(found, limit) };
            if !search::is_by_creation(filter) || self.is_stable(&page) {
                return Ok(page);
            }
            stable_up_to = self.stable_up_to().await?;
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

statements! { BY_ID, NUMBER }
