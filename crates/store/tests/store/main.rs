//! The conformance suite of the store: every test runs on SQLite and on PostgreSQL.
//!
//! A test is an `async fn name(db: Db)`, listed in its file's `on_both_engines!`. The PostgreSQL half needs a server:
//! `make test`, or `scripts/with-postgres cargo test -p portico-store`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

/// Turns every function into two tests: `sqlite::name` and `postgres::name`.
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test] fn $name() { crate::engines::on_sqlite(|db| Box::pin(super::$name(db))); })+
        }
        mod postgres {
            $(#[test] fn $name() { crate::engines::on_postgres(|db| Box::pin(super::$name(db))); })+
        }
    };
}

mod applications;
mod atomicity;
mod audit;
mod budgets;
mod chain_items;
mod concurrency;
mod cutting_proxy;
mod deployment;
mod devices;
mod engines;
mod events;
mod filters;
mod finding;
mod following;
mod fresh_reads;
mod idempotency;
mod keys;
mod keystore;
mod listings;
mod migrations;
mod outages;
mod pipelines;
mod portfolios;
mod requirements;
mod samples;
mod saved;
mod screening;
mod search_index;
mod snapshots;
mod templates;
mod tools;
