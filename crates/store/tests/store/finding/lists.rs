//! Filters together, deleted listings and cursors.

use portico_domain::geo::Point;
use portico_domain::listings::{Listing, ListingFilter, ListingOrder, SearchField};

use super::{
    all, at, circle, expect, in_box, in_field, inside, many, store_in_order, store_unindexed, with_term,
};
use crate::engines::Db;
use crate::samples::{delete, find_after, found, ids, listing, money, rooms, term, text};

on_both_engines! {
    all_conditions_must_hold,
    deleted_listing_is_on_no_access_path,
    a_page_that_ends_the_list_has_no_cursor,
    a_cursor_outlives_its_listing,
    listings_made_while_paging_come_last,
}

async fn all_conditions_must_hold(db: Db) {
    let one = Listing {
        rent: Some(money("1000")),
        bedrooms: Some(rooms(2)),
        bathrooms: Some(rooms(1)),
        place: Some(Point::parse("30,-97").unwrap()),
        ..listing("one")
    };
    let full = ListingFilter {
        id: None,
        user: Some(text("ann")),
        city: Some(text("AUSTIN")),
        postal: Some(text("78701")),
        term: Some(term("elm")),
        field: Some((SearchField::State, term("t"))),
        min_rent: Some(money("1000")),
        max_rent: Some(money("1000")),
        bedrooms: Some(rooms(2)),
        min_bedrooms: Some(rooms(2)),
        bathrooms: Some(rooms(1)),
        areas: vec![circle("30,-97", "1")],
        order: None,
    };
    let held = store_unindexed(&db, [listing("other"), one]).await;
    let mut cases: Vec<(ListingFilter, &[&str])> = vec![
        (full.clone(), &["one"]),
        (ListingFilter { id: Some(text("one")), ..full.clone() }, &["one"]),
        (ListingFilter { id: Some(text("other")), ..full.clone() }, &[]),
        (ListingFilter { user: Some(text("bob")), ..full.clone() }, &[]),
        (ListingFilter { city: Some(text("Boston")), ..full.clone() }, &[]),
        (ListingFilter { postal: Some(text("78702")), ..full.clone() }, &[]),
        (ListingFilter { term: Some(term("oak")), ..full.clone() }, &[]),
        (ListingFilter { field: Some((SearchField::City, term("x"))), ..full.clone() }, &[]),
        (ListingFilter { min_rent: Some(money("1000.0001")), ..full.clone() }, &[]),
        (ListingFilter { max_rent: Some(money("999.9999")), ..full.clone() }, &[]),
        (ListingFilter { bedrooms: Some(rooms(1)), ..full.clone() }, &[]),
        (ListingFilter { min_bedrooms: Some(rooms(3)), ..full.clone() }, &[]),
        (ListingFilter { bathrooms: Some(rooms(2)), ..full.clone() }, &[]),
        (ListingFilter { areas: vec![circle("31,-97", "1")], ..full.clone() }, &[]),
    ];
    // Dropping conditions one by one switches the access path.
    let mut fewer = full;
    for leave in [
        |f: &mut ListingFilter| f.user = None,
        |f: &mut ListingFilter| f.postal = None,
        |f: &mut ListingFilter| f.areas.clear(),
        |f: &mut ListingFilter| f.term = None,
        |f: &mut ListingFilter| f.field = None,
        |f: &mut ListingFilter| f.city = None,
        |f: &mut ListingFilter| f.bedrooms = None,
        |f: &mut ListingFilter| f.bathrooms = None,
        |f: &mut ListingFilter| f.min_rent = None,
        |f: &mut ListingFilter| f.max_rent = None,
    ] {
        leave(&mut fewer);
        cases.push((fewer.clone(), &["one"]));
    }
    expect(&db, held, &cases).await;
}

