//! Shared fixtures: a running server, a client, signed-in users.

mod inspect;
mod installation;
pub(crate) mod jwks;
pub(crate) mod proxy;
pub(crate) mod raw;
pub(crate) mod server;
#[path = "../../../../api/tests/api/support/shared/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the tests in process use the rest")]
mod shared;

use std::sync::LazyLock;

use tokio::runtime::Runtime;

pub(crate) use installation::Installation;
pub(crate) use server::{App, Options, Target, portico};
pub(crate) use shared::*;

/// One runtime for all tests, so that pooled client connections outlive a test.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap());

pub(crate) fn run<F: Future>(test: F) -> F::Output {
    RUNTIME.block_on(test)
}
