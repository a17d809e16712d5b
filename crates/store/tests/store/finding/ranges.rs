//! Rents and rooms.

use portico_domain::Money;
use portico_domain::listings::{Listing, ListingFilter};

use super::{all, expect, store_in_order, store_unindexed};
use crate::engines::Db;
use crate::samples::{find_all, ids, listing, money, rooms};

on_both_engines! {
    rents_are_ranges_with_their_edges,
    equal_rents_stay_in_creation_order,
    rooms_are_counted_exactly,
    rooms_and_rent_together,
}

async fn rents_are_ranges_with_their_edges(db: Db) {
    let at = |id, rent: Option<&str>| Listing { rent: rent.map(money), ..listing(id) };
    let held = store_unindexed(
        &db,
        [
            at("free", Some("0")),
            at("unknown", None),
            at("low", Some("999.9999")),
            at("even", Some("1000")),
            at("high", Some("1000.0001")),
            at("most", Some("99999999999")),
        ],
    )
    .await;
    let rent = |min: Option<&str>, max: Option<&str>| ListingFilter {
        min_rent: min.map(money),
        max_rent: max.map(money),
        ..all()
    };
    expect(
        &db,
        held,
        &[
            (rent(Some("0"), None), &["free", "low", "even", "high", "most"]),
            (rent(None, Some("99999999999")), &["free", "low", "even", "high", "most"]),
            (rent(Some("1000"), Some("1000")), &["even"]),
            (rent(Some("999.9999"), Some("1000")), &["low", "even"]),
            (rent(Some("1000.0001"), None), &["high", "most"]),
            (rent(None, Some("0")), &["free"]),
            (rent(Some("5"), Some("4")), &[]),
            (rent(Some("99999999999"), None), &["most"]),
        ],
    )
    .await;
}

async fn equal_rents_stay_in_creation_order(db: Db) {
    let rents = [500, 100, 500, 100, 300, 500, 100];
    store_in_order(
        &db,
        rents
            .iter()
            .enumerate()
            .map(|(n, rent)| Listing { rent: Some(Money::from_units(*rent)), ..listing(&format!("{n}")) }),
    )
    .await;
    let any = ListingFilter { min_rent: Some(money("0")), ..all() };
    for _before_and_after_indexing in 0..2 {
        for limit in [1, 2, 3, 7, 8] {
            let order = ids(&find_all(&db, &any, limit).await);
            assert_eq!(order, ["1", "3", "6", "4", "0", "2", "5"], "in pieces of {limit}");
        }
        db.wait_for_index().await.unwrap();
    }
}

async fn rooms_are_counted_exactly(db: Db) {
    let with = |id, beds: Option<i64>, baths: Option<i64>| Listing {
        bedrooms: beds.map(rooms),
        bathrooms: baths.map(rooms),
        ..listing(id)
    };
    let held = store_unindexed(
        &db,
        [
            with("studio", Some(0), Some(1)),
            with("flat", Some(2), Some(1)),
            with("house", Some(2), Some(2)),
            with("tower", Some(1000), None),
            with("unknown", None, None),
        ],
    )
    .await;
    let of = |beds: Option<i64>, baths: Option<i64>| ListingFilter {
        bedrooms: beds.map(rooms),
        bathrooms: baths.map(rooms),
        ..all()
    };
    expect(
        &db,
        held,
        &[
            (of(Some(0), None), &["studio"]),
            (of(Some(2), None), &["flat", "house"]),
            (of(Some(1000), None), &["tower"]),
            (of(Some(3), None), &[]),
            (of(None, Some(1)), &["studio", "flat"]),
            (of(None, Some(0)), &[]),
            (of(Some(2), Some(2)), &["house"]),
            (of(Some(2), Some(3)), &[]),
        ],
    )
    .await;
}

async fn rooms_and_rent_together(db: Db) {
    let with = |id, rent: Option<&str>| Listing {
        rent: rent.map(money),
        bedrooms: Some(rooms(2)),
        bathrooms: Some(rooms(1)),
        ..listing(id)
    };
    let other = Listing { rent: Some(money("200")), bedrooms: Some(rooms(3)), ..listing("other") };
    let held = store_unindexed(
        &db,
        [with("c", Some("300")), with("?", None), with("a", Some("100")), other, with("b", Some("200"))],
    )
    .await;
    let two = ListingFilter { bedrooms: Some(rooms(2)), ..all() };
    let one = ListingFilter { bathrooms: Some(rooms(1)), ..all() };
    let from = |filter: &ListingFilter, min| ListingFilter { min_rent: Some(money(min)), ..filter.clone() };
    let to = |filter: &ListingFilter, max| ListingFilter { max_rent: Some(money(max)), ..filter.clone() };
    expect(
        &db,
        held,
        &[
            (two.clone(), &["?", "a", "b", "c"]),
            (from(&two, "200"), &["b", "c"]),
            (to(&two, "200"), &["a", "b"]),
            (to(&from(&two, "150"), "250"), &["b"]),
            (one.clone(), &["?", "a", "b", "c"]),
            (from(&one, "0"), &["a", "b", "c"]),
            (to(&one, "99.9999"), &[]),
        ],
    )
    .await;
}
