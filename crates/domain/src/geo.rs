//! Points, areas, and the Morton codes with which one index finds the points inside an area.

use serde::{Deserialize, Serialize};

use crate::{Degrees, FaultCode, Kilometres, ValidationError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    latitude: Degrees,
    longitude: Degrees,
}

const QUARTER_TURN: i64 = 90 * Degrees::SCALE;
const HALF_TURN: i64 = 180 * Degrees::SCALE;
/// Bits per axis; two axes fit a positive 64-bit integer.
pub(crate) const BITS: u32 = 31;
const CELLS: i64 = 1 << BITS;
const EARTH_RADIUS_KM: f64 = 6371.0088;
/// More ranges fit an area more tightly but cost one index probe each.
const MAX_RANGES: usize = 24;

impl Point {
    pub fn new(latitude: Degrees, longitude: Degrees) -> Result<Self, ValidationError> {
        if latitude.units().abs() > QUARTER_TURN {
            return Err(ValidationError::new(FaultCode::OutOfRange, "latitude must be between -90 and 90")
                .between(-90, 90));
        }
        Ok(Self { latitude, longitude })
    }

    pub const fn latitude(self) -> Degrees {
        self.latitude
    }

    pub const fn longitude(self) -> Degrees {
        self.longitude
    }

    /// The position on the Z-order curve.
    pub fn morton(self) -> i64 {
        interleave(row(self.latitude.units()), column(self.longitude.units()))
    }

    /// The middle of a position on the Z-order curve, less than two centimetres from the point.
    pub fn from_morton(morton: i64) -> Self {
        Self {
            latitude: Degrees::from_units(middle(gather(morton >> 1), QUARTER_TURN)),
            longitude: Degrees::from_units(middle(gather(morton), HALF_TURN)),
        }
    }

    pub fn distance_km(self, other: Self) -> f64 {
        let (lat1, lat2) = (self.latitude.as_f64().to_radians(), other.latitude.as_f64().to_radians());
        let half_lat = (lat2 - lat1) / 2.0;
        let half_lon = (other.longitude.as_f64() - self.longitude.as_f64()).to_radians() / 2.0;
        let h = half_lat.sin().powi(2) + lat1.cos() * lat2.cos() * half_lon.sin().powi(2);
        2.0 * EARTH_RADIUS_KM * h.sqrt().min(1.0).asin()
    }

    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let [latitude, longitude] = numbers(text).ok_or_else(|| {
            ValidationError::new(FaultCode::NotAPoint, "must be two numbers: latitude,longitude")
        })?;
        Self::new(latitude?, longitude?)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    Circle {
        centre: Point,
        radius: Kilometres,
    },
    /// May cross the antimeridian (west > east).
    Box {
        south_west: Point,
        north_east: Point,
    },
}

impl Area {
    /// Parses `west,south,east,north`, the order of `GeoJSON`. South and north may be swapped; west > east means that
    /// the box crosses the antimeridian.
    pub fn parse_box(text: &str) -> Result<Self, ValidationError> {
        let [west, south, east, north] = numbers(text).ok_or_else(|| {
            ValidationError::new(FaultCode::NotABox, "must be four numbers: west,south,east,north")
        })?;
        let (south, north) = (south?, north?);
        let south_west = Point::new(south.min(north), west?)?;
        let north_east = Point::new(south.max(north), east?)?;
        Ok(Self::Box { south_west, north_east })
    }

    /// Edges are inside.
    #[expect(clippy::cast_precision_loss, reason = "20,038,000 metres fit a double")]
    pub fn contains(&self, point: Point) -> bool {
        match *self {
            Self::Circle { centre, radius } => {
                centre.distance_km(point) <= radius.units() as f64 / Kilometres::SCALE as f64
            }
            Self::Box { south_west, north_east } => {
                let (west, east) = (south_west.longitude, north_east.longitude);
                let between = (south_west.latitude..=north_east.latitude).contains(&point.latitude);
                between
                    && if west <= east {
                        (west..=east).contains(&point.longitude)
                    } else {
                        point.longitude >= west || point.longitude <= east
                    }
            }
        }
    }

    /// Whether a box contains a position on the Z-order curve: with its edges, to less than two centimetres. `None`: it is
    /// no box.
    pub fn box_contains(&self, morton: i64) -> Option<bool> {
        let Self::Box { south_west, north_east } = *self else { return None };
        let (at_row, at_column) = (gather(morton >> 1), gather(morton));
        let rows = row(south_west.latitude.units())..=row(north_east.latitude.units());
        let columns = meridians(south_west.longitude.units(), north_east.longitude.units());
        let is_between = |(west, east): (i64, i64)| (column(west)..=column(east)).contains(&at_column);
        Some(rows.contains(&at_row) && columns.into_iter().any(is_between))
    }

