//! Listings: written with all their indexes, found by whichever index fits the question best.
//!
//! A read picks one way (a `Way`) to candidates and checks each of them against the whole filter, so that
//! every index may offer too much but the answer is always exactly what the filter says.

use std::sync::Arc;

use portico_domain::geo::Point;
use portico_domain::listings::{Listing, ListingFilter, ListingStatistics, place};
use portico_domain::search::{SearchTerm, document};
use portico_domain::text::fold;
use portico_domain::{ListingId, Money, Timestamp, UserId, Whole};

use crate::applications::{ClearFlags, end_applications};
use crate::chain::{Wanted, retire};
use crate::ledger::{By, record, total};
use crate::packed::Packed;
use crate::page::{Cursor, Page, Placed, SHORT, as_limit, weight};
use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, dialects, sql};
use crate::sqlite::Whereabouts;
use crate::{Db, Engine, Error, Result};

impl FromRow for Listing {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self {
            id: c.get()?,
            user: c.get()?,
            street: c.get()?,
            city: c.get()?,
            state: c.get()?,
            postal: c.get()?,
            country: c.get()?,
            rent: c.get()?,
            property_value: c.get()?,
            bedrooms: c.get()?,
            bathrooms: c.get()?,
            place: place(c.get()?, c.get()?),
            walkthrough: c.get()?,
        })
    }
}

/// The columns of a listing, in the order in which it is read.
macro_rules! columns {
    () => {
        "listings.id, listings.user_id, street, city, state, postal, country, rent, property_value, bedrooms, \
         bathrooms, latitude, longitude, walkthrough"
    };
}
pub(crate) use columns;

/// A listing as one text, on `SQLite`.
macro_rules! as_text {
    () => {
        "concat_ws(char(31), id, user_id, street, city, state, postal, country, coalesce(rent, char(30)), \
         coalesce(property_value, char(30)), coalesce(bedrooms, char(30)), coalesce(bathrooms, char(30)), \
         coalesce(latitude, char(30)), coalesce(longitude, char(30)), coalesce(walkthrough, char(30)))"
    };
}

static INSERT: Sql = dialects(
    "INSERT INTO listings (seq, id, user_id, street, city, city_fold, state, postal, country, rent, \
     property_value, bedrooms, bathrooms, latitude, longitude, morton, walkthrough, created_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) \
     ON CONFLICT (id) DO NOTHING",
    "INSERT INTO listings (seq, id, user_id, street, city, city_fold, state, postal, country, rent, \
     property_value, bedrooms, bathrooms, latitude, longitude, morton, walkthrough, created_at, search_fold) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19) \
     ON CONFLICT (id) DO NOTHING",
);

/// Stores a new listing.
#[derive(Debug)]
pub struct CreateListing {
    /// The listing.
    pub listing: Listing,
    /// Who, and when.
    pub by: By,
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
    /// Writes the row alone.
    pub(crate) async fn insert<T: Tx>(tx: &mut T, listing: &Listing, at: Timestamp) -> Result<()> {
        let Listing { id, user, street, city, state, postal, country, place, .. } = listing;
        let city_fold = fold(city.as_str());
        let document = if T::HOLDS_DOCUMENTS { document(listing) } else { String::new() };
        let params = [
            tx.seq(),
            id.into(),
            user.into(),
            street.into(),
            city.into(),
            city_fold.as_str().into(),
            state.into(),
            postal.into(),
            country.into(),
            listing.rent.into(),
            listing.property_value.into(),
            listing.bedrooms.into(),
            listing.bathrooms.into(),
            place.map(Point::latitude).into(),
            place.map(Point::longitude).into(),
            place.map(Point::morton).into(),
            listing.walkthrough.as_ref().into(),
            at.into(),
            document.as_str().into(),
        ];
        match tx.exec(&INSERT, &params).await? {
            0 => Err(Error::Conflict("listing_exists")),
            _ => {
                tx.added(user);
                Ok(())
            }
        }
    }
}

static DELETE: Sql = sql("DELETE FROM listings WHERE id = ?1 AND user_id = ?2 RETURNING state");

/// Deletes a listing, ends its applications, and wants its record and their flags to be gone from the chain. Its
/// id may be used again; saved entries keep it.
#[derive(Debug)]
pub struct DeleteListing {
    /// Which one.
    pub id: ListingId,
    /// Whose it is: one that has come in its place since is somebody else's.
    pub owner: UserId,
    /// What is wanted on the chain of one that was recorded there.
    pub retired: Wanted,
    /// Builds what is wanted of the flags of its applications.
    pub clear: ClearFlags,
    /// Who, and when.
    pub by: By,
}

