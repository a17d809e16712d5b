//! The binary's inside: command line, configuration, wiring. The only place that names concrete engines.

mod chain;
pub mod cli;
pub mod config;
mod console;
mod data;
mod listen;
mod pace;
mod people;
mod seed;
mod serve;

use serve::insider;
pub use serve::{admin, serve};
