//! What every node must do, on the embedded one and on Anvil: a function says one thing of both.

/// Makes two tests of every function named: `embedded::name` and `anvil::name`.
macro_rules! on_both_nodes {
    ($($name:ident),+ $(,)?) => {
        mod embedded {
            $(#[test] fn $name() { crate::ground::on_embedded(|ground| Box::pin(super::$name(ground))); })+
        }
        mod anvil {
            $(#[test] fn $name() { crate::ground::on_anvil(|ground| Box::pin(super::$name(ground))); })+
        }
    };
}
use on_both_nodes;

mod contracts;
mod setup;
mod transactions;
