//! What every node must do, on the embedded one and on Anvil: a function says one thing of both.

/// Makes two tests of every function named: `embedded::name` and `anvil::name`.
macro_rules! on_both_nodes {
    ($($name:ident),+ $(,)?) => {
        mod embedded {
            $(#[test] fn $name() { crate::node_fixture::on_embedded(|node_fixture| Box::pin(super::$name(node_fixture))); })+
        }
        mod anvil {
            $(#[test] fn $name() { crate::node_fixture::on_anvil(|node_fixture| Box::pin(super::$name(node_fixture))); })+
        }
    };
}
use on_both_nodes;

mod contracts;
mod setup;
mod transactions;
