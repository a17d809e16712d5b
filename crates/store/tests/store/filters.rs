//! Property test of finding: random listings and filters, read in small pages, compared with
//! `ListingFilter::matches`. The result does not depend on the progress of SQLite's search index.

use std::collections::HashMap;

use portico_domain::geo::{Area, Point};
use portico_domain::listings::SearchField;
use portico_domain::listings::{Listing, ListingFilter, ListingOrder};
use portico_domain::search::SearchTerm;
use portico_domain::{Degrees, Kilometres, Money, Whole};
use portico_store::DeleteListing;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::engines::Db;
use crate::samples::{delete, find_after, find_all, ids, listing, store_all, text};

on_both_engines! {
    finding_matches_the_rule_at_any_index_progress,
    paging_continues_while_the_index_catches_up,
}

const HALF: usize = 150;
const CASES: u32 = 60;

const USERS: &[&str] = &["ann", "Ann", "bob", "ünal"];
const CITIES: &[&str] =
    &["Austin", "AUSTIN", "New York", "new york", "São Paulo", "SÃO PAULO", "İzmir", "日本", "%"];
const STATES: &[&str] = &["TX", "tx", "NY", "100%", "Ñ"];
const POSTALS: &[&str] = &["78701", "78702", "7870_", "SW1A 1AA", "sw1a 1aa"];
const COUNTRIES: &[&str] = &["US", "us", "Österreich"];
const LINKS: &[&str] = &["https://example.com/a_b", "https://Example.com/100%25"];
const WORDS: &[&str] = &[
    "Main",
    "Oak",
    "Oakland",
    "100%",
    "a_b",
    "O'Neil",
    "\"Q\"",
    "back\\slash",
    "Ünter",
    "ÉCOLE",
    "AND",
    "*",
    "x",
    "日本橋",
    "🏠",
    "Straße",
    "(NEAR",
    "oo",
    "o",
];
const IDS: &[&str] = &["L-", "l-", "ünit%", "A_", "日"];
const RENTS: &[i64] = &[0, 1, 9_999_999, 10_000_000, 10_000_001, 25_000_000, 999_999_999_990_000];
/// Centres of listings: a town, the antimeridian, the poles, the origin.
const CENTRES: &[(f64, f64)] =
    &[(30.26, -97.74), (-17.0, 180.0), (-17.0, -180.0), (90.0, 0.0), (-90.0, 77.0), (0.0, 0.0)];

#[expect(clippy::cast_possible_truncation, reason = "degrees in billionths fit 64 bits")]
fn point(latitude: f64, longitude: f64) -> Point {
    let units = |degrees: f64| Degrees::from_units((degrees * 1e9) as i64);
    let longitude =
        if longitude.abs() > 180.0 { longitude - 360.0_f64.copysign(longitude) } else { longitude };
    Point::new(units(latitude.clamp(-90.0, 90.0)), units(longitude)).unwrap()
}

fn places() -> impl Strategy<Value = Point> {
    let around = (select(CENTRES), -1.0..1.0_f64, -1.0..1.0_f64, select(&[0.0, 0.01, 1.0, 10.0][..]))
        .prop_map(|((lat, lon), north, east, far)| point(lat + north * far, lon + east * far));
    let anywhere = (-90.0..90.0_f64, -180.0..180.0_f64).prop_map(|(lat, lon)| point(lat, lon));
    prop_oneof![3 => around, 1 => anywhere]
}

fn areas() -> impl Strategy<Value = Area> {
    let radii = select(&[0, 1, 1_500, 80_000, 900_000, 7_000_000, 20_038_000][..]);
    let circles = (places(), radii)
        .prop_map(|(centre, metres)| Area::Circle { centre, radius: Kilometres::from_units(metres) });
    let boxes = (places(), places()).prop_map(|(a, b)| {
        let (south_west, north_east) = if a.latitude() <= b.latitude() { (a, b) } else { (b, a) };
        Area::Box { south_west, north_east }
    });
    prop_oneof![circles, boxes]
}

/// A substring of one of the listings' words, in some case.
fn terms() -> impl Strategy<Value = SearchTerm> {
    let words: Vec<&str> = [USERS, CITIES, STATES, POSTALS, COUNTRIES, LINKS, WORDS, IDS].concat();
    (select(words), 0..12_usize, 1..7_usize, 0..3_u8).prop_filter_map(
        "no term",
        |(word, from, length, case)| {
            let piece: String = word.chars().skip(from % word.chars().count()).take(length).collect();
            let piece =
                [piece.to_lowercase(), piece.to_uppercase(), piece.clone()][usize::from(case)].clone();
            SearchTerm::parse(&piece).ok()
        },
    )
}

