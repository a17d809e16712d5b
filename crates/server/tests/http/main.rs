//! The service through its public interface: the real binary over HTTP, on both engines.
//!
//! The tree mirrors the surfaces. Most tests share one server per engine and use unique ids; those that need another
//! configuration or an empty database start a separate server.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::needless_pass_by_value, reason = "call sites pass temporaries")]

mod access;
mod audit;
mod basemap;
mod bodies;
mod canaries;
mod cli;
mod console;
mod crowds;
mod deployment;
mod encryption;
mod erasure;
mod errors;
mod faults;
mod fixture;
mod idempotency;
mod keystore;
mod kills;
mod logging;
mod paging;
mod postgres_outage;
mod process;
mod quotas;
mod recovery;
mod root;
mod rpc;
mod search;
mod service;
mod stage;
mod support;
mod tls;
mod v1;
