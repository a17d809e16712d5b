//! Idempotency keys: repeated work is done once.

use portico_app::{CallContext, Error, Profile};
use portico_domain::{Text, UserId};

use crate::world::{World, person};

#[tokio::test]
async fn repeated_key_returns_the_first_reply() {
    let world = World::new(Profile::Live).await;
    let keyed = |user: &str, body: &[u8]| {
        let call = person(user);
        let idempotency_key = world.app.idempotency_key(&call.actor, "/v1/depin-device", "key-1", &[body]);
        CallContext { idempotency_key: Some(idempotency_key), ..call }
    };
    let register = async |call: CallContext, user: &str, identifier: &str| {
        let (network, identifier) = (Text::stored("Helium"), Text::stored(identifier));
        world.app.devices.register(&call, UserId::stored(user), network, identifier).await
    };
    let first = register(keyed("ada", b"one"), "ada", "one").await.unwrap();
    assert_eq!(register(keyed("ada", b"one"), "ada", "one").await.unwrap(), first);
    assert!(matches!(register(keyed("ada", b"two"), "ada", "two").await, Err(Error::KeyReused)));
    // Another caller's key of the same name is a different key.
    assert_ne!(register(keyed("bob", b"one"), "bob", "three").await.unwrap(), first);
}
