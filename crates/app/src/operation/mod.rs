//! Operation: the audit log, the chain, the configuration in force, background work, and what only a sandbox offers.

pub mod audit;
pub mod chain;
pub mod chain_admin;
pub mod chain_queue;
pub mod configuration;
pub mod demo;
pub mod maintenance;
pub mod readiness;
pub mod restoration;
pub mod sandbox;
mod transactions;
