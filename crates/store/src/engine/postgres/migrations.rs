//! The migrations of `PostgreSQL`, in order.

use crate::engine::migrate::{Migration, Migrations};

pub(crate) const MIGRATIONS: Migrations =
    &[Migration { name: "initial", sql: include_str!("../../../migrations/postgres/0001_initial.sql") }];

pub(crate) const KEYSTORE_MIGRATIONS: Migrations =
    &[Migration { name: "initial", sql: include_str!("../../../migrations/postgres-keys/0001_initial.sql") }];
