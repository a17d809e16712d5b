//! Finding listings in `PostgreSQL`: by ordinary, transactional indexes.

use portico_domain::listings::Listing;
use portico_domain::search::SearchTerm;

use crate::engine::error::Result;
use crate::engine::page::{Keyed, as_limit, weight};
use crate::engine::postgres::database::Postgres;
use crate::engine::sql::{Sql, Weight, sql, statements};
use crate::listings::search::{AccessPath, KeyRange, ListingIndex, newest_bounds};

/// In creation order: after (`?1`), to (`?2`), limit (`?3`), subject (`?4`).
macro_rules! in_order {
    ($condition:literal) => {
        concat!(
            "SELECT document, seq, seq FROM listings WHERE ",
            $condition,
            " seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3"
        )
    };
}
/// By key: after (`?1` and `?2`), to (`?3`), limit (`?4`), rooms (`?5`).
macro_rules! by_key {
    ($key:literal, $condition:literal) => {
        concat!(
            "SELECT document, ",
            $key,
            ", seq FROM listings WHERE ",
            $condition,
            " (",
            $key,
            ", seq) > (?1, ?2) AND ",
            $key,
            " <= ?3 ORDER BY ",
            $key,
            ", seq LIMIT ?4"
        )
    };
}

static ALL: Sql = sql(in_order!(""));
/// Newest first: below (`?1`), from (`?2`), limit (`?3`).
static NEWEST: Sql =
    sql("SELECT document, -seq, seq FROM listings WHERE seq < ?1 AND seq >= ?2 ORDER BY seq DESC LIMIT ?3");
static BY_OWNER: Sql = sql(in_order!("user_id = ?4 AND"));
static BY_POSTAL: Sql = sql(in_order!("postal = ?4 AND"));
static BY_CITY: Sql = sql(in_order!("city_fold = ?4 AND"));
static BY_TEXT: Sql = sql(in_order!("search_fold LIKE ?4 AND"));
static BY_RENT: Sql = sql(by_key!("coalesce(rent, 9223372036854775807)", ""));
static BY_SIZE: Sql = sql(by_key!("coalesce(-bedrooms, 1)", ""));
static BY_BEDROOMS: Sql = sql(by_key!("coalesce(rent, -1)", "bedrooms = ?5 AND"));
static BY_BATHROOMS: Sql = sql(by_key!("coalesce(rent, -1)", "bathrooms = ?5 AND"));
static BY_PLACE: Sql = sql(by_key!("morton", "morton IS NOT NULL AND"));

impl ListingIndex for Postgres {
    fn indexed_revision(&self, _: &AccessPath<'_>) -> Option<i64> {
        None
    }

    async fn candidates(&self, path: &AccessPath<'_>, range: KeyRange) -> Result<Vec<Keyed<Listing>>> {
        let KeyRange { after, to, limit, .. } = range;
        let in_order = async |sql: &'static Sql, subject: &str, weight: Weight| {
            let params = [after.seq.into(), to.into(), as_limit(limit).into(), subject.into()];
            self.read(sql, &params, weight).await
        };
        let by_key = async |sql: &'static Sql, rooms: i64| {
            let params =
                [after.key.into(), after.seq.into(), to.into(), as_limit(limit).into(), rooms.into()];
            self.read(sql, &params, weight(limit)).await
        };
        match path {
            AccessPath::All => in_order(&ALL, "", weight(limit)).await,
            AccessPath::Newest => {
                let (below, from) = newest_bounds(range);
                self.read(&NEWEST, &[below.into(), from.into(), as_limit(limit).into()], weight(limit)).await
            }
            AccessPath::Owner(user) => in_order(&BY_OWNER, user.as_str(), weight(limit)).await,
            AccessPath::Postal(postal) => in_order(&BY_POSTAL, postal.as_str(), weight(limit)).await,
            AccessPath::City(folded) => in_order(&BY_CITY, folded, weight(limit)).await,
            AccessPath::Text(term) => in_order(&BY_TEXT, &like_pattern(term), Weight::Search).await,
            AccessPath::Bedrooms(rooms) => by_key(&BY_BEDROOMS, rooms.units()).await,
            AccessPath::Bathrooms(rooms) => by_key(&BY_BATHROOMS, rooms.units()).await,
            AccessPath::Rent => by_key(&BY_RENT, 0).await,
            AccessPath::Size => by_key(&BY_SIZE, 0).await,
            AccessPath::Place(_) => by_key(&BY_PLACE, 0).await,
        }
    }

    async fn changed_after(&self, _: i64, _: (i64, i64), _: usize) -> Result<Vec<Keyed<Listing>>> {
        Ok(Vec::new())
    }
}

/// Matches the term literally.
fn like_pattern(term: &SearchTerm) -> String {
    let literal = term.as_str().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{literal}%")
}

statements! {
    ALL, NEWEST, BY_OWNER, BY_POSTAL, BY_CITY, BY_TEXT, BY_RENT, BY_SIZE, BY_BEDROOMS, BY_BATHROOMS,
    BY_PLACE
}
