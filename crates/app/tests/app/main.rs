//! Tests of the use cases with a fake clock, ids and randomness, and without a chain. Those about applications run on
//! both engines and in both profiles, the others on SQLite.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

/// Each test is a function `async fn(World)`; it runs in both profiles.
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test] fn $name() { crate::world::Site::Sqlite.run(|world| Box::pin(super::$name(world))); })+
        }
        mod postgres {
            $(#[test] fn $name() { crate::world::Site::postgres().run(|world| Box::pin(super::$name(world))); })+
        }
    };
}

mod access;
mod applications;
mod clock;
mod disclosure_model;
mod erase_race;
mod every_method;
mod idempotency;
mod qualification;
mod screening;
mod world;