    /// Ascending, disjoint ranges of Morton codes that cover the area and a little more.
    pub fn ranges(&self) -> Vec<(i64, i64)> {
        let (south, north, spans) = match *self {
            Self::Circle { centre, radius } => circle_bounds(centre, radius),
            Self::Box { south_west, north_east } => (
                south_west.latitude.units(),
                north_east.latitude.units(),
                meridians(south_west.longitude.units(), north_east.longitude.units()),
            ),
        };
        let rows = (row(south), row(north));
        let mut ranges: Vec<_> =
            spans.into_iter().flat_map(|(west, east)| cover(rows, (column(west), column(east)))).collect();
        ranges.sort_unstable();
        ranges.dedup_by(|next, kept| {
            let joins = next.0 <= kept.1 + 1;
            if joins {
                kept.1 = kept.1.max(next.1);
            }
            joins
        });
        ranges
    }
}

/// Splits a box that crosses the antimeridian.
fn meridians(west: i64, east: i64) -> Vec<(i64, i64)> {
    if west <= east { vec![(west, east)] } else { vec![(west, HALF_TURN), (-HALF_TURN, east)] }
}

#[expect(clippy::cast_possible_truncation, reason = "degrees in billionths fit 64 bits")]
#[expect(clippy::cast_precision_loss, reason = "a bounding box is rounded outwards")]
fn circle_bounds(centre: Point, radius: Kilometres) -> (i64, i64, Vec<(i64, i64)>) {
    let scale = Degrees::SCALE as f64;
    // Slightly too large; `contains` decides exactly.
    let angle = radius.as_f64() / EARTH_RADIUS_KM * 1.001;
    let lat = centre.latitude.as_f64();
    let (south, north) = (lat - angle.to_degrees(), lat + angle.to_degrees());
    let whole_turn = vec![(-HALF_TURN, HALF_TURN)];
    let reach = angle.sin() / lat.to_radians().cos();
    let spans =
        if south <= -90.0 || north >= 90.0 || reach.abs() >= 1.0 || angle >= std::f64::consts::FRAC_PI_2 {
            whole_turn
        } else {
            let reach = (reach.asin().to_degrees() * scale).ceil() as i64 + 1;
            let wrap = |x: i64| (x + 3 * HALF_TURN).rem_euclid(2 * HALF_TURN) - HALF_TURN;
            let lon = centre.longitude.units();
            if reach >= HALF_TURN { whole_turn } else { meridians(wrap(lon - reach), wrap(lon + reach)) }
        };
    let units = |degrees: f64| (degrees * scale) as i64;
    (units(south.max(-90.0)) - 1, units(north.min(90.0)) + 1, spans)
}

fn numbers<const N: usize>(text: &str) -> Option<[Result<Degrees, ValidationError>; N]> {
    let parts: Vec<_> = text.split(',').map(|part| Degrees::parse(part.trim())).collect();
    parts.try_into().ok()
}

/// The grid cell of a coordinate between `-half` and `half`.
fn cell(units: i64, half: i64) -> i64 {
    let scaled = i128::from(units + half) * i128::from(CELLS) / i128::from(2 * half);
    i64::try_from(scaled).unwrap_or(0).clamp(0, CELLS - 1)
}
fn row(latitude: i64) -> i64 {
    cell(latitude, QUARTER_TURN)
}
fn column(longitude: i64) -> i64 {
    cell(longitude, HALF_TURN)
}

fn interleave(row: i64, column: i64) -> i64 {
    spread(row) << 1 | spread(column)
}

/// Inserts a zero between every two bits.
fn spread(mut x: i64) -> i64 {
    x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | x << 2) & 0x3333_3333_3333_3333;
    (x | x << 1) & 0x5555_5555_5555_5555
}

/// Takes every second bit: the inverse of [`spread`].
fn gather(mut x: i64) -> i64 {
    x &= 0x5555_5555_5555_5555;
    x = (x | x >> 1) & 0x3333_3333_3333_3333;
    x = (x | x >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | x >> 4) & 0x00ff_00ff_00ff_00ff;
    x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) & 0x0000_0000_ffff_ffff
}

/// The coordinate in the middle of a grid cell.
fn middle(cell: i64, half: i64) -> i64 {
    let scaled = (2 * i128::from(cell) + 1) * i128::from(half) / i128::from(CELLS);
    i64::try_from(scaled).unwrap_or(0) - half
}

/// A quadtree square: its lowest row and column, and its size as a power of two.
struct Square {
    row: i64,
    column: i64,
    level: u32,
}

impl Square {
    fn side(&self) -> i64 {
        1 << self.level
    }
    fn overlaps(&self, rows: (i64, i64), columns: (i64, i64)) -> bool {
        self.row <= rows.1
            && self.row + self.side() > rows.0
            && self.column <= columns.1
            && self.column + self.side() > columns.0
    }
    fn inside(&self, rows: (i64, i64), columns: (i64, i64)) -> bool {
        self.row >= rows.0
            && self.row + self.side() - 1 <= rows.1
            && self.column >= columns.0
            && self.column + self.side() - 1 <= columns.1
    }
    fn quarters(&self) -> [Self; 4] {
        let level = self.level - 1;
        let half = 1 << level;
        [(0, 0), (0, half), (half, 0), (half, half)].map(|(down, right)| Self {
            row: self.row + down,
            column: self.column + right,
            level,
        })
    }
    fn range(&self) -> (i64, i64) {
        let first = interleave(self.row, self.column);
        (first, first + (1 << (2 * self.level)) - 1)
    }
}

