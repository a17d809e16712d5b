//! Exact filters: id, owner, city, postal code.

use portico_domain::listings::{Listing, ListingFilter};

use super::{all, expect, store_unindexed};
use crate::engines::Db;
use crate::samples::{listing, text};

on_both_engines! {
    by_id,
    by_owner_exactly,
    by_whole_city_ignoring_case,
    by_postal_code_exactly,
}

async fn by_id(db: Db) {
    let held = store_unindexed(&db, [listing("a"), listing("A"), listing("b")]).await;
    let id = |id, city: Option<&str>| ListingFilter { id: Some(text(id)), city: city.map(text), ..all() };
    expect(
        &db,
        held,
        &[
            (id("a", None), &["a"]),
            (id("A", None), &["A"]),
            (id("c", None), &[]),
            (id("a", Some("AUSTIN")), &["a"]),
            (id("a", Some("Boston")), &[]),
        ],
    )
    .await;
}

async fn by_owner_exactly(db: Db) {
    let owned = |id, user| Listing { user: text(user), ..listing(id) };
    let held =
        store_unindexed(&db, [owned("a", "ann"), owned("b", "Ann"), owned("c", "ann"), owned("d", "an")])
            .await;
    let of = |user| ListingFilter { user: Some(text(user)), ..all() };
    expect(&db, held, &[(of("ann"), &["a", "c"]), (of("Ann"), &["b"]), (of("ANN"), &[]), (of("a%"), &[])])
        .await;
}

async fn by_whole_city_ignoring_case(db: Db) {
    let of = |id: &str, city: &str| Listing { city: text(city), ..listing(id) };
    let cities = ["New York", "NEW YORK", "York", "München", "MÜNCHEN", "Munchen", "new york city", "%"];
    let held =
        store_unindexed(&db, cities.iter().enumerate().map(|(n, city)| of(&format!("{n}"), city))).await;
    let city = |city| ListingFilter { city: Some(text(city)), ..all() };
    expect(
        &db,
        held,
        &[
            (city("new york"), &["0", "1"]),
            (city("YORK"), &["2"]),
            (city("mÜNCHEN"), &["3", "4"]),
            (city("munchen"), &["5"]),
            (city("new"), &[]),
            (city("%"), &["7"]),
            (city("_ork"), &[]),
        ],
    )
    .await;
}

async fn by_postal_code_exactly(db: Db) {
    let of = |id, postal| Listing { postal: text(postal), ..listing(id) };
    let held = store_unindexed(
        &db,
        [of("a", "SW1A 1AA"), of("b", "sw1a 1aa"), of("c", "SW1A"), of("d", "SW1A 1AA")],
    )
    .await;
    let postal = |postal| ListingFilter { postal: Some(text(postal)), ..all() };
    expect(
        &db,
        held,
        &[
            (postal("SW1A 1AA"), &["a", "d"]),
            (postal("SW1A"), &["c"]),
            (postal("SW"), &[]),
            (postal("%"), &[]),
        ],
    )
    .await;
}
