//! Storing, reading, deleting and counting listings. Finding them is in `finding` and `filters`.

use portico_domain::geo::Point;
use portico_domain::listings::{Listing, ListingFilter, ListingStatistics};

use crate::engines::Db;
use crate::samples::{
    apply, conflict, create, delete, found, listing, missing, money, rooms, store_all, text, totals,
};

on_both_engines! {
    a_listing_is_read_as_it_was_stored,
    the_largest_values_are_kept_exactly,
    unknown_listing_is_none,
    a_taken_id_is_refused_and_the_first_listing_stays,
    ids_that_differ_in_case_are_different,
    a_deleted_listing_is_gone,
    deleting_an_unknown_listing_is_refused,
    listing_of_another_owner_is_not_deleted,
    a_deleted_listings_id_may_be_used_again,
    listings_are_listed_in_order_of_creation,
    statistics_follow_every_change,
    refused_changes_leave_the_statistics_alone,
    the_database_answers,
}

async fn a_listing_is_read_as_it_was_stored(db: Db) {
    let full = Listing {
        user: text("üser|1"),
        street: text("1 \"Quote\" O'Neil \\ 100%_ Straße 日本 🏠"),
        rent: Some(money("2100.25")),
        property_value: Some(money("450000")),
        bedrooms: Some(rooms(3)),
        bathrooms: Some(rooms(2)),
        place: Some(Point::parse("30.267153123,-97.743061235").unwrap()),
        walkthrough: Some(text("https://example.com/tour?a=1&b=%20")),
        ..listing("full")
    };
    for stored in [full, listing("bare")] {
        db.write(create(stored.clone())).await.unwrap();
        assert_eq!(db.listing(&stored.id).await.unwrap(), Some(stored));
    }
}

async fn the_largest_values_are_kept_exactly(db: Db) {
    let corners = [("-90,-180", "north"), ("90,180", "south"), ("0,0", "middle")];
    for (place, name) in corners {
        let long = "ü".repeat(255);
        let stored = Listing {
            id: text(&format!("{name}{}", "x".repeat(249))),
            street: text(&long),
            city: text(&long[..200]),
            rent: Some(money("99999999999")),
            property_value: Some(money("0.0001")),
            bedrooms: Some(rooms(1000)),
            bathrooms: Some(rooms(0)),
            place: Some(Point::parse(place).unwrap()),
            walkthrough: Some(text(&format!("https://example.com/{}", "y".repeat(2028)))),
            ..listing(name)
        };
        db.write(create(stored.clone())).await.unwrap();
        assert_eq!(db.listing(&stored.id).await.unwrap(), Some(stored));
    }
}

async fn unknown_listing_is_none(db: Db) {
    assert_eq!(db.listing(&text("unknown")).await.unwrap(), None);
    assert_eq!(found(&db, &ListingFilter::default()).await, [""; 0]);
}

async fn a_taken_id_is_refused_and_the_first_listing_stays(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    let second = Listing { user: text("bob"), city: text("Boston"), ..listing("a") };
    assert_eq!(conflict(db.write(create(second)).await), "listing_exists");
    assert_eq!(db.listing(&text("a")).await.unwrap(), Some(listing("a")));
    assert_eq!(found(&db, &ListingFilter::default()).await, ["a"]);
}

async fn ids_that_differ_in_case_are_different(db: Db) {
    for id in ["a", "A", "ä", "Ä"] {
        db.write(create(listing(id))).await.unwrap();
    }
    assert_eq!(db.listing(&text("Ä")).await.unwrap(), Some(listing("Ä")));
    assert_eq!(found(&db, &ListingFilter::default()).await, ["a", "A", "ä", "Ä"]);
}

async fn a_deleted_listing_is_gone(db: Db) {
    store_all(&db, [listing("a"), listing("b")]).await;
    db.write(delete("a")).await.unwrap();
    assert_eq!(db.listing(&text("a")).await.unwrap(), None);
    assert_eq!(found(&db, &ListingFilter::default()).await, ["b"]);
}

async fn deleting_an_unknown_listing_is_refused(db: Db) {
    assert_eq!(missing(db.write(delete("a")).await), "listing_not_found");
    db.write(create(listing("a"))).await.unwrap();
    db.write(delete("a")).await.unwrap();
    assert_eq!(missing(db.write(delete("a")).await), "listing_not_found");
}

async fn listing_of_another_owner_is_not_deleted(db: Db) {
    let now = Listing { user: text("bob"), ..listing("a") };
    db.write(create(now.clone())).await.unwrap();
    // Ann owned a listing with that id before.
    assert_eq!(missing(db.write(delete("a")).await), "listing_not_found");
    assert_eq!(db.listing(&text("a")).await.unwrap(), Some(now));
}

async fn a_deleted_listings_id_may_be_used_again(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    db.write(create(listing("b"))).await.unwrap();
    db.wait_for_index().await.unwrap();
    db.write(delete("a")).await.unwrap();
    let second = Listing { city: text("Boston"), rent: Some(money("900")), ..listing("a") };
    db.write(create(second.clone())).await.unwrap();

    assert_eq!(db.listing(&text("a")).await.unwrap(), Some(second));
    assert_eq!(found(&db, &ListingFilter::default()).await, ["b", "a"], "it is a new listing");
    let in_city = |city| ListingFilter { city: Some(text(city)), ..ListingFilter::default() };
    for _before_and_after_indexing in 0..2 {
        assert_eq!(found(&db, &in_city("Boston")).await, ["a"]);
        assert_eq!(found(&db, &in_city("Austin")).await, ["b"], "the first one is forgotten");
        db.wait_for_index().await.unwrap();
    }
}

async fn listings_are_listed_in_order_of_creation(db: Db) {
    let order = ["m", "a", "z", "B", "10", "9"];
    for id in order {
        db.write(create(listing(id))).await.unwrap();
    }
    assert_eq!(found(&db, &ListingFilter::default()).await, order);
}

async fn statistics_follow_every_change(db: Db) {
    assert_eq!(db.listing_statistics().await.unwrap(), ListingStatistics::default());

    let texas = |id| listing(id);
    let nevada = Listing { state: text("nv"), ..listing("c") };
    store_all(&db, [texas("a"), texas("b"), nevada]).await;
    apply(&db, 1, &["a", "b"]).await.unwrap();
    let three = ListingStatistics {
        total: 3,
        on_chain: 0,
        applications: 2,
        by_state: totals(&[("TX", 2), ("nv", 1)]),
    };
    assert_eq!(db.listing_statistics().await.unwrap(), three);

    db.write(delete("c")).await.unwrap();
    let two = ListingStatistics { total: 2, by_state: totals(&[("TX", 2)]), ..three };
    assert_eq!(db.listing_statistics().await.unwrap(), two);

    db.write(delete("a")).await.unwrap();
    db.write(delete("b")).await.unwrap();
    let none = ListingStatistics { total: 0, applications: 0, by_state: totals(&[]), ..two };
    assert_eq!(db.listing_statistics().await.unwrap(), none);

    db.write(create(texas("a"))).await.unwrap();
    let again = ListingStatistics { total: 1, by_state: totals(&[("TX", 1)]), ..none };
    assert_eq!(db.listing_statistics().await.unwrap(), again);
}

async fn refused_changes_leave_the_statistics_alone(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    let before = db.listing_statistics().await.unwrap();
    conflict(db.write(create(Listing { state: text("NV"), ..listing("a") })).await);
    missing(db.write(delete("b")).await);
    assert_eq!(db.listing_statistics().await.unwrap(), before);
}

async fn the_database_answers(db: Db) {
    db.ping().await.unwrap();
}