fn fields() -> impl Strategy<Value = SearchField> {
    select(&SearchField::NAMES[..8]).prop_map(|name| SearchField::parse(name).unwrap())
}

fn rents() -> impl Strategy<Value = Money> {
    select(RENTS).prop_map(Money::from_units)
}

fn rooms() -> impl Strategy<Value = Whole> {
    (0..4_i64).prop_map(Whole::from_units)
}

/// The id's number is appended later.
fn listings() -> impl Strategy<Value = Listing> {
    let streets = proptest::collection::vec(select(WORDS), 1..4).prop_map(|words| words.join(" "));
    let texts = (
        select(IDS),
        select(USERS),
        streets,
        select(CITIES),
        select(STATES),
        select(POSTALS),
        select(COUNTRIES),
    );
    let rest = (
        weighted(0.8, rents()),
        weighted(0.7, rooms()),
        weighted(0.7, rooms()),
        weighted(0.7, places()),
        weighted(0.3, select(LINKS)),
    );
    (texts, rest).prop_map(
        |((id, user, street, city, state, postal, country), (rent, bedrooms, bathrooms, place, link))| {
            Listing {
                user: text(user),
                street: text(&street),
                city: text(city),
                state: text(state),
                postal: text(postal),
                country: text(country),
                rent,
                property_value: rent,
                bedrooms,
                bathrooms,
                place,
                walkthrough: link.map(text),
                ..listing(id)
            }
        },
    )
}

fn filters() -> impl Strategy<Value = ListingFilter> {
    // Only a few conditions each: with all of them nothing would match.
    let texts = (
        weighted(0.1, select(USERS)),
        weighted(0.15, select(CITIES)),
        weighted(0.1, select(POSTALS)),
        weighted(0.25, terms()),
        weighted(0.15, (fields(), terms())),
    );
    let rest = (
        weighted(0.15, rents()),
        weighted(0.15, rents()),
        weighted(0.15, rooms()),
        weighted(0.15, rooms()),
        weighted(0.15, rooms()),
        weighted(0.3, select(ListingOrder::ALL)),
        prop_oneof![7 => Just(vec![]), 3 => proptest::collection::vec(areas(), 1..3)],
    );
    (texts, rest).prop_map(|((user, city, postal, term, field), rest)| {
        let (min_rent, max_rent, bedrooms, min_bedrooms, bathrooms, order, areas) = rest;
        ListingFilter {
            id: None,
            user: user.map(text),
            city: city.map(text),
            postal: postal.map(text),
            term,
            field,
            min_rent,
            max_rent,
            bedrooms,
            min_bedrooms,
            bathrooms,
            areas,
            order,
        }
    })
}

fn limits() -> impl Strategy<Value = usize> {
    select(&[1_usize, 2, 3, 7, 20, 1000][..])
}

/// The key before the creation number: what the order says, rent, Morton code, or nothing.
fn sort_key(filter: &ListingFilter, number: usize, listing: &Listing) -> i64 {
    let rent_or_rooms = filter.min_rent.is_some()
        || filter.max_rent.is_some()
        || filter.bedrooms.is_some()
        || filter.bathrooms.is_some();
    let by_size = |listing: &Listing| listing.bedrooms.map_or(1, |rooms| -rooms.units());
    if let Some(order) = filter.order {
        match order {
            ListingOrder::Newest => -i64::try_from(number).unwrap(),
            ListingOrder::Rent => listing.rent.map_or(i64::MAX, Money::units),
            ListingOrder::Size => by_size(listing),
        }
    } else if filter.user.is_some() || filter.postal.is_some() {
        0
    } else if !filter.areas.is_empty() {
        listing.place.map_or(-1, Point::morton)
    } else if filter.term.is_some() || filter.field.is_some() || filter.city.is_some() {
        0
    } else if rent_or_rooms {
        listing.rent.map_or(-1, Money::units)
    } else if filter.min_bedrooms.is_some() {
        by_size(listing)
    } else {
        0
    }
}

/// The expected listings and a random generator. `PORTICO_TEST_SEED` repeats a run.
struct World {
    seed: u64,
    runner: TestRunner,
    made: HashMap<String, Listing>,
}

