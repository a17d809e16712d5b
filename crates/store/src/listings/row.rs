//! A listing's row: one JSON document, and the columns that an index needs.

use portico_domain::geo::Point;
use portico_domain::listings::{Listing, searchable_text};
use portico_domain::text::fold;

use crate::engine::error::{Error, Result};
use crate::engine::sql::{self, FromRow, Param, Row};

impl FromRow for Listing {
    fn from_row<R: Row>(columns: &mut sql::Columns<'_, R>) -> Result<Self> {
        serde_json::from_str(columns.text()?)
            .map_err(|error| Error::Bug(format!("a stored listing: {error}")))
    }
}

/// What is computed from a listing for its row.
pub(super) struct Columns {
    pub(super) document: String,
    city_fold: String,
    search_fold: String,
}

impl Columns {
    pub(super) fn of(listing: &Listing) -> Result<Self> {
        Ok(Self {
            document: serde_json::to_string(listing).map_err(|error| Error::Bug(error.to_string()))?,
            city_fold: fold(listing.city.as_str()),
            search_fold: searchable_text(listing),
        })
    }

    /// The columns of `PostgreSQL`'s indexes, in the order of the statements.
    pub(super) fn indexed<'a>(&'a self, listing: &'a Listing) -> [Param<'a>; 7] {
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
