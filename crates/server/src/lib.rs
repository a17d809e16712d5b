//! Command line, configuration and wiring of the binary.

mod application;
mod backup;
mod chain;
pub mod cli;
pub mod config;
mod connections;
mod console;
mod data;
mod database;
mod idle_timeout;
mod listen;
mod people;
mod seed;
mod serve;
mod tls;

use std::io::Write as _;

pub use application::admin;
use application::{open_with_secrets, recorded_profile, with_replacement_keystore};
pub use serve::serve;

/// Writes a line to stderr and ignores errors.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