/// Subdivides the world until the squares fit the rectangle or there are enough of them.
fn cover(rows: (i64, i64), columns: (i64, i64)) -> Vec<(i64, i64)> {
    let mut open = std::collections::VecDeque::from([Square { row: 0, column: 0, level: BITS }]);
    let mut done = Vec::new();
    while let Some(square) = open.pop_front() {
        if square.level == 0 || square.inside(rows, columns) || open.len() + done.len() + 4 > MAX_RANGES {
            done.push(square.range());
        } else {
            open.extend(square.quarters().into_iter().filter(|s| s.overlaps(rows, columns)));
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(lat: f64, lon: f64) -> Point {
        Point::parse(&format!("{lat:.9},{lon:.9}")).unwrap()
    }

    #[test]
    fn distances_follow_the_sphere() {
        let (london, paris) = (point(51.5074, -0.1278), point(48.8566, 2.3522));
        let km = london.distance_km(paris);
        assert!((343.0..345.0).contains(&km), "{km}");
    }

    #[test]
    fn a_box_may_cross_the_antimeridian() {
        let fiji = Area::parse_box("177,-20,-178,-12").unwrap();
        assert!(fiji.contains(point(-17.0, 179.0)) && fiji.contains(point(-17.0, -179.0)));
        assert!(!fiji.contains(point(-17.0, 0.0)));
    }

    #[test]
    fn rejects_invalid_points_and_boxes() {
        assert_eq!(Point::parse("91,0").unwrap_err().code.name(), "out_of_range");
        assert_eq!(Point::parse("1").unwrap_err().code.name(), "not_a_point");
        assert_eq!(Area::parse_box("1,2,3").unwrap_err().code.name(), "not_a_box");
        assert_eq!(Area::parse_box("0,91,1,5").unwrap_err().code.name(), "out_of_range");
        assert_eq!(Area::parse_box("0,10,1,5"), Area::parse_box("0,5,1,10"));
    }

    fn any_point() -> impl Strategy<Value = Point> {
        (-QUARTER_TURN..=QUARTER_TURN, -HALF_TURN..=HALF_TURN).prop_map(|(lat, lon)| Point {
            latitude: Degrees::from_units(lat),
            longitude: Degrees::from_units(lon),
        })
    }

    fn covered(area: &Area, point: Point) -> bool {
        area.ranges().iter().any(|&(from, to)| (from..=to).contains(&point.morton()))
    }

    proptest! {
        #[test]
        fn points_in_a_circle_are_in_its_ranges(
            centre in any_point(), radius in 0..20_038_000_i64, north in -1.0..1.0_f64, east in -1.0..1.0_f64,
        ) {
            let area = Area::Circle { centre, radius: Kilometres::from_units(radius) };
            let degrees = Kilometres::from_units(radius).as_f64() / 111.0;
            let near = point(
                (centre.latitude.as_f64() + north * degrees).clamp(-90.0, 90.0),
                ((centre.longitude.as_f64() + east * degrees + 540.0).rem_euclid(360.0) - 180.0).clamp(-180.0, 180.0),
            );
            prop_assert!(!area.contains(near) || covered(&area, near));
            prop_assert!(covered(&area, centre));
        }

        #[test]
        fn a_position_is_less_than_two_centimetres_from_its_point(point in any_point()) {
            let found = Point::from_morton(point.morton());
            prop_assert_eq!(found.morton(), point.morton());
            prop_assert!(found.distance_km(point) < 0.000_02);
        }

        #[test]
        fn a_box_contains_the_positions_of_its_points(a in any_point(), b in any_point(), p in any_point()) {
            let (south_west, north_east) = if a.latitude <= b.latitude { (a, b) } else { (b, a) };
            let area = Area::Box { south_west, north_east };
            let middle = Point::from_morton(p.morton());
            prop_assert!(!area.contains(p) || area.box_contains(p.morton()) == Some(true));
            // At its edges a position may be on both sides.
            prop_assert!(area.contains(p) || area.contains(middle) || area.box_contains(p.morton()) == Some(false)
                || [a, b].iter().any(|edge| row(edge.latitude.units()) == row(p.latitude.units())
                    || column(edge.longitude.units()) == column(p.longitude.units())));
            prop_assert_eq!(area.box_contains(a.morton()), Some(true));
        }

        #[test]
        fn points_in_a_box_are_in_its_ranges(a in any_point(), b in any_point(), p in any_point()) {
            let (south_west, north_east) = if a.latitude <= b.latitude { (a, b) } else { (b, a) };
            let area = Area::Box { south_west, north_east };
            prop_assert!(!area.contains(p) || covered(&area, p));
            let ranges = area.ranges();
            prop_assert!(ranges.len() <= 2 * MAX_RANGES);
            prop_assert!(ranges.windows(2).all(|w| w[0].1 < w[1].0), "ascending and disjoint");
        }
    }
}
