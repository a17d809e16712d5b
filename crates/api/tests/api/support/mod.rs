//! Fixtures: the service in this process, a client, signed-in users.

mod server;
#[allow(dead_code, unused_imports, reason = "the tests with a server process use the rest")]
mod shared;

use std::pin::Pin;
use std::sync::LazyLock;

use tokio::runtime::Runtime;

pub(crate) use server::{App, NodeOptions, OPERATOR, Options, Target};
pub(crate) use shared::*;

/// One runtime for all tests, on which the shared services run.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap());

/// Boxed, because compiling a runtime for each test is slow.
pub(crate) fn run<'a, T>(test: impl Future<Output = T> + 'a) -> T {
    let test: Pin<Box<dyn Future<Output = T> + 'a>> = Box::pin(test);
    RUNTIME.block_on(test)
}