impl World {
    fn new() -> Self {
        let seed =
            std::env::var("PORTICO_TEST_SEED").map_or_else(|_| rand_seed(), |seed| seed.parse().unwrap());
        let bytes: Vec<u8> = (0..4_u64).flat_map(|n| (seed ^ n).to_be_bytes()).collect();
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let config =
            Config { cases: CASES, failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
        Self { seed, runner: TestRunner::new_with_rng(config, rng), made: HashMap::new() }
    }

    /// Stores new listings and deletes a tenth of all.
    async fn grow(&mut self, db: &Db) -> usize {
        let first = self.made.len();
        let new: Vec<Listing> = (first..first + HALF)
            .map(|n| {
                let listing = listings().new_tree(&mut self.runner).unwrap().current();
                Listing { id: text(&format!("{}{n}", listing.id)), ..listing }
            })
            .collect();
        self.made.extend(new.iter().map(|listing| (listing.id.to_string(), listing.clone())));
        store_all(db, new).await;
        let doomed: Vec<String> =
            self.made.keys().filter(|id| id.ends_with(if first == 0 { '3' } else { '8' })).cloned().collect();
        for id in &doomed {
            let owner = self.made[id].user.clone();
            db.write(DeleteListing { owner, ..delete(id) }).await.unwrap();
        }
        HALF - doomed.len()
    }

    /// In creation order.
    async fn in_order(&self, db: &Db) -> Vec<Listing> {
        let rows = db.raw("SELECT id FROM listings ORDER BY seq").await;
        rows.into_iter().flatten().map(|id| self.made[&id.unwrap()].clone()).collect()
    }

    /// Compares many random filters with the rule.
    async fn check(&mut self, db: &Db, state: &str) {
        let all = self.in_order(db).await;
        let outcome = self.runner.run(&(filters(), limits()), |(filter, limit)| {
            let found = wait_for(find_all(db, &filter, limit));
            prop_assert_eq!(ids(&found), ids(&expected(&all, &filter)));
            prop_assert!(found.iter().all(|listing| all.contains(listing)), "listings come back whole");
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{state}, PORTICO_TEST_SEED={}: {failure}", self.seed);
        }
    }
}

fn rand_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u8)
}

fn wait_for<T>(future: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(future))
}

fn expected(all: &[Listing], filter: &ListingFilter) -> Vec<Listing> {
    let mut fitting: Vec<(usize, &Listing)> =
        all.iter().enumerate().filter(|(_, listing)| filter.matches(listing)).collect();
    fitting.sort_by_key(|(number, listing)| sort_key(filter, *number, listing));
    fitting.into_iter().map(|(_, listing)| listing.clone()).collect()
}

async fn finding_matches_the_rule_at_any_index_progress(db: Db) {
    let mut world = World::new();

    let held = db.hold_search_index();
    let left = world.grow(&db).await;
    db.assert_not_yet_indexed(left).await;
    world.check(&db, "nothing indexed").await;
    drop(held);
    db.wait_for_index().await.unwrap();

    let held = db.hold_search_index();
    world.grow(&db).await;
    let newer = world.made.iter().filter(|(id, _)| number(id) >= HALF && !id.ends_with('8')).count();
    db.assert_not_yet_indexed(newer).await;
    world.check(&db, "one half indexed").await;
    drop(held);
    db.wait_for_index().await.unwrap();

    db.assert_not_yet_indexed(0).await;
    world.check(&db, "everything indexed").await;
}

fn number(id: &str) -> usize {
    id.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

async fn paging_continues_while_the_index_catches_up(db: Db) {
    let mut world = World::new();
    world.grow(&db).await;
    db.wait_for_index().await.unwrap();
    let held = db.hold_search_index();
    world.grow(&db).await;
    let all = world.in_order(&db).await;

    let mut begun = Vec::new();
    for _ in 0..3 * CASES {
        let (filter, limit) = (filters(), limits()).new_tree(&mut world.runner).unwrap().current();
        let page = db.find_listings(&filter, None, limit).await.unwrap();
        begun.push((filter, limit, page));
    }
    drop(held);
    db.wait_for_index().await.unwrap();
    db.assert_not_yet_indexed(0).await;

    let mut went_on = 0;
    for (filter, limit, page) in begun {
        let mut found = page.items;
        if page.next.is_some() {
            found.extend(find_after(&db, &filter, page.next, limit).await);
            went_on += 1;
        }
        assert_eq!(
            ids(&found),
            ids(&expected(&all, &filter)),
            "PORTICO_TEST_SEED={}: {filter:?}",
            world.seed
        );
    }
    assert!(went_on > 10, "most lists are longer than their first piece");
}
