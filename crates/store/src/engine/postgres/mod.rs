//! The `PostgreSQL` engine: one shared, pipelined client for point reads, connection pools for scans and
//! transactions.
//!
//! A lost server is `Unavailable` immediately and reconnects by itself; serialization failures are retried.

pub(crate) mod connection;
pub(crate) mod creation_numbers;
pub(crate) mod database;
pub(crate) mod migrate;
pub(crate) mod migrations;
mod pool;
pub(crate) mod restore_mark;
pub(crate) mod transaction;
