//! Checks through the public interface: the runner on a clock that stands still, and the HTTP bureau against a
//! local server that misbehaves in every way.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod config;
mod http;
mod logs;
mod people;
mod process;
mod runner;
mod scripted;
mod server;
