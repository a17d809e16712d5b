//! What needs a process of the real binary: signals, files, TLS, kills, restores, the command line, the log, and bytes
//! on a connection. Everything else of the API is tested in its own crate, without one.
//!
//! Some tests share one server per engine and use unique ids; most start their own.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::needless_pass_by_value, reason = "call sites pass temporaries")]

mod audit;
mod basemap;
mod canaries;
mod cli;
mod configuration;
mod console;
mod crowds;
mod deployment;
mod encryption;
mod erasure;
mod faults;
mod fixture;
mod issuer;
mod keystore;
mod kills;
mod logging;
mod postgres_outage;
mod process;
mod recovery;
mod support;
mod tls;
mod wire;
