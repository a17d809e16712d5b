//! What is asked for twice under one key is done once.

use portico_app::{Call, Error, Profile};
use portico_domain::{Text, UserId};

use crate::world::{World, person};

#[tokio::test]
async fn the_first_answer_is_given_again() {
    let world = World::new(Profile::Live).await;
    let keyed = |user: &str, body: &[u8]| {
        let call = person(user);
        let once = world.app.idempotency_key(&call.actor, "/v1/depin-device", "key-1", &[body]);
        Call { once: Some(once), ..call }
    };
    let register = async |call: Call, user: &str, identifier: &str| {
        let (network, identifier) = (Text::stored("Helium"), Text::stored(identifier));
        world.app.devices.register(&call, UserId::stored(user), network, identifier).await
    };
    let first = register(keyed("ada", b"one"), "ada", "one").await.unwrap();
    assert_eq!(register(keyed("ada", b"one"), "ada", "one").await.unwrap(), first);
    assert!(matches!(register(keyed("ada", b"two"), "ada", "two").await, Err(Error::KeyReused)));
    // Another caller's key of the same name is another key.
    assert_ne!(register(keyed("bob", b"one"), "bob", "three").await.unwrap(), first);
}