impl Op for DeleteListing {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let deleted = tx.one::<(String,)>(&DELETE, &[(&self.id).into(), (&self.owner).into()]).await?;
        let (state,) = deleted.ok_or(Error::Missing("listing_not_found"))?;
        tx.forget(&self.id);
        let recorded = retire(tx, &self.retired).await?;
        end_applications(tx, &self.id, self.clear, &self.by).await?;
        let counts = [
            ("listings", "total", -1),
            ("listings.state", state.as_str(), -1),
            ("listings", "on_chain", -i64::from(recorded)),
        ];
        record(tx, &self.by, "listing.deleted", self.id.as_str(), &counts).await
    }
}

/// A listing that is one text, see `as_text!`.
pub(crate) fn unpacked(text: &str) -> Result<Listing> {
    Listing::from_row(&mut Columns::new(&Packed::<14>::new(text)?))
}

/// One of a user's listings, read as one text.
struct OfUser(Placed<Listing>);

impl FromRow for OfUser {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let item = unpacked(c.text()?)?;
        let seq = c.get()?;
        Ok(Self(Placed { item, at: Cursor { key: seq, seq } }))
    }
}

impl From<OfUser> for Placed<Listing> {
    fn from(OfUser(placed): OfUser) -> Self {
        placed
    }
}

/// Candidates in order of creation: from (`?1`), to (`?2`), limit (`?3`), subject (`?4`).
macro_rules! in_order {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            ", seq, seq FROM listings WHERE ",
            $condition,
            " seq BETWEEN ?1 AND ?2 ORDER BY seq LIMIT ?3"
        )
    };
}
/// Candidates by a key, ties in order of creation: from, to, limit, then the last key (`?4`) and place (`?5`)
/// that were read, subject (`?6`).
macro_rules! by_key {
    ($key:literal, $condition:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            ", ",
            $key,
            ", seq FROM listings WHERE ",
            $condition,
            " ",
            $key,
            " BETWEEN ?1 AND ?2 AND (",
            $key,
            ", seq) > (?4, ?5) ORDER BY ",
            $key,
            ", seq LIMIT ?3"
        )
    };
}

/// The same two on the search index of `SQLite`, for the subject's digest (`?5`, or `?7`).
macro_rules! indexed_in_order {
    ($kind:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            ", listings.seq, listings.seq FROM search.entries JOIN listings USING (seq) \
             WHERE kind = ",
            $kind,
            " AND key = ?5 AND sort = 0 AND entries.seq BETWEEN ?1 AND ?2 \
             ORDER BY entries.seq LIMIT ?3"
        )
    };
}
macro_rules! indexed_by_key {
    ($kind:literal, $key:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            ", sort, entries.seq FROM search.entries JOIN listings USING (seq) \
             WHERE kind = ",
            $kind,
            " AND key = ",
            $key,
            " AND sort BETWEEN ?1 AND ?2 \
             AND (sort, entries.seq) > (?4, ?5) ORDER BY sort, entries.seq LIMIT ?3"
        )
    };
}

/// The kinds of entries in the search index of `SQLite`, as the statements below number them.
pub(crate) mod entry {
    pub(crate) const CITY: i64 = 1;
    pub(crate) const POSTAL: i64 = 2;
    pub(crate) const RENT: i64 = 3;
    pub(crate) const BEDROOMS: i64 = 4;
    pub(crate) const BATHROOMS: i64 = 5;
    pub(crate) const PLACE: i64 = 6;
}

