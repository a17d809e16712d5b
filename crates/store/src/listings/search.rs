//! Finding listings. A search reads candidates along one access path and checks each against the whole filter: an
//! index may return too much, and the result is still exact.

use std::collections::HashSet;

use portico_domain::geo::{Area, Point};
use portico_domain::listings::{Listing, ListingFilter, ListingOrder};
use portico_domain::search::SearchTerm;
use portico_domain::text::fold;
use portico_domain::{Money, PostalCode, UserId, Whole};

use crate::engine::error::Result;
use crate::engine::page::{Cursor, Keyed};

/// Minimum size of the first read if the filter may reject candidates.
const MIN_FIRST_BATCH: usize = 32;
const MAX_BATCH: usize = 1024;
/// Up to this many matches are sorted in memory; more are read along the index of the order.
const MAX_SORTED: usize = 2000;

/// Determines the candidates and their order.
#[derive(Debug, PartialEq)]
pub(crate) enum AccessPath<'f> {
    // In order of creation:
    All,
    Owner(&'f UserId),
    Postal(&'f PostalCode),
    /// Case-folded.
    City(String),
    Text(&'f SearchTerm),
    // By rent, listings without one first:
    Bedrooms(Whole),
    Bathrooms(Whole),
    /// In order of creation, the newest first.
    Newest,
    /// By rent, listings without one last.
    Rent,
    /// By number of bedrooms, the most first, listings without one last.
    Size,
    // By Morton code, one number from latitude and longitude that is close for most neighbours:
    Place(&'f Area),
}

impl<'f> AccessPath<'f> {
    /// The first that applies, in an order that usually reads least.
    fn choose(filter: &'f ListingFilter) -> Self {
        let term = filter.term.as_ref().or(filter.field.as_ref().map(|(_, term)| term));
        if let Some(user) = &filter.user {
            Self::Owner(user)
        } else if let Some(postal) = &filter.postal {
            Self::Postal(postal)
        } else if let Some(area) = filter.areas.first() {
            Self::Place(area)
        } else if let Some(term) = term {
            Self::Text(term)
        } else if let Some(city) = &filter.city {
            Self::City(fold(city.as_str()))
        } else if let Some(bedrooms) = filter.bedrooms {
            Self::Bedrooms(bedrooms)
        } else if let Some(bathrooms) = filter.bathrooms {
            Self::Bathrooms(bathrooms)
        } else if filter.min_rent.is_some() || filter.max_rent.is_some() {
            Self::Rent
        } else if filter.min_bedrooms.is_some() {
            Self::Size
        } else {
            Self::All
        }
    }

    fn in_order(order: ListingOrder) -> Self {
        match order {
            ListingOrder::Newest => Self::Newest,
            ListingOrder::Rent => Self::Rent,
            ListingOrder::Size => Self::Size,
        }
    }

    fn is_by_creation(&self) -> bool {
        matches!(self, Self::All | Self::Owner(_) | Self::Postal(_) | Self::City(_) | Self::Text(_))
    }

    /// Whether the filter has no other condition than the path.
    fn is_exactly(&self, filter: &ListingFilter) -> bool {
        match self {
            Self::All | Self::Owner(_) => filter.is_by_user_only(),
            Self::Newest => filter.user.is_none() && filter.is_by_user_only(),
            _ => false,
        }
    }

    /// `None` if the order is that of creation.
    fn key(&self, listing: &Listing, seq: i64) -> Option<i64> {
        match self {
            Self::All | Self::Owner(_) | Self::Postal(_) | Self::City(_) | Self::Text(_) => None,
            Self::Bedrooms(_) | Self::Bathrooms(_) => Some(listing.rent.map_or(-1, Money::units)),
            Self::Newest => Some(ListingOrder::Newest.key(listing, seq)),
            Self::Rent => Some(ListingOrder::Rent.key(listing, seq)),
            Self::Size => Some(ListingOrder::Size.key(listing, seq)),
            Self::Place(_) => Some(listing.place.map_or(-1, Point::morton)),
        }
    }

    /// Ascending key ranges that contain every match.
    fn ranges(&self, filter: &ListingFilter) -> Vec<(i64, i64)> {
        match self {
            Self::Bedrooms(_) | Self::Bathrooms(_) | Self::Rent => {
                let has_bound = filter.min_rent.is_some() || filter.max_rent.is_some();
                let low = filter.min_rent.map_or(if has_bound { 0 } else { -1 }, Money::units);
                vec![(low, filter.max_rent.map_or(i64::MAX, Money::units))]
            }
            Self::Size => {
                let least = filter.min_bedrooms.map_or(i64::MAX, |rooms| -rooms.units());
                vec![filter.bedrooms.map_or((i64::MIN, least), |rooms| (-rooms.units(), -rooms.units()))]
            }
            Self::Place(area) => area.ranges(),
            _ => vec![(i64::MIN, i64::MAX)],
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyRange {
    pub(crate) after: Cursor,
    /// Inclusive.
    pub(crate) to: i64,
    pub(crate) limit: usize,
    /// The newest revision to read, see [`ListingIndex::indexed_revision`].
    pub(crate) revision: i64,
}

/// The creation numbers of a range whose key is their negative: below the first, from the second.
pub(crate) fn newest_bounds(range: KeyRange) -> (i64, i64) {
    (range.after.key.saturating_neg(), range.to.saturating_neg())
}

/// What an engine provides for finding listings.
pub(crate) trait ListingIndex {
    /// The newest revision in the path's index, if the index is filled after the commit; 0: it is empty.
    fn indexed_revision(&self, path: &AccessPath<'_>) -> Option<i64>;

    /// In cursor order.
    async fn candidates(&self, path: &AccessPath<'_>, range: KeyRange) -> Result<Vec<Keyed<Listing>>>;

    /// Listings that changed after a revision and whose creation number is between two bounds, ordered by revision,
    /// which is their key.
    async fn changed_after(
        &self,
        revision: i64,
        seqs: (i64, i64),
        limit: usize,
    ) -> Result<Vec<Keyed<Listing>>>;
}

/// Matches after a cursor, one more than the page holds if there are more.
pub(super) async fn search<I: ListingIndex>(
    index: &I,
    filter: &ListingFilter,
    after: Option<Cursor>,
    limit: usize,
) -> Result<Vec<Keyed<Listing>>> {
    let path = AccessPath::choose(filter);
    let Some(order) = filter.order else {
        return Search::new(index, filter, path, after, limit).run().await;
    };
    let ordered = AccessPath::in_order(order);
    if path != AccessPath::All && path != ordered {
        let mut found = Search::new(index, filter, path, None, MAX_SORTED).run().await?;
        if found.len() <= MAX_SORTED {
            for Keyed { item, at } in &mut found {
                at.key = order.key(item, at.seq);
            }
            found.retain(|placed| after.is_none_or(|after| placed.at > after));
            found.sort_unstable_by_key(|placed| placed.at);
            found.truncate(limit + 1);
            return Ok(found);
        }
    }
    Search::new(index, filter, ordered, after, limit).run().await
}

/// Whether [`search`] finds in order of creation.
pub(super) fn is_by_creation(filter: &ListingFilter) -> bool {
    filter.order.is_none() && AccessPath::choose(filter).is_by_creation()
}

/// Collects matches along one access path.
struct Search<'a, I> {
    index: &'a I,
    filter: &'a ListingFilter,
    path: AccessPath<'a>,
    after: Cursor,
    limit: usize,
    found: Vec<Keyed<Listing>>,
}

impl<'a, I: ListingIndex> Search<'a, I> {
    fn new(
        index: &'a I,
        filter: &'a ListingFilter,
        path: AccessPath<'a>,
        after: Option<Cursor>,
        limit: usize,
    ) -> Self {
        Self { index, filter, path, after: after.unwrap_or(Cursor::START), limit, found: Vec::new() }
    }

    async fn run(mut self) -> Result<Vec<Keyed<Listing>>> {
        // Read before the candidates: `add_unindexed` covers every later change.
        let indexed = self.index.indexed_revision(&self.path);
        if indexed != Some(0) {
            for range in self.path.ranges(self.filter) {
                self.collect(range, indexed.unwrap_or(i64::MAX)).await?;
            }
        }
        if let Some(indexed) = indexed {
            self.add_unindexed(indexed).await?;
        }
        Ok(self.found)
    }

    fn is_full(&self) -> bool {
        self.found.len() > self.limit
    }

    /// Reads a key range until it is exhausted or the page is full.
    async fn collect(&mut self, (from, to): (i64, i64), revision: i64) -> Result<()> {
        let mut after = self.after.max(Cursor { key: from, seq: i64::MIN });
        // Every candidate is a match.
        let least = if self.path.is_exactly(self.filter) { 0 } else { MIN_FIRST_BATCH };
        let mut limit = (self.limit + 1).clamp(least, MAX_BATCH);
        while !self.is_full() && after.key <= to {
            let range = KeyRange { after, to, limit, revision };
            let mut candidates = self.index.candidates(&self.path, range).await?;
            let exhausted = candidates.len() < limit;
            after = candidates.last().map_or(after, |last| last.at);
            // Between two reads an edit may move a listing ahead; it stays as it was found first.
            let earlier: HashSet<i64> = self.found.iter().map(|placed| placed.at.seq).collect();
            candidates.retain(|candidate| !earlier.contains(&candidate.at.seq));
            self.keep(candidates);
            if exhausted {
                break;
            }
            limit = (limit * 4).min(MAX_BATCH);
        }
        Ok(())
    }

    /// Drops non-matches and stale index entries, whose key is no longer the listing's.
    fn keep(&mut self, mut candidates: Vec<Keyed<Listing>>) {
        candidates.retain(|candidate| {
            let listing = &candidate.item;
            self.path.key(listing, candidate.at.seq).is_none_or(|key| key == candidate.at.key)
                && self.filter.matches(listing)
        });
        self.found.append(&mut candidates);
    }

    /// Merges listings that are not indexed yet. A listing that changed between the two reads stays as it was found
    /// first.
    async fn add_unindexed(&mut self, mut revision: i64) -> Result<()> {
        let found: HashSet<i64> = self.found.iter().map(|placed| placed.at.seq).collect();
        loop {
            let mut changed = self.index.changed_after(revision, self.seq_bounds(), MAX_BATCH).await?;
            let Some(last) = changed.last() else { return Ok(()) };
            revision = last.at.key;
            let exhausted = changed.len() < MAX_BATCH;
            for Keyed { item, at } in &mut changed {
                at.key = self.path.key(item, at.seq).unwrap_or(at.seq);
            }
            changed.retain(|placed| placed.at > self.after && !found.contains(&placed.at.seq));
            self.keep(changed);
            self.found.sort_by_key(|placed| placed.at);
            self.found.truncate(self.limit + 1);
            if exhausted {
                return Ok(());
            }
        }
    }

    /// For paths in creation order: the part that the page can still use.
    fn seq_bounds(&self) -> (i64, i64) {
        if !self.path.is_by_creation() {
            return (i64::MIN, i64::MAX);
        }
        let last = self.found.last().filter(|_| self.is_full());
        (self.after.seq.saturating_add(1), last.map_or(i64::MAX, |last| last.at.seq))
    }
}
