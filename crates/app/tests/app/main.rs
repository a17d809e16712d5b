//! The use cases, with a clock, ids and randomness of the tests' own, on SQLite and without a chain.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod access;
mod idempotency;
mod screening;
mod world;
