//! The embedded chain, tested through its public interface.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::needless_pass_by_value, reason = "call sites pass temporaries")]

mod cast;
mod contract;
mod crash;
mod history;
mod open;
mod reading;
mod rpc;
mod slots;
mod submit;
mod support;