async fn deleted_listing_is_on_no_access_path(db: Db) {
    let with = |id| Listing {
        street: text("77 Unique Street"),
        rent: Some(money("5")),
        bedrooms: Some(rooms(1)),
        bathrooms: Some(rooms(1)),
        walkthrough: Some(text("https://example.com/")),
        ..at(id, "1,1")
    };
    let ways = [
        all(),
        ListingFilter { user: Some(text("ann")), ..all() },
        ListingFilter { city: Some(text("austin")), ..all() },
        ListingFilter { postal: Some(text("78701")), ..all() },
        with_term("u"),
        with_term("un"),
        with_term("unique"),
        in_field("walkthroughLink", "example"),
        ListingFilter { min_rent: Some(money("1")), ..all() },
        ListingFilter { bedrooms: Some(rooms(1)), ..all() },
        ListingFilter { min_bedrooms: Some(rooms(1)), ..all() },
        ListingFilter { bathrooms: Some(rooms(1)), ..all() },
        ListingFilter { order: Some(ListingOrder::Size), ..all() },
        ListingFilter { order: Some(ListingOrder::Newest), ..all() },
        inside(circle("1,1", "1")),
        in_box("0,0,2,2"),
    ];
    // Deleted before and after indexing.
    store_in_order(&db, ["indexed", "kept", "indexed too"].map(with)).await;
    db.wait_for_index().await.unwrap();
    let held = db.hold_search_index();
    store_in_order(&db, ["new", "newer"].map(with)).await;
    for way in &ways {
        assert_eq!(found(&db, way).await.len(), 5, "{way:?}");
    }
    for id in ["indexed", "indexed too", "new", "newer"] {
        db.write(delete(id)).await.unwrap();
    }
    expect(&db, held, &ways.map(|way| (way, ["kept"].as_slice()))).await;
    for id in ["indexed", "indexed too", "new", "newer"] {
        let by_id = ListingFilter { id: Some(text(id)), ..all() };
        assert_eq!(found(&db, &by_id).await, [""; 0]);
    }
}

async fn a_page_that_ends_the_list_has_no_cursor(db: Db) {
    store_in_order(&db, many(6).map(|l| Listing { rent: Some(money("7")), ..l })).await;
    let by_rent = ListingFilter { min_rent: Some(money("7")), ..all() };
    for filter in [all(), by_rent, with_term("elm"), with_term("e")] {
        for (limit, pages) in [(1, 6), (2, 3), (3, 2), (4, 2), (6, 1), (7, 1)] {
            let (mut after, mut count) = (None, 0);
            loop {
                let page = db.find_listings(&filter, after, limit).await.unwrap();
                assert!(!page.items.is_empty());
                count += 1;
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(count, pages, "{filter:?} in pieces of {limit}");
        }
    }
}

async fn a_cursor_outlives_its_listing(db: Db) {
    store_in_order(&db, many(6).map(|l| Listing { rent: Some(money("7")), ..at(l.id.as_str(), "5,5") }))
        .await;
    let ways = [
        all(),
        ListingFilter { min_rent: Some(money("7")), ..all() },
        ListingFilter { city: Some(text("austin")), ..all() },
        inside(circle("5,5", "1")),
        with_term("elm"),
    ];
    let mut cursors = Vec::new();
    for way in &ways {
        let page = db.find_listings(way, None, 3).await.unwrap();
        assert_eq!(ids(&page.items), ["0", "1", "2"]);
        cursors.push(page.next);
    }
    db.write(delete("2")).await.unwrap();
    for _before_and_after_indexing in 0..2 {
        for (way, cursor) in ways.iter().zip(&cursors) {
            assert_eq!(ids(&find_after(&db, way, *cursor, 2).await), ["3", "4", "5"], "{way:?}");
        }
        db.wait_for_index().await.unwrap();
    }
}

async fn listings_made_while_paging_come_last(db: Db) {
    store_in_order(&db, many(3)).await;
    for (n, way) in
        [all(), ListingFilter { city: Some(text("austin")), ..all() }, with_term("elm")].iter().enumerate()
    {
        let page = db.find_listings(way, None, 2).await.unwrap();
        let new = format!("new-{n}");
        store_in_order(&db, [listing(&new)]).await;
        let rest = ids(&find_after(&db, way, page.next, 2).await);
        assert_eq!(rest.first().map(String::as_str), Some("2"));
        assert_eq!(rest.last(), Some(&new));
        db.wait_for_index().await.unwrap();
    }
}
