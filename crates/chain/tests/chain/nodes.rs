//! The contract of every node, on the embedded one and on Anvil.

/// Turns every function into two tests: `embedded::name` and `anvil::name`.
macro_rules! on_both_nodes {
    ($($name:ident),+ $(,)?) => {
        mod embedded {
            $(#[test] fn $name() { crate::node_fixture::on_embedded(|fixture| Box::pin(super::$name(fixture))); })+
        }
        mod anvil {
            $(#[test] fn $name() { crate::node_fixture::on_anvil(|fixture| Box::pin(super::$name(fixture))); })+
        }
    };
}
use on_both_nodes;

mod contracts;
mod expiry;
mod restored;
mod setup;
mod transactions;
