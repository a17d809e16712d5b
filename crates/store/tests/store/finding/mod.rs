//! Every way of finding listings: before the search index holds them and after.

mod areas;
mod clusters;
mod exact;
mod lists;
mod orders;
mod ranges;
mod short_terms;
mod terms;

use portico_domain::Kilometres;
use portico_domain::geo::{Area, Point};
use portico_domain::listings::{Listing, ListingFilter, SearchField};

use crate::engines::{Db, HeldIndex};
use crate::samples::{create, found, listing, term, text};

fn all() -> ListingFilter {
    ListingFilter::default()
}

fn with_term(raw: &str) -> ListingFilter {
    ListingFilter { term: Some(term(raw)), ..all() }
}

fn in_field(name: &str, raw: &str) -> ListingFilter {
    ListingFilter { field: Some((SearchField::parse(name).unwrap(), term(raw))), ..all() }
}

fn circle(centre: &str, km: &str) -> Area {
    Area::Circle { centre: Point::parse(centre).unwrap(), radius: Kilometres::parse(km).unwrap() }
}

fn inside(area: Area) -> ListingFilter {
    ListingFilter { areas: vec![area], ..all() }
}

fn in_box(text: &str) -> ListingFilter {
    inside(Area::parse_box(text).unwrap())
}

fn at(id: &str, place: &str) -> Listing {
    Listing { place: Some(Point::parse(place).unwrap()), ..listing(id) }
}

/// Asserts the matches before and after the search index is up to date.
async fn expect(db: &Db, held: HeldIndex, cases: &[(ListingFilter, &[&str])]) {
    for (filter, expected) in cases {
        assert_eq!(found(db, filter).await, *expected, "before indexing: {filter:?}");
    }
    drop(held);
    db.wait_for_index().await.unwrap();
    db.assert_not_yet_indexed(0).await;
    for (filter, expected) in cases {
        assert_eq!(found(db, filter).await, *expected, "after indexing: {filter:?}");
    }
}

/// Ignores the order, which is by Morton code.
async fn expect_somewhere(db: &Db, held: HeldIndex, cases: &[(ListingFilter, &[&str])]) {
    let mut in_order = Vec::new();
    for (filter, expected) in cases {
        let ids = found(db, filter).await;
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, *expected, "before indexing: {filter:?}");
        in_order.push(ids);
    }
    drop(held);
    db.wait_for_index().await.unwrap();
    db.assert_not_yet_indexed(0).await;
    for ((filter, _), ids) in cases.iter().zip(in_order) {
        assert_eq!(found(db, filter).await, ids, "after indexing: {filter:?}");
    }
}

/// Sequentially, so that the creation order is the given order.
async fn store_in_order(db: &Db, listings: impl IntoIterator<Item = Listing>) {
    for listing in listings {
        db.write(create(listing)).await.unwrap();
    }
}

/// Keeps the search index from indexing them.
async fn store_unindexed(db: &Db, listings: impl IntoIterator<Item = Listing>) -> HeldIndex {
    let held = db.hold_search_index();
    let mut count = 0;
    for listing in listings {
        db.write(create(listing)).await.unwrap();
        count += 1;
    }
    db.assert_not_yet_indexed(count).await;
    held
}

/// More listings than a search for one or two characters scans before it uses the index.
fn many(count: usize) -> impl Iterator<Item = Listing> {
    (0..count).map(|n| Listing { street: text(&format!("{n} Elm")), ..listing(&format!("{n}")) })
}
