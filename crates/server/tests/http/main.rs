//! The service through its public interface: the real binary over HTTP, on both engines.
//!
//! The tree mirrors the surfaces. Most tests share one server per engine and use ids of their own; those that
//! need another configuration, or an empty database, start a server of their own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]
#![expect(clippy::needless_pass_by_value, reason = "bodies are written where they are sent")]

mod access;
mod audit;
mod bodies;
mod canaries;
mod cli;
mod console;
mod deployment;
mod encryption;
mod erasure;
mod errors;
mod idempotency;
mod kills;
mod logging;
mod paging;
mod postgres_outage;
mod process;
mod root;
mod rpc;
mod search;
mod service;
mod stage;
mod support;
mod v1;
