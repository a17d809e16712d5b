//! The embedded chain, tested through its public interface.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::needless_pass_by_value, reason = "arguments are written where they are sent")]

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