static BY_ID: Sql = sql(concat!("SELECT ", columns!(), " FROM listings WHERE id = ?1"));
/// On `SQLite` the one with this id, as one text; on `PostgreSQL` those with these ids.
static TO_SHOW: Sql = dialects(
    concat!("SELECT ", as_text!(), " FROM listings WHERE id = ?1"),
    concat!("SELECT ", columns!(), " FROM listings WHERE id = ANY(string_to_array(?1, chr(31)))"),
);
static ALL: Sql = sql(in_order!(""));
/// As `in_order!`, each listing as one text, as far as the search index of `SQLite` holds them.
static OF_USER: Sql = dialects(
    "SELECT listing, seq FROM search.owned WHERE user_id = ?4 AND seq BETWEEN ?1 AND ?2 \
     AND NOT EXISTS (SELECT 1 FROM listings_gone WHERE listings_gone.seq = owned.seq) ORDER BY seq LIMIT ?3",
    "SELECT concat_ws(chr(31), id, user_id, street, city, state, postal, country, \
     coalesce(rent::text, chr(30)), coalesce(property_value::text, chr(30)), \
     coalesce(bedrooms::text, chr(30)), coalesce(bathrooms::text, chr(30)), \
     coalesce(latitude::text, chr(30)), coalesce(longitude::text, chr(30)), coalesce(walkthrough, chr(30))), seq \
     FROM listings WHERE user_id = ?4 AND seq BETWEEN ?1 AND ?2 ORDER BY seq LIMIT ?3",
);
/// The one at this place in the order of creation, on `SQLite`.
static AT: Sql = sql(concat!("SELECT ", as_text!(), ", seq FROM listings WHERE seq = ?1"));
static IN_CITY: Sql = dialects(indexed_in_order!("1"), in_order!("city_fold = ?4 AND"));
static AT_POSTAL: Sql = dialects(indexed_in_order!("2"), in_order!("postal = ?4 AND"));
static CONTAINING: Sql = dialects(
    concat!(
        "SELECT ",
        columns!(),
        ", listings.seq, listings.seq FROM search.documents CROSS JOIN listings \
         ON listings.seq = documents.rowid WHERE documents MATCH ?4 AND documents.rowid BETWEEN ?1 AND ?2 \
         ORDER BY documents.rowid LIMIT ?3"
    ),
    in_order!("search_fold LIKE ?4 AND"),
);
static BY_RENT: Sql = dialects(indexed_by_key!("3", "0"), by_key!("rent", "rent IS NOT NULL AND"));
static WITH_BEDROOMS: Sql =
    dialects(indexed_by_key!("4", "?6"), by_key!("coalesce(rent, -1)", "bedrooms = ?6 AND"));
static WITH_BATHROOMS: Sql =
    dialects(indexed_by_key!("5", "?6"), by_key!("coalesce(rent, -1)", "bathrooms = ?6 AND"));
static BY_PLACE: Sql = dialects(indexed_by_key!("6", "0"), by_key!("morton", "morton IS NOT NULL AND"));

/// How the search index of `SQLite` reads on: after (`?1`), limit (`?2`).
pub(crate) const TO_INDEX: &str =
    concat!("SELECT ", as_text!(), ", seq FROM store.listings WHERE seq > ?1 ORDER BY seq LIMIT ?2");

/// A number that stands for a text in the search index (FNV-1a). Two texts may share one: every candidate is
/// checked.
pub(crate) fn digest(text: &str) -> i64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.cast_signed()
}

