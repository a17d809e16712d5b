//! Erasures while the same person is verified, applies and gets a token. Whatever the order, nothing that was sealed
//! with a destroyed key is left, and nothing that came after the erasure is lost.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use futures_util::future::{join_all, join4};
use portico_app::Error;
use portico_app::applications::SeenConditions;
use portico_domain::{CaseId, ErrorCode, ListingId, UserId, WalletId};
use portico_records::token_key;

use crate::world::{Inputs, World, person};

on_both_engines! { erase_race }

/// People who race at the same time.
const CONCURRENT_RACES: usize = 8;

/// How many times somebody is erased in the middle of their own writes, in each profile.
fn races() -> usize {
    std::env::var("PORTICO_ERASE_RACES").map_or(40, |races| races.parse().unwrap())
}

/// Not long, and never the same.
async fn a_moment(longest_micros: u64) {
    let micros = RandomState::new().hash_one(0_u8) % longest_micros;
    tokio::time::sleep(Duration::from_micros(micros)).await;
}

/// The only refusals that an erasure may cause.
fn is_expected<T>(outcome: portico_app::Result<T>) {
    match outcome {
        Ok(_) | Err(Error::Conflict(ErrorCode::IdentityRevoked) | Error::NotFound(_)) => {}
        Err(error) => panic!("{error:?}"),
    }
}

async fn race(world: &World, number: usize, listing: &ListingId) {
    let name = format!("runner-{number}");
    let (call, user) = (person(&name), UserId::stored(name.as_str()));
    // Half of them have something already.
    if number.is_multiple_of(2) {
        world.screen_in(&call, Inputs::CREDIT, &format!("first-{number}")).await.unwrap();
        world
            .app
            .applications
            .apply(&call, user.clone(), vec![listing.clone()], SeenConditions::new())
            .await
            .unwrap();
    }
    let verified = async {
        a_moment(2_000).await;
        is_expected(world.screen_in(&call, Inputs::ALL, &format!("case-{number}")).await);
    };
    let applied = async {
        a_moment(10_000).await;
        is_expected(
            world
                .app
                .applications
                .apply(&call, user.clone(), vec![listing.clone()], SeenConditions::new())
                .await,
        );
    };
    let minted = async {
        a_moment(10_000).await;
        let wallet = WalletId::stored("0x00000000000000000000000000000000000000aa");
        let case = CaseId::stored(format!("token-{number}"));
        is_expected(world.app.identities.create(&call, case, &wallet).await);
    };
    let erased = async {
        a_moment(20_000).await;
        world.app.people.erase(&call, &user).await.unwrap();
    };
    Box::pin(join4(verified, applied, minted, erased)).await;
    // What is there was sealed with a key that exists.
    let shown = world.app.screening.verifications(&call, None, 100).await.unwrap().items;
    assert_eq!(
        world.stored_verifications(&user).await,
        shown.len(),
        "{name} has results that nobody can read"
    );
    for case in world.cases_of(&user).await {
        let token = u128::from_be_bytes(case.token).to_string();
        world.app.identities.identity(&call, &token).await.unwrap();
    }
}

async fn erase_race(world: World) {
    let listing = world.offer("elm", &person("landlord"), [620, 700, 50_000, 60_000]).await;
    let races = races();
    for first in (0..races).step_by(CONCURRENT_RACES) {
        join_all((first..races.min(first + CONCURRENT_RACES)).map(|number| race(&world, number, &listing)))
            .await;
    }
    let users: Vec<UserId> = (0..races).map(|number| UserId::stored(format!("runner-{number}"))).collect();
    let mut living = HashSet::new();
    for user in &users {
        living.extend(world.cases_of(user).await.iter().map(|case| token_key(&case.token)));
    }
    for token in world.minted_tokens().await {
        assert!(living.contains(&token), "a token of an erased case is not revoked");
    }
    for user in &users {
        world.app.people.erase(&person(user.as_str()), user).await.unwrap();
        assert_eq!(world.stored_verifications(user).await, 0);
        assert!(world.cases_of(user).await.is_empty());
    }
    assert_eq!(world.minted_tokens().await, HashSet::new());
    assert_eq!(world.people_who_applied().await, 0, "an application outlived its applicant");
    assert!(world.chain_flags().await.iter().all(|flags| flags.passes.is_none()));
}
