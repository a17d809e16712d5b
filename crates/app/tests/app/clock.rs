//! A machine's clock that is set back.

use portico_app::applications::SeenConditions;
use portico_domain::UserId;
use portico_domain::listings::ListingFilter;

use crate::world::{World, person};

on_both_engines! { a_clock_that_is_set_back_an_hour_stops_nothing }

async fn a_clock_that_is_set_back_an_hour_stops_nothing(world: World) {
    let (ada, bob) = (person("ada"), person("bob"));
    world.add_listing("first", "landlord").await;
    let before = world.verify(&ada, "Lovelace").await.unwrap();
    world.clock.advance_seconds(-60 * 60);
    let elm = world.add_listing("second", "landlord").await;
    world.verify(&bob, "Byron").await.unwrap();
    world
        .app
        .applications
        .apply(&bob, UserId::stored("bob"), vec![elm], SeenConditions::new())
        .await
        .unwrap();
    assert!(world.app.screening.verification(&ada, &before.id).await.is_ok());
    world.app.maintenance.record_flags().await.unwrap();
    world.app.maintenance.check_readiness().await.unwrap();
    // The order of creation is that in which things were created.
    let filter = ListingFilter { user: Some(UserId::stored("landlord")), ..ListingFilter::default() };
    let call = person("landlord");
    let found = world.app.listings.find(&call, &filter, None, 10).await.unwrap().items;
    assert_eq!(found.iter().map(|listing| listing.id.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    // An erasure of the set-back time ends what was stored before, and only that.
    world.app.people.erase(&ada, &UserId::stored("ada")).await.unwrap();
    assert!(world.app.screening.verification(&ada, &before.id).await.is_err());
    let again = world.verify(&ada, "Lovelace").await.unwrap();
    assert_eq!(world.app.maintenance.apply_erasures().await.unwrap(), 0);
    assert!(world.app.screening.verification(&ada, &again.id).await.is_ok());
}
