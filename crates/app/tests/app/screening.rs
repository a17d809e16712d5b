//! Validity of verification results, and erasure.

use portico_app::screening::{Applicant, Verification};
use portico_app::{Error, Profile};
use portico_domain::{ErrorCode, UserId};

use crate::world::{World, anonymous, person, verification};

#[tokio::test]
async fn result_is_valid_for_thirty_days() {
    let world = World::new(Profile::Sandbox).await;
    let (ada, bob) = (person("ada"), person("bob"));
    let made = world.verify(&ada, "Lovelace").await.unwrap();
    let again = async |call| {
        let earlier = Verification { verified: Some(made.id.clone()), ..verification(Applicant::default()) };
        world.app.screening.verify(call, earlier).await
    };
    world.clock.advance_days(29);
    assert_eq!(again(&ada).await.unwrap().token, made.token);
    assert!(matches!(again(&bob).await, Err(Error::NotFound(ErrorCode::VerificationNotFound))));
    world.clock.advance_days(2);
    assert!(matches!(again(&ada).await, Err(Error::NotFound(ErrorCode::VerificationNotFound))));
}

#[tokio::test]
async fn verification_needs_a_signed_in_user() {
    let world = World::new(Profile::Sandbox).await;
    assert!(matches!(world.verify(&anonymous(), "Lovelace").await, Err(Error::Unauthenticated(_))));
}

#[tokio::test]
async fn erased_person_starts_again() {
    let world = World::new(Profile::Live).await;
    let (ada, screening) = (person("ada"), &world.app.screening);
    let made = world.verify(&ada, "Lovelace").await.unwrap();
    world.app.people.erase(&ada, &UserId::stored("ada")).await.unwrap();
    assert!(matches!(screening.verification(&ada, &made.id).await, Err(Error::NotFound(_))));
    let again = world.verify(&ada, "Byron").await.unwrap();
    assert_ne!(again.token, made.token);
    assert_eq!(world.app.maintenance.apply_erasures().await.unwrap(), 0);
    assert!(screening.verification(&ada, &again.id).await.is_ok());
}