/// The way to candidates, and how they are sorted.
enum Way<'f> {
    /// In order of creation, all of them.
    All,
    /// In order of creation, this user's, whose newest are known.
    OfUser(&'f UserId),
    /// In order of creation, with this subject in the search index.
    InOrder(&'static Sql, String),
    /// In order of creation, those that may contain the term.
    Containing(&'f SearchTerm),
    /// By a key within ranges, with so many rooms where rooms are asked for.
    ByKey(&'static Sql, fn(&Listing) -> i64, Option<Whole>, Vec<(i64, i64)>),
}

impl<'f> Way<'f> {
    fn choose(filter: &'f ListingFilter) -> Self {
        let term = filter.term.as_ref().or(filter.field.as_ref().map(|(_, term)| term));
        if let Some(user) = &filter.user {
            Self::OfUser(user)
        } else if let Some(postal) = &filter.postal {
            Self::InOrder(&AT_POSTAL, postal.as_str().into())
        } else if let Some(area) = filter.areas.first() {
            Self::ByKey(&BY_PLACE, |listing| listing.place.map_or(-1, Point::morton), None, area.ranges())
        } else if let Some(term) = term {
            Self::Containing(term)
        } else if let Some(city) = &filter.city {
            Self::InOrder(&IN_CITY, fold(city.as_str()))
        } else if filter.bedrooms.is_some() {
            Self::ByKey(&WITH_BEDROOMS, rent_key, filter.bedrooms, rents(filter))
        } else if filter.bathrooms.is_some() {
            Self::ByKey(&WITH_BATHROOMS, rent_key, filter.bathrooms, rents(filter))
        } else if filter.min_rent.is_some() || filter.max_rent.is_some() {
            Self::ByKey(&BY_RENT, rent_key, None, rents(filter))
        } else {
            Self::All
        }
    }
}

fn rent_key(listing: &Listing) -> i64 {
    listing.rent.map_or(-1, Money::units)
}

fn rents(filter: &ListingFilter) -> Vec<(i64, i64)> {
    let unknown_too = filter.min_rent.is_none() && filter.max_rent.is_none();
    let low = filter.min_rent.map_or(if unknown_too { -1 } else { 0 }, Money::units);
    vec![(low, filter.max_rent.map_or(i64::MAX, Money::units))]
}

/// Collects what fits the filter until it has one more than asked for.
struct Search<'a> {
    db: &'a Db,
    filter: &'a ListingFilter,
    after: Cursor,
    limit: usize,
    found: Vec<Placed<Listing>>,
}

/// For a term of one or two characters so many listings are read in order before the index is asked: if it
/// is common, they fill the page.
const SHORT_TERM_SCAN: i64 = 2048;

impl Search<'_> {
    async fn run(&mut self) -> Result<()> {
        // Read before the index is: what it gains meanwhile is left to the second step.
        let watermark = self.db.watermark();
        let mut from = self.after.seq.saturating_add(1).max(1);
        match Way::choose(self.filter) {
            Way::All => return self.in_order(&ALL, (from, i64::MAX), "").await,
            Way::OfUser(user) => return self.of_user(user, from).await,
            Way::InOrder(sql, subject) => self.in_order(sql, (from, watermark), &subject).await?,
            Way::Containing(term) => {
                if term.trigrams().is_empty() && watermark < i64::MAX {
                    let to = from.saturating_add(SHORT_TERM_SCAN).min(watermark);
                    self.in_order(&ALL, (from, to), "").await?;
                    from = from.max(to.saturating_add(1));
                }
                if !self.full()
                    && from <= watermark
                    && let Some(pattern) = self.db.search_pattern(term).await?
                {
                    self.in_order(&CONTAINING, (from, watermark), &pattern).await?;
                }
            }
            Way::ByKey(sql, key, rooms, ranges) => {
                for range in ranges {
                    self.by_key(sql, range, rooms, watermark).await?;
                }
                return self.newest_by_key(key, watermark).await;
            }
        }
        if watermark == i64::MAX {
            return Ok(());
        }
        self.in_order(&ALL, (from.max(watermark + 1), i64::MAX), "").await
    }

    /// A user's listings: what the index holds, what is known to come after it, and of what is not known all that fit.
    async fn of_user(&mut self, user: &UserId, from: i64) -> Result<()> {
        let Whereabouts { indexed, later, tail } = self.db.whereabouts(user);
        self.in_order_as::<OfUser>(&OF_USER, (from, indexed), user.as_str()).await?;
        for seq in later.into_iter().filter(|seq| *seq >= from) {
            if self.full() {
                return Ok(());
            }
            let found: Vec<OfUser> = self.db.read(&AT, &[seq.into()], Weight::Point).await?;
            self.take(found.into_iter().map(Into::into).collect());
        }
        if tail == i64::MAX {
            return Ok(());
        }
        self.in_order(&ALL, (from.max(tail + 1), i64::MAX), "").await
    }

    fn full(&self) -> bool {
        self.found.len() > self.limit
    }

    /// If the way leads to nothing but what is asked for, as many as that. Else mostly the first batch has enough
    /// that fits the filter; if not, larger ones follow.
    fn first_batch(&self) -> usize {
        let wanted = (self.limit + 1).min(1024);
        if self.filter.is_by_user_only() { wanted } else { wanted.max(SHORT / 4) }
    }

    fn take(&mut self, mut candidates: Vec<Placed<Listing>>) {
        candidates.retain(|placed| self.filter.matches(&placed.item));
        if self.found.is_empty() {
            self.found = candidates;
        } else {
            self.found.append(&mut candidates);
        }
    }

    async fn in_order(&mut self, sql: &'static Sql, range: (i64, i64), subject: &str) -> Result<()> {
        self.in_order_as::<Placed<Listing>>(sql, range, subject).await
    }

    /// Reads a part of the order of creation, until it is exhausted or enough is found.
    async fn in_order_as<R: FromRow + Into<Placed<Listing>>>(
        &mut self,
        sql: &'static Sql,
        range: (i64, i64),
        subject: &str,
    ) -> Result<()> {
        let (mut from, mut batch) = (range.0, self.first_batch());
        while !self.full() && from <= range.1 {
            let params =
                [from.into(), range.1.into(), as_limit(batch).into(), subject.into(), digest(subject).into()];
            let weight =
                if std::ptr::eq(sql, &raw const CONTAINING) { Weight::Search } else { weight(batch) };
            let candidates: Vec<R> = self.db.read(sql, &params, weight).await?;
            let candidates: Vec<Placed<Listing>> = candidates.into_iter().map(Into::into).collect();
            let more = candidates.len() == batch;
            from = candidates.last().map_or(i64::MAX, |last| last.at.seq.saturating_add(1));
            self.take(candidates);
            if !more {
                break;
            }
            batch = (batch * 4).min(1024);
        }
        Ok(())
    }

    /// Reads a range of keys, until it is exhausted or enough is found.
    async fn by_key(
        &mut self,
        sql: &'static Sql,
        range: (i64, i64),
        rooms: Option<Whole>,
        watermark: i64,
    ) -> Result<()> {
        let (mut after, mut batch) = (self.after, self.first_batch());
        while !self.full() && after.key <= range.1 && watermark > 0 {
            let params = [
                range.0.max(after.key).into(),
                range.1.into(),
                as_limit(batch).into(),
                after.key.into(),
                after.seq.into(),
                rooms.into(),
            ];
            let mut candidates: Vec<Placed<Listing>> = self.db.read(sql, &params, weight(batch)).await?;
            let more = candidates.len() == batch;
            after = candidates.last().map_or(after, |last| last.at);
            candidates.retain(|placed| placed.at.seq <= watermark);
            self.take(candidates);
            if !more {
                break;
            }
            batch = (batch * 4).min(1024);
        }
        Ok(())
    }

    /// Sorts the listings that are too new for the search index in between.
    async fn newest_by_key(&mut self, key: fn(&Listing) -> i64, watermark: i64) -> Result<()> {
        if watermark == i64::MAX {
            return Ok(());
        }
        let mut from = watermark + 1;
        loop {
            let params = [from.into(), i64::MAX.into(), 1024.into()];
            let mut newest: Vec<Placed<Listing>> = self.db.read(&ALL, &params, weight(1024)).await?;
            let Some(last) = newest.last() else { break };
            from = last.at.seq + 1;
            let more = newest.len() == 1024;
            for placed in &mut newest {
                placed.at.key = key(&placed.item);
            }
            newest.retain(|placed| placed.at > self.after);
            self.take(newest);
            self.found.sort_by_key(|placed| placed.at);
            self.found.truncate(self.limit + 1);
            if !more {
                break;
            }
        }
        Ok(())
    }
}

impl Db {
    /// One listing, as the database has it now.
    pub async fn listing(&self, id: &ListingId) -> Result<Option<Listing>> {
        self.one(&BY_ID, &[id.into()]).await
    }

    /// One listing, from memory if it was read lately, or together with what others ask for. Not for proofs:
    /// those ask what the database has.
    async fn listing_to_show(&self, id: &ListingId) -> Result<Option<Listing>> {
        match &self.0 {
            Engine::Sqlite(sqlite) => sqlite.listing(&TO_SHOW, id)?.map(|text| unpacked(&text)).transpose(),
            Engine::Postgres(postgres) => Ok(postgres.listing(&TO_SHOW, id).await?.map(Arc::unwrap_or_clone)),
        }
    }

    /// A piece of the listings that fit the filter: by rent where rooms or rent are asked for, along the
    /// map where an area is, else in order of creation.
    pub async fn find_listings(
        &self,
        filter: &ListingFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Listing>> {
        if let Some(id) = &filter.id {
            let found = self.listing_to_show(id).await?.filter(|listing| filter.matches(listing));
            let items = found.into_iter().collect();
            return Ok(Page { items, next: None });
        }
        let after = after.unwrap_or(Cursor::START);
        let mut search = Search { db: self, filter, after, limit, found: Vec::new() };
        search.run().await?;
        Ok(Page::cut(search.found, limit))
    }

    /// Totals over all listings.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sqlite_finds_the_listings_of_a_user_in_the_index_alone() {
        let folder = tempfile::tempdir().unwrap();
        let sqlite =
            crate::sqlite::Sqlite::open(&folder.path().join("plan.db"), crate::Role::Server).unwrap();
        let plan = sqlite.plan(OF_USER.lite).unwrap();
        let [search, gone @ ..] = plan.as_slice() else { panic!("{plan:?}") };
        assert!(search.starts_with("SEARCH search.owned USING PRIMARY KEY (user_id=? AND seq>"), "{plan:?}");
        assert!(gone.iter().all(|step| !step.contains("SCAN")), "{plan:?}");
    }
}
