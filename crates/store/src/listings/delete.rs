//! Deleting a listing and what depends on it.

use portico_domain::listings::Listing;
use portico_domain::{ErrorCode, ListingId, UserId};
use portico_records::retired_listing;

use super::edit::delete_history;
use crate::applications::changes::close_applications;
use crate::chain::items::retire;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Columns, FromRow, Op, Row, Sql, Tx, sql, statements};

struct Deleted {
    listing: Listing,
    seq: i64,
}

impl FromRow for Deleted {
    fn from_row<R: Row>(columns: &mut Columns<'_, R>) -> Result<Self> {
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
    pub by: ChangeContext,
}

impl Op for DeleteListing {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let deleted = tx.one::<Deleted>(&DELETE, &[(&self.id).into(), (&self.owner).into()]).await?;
        let Deleted { listing: deleted, seq } = deleted.ok_or(Error::Missing(ErrorCode::ListingNotFound))?;
        delete_history(tx, &self.id).await?;
        let recorded = retire(tx, &retired_listing(&self.id, self.by.at)).await?;
        close_applications(tx, seq, &self.by).await?;
        let counts = [
            ("listings", "total", -1),
            ("listings.state", deleted.state.as_str(), -1),
            ("listings", "on_chain", -i64::from(recorded)),
        ];
        record(tx, &self.by, "listing.deleted", self.id.as_str(), &counts).await
    }
}

statements! { DELETE }
