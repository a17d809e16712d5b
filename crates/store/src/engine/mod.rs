//! The ground of the store: statements, values and rows, transactions, pages, migrations, and the two engines. Nothing
//! here knows an area.

pub(crate) mod audit_key;
pub(crate) mod context;
pub(crate) mod counters;
pub(crate) mod creation_number;
pub(crate) mod db;
pub(crate) mod error;
pub(crate) mod location;
pub(crate) mod migrate;
pub(crate) mod page;
mod paging;
pub(crate) mod param;
pub(crate) mod postgres;
pub mod sql;
pub(crate) mod sqlite;
pub(crate) mod totals;
pub(crate) mod word;

pub use db::Db;
pub use error::{Error, Result};
pub use location::{Location, Role};
