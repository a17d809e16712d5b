//! The chain side, from outside: a simulation of the writer, one suite for every node, and the writer on Anvil.

mod ground;
mod nodes;
mod samples;
mod simulation;
