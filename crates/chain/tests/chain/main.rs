//! Tests of the chain crate: a simulation of the writer, one suite for every node, and the writer on Anvil.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::same_functions_in_if_condition, reason = "every call of a generator draws anew")]

mod anvil;
mod node_fixture;
mod nodes;
mod samples;
mod simulation;
