//! Listings on a map: the same ones that a search finds.

use portico_domain::clusters::Zoom;
use portico_domain::geo::{Area, Point};
use portico_domain::listings::{Listing, ListingFilter};
use portico_store::ListingClusters;

use super::{all, at, circle, in_box, inside, store_unindexed, with_term};
use crate::engines::Db;
use crate::samples::{create, delete, found, listing, money, rooms, store_all, text};

on_both_engines! {
    a_map_counts_what_a_search_finds,
    a_single_listing_is_shown_with_its_values,
    deleted_listings_are_not_on_the_map,
    a_box_across_the_antimeridian_has_both_sides,
    many_listings_are_counted_exactly,
    an_answer_that_does_not_cover_everything_says_so,
}

async fn clusters(db: &Db, filter: &ListingFilter, zoom: u8) -> ListingClusters {
    db.listing_clusters(filter, Zoom::new(zoom).unwrap()).await.unwrap()
}

/// The number of all, and that of those on the map.
async fn counts(db: &Db, filter: &ListingFilter) -> (u64, u64) {
    let found = clusters(db, filter, 8).await;
    assert!(found.is_exact);
    (found.total, found.clusters.iter().map(|cluster| cluster.count).sum())
}

async fn a_map_counts_what_a_search_finds(db: Db) {
    let with = |id, place, rent: Option<&str>, beds: Option<i64>| Listing {
        rent: rent.map(money),
        bedrooms: beds.map(rooms),
        bathrooms: beds.map(rooms),
        ..at(id, place)
    };
    let listings = [
        with("a", "30,-97", Some("1000"), Some(1)),
        with("b", "30.001,-97.001", Some("2000"), Some(2)),
        with("c", "31,-97", None, Some(2)),
        with("d", "-33,151", Some("3000"), None),
        Listing { rent: Some(money("2000")), ..listing("nowhere") },
        Listing { user: text("bob"), ..listing("nowhere else") },
    ];
    let mut held = Some(store_unindexed(&db, listings).await);
    let filters = [
        all(),
        in_box("-98,29,-96,32"),
        in_box("-97,30,-97,30"),
        in_box("-180,-90,180,90"),
        in_box("0,0,1,1"),
        ListingFilter { min_rent: Some(money("1500")), ..all() },
        ListingFilter { max_rent: Some(money("2000")), ..in_box("-98,29,-96,32") },
        ListingFilter { min_rent: Some(money("0")), ..all() },
        ListingFilter { bedrooms: Some(rooms(2)), ..all() },
        ListingFilter { min_bedrooms: Some(rooms(2)), ..all() },
        ListingFilter { bedrooms: Some(rooms(1)), min_bedrooms: Some(rooms(2)), ..all() },
        ListingFilter { bathrooms: Some(rooms(1)), ..in_box("-98,29,-96,32") },
        ListingFilter { user: Some(text("bob")), ..all() },
        ListingFilter { user: Some(text("ann")), ..in_box("-98,29,-96,32") },
        ListingFilter { id: Some(text("b")), ..all() },
        inside(circle("30,-97", "5")),
        ListingFilter {
            areas: vec![circle("30,-97", "5"), Area::parse_box("-97.0005,29,-96,32").unwrap()],
            ..all()
        },
        with_term("elm"),
        with_term("no such text"),
    ];
    for is_indexed in [false, true] {
        for filter in &filters {
            let searched = db.find_listings(filter, None, 100).await.unwrap().items;
            let placed = searched.iter().filter(|listing| listing.place.is_some()).count() as u64;
            assert_eq!(
                counts(&db, filter).await,
                (searched.len() as u64, placed),
                "{is_indexed}: {filter:?}"
            );
        }
        drop(held.take());
        db.wait_for_index().await.unwrap();
    }
}

async fn a_single_listing_is_shown_with_its_values(db: Db) {
    let home = Listing { rent: Some(money("2100.25")), ..at("a", "30.2672,-97.7431") };
    db.write(create(home.clone())).await.unwrap();
    for _ in 0..2 {
        let found = clusters(&db, &all(), 3).await;
        let [cluster] = found.clusters.as_slice() else { panic!("{found:?}") };
        assert_eq!(cluster.only, Some(home.clone().into()));
        let place = Point::new(cluster.latitude, cluster.longitude).unwrap();
        assert!(place.distance_km(home.place.unwrap()) < 0.000_02);
        db.wait_for_index().await.unwrap();
    }
    db.write(create(at("b", "30.2673,-97.7432"))).await.unwrap();
    let together = clusters(&db, &all(), 3).await;
    assert_eq!((together.clusters.len(), together.clusters[0].only.as_ref()), (1, None));
    assert_eq!(clusters(&db, &all(), 24).await.clusters.len(), 2);
}

async fn deleted_listings_are_not_on_the_map(db: Db) {
    for id in ["a", "b", "c"] {
        db.write(create(at(id, "30,-97"))).await.unwrap();
    }
    db.wait_for_index().await.unwrap();
    db.write(delete("b")).await.unwrap();
    assert_eq!(counts(&db, &all()).await, (2, 2));
    db.write(create(listing("b"))).await.unwrap();
    assert_eq!(counts(&db, &all()).await, (3, 2));
    db.wait_for_index().await.unwrap();
    assert_eq!(counts(&db, &all()).await, (3, 2));
    assert_eq!(counts(&db, &in_box("-98,29,-96,31")).await, (2, 2));
}

async fn a_box_across_the_antimeridian_has_both_sides(db: Db) {
    for (id, place) in
        [("suva", "-18.1416,178.4419"), ("apia", "-13.8333,-171.7667"), ("perth", "-31.95,115.86")]
    {
        db.write(create(at(id, place))).await.unwrap();
    }
    db.wait_for_index().await.unwrap();
    let found = clusters(&db, &in_box("170,-20,-170,-12"), 3).await;
    assert_eq!((found.total, found.clusters.len()), (2, 2));
}

async fn many_listings_are_counted_exactly(db: Db) {
    let tenths = |whole: usize, tenths: usize| format!("{}.{}", whole + tenths / 10, tenths % 10);
    let place = |n: usize| format!("{},-{}", tenths(30, n % 37), tenths(97, n % 53));
    store_all(&db, (0..2_000).map(|n| at(&format!("h{n}"), &place(n)))).await;
    for _ in 0..2 {
        let found = clusters(&db, &all(), 18).await;
        assert_eq!((found.total, found.is_exact), (2_000, true));
        assert!(found.clusters.len() <= 400);
        let filter = in_box("-99,30,-97,32");
        let inside = found_count(&db, &filter).await;
        assert_eq!(counts(&db, &filter).await, (inside, inside));
        db.wait_for_index().await.unwrap();
    }
}

async fn found_count(db: &Db, filter: &ListingFilter) -> u64 {
    found(db, filter).await.len() as u64
}

async fn an_answer_that_does_not_cover_everything_says_so(db: Db) {
    store_all(&db, (0..10_050).map(|n| at(&format!("h{n}"), "30,-97"))).await;
    db.wait_for_index().await.unwrap();
    let found = clusters(&db, &with_term("elm"), 5).await;
    assert_eq!((found.total, found.is_exact), (10_000, false));
    let counted = clusters(&db, &all(), 5).await;
    assert_eq!((counted.total, counted.is_exact), (10_050, true));
}
