//! Checks through the public interface: the runner on a paused clock, and the HTTP bureau against a misbehaving local
//! server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod config;
mod http;
mod logs;
mod people;
mod process;
mod runner;
mod scripted;
mod server;
