//! Listings on a map, grouped and counted. What the map's filters name is read from an index alone; other conditions
//! are searched, up to a limit. In both cases the work is bounded, and the answer says whether it covers everything.

use std::collections::{HashMap, HashSet};

use portico_domain::clusters::{Cluster, ClusterGrid, MapListing, Zoom};
use portico_domain::geo::{Area, Point};
use portico_domain::listings::{Listing, ListingFilter};
use portico_domain::{Money, Whole};

use crate::engine::db::{Db, Engine};
use crate::engine::error::{Error, Result};
use crate::engine::page::{Keyed, as_limit};
use crate::engine::sql::{Param, Sql, Weight, dialects, statements};
use crate::engine::sqlite::database::Sqlite;
use crate::listings::find::retry_in_sqlite;
use crate::listings::search::ListingIndex as _;

/// Listings that are counted from the index.
const MAX_SUMMARIES: usize = 250_000;
/// Listings that are found by a search.
const MAX_FOUND: usize = 10_000;
/// In one read of such a search: their documents can be long.
const FOUND_BATCH: usize = 512;
/// In one read of listings that are not indexed yet.
const UNINDEXED_BATCH: usize = 1024;

#[derive(Debug, PartialEq, Eq)]
pub struct ListingClusters {
    /// Listings that match, also those without a place.
    pub total: u64,
    /// Whether everything was counted; otherwise there are more.
    pub is_exact: bool,
    pub clusters: Vec<Cluster<MapListing>>,
}

/// Placed listings: Morton code from (`?1`), to (`?2`), rent (`?3`, `?4`), bedrooms (`?5`, `?6`), bathrooms (`?7`,
/// `?8`), newest revision (`?9`), limit (`?10`).
static PLACED: Sql = dialects(
    "SELECT morton, seq FROM search.summaries WHERE morton BETWEEN ?1 AND ?2 \
     AND coalesce(rent, -1) BETWEEN ?3 AND ?4 AND coalesce(bedrooms, -1) BETWEEN ?5 AND ?6 \
     AND coalesce(bathrooms, -1) BETWEEN ?7 AND ?8 \
     AND EXISTS (SELECT 1 FROM listings WHERE listings.seq = summaries.seq AND revision <= ?9) LIMIT ?10",
    "SELECT morton, seq FROM listings WHERE morton BETWEEN ?1 AND ?2 \
     AND coalesce(rent, -1) BETWEEN ?3 AND ?4 AND coalesce(bedrooms, -1) BETWEEN ?5 AND ?6 \
     AND coalesce(bathrooms, -1) BETWEEN ?7 AND ?8 AND ?9::bigint > 0 LIMIT ?10",
);
/// The number of those without a place: `?1` to `?6` are `?3` to `?8` there, then newest revision (`?7`), limit (`?8`).
static UNPLACED: Sql = dialects(
    "SELECT count(*) FROM (SELECT 1 FROM search.summaries WHERE morton IS NULL \
     AND coalesce(rent, -1) BETWEEN ?1 AND ?2 AND coalesce(bedrooms, -1) BETWEEN ?3 AND ?4 \
     AND coalesce(bathrooms, -1) BETWEEN ?5 AND ?6 \
     AND EXISTS (SELECT 1 FROM listings WHERE listings.seq = summaries.seq AND revision <= ?7) LIMIT ?8)",
    "SELECT count(*) FROM (SELECT 1 FROM listings WHERE morton IS NULL \
     AND coalesce(rent, -1) BETWEEN ?1 AND ?2 AND coalesce(bedrooms, -1) BETWEEN ?3 AND ?4 \
     AND coalesce(bathrooms, -1) BETWEEN ?5 AND ?6 AND ?7::bigint > 0 LIMIT ?8) AS unplaced",
);
/// By a JSON array of creation numbers (`?1`).
static BY_NUMBERS: Sql = dialects(
    "SELECT document, seq, seq FROM listings WHERE seq IN (SELECT value FROM json_each(?1))",
    "SELECT document, seq, seq FROM listings \
     WHERE seq IN (SELECT value::bigint FROM json_array_elements_text(?1::text::json))",
);

/// The conditions of a filter that the index knows.
struct MapFilter<'f> {
    area: Option<&'f Area>,
    /// From and to, for rent, bedrooms and bathrooms; a listing without one has -1.
    numbers: [i64; 6],
}

