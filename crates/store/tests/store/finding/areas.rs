//! Circles and boxes on the map.

use portico_domain::geo::Area;
use portico_domain::listings::{Listing, ListingFilter};

use super::{all, at, circle, expect_somewhere, in_box, inside, store_unindexed};
use crate::engines::Db;
use crate::samples::{listing, money, rooms, term, text};

on_both_engines! {
    near_a_point,
    in_a_box,
    across_the_antimeridian,
    around_a_pole,
    areas_and_everything_else_together,
}

async fn near_a_point(db: Db) {
    let held = store_unindexed(
        &db,
        [
            at("austin", "30.267153,-97.743061"),
            at("round rock", "30.508255,-97.678896"),
            at("dallas", "32.776664,-96.796988"),
            at("london", "51.507351,-0.127758"),
            listing("nowhere"),
        ],
    )
    .await;
    let near = |km| inside(circle("30.267153,-97.743061", km));
    expect_somewhere(
        &db,
        held,
        &[
            (near("0"), &["austin"]),
            (near("25"), &["austin"]),
            (near("30"), &["austin", "round rock"]),
            (near("250"), &["austin", "round rock"]),
            (near("300"), &["austin", "dallas", "round rock"]),
            (near("20038"), &["austin", "dallas", "london", "round rock"]),
        ],
    )
    .await;
}

async fn in_a_box(db: Db) {
    let held = store_unindexed(
        &db,
        [at("a", "10,20"), at("b", "10,21"), at("c", "11,20"), at("d", "-10,-20"), listing("nowhere")],
    )
    .await;
    expect_somewhere(
        &db,
        held,
        &[
            (in_box("20,10,21,11"), &["a", "b", "c"]),
            (in_box("20,11,21,10"), &["a", "b", "c"]),
            (in_box("20,10,20,10"), &["a"]),
            (in_box("20.000000001,10,21,11"), &["b"]),
            (in_box("-180,-90,180,90"), &["a", "b", "c", "d"]),
            (in_box("-180,-90,0,0"), &["d"]),
            (in_box("0,0,1,1"), &[]),
        ],
    )
    .await;
}

async fn across_the_antimeridian(db: Db) {
    let held = store_unindexed(
        &db,
        [
            at("suva", "-18.1416,178.4419"),
            at("apia", "-13.8333,-171.7667"),
            at("line east", "-17,180"),
            at("line west", "-17,-180"),
            at("perth", "-31.9505,115.8605"),
        ],
    )
    .await;
    expect_somewhere(
        &db,
        held,
        &[
            (in_box("177,-20,-178,-12"), &["line east", "line west", "suva"]),
            (in_box("170,-20,-170,-12"), &["apia", "line east", "line west", "suva"]),
            (in_box("-178,-20,177,-12"), &["apia"]),
            (inside(circle("-17,179.9", "100")), &["line east", "line west"]),
            (inside(circle("-17,-179.9", "100")), &["line east", "line west"]),
            (inside(circle("-17,180", "0.001")), &["line east", "line west"]),
            (inside(circle("-17,-180", "250")), &["line east", "line west", "suva"]),
        ],
    )
    .await;
}

async fn around_a_pole(db: Db) {
    let held = store_unindexed(
        &db,
        [
            at("pole", "90,0"),
            at("pole too", "90,135"),
            at("near", "89.9,-170"),
            at("far", "80,10"),
            at("south", "-90,0"),
        ],
    )
    .await;
    expect_somewhere(
        &db,
        held,
        &[
            (inside(circle("90,45", "0.1")), &["pole", "pole too"]),
            (inside(circle("89.9,10", "30")), &["near", "pole", "pole too"]),
            (inside(circle("-89.9,10", "30")), &["south"]),
            (in_box("-180,89.5,180,90"), &["near", "pole", "pole too"]),
        ],
    )
    .await;
}

async fn areas_and_everything_else_together(db: Db) {
    let with =
        |id, place, beds, city| Listing { bedrooms: Some(rooms(beds)), city: text(city), ..at(id, place) };
    let held = store_unindexed(
        &db,
        [
            with("a", "10,10", 1, "Here"),
            with("b", "10.1,10.1", 2, "Here"),
            with("c", "10.2,10.2", 2, "There"),
            with("d", "50,50", 2, "Here"),
        ],
    )
    .await;
    let near = || inside(circle("10,10", "50"));
    expect_somewhere(
        &db,
        held,
        &[
            (near(), &["a", "b", "c"]),
            (ListingFilter { bedrooms: Some(rooms(2)), ..near() }, &["b", "c"]),
            (ListingFilter { bedrooms: Some(rooms(2)), city: Some(text("here")), ..near() }, &["b"]),
            (ListingFilter { term: Some(term("THERE")), ..near() }, &["c"]),
            (ListingFilter { user: Some(text("ann")), ..near() }, &["a", "b", "c"]),
            (ListingFilter { user: Some(text("bob")), ..near() }, &[]),
            (ListingFilter { min_rent: Some(money("0")), ..near() }, &[]),
            (
                ListingFilter {
                    areas: vec![circle("10,10", "50"), Area::parse_box("10.05,10.05,11,11").unwrap()],
                    ..all()
                },
                &["b", "c"],
            ),
            (ListingFilter { areas: vec![circle("10,10", "5"), circle("50,50", "5")], ..all() }, &[]),
        ],
    )
    .await;
}
