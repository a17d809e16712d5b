//! The binary's inside: command line, configuration, wiring. The only place that names concrete engines.

mod application;
mod chain;
pub mod cli;
pub mod config;
mod console;
mod data;
mod idle_timeout;
mod listen;
mod people;
mod seed;
mod serve;

use std::io::Write as _;

pub use application::admin;
use application::{open_with_secrets, own_keystore, recorded_profile, with_another_keystore, with_keystore};
pub use serve::serve;

/// Writes a line for the person at the terminal. One that cannot be written is no reason to stop.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