impl<'f> MapFilter<'f> {
    /// `None`: the filter has other conditions.
    fn of(filter: &'f ListingFilter) -> Option<Self> {
        let ListingFilter {
            id,
            user,
            city,
            postal,
            term,
            field,
            min_rent,
            max_rent,
            bedrooms,
            min_bedrooms,
            bathrooms,
            areas,
            order: _,
        } = filter;
        let has_others = (id.is_some() || user.is_some() || city.is_some())
            || (postal.is_some() || term.is_some() || field.is_some());
        let area = match areas.as_slice() {
            _ if has_others => return None,
            [] => None,
            [area @ Area::Box { .. }] => Some(area),
            _ => return None,
        };
        let is_rent_bound = min_rent.is_some() || max_rent.is_some();
        let rooms =
            |rooms: Option<Whole>| rooms.map_or((-1, i64::MAX), |rooms| (rooms.units(), rooms.units()));
        let ((bedrooms, to_bedrooms), (bathrooms, to_bathrooms)) = (rooms(*bedrooms), rooms(*bathrooms));
        let bedrooms = min_bedrooms.map_or(bedrooms, |fewest| bedrooms.max(fewest.units()));
        let numbers = [
            min_rent.map_or(if is_rent_bound { 0 } else { -1 }, Money::units),
            max_rent.map_or(i64::MAX, Money::units),
            bedrooms,
            to_bedrooms,
            bathrooms,
            to_bathrooms,
        ];
        Some(Self { area, numbers })
    }

    fn ranges(&self) -> Vec<(i64, i64)> {
        self.area.map_or_else(|| vec![(0, i64::MAX)], Area::ranges)
    }

    fn contains(&self, morton: i64) -> bool {
        self.area.and_then(|area| area.box_contains(morton)).unwrap_or(true)
    }
}

/// What was read of the index.
#[derive(Default)]
struct Counted {
    /// Morton codes and creation numbers.
    placed: Vec<(i64, i64)>,
    unplaced: u64,
    /// In `SQLite`, that are not in its index yet.
    unindexed: Vec<(Option<Point>, MapListing)>,
    is_cut: bool,
}

impl Counted {
    fn group(self, zoom: Zoom) -> Vec<Cluster<Found>> {
        let codes = self.placed.iter().map(|(morton, _)| *morton).collect();
        let mut grid = ClusterGrid::new(zoom).coarse_enough_for(codes);
        for (morton, seq) in self.placed {
            grid.add(Point::from_morton(morton), Found::Number(seq));
        }
        for (place, listing) in self.unindexed {
            if let Some(place) = place {
                grid.add(place, Found::Listing(listing));
            }
        }
        grid.clusters()
    }
}

impl Db {
    /// Listings that match a filter, grouped for a map.
    pub async fn listing_clusters(&self, filter: &ListingFilter, zoom: Zoom) -> Result<ListingClusters> {
        let Some(map_filter) = MapFilter::of(filter) else {
            return self.found_clusters(filter, zoom).await;
        };
        let counted = match &self.0 {
            Engine::Postgres(_) => self.count(&map_filter, i64::MAX).await?,
            Engine::Sqlite(sqlite) => {
                retry_in_sqlite(sqlite, || self.count_in_sqlite(sqlite, filter, &map_filter)).await?
            }
        };
        let is_exact = !counted.is_cut;
        let unindexed = counted.unindexed.len() as u64;
        let total = counted.placed.len() as u64 + counted.unplaced + unindexed;
        // Grouping 250,000 places takes long enough to delay other requests.
        let grouped = tokio::task::spawn_blocking(move || counted.group(zoom)).await;
        let grouped = grouped.map_err(|panic| Error::Bug(panic.to_string()))?;
        Ok(ListingClusters { total, is_exact, clusters: self.with_listings(grouped).await? })
    }

    /// By a search, with every condition.
    async fn found_clusters(&self, filter: &ListingFilter, zoom: Zoom) -> Result<ListingClusters> {
        let (mut grid, mut total, mut after) = (ClusterGrid::new(zoom), 0, None);
        loop {
            let limit = FOUND_BATCH.min(MAX_FOUND - total);
            let page = self.find_listings(filter, after, limit).await?;
            total += page.items.len();
            for listing in page.items {
                if let Some(place) = listing.place {
                    grid.add(place, MapListing::from(listing));
                }
            }
            after = page.next;
            if after.is_none() || total == MAX_FOUND {
                let is_exact = after.is_none();
                return Ok(ListingClusters { total: total as u64, is_exact, clusters: grid.clusters() });
            }
        }
    }

