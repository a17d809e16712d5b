//! Orders that a search asks for.

use portico_domain::listings::{Listing, ListingFilter, ListingOrder};

use super::{all, expect, store_unindexed, with_term};
use crate::engines::Db;
use crate::samples::{create, find_after, find_all, found, ids, listing, money, rooms, store_all, text};

on_both_engines! {
    listings_come_in_the_order_that_is_asked_for,
    fewest_bedrooms_are_a_bound,
    order_holds_beyond_the_in_memory_limit,
    a_listing_made_while_paging_is_not_repeated,
}

fn in_order(order: ListingOrder, filter: ListingFilter) -> ListingFilter {
    ListingFilter { order: Some(order), ..filter }
}

fn home(id: &str, rent: Option<&str>, bedrooms: Option<i64>) -> Listing {
    Listing { rent: rent.map(money), bedrooms: bedrooms.map(rooms), ..listing(id) }
}

async fn listings_come_in_the_order_that_is_asked_for(db: Db) {
    let homes = [
        home("dear", Some("3000"), Some(1)),
        home("unknown", None, None),
        home("studio", Some("900"), Some(0)),
        home("large", Some("2000"), Some(5)),
        home("cheap", Some("900"), Some(5)),
    ];
    let held = store_unindexed(&db, homes).await;
    let mut cases: Vec<(ListingFilter, &[&str])> = Vec::new();
    // All of them, along the order's index; by owner, city and text, sorted in memory.
    let filters = [
        all(),
        ListingFilter { user: Some(text("ann")), ..all() },
        ListingFilter { city: Some(text("austin")), ..all() },
        with_term("elm"),
    ];
    for filter in filters {
        cases.extend([
            (
                in_order(ListingOrder::Newest, filter.clone()),
                ["cheap", "large", "studio", "unknown", "dear"].as_slice(),
            ),
            (
                in_order(ListingOrder::Rent, filter.clone()),
                ["studio", "cheap", "large", "dear", "unknown"].as_slice(),
            ),
            (
                in_order(ListingOrder::Size, filter),
                ["large", "cheap", "dear", "studio", "unknown"].as_slice(),
            ),
        ]);
    }
    let affordable = ListingFilter { max_rent: Some(money("2000")), ..all() };
    cases.push((in_order(ListingOrder::Newest, affordable.clone()), &["cheap", "large", "studio"]));
    cases.push((in_order(ListingOrder::Size, affordable), &["large", "cheap", "studio"]));
    expect(&db, held, &cases).await;
    for (filter, expected) in &cases {
        for limit in 1..=5 {
            assert_eq!(
                ids(&find_all(&db, filter, limit).await),
                *expected,
                "{filter:?} in pieces of {limit}"
            );
        }
    }
}

async fn fewest_bedrooms_are_a_bound(db: Db) {
    let homes = [
        home("one", None, Some(1)),
        home("unknown", None, None),
        home("two", Some("2000"), Some(2)),
        home("studio", None, Some(0)),
        home("three", Some("1000"), Some(3)),
    ];
    let held = store_unindexed(&db, homes).await;
    let at_least = |count| ListingFilter { min_bedrooms: Some(rooms(count)), ..all() };
    let cases: [(ListingFilter, &[&str]); 7] = [
        (at_least(0), &["three", "two", "one", "studio"]),
        (at_least(2), &["three", "two"]),
        (at_least(4), &[]),
        (ListingFilter { bedrooms: Some(rooms(2)), ..at_least(2) }, &["two"]),
        (ListingFilter { bedrooms: Some(rooms(1)), ..at_least(2) }, &[]),
        (ListingFilter { min_rent: Some(money("1500")), ..at_least(2) }, &["two"]),
        (in_order(ListingOrder::Newest, at_least(1)), &["three", "two", "one"]),
    ];
    expect(&db, held, &cases).await;
}

async fn order_holds_beyond_the_in_memory_limit(db: Db) {
    const COUNT: usize = 2_060;
    let rent = |n: usize| (n * 7919 % 1000).to_string();
    let bedrooms = |n: usize| if n.is_multiple_of(50) { 3 } else { 1 };
    store_all(&db, (0..COUNT).map(|n| home(&format!("h{n}"), Some(&rent(n)), Some(bedrooms(n))))).await;
    for _before_and_after_indexing in 0..2 {
        let filter = in_order(ListingOrder::Rent, ListingFilter { city: Some(text("austin")), ..all() });
        let found = find_all(&db, &filter, 300).await;
        assert_eq!(found.len(), COUNT);
        assert!(found.is_sorted_by_key(|listing| listing.rent));
        let one_room = ListingFilter { bedrooms: Some(rooms(1)), term: with_term("elm").term, ..all() };
        let by_size = find_all(&db, &in_order(ListingOrder::Size, one_room), 300).await;
        assert_eq!(by_size.len(), COUNT - COUNT.div_ceil(50));
        let newest = in_order(ListingOrder::Newest, with_term("elm"));
        let found = find_all(&db, &newest, 300).await;
        let mut in_creation_order = find_all(&db, &all(), 300).await;
        in_creation_order.reverse();
        assert_eq!(ids(&found), ids(&in_creation_order));
        db.wait_for_index().await.unwrap();
    }
}

async fn a_listing_made_while_paging_is_not_repeated(db: Db) {
    store_all(&db, (0..4).map(|n| home(&format!("{n}"), Some("7"), Some(1)))).await;
    let newest = in_order(ListingOrder::Newest, all());
    let before = found(&db, &newest).await;
    let page = db.find_listings(&newest, None, 2).await.unwrap();
    db.write(create(listing("new"))).await.unwrap();
    assert_eq!(ids(&find_after(&db, &newest, page.next, 2).await), before[2..]);
    assert_eq!(found(&db, &newest).await[0], "new");
}
