//! Groups places by a grid, so that a map shows some hundred markers however many listings there are.

use std::collections::BTreeMap;

use crate::geo::{BITS, Point};
use crate::listings::Listing;
use crate::{Degrees, ListingId, Money, Street};

/// As browsers can draw it.
const MAX_CLUSTERS: usize = 400;
/// A map of zoom level 0 has 256 pixels, and a cell of the grid 64.
const LEVELS_BELOW_ZOOM: u32 = 2;

/// Zoom level of a web map: at 0 the world has 256 pixels, at each further one twice as many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zoom(u8);

impl Zoom {
    pub const MAX: u8 = 24;

    pub fn new(level: u8) -> Option<Self> {
        (level <= Self::MAX).then_some(Self(level))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub west: Degrees,
    pub south: Degrees,
    pub east: Degrees,
    pub north: Degrees,
}

/// Listings that are close to each other, or a single one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster<T> {
    pub count: u64,
    /// The mean of their places.
    pub latitude: Degrees,
    pub longitude: Degrees,
    pub bounds: Bounds,
    /// The listing, if it is the only one.
    pub only: Option<T>,
}

/// What a map shows of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapListing {
    pub id: ListingId,
    pub street: Street,
    pub rent: Option<Money>,
}

impl From<Listing> for MapListing {
    fn from(Listing { id, street, rent, .. }: Listing) -> Self {
        Self { id, street, rent }
    }
}

/// Collects places; no two clusters of a grid have the same cell.
#[derive(Debug)]
pub struct ClusterGrid<T> {
    /// Each level has four times as many cells as the one before.
    level: u32,
    cells: BTreeMap<i64, Cell<T>>,
    marker: Marker,
}

/// In degrees' units.
#[derive(Debug, Clone, Copy)]
struct Place {
    latitude: i64,
    longitude: i64,
}

/// How far apart, in degrees' units, the places of two clusters must be so that the marker of one does not hide the
/// other's: half a cell's width, which is 32 pixels, or three quarters of its height, which is 24 pixels or more.
#[derive(Debug)]
struct Marker {
    width: i64,
    height: i64,
}

impl Marker {
    fn at(level: u32) -> Self {
        let cell = |degrees: i64| (degrees * Degrees::SCALE) >> level;
        Self { width: cell(360) / 2, height: cell(180) * 3 / 4 }
    }

    fn covers(&self, one: Place, other: Place) -> bool {
        one.latitude.abs_diff(other.latitude) < self.height.unsigned_abs()
            && one.longitude.abs_diff(other.longitude) < self.width.unsigned_abs()
    }
}

#[derive(Debug)]
struct Cell<T> {
    count: u64,
    latitudes: i128,
    longitudes: i128,
    bounds: Bounds,
    only: Option<T>,
}

impl<T> ClusterGrid<T> {
    pub fn new(Zoom(zoom): Zoom) -> Self {
        let level = (u32::from(zoom) + LEVELS_BELOW_ZOOM).min(BITS);
        Self { level, cells: BTreeMap::new(), marker: Marker::at(level) }
    }

    /// As coarse as [`Self::clusters`] would make it for these Morton codes. Many places need few cells from the
    /// beginning then.
    #[must_use]
    pub fn coarse_enough_for(mut self, mut codes: Vec<i64>) -> Self {
        codes.sort_unstable();
        // How many codes are the first in their cell at a level and not at the one before.
        let mut new_cells = [0; BITS as usize + 1];
        for pair in codes.windows(2) {
            if let [one, other] = pair
                && let Some(bit) = (one ^ other).checked_ilog2()
                && let Some(cells) = new_cells.get_mut((BITS - bit / 2) as usize)
            {
                *cells += 1;
            }
        }
        let fits = |level: u32| new_cells.iter().take(level as usize + 1).sum::<usize>() < MAX_CLUSTERS;
        while self.level > 0 && !fits(self.level) {
            self.level -= 1;
        }
        self
    }

    pub fn add(&mut self, place: Point, item: T) {
        let (latitude, longitude) = (place.latitude(), place.longitude());
        let bounds = Bounds { west: longitude, south: latitude, east: longitude, north: latitude };
        let cell = Cell {
            count: 1,
            latitudes: latitude.units().into(),
            longitudes: longitude.units().into(),
            bounds,
            only: Some(item),
        };
        self.put(place.morton() >> (2 * (BITS - self.level)), cell);
    }

    fn put(&mut self, number: i64, cell: Cell<T>) {
        match self.cells.entry(number) {
            std::collections::btree_map::Entry::Vacant(free) => {
                free.insert(cell);
            }
            std::collections::btree_map::Entry::Occupied(mut taken) => taken.get_mut().merge(&cell),
        }
    }

    /// In the order of their cells. A grid with too many is made coarser, and neighbours on both sides of a cell's edge
    /// are one cluster.
    pub fn clusters(mut self) -> Vec<Cluster<T>> {
        while self.cells.len() > MAX_CLUSTERS {
            self.level -= 1;
            for (number, cell) in std::mem::take(&mut self.cells) {
                self.put(number >> 2, cell);
            }
        }
        let mut cells: Vec<Cell<T>> = self.cells.into_values().collect();
        loop {
            let count = cells.len();
            cells = merge_neighbours(cells, &self.marker);
            // A mean that moved can be close to another one.
            if cells.len() == count {
                return cells.into_iter().map(Cell::cluster).collect();
            }
        }
    }
}

