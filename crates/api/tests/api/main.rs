//! The API through its router, called in this process: on both engines, without sockets and server processes. What
//! needs a process (signals, files, TLS, kills, restores, the command line) is tested with the server.
//!
//! The tree mirrors the surfaces. Most tests share one service per engine and use unique ids; those that need another
//! configuration or an empty database start one for themselves.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic fails the test")]
#![expect(clippy::needless_pass_by_value, reason = "call sites pass temporaries")]

mod access;
mod audit;
mod basemap;
mod bodies;
mod erasure;
mod errors;
mod idempotency;
mod paging;
mod quotas;
mod root;
mod rpc;
mod search;
mod service;
mod stage;
mod support;
mod v1;
