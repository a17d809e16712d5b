//! Adding a listing.

use portico_domain::listings::Listing;
use portico_domain::{ErrorCode, Timestamp};

use super::row::Columns;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::creation_number::creation_number;
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, dialects, statements};

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
            creation_number(tx).await?,
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

statements! { INSERT }