fn merge_neighbours<T>(cells: Vec<Cell<T>>, marker: &Marker) -> Vec<Cell<T>> {
    let mut apart: Vec<(Place, Cell<T>)> = Vec::with_capacity(cells.len());
    for cell in cells {
        let place = cell.mean();
        match apart.iter_mut().find(|(other, _)| marker.covers(*other, place)) {
            Some((_, other)) => other.merge(&cell),
            None => apart.push((place, cell)),
        }
    }
    apart.into_iter().map(|(_, cell)| cell).collect()
}

impl<T> Cell<T> {
    fn mean(&self) -> Place {
        let mean = |sum: i128| i64::try_from(sum / i128::from(self.count)).unwrap_or_default();
        Place { latitude: mean(self.latitudes), longitude: mean(self.longitudes) }
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.latitudes += other.latitudes;
        self.longitudes += other.longitudes;
        self.bounds = Bounds {
            west: self.bounds.west.min(other.bounds.west),
            south: self.bounds.south.min(other.bounds.south),
            east: self.bounds.east.max(other.bounds.east),
            north: self.bounds.north.max(other.bounds.north),
        };
        self.only = None;
    }

    fn cluster(self) -> Cluster<T> {
        let Place { latitude, longitude } = self.mean();
        Cluster {
            count: self.count,
            latitude: Degrees::from_units(latitude),
            longitude: Degrees::from_units(longitude),
            bounds: self.bounds,
            only: self.only,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(zoom: u8, places: &[&str]) -> Vec<Cluster<usize>> {
        let mut grid = ClusterGrid::new(Zoom::new(zoom).unwrap());
        for (number, place) in places.iter().enumerate() {
            grid.add(Point::parse(place).unwrap(), number);
        }
        grid.clusters()
    }

    #[test]
    fn neighbours_are_one_cluster_until_the_map_is_close() {
        let places = ["30.26,-97.74", "30.28,-97.76", "48.1,11.5"];
        let far = clusters(4, &places);
        assert_eq!(far.iter().map(|cluster| cluster.count).collect::<Vec<_>>(), [2, 1]);
        let austin = &far[0];
        assert_eq!(
            (austin.latitude, austin.longitude),
            (Degrees::parse("30.27").unwrap(), Degrees::parse("-97.75").unwrap())
        );
        assert_eq!(
            (austin.bounds.west, austin.bounds.north),
            (Degrees::parse("-97.76").unwrap(), Degrees::parse("30.28").unwrap())
        );
        assert_eq!((austin.only, far[1].only), (None, Some(2)));
        assert_eq!(clusters(14, &places).len(), 3);
    }

    #[test]
    fn neighbours_on_both_sides_of_an_edge_are_one_cluster() {
        // An edge of the cells of zoom levels 2 to 6 is at 33.75 degrees north.
        let places = ["33.749,-84.388", "33.759,-84.378", "33.769,-84.368", "33.779,-84.358", "30.3,-97.7"];
        for zoom in 2..=6 {
            let counts: Vec<u64> = clusters(zoom, &places).iter().map(|cluster| cluster.count).collect();
            assert_eq!(counts, [1, 4], "{zoom}");
        }
        assert_eq!(clusters(14, &places).len(), 5);
    }

    #[test]
    fn listings_at_one_place_stay_together() {
        let same = clusters(Zoom::MAX, &["30,-97", "30,-97", "30,-97.0001"]);
        assert_eq!(same.iter().map(|cluster| cluster.count).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn there_are_never_more_than_a_map_can_show() {
        let mut grid = ClusterGrid::new(Zoom::new(Zoom::MAX).unwrap());
        for number in 0..5_000_i64 {
            let place = |at: i64, half: i64| Degrees::from_units((at * 7_919_000_003) % half);
            let place =
                Point::new(place(number, 90 * Degrees::SCALE), place(number * 31, 180 * Degrees::SCALE));
            grid.add(place.unwrap(), number);
        }
        let clusters = grid.clusters();
        assert!(clusters.len() <= MAX_CLUSTERS && clusters.len() > MAX_CLUSTERS / 8, "{}", clusters.len());
        assert_eq!(clusters.iter().map(|cluster| cluster.count).sum::<u64>(), 5_000);
    }

    #[test]
    fn a_grid_for_known_places_has_the_same_clusters() {
        for (zoom, number) in [(0, 700), (3, 2_000), (8, 5_000), (Zoom::MAX, 5_000), (Zoom::MAX, 10), (12, 1)]
        {
            let place = |at: i64, half: i64| Degrees::from_units((at * 7_919_000_003) % half);
            let places = (0..number).map(|at| {
                // Every third one is at a place of another one.
                let at = if at % 3 == 0 { 0 } else { at };
                Point::new(place(at, 90 * Degrees::SCALE), place(at * 31, 180 * Degrees::SCALE)).unwrap()
            });
            let zoom = Zoom::new(zoom).unwrap();
            let codes = places.clone().map(Point::morton).collect();
            let (mut plain, mut fitted) =
                (ClusterGrid::new(zoom), ClusterGrid::new(zoom).coarse_enough_for(codes));
            for (item, place) in places.enumerate() {
                plain.add(place, item);
                fitted.add(place, item);
            }
            assert!(fitted.cells.len() <= MAX_CLUSTERS);
            assert_eq!(plain.clusters(), fitted.clusters());
        }
    }

    #[test]
    fn the_poles_and_the_antimeridian_have_cells() {
        assert_eq!(clusters(0, &["90,180", "-90,-180", "90,-180", "-90,180"]).len(), 4);
    }
}