    async fn count(&self, filter: &MapFilter<'_>, revision: i64) -> Result<Counted> {
        let mut counted = Counted::default();
        let numbers: Vec<Param<'_>> = filter.numbers.iter().map(|number| (*number).into()).collect();
        let mut left = MAX_SUMMARIES;
        for (from, to) in filter.ranges() {
            let range = [Param::Int(from), Param::Int(to)];
            let bound = [revision.into(), as_limit(left + 1).into()];
            let params = [range.as_slice(), &numbers, &bound].concat();
            let mut found: Vec<(i64, i64)> = self.read(&PLACED, &params, Weight::Scan).await?;
            counted.is_cut = found.len() > left;
            found.truncate(left);
            left -= found.len();
            counted.placed.extend(found.into_iter().filter(|(morton, _)| filter.contains(*morton)));
            if counted.is_cut {
                return Ok(counted);
            }
        }
        if filter.area.is_none() {
            let bound = [revision.into(), as_limit(left + 1).into()];
            let params = [numbers.as_slice(), &bound].concat();
            let found: Vec<(i64,)> = self.read(&UNPLACED, &params, Weight::Scan).await?;
            let number = found.first().map_or(0, |(count,)| usize::try_from(*count).unwrap_or(0));
            counted.is_cut = number > left;
            counted.unplaced = number.min(left) as u64;
        }
        Ok(counted)
    }

    async fn count_in_sqlite(
        &self,
        sqlite: &Sqlite,
        filter: &ListingFilter,
        map_filter: &MapFilter<'_>,
    ) -> Result<Counted> {
        // Read before the index: what changes later is read from the table.
        let mut revision = sqlite.search_revision();
        let mut counted =
            if revision > 0 { self.count(map_filter, revision).await? } else { Counted::default() };
        let mut numbers: Option<HashSet<i64>> = None;
        while !counted.is_cut {
            let changed = sqlite.changed_after(revision, (i64::MIN, i64::MAX), UNINDEXED_BATCH).await?;
            let Some(last) = changed.last() else { break };
            revision = last.at.key;
            let is_last = changed.len() < UNINDEXED_BATCH;
            // One that changed between the two reads stays as it was found first.
            let counted_before =
                numbers.get_or_insert_with(|| counted.placed.iter().map(|(_, seq)| *seq).collect());
            for Keyed { item, at } in changed {
                if filter.matches(&item) && !counted_before.contains(&at.seq) {
                    counted.unindexed.push((item.place, item.into()));
                }
            }
            if is_last {
                break;
            }
            counted.is_cut = counted.unindexed.len() > MAX_FOUND;
        }
        Ok(counted)
    }

    /// Reads the listings that are clusters of their own. One that was deleted meanwhile is left out.
    async fn with_listings(&self, clusters: Vec<Cluster<Found>>) -> Result<Vec<Cluster<MapListing>>> {
        let numbers: Vec<i64> = clusters
            .iter()
            .filter_map(|cluster| match &cluster.only {
                Some(Found::Number(seq)) => Some(*seq),
                _ => None,
            })
            .collect();
        let array = format!("{numbers:?}");
        let read: Vec<Keyed<Listing>> =
            self.read(&BY_NUMBERS, &[array.as_str().into()], Weight::Scan).await?;
        let mut listings: HashMap<i64, MapListing> =
            read.into_iter().map(|keyed| (keyed.at.seq, keyed.item.into())).collect();
        let filled = clusters.into_iter().filter_map(|cluster| {
            let only = match cluster.only {
                Some(Found::Listing(listing)) => Some(listing),
                Some(Found::Number(seq)) => Some(listings.remove(&seq)?),
                None => None,
            };
            let Cluster { count, latitude, longitude, bounds, only: _ } = cluster;
            Some(Cluster { count, latitude, longitude, bounds, only })
        });
        Ok(filled.collect())
    }
}

/// A listing, or the creation number by which it is read.
enum Found {
    Number(i64),
    Listing(MapListing),
}

statements! { PLACED, UNPLACED, BY_NUMBERS }
