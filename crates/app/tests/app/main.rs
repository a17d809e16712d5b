//! Tests of the use cases with a fake clock, ids and randomness, on SQLite and without a chain.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod access;
mod idempotency;
mod screening;
mod world;
