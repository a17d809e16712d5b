//! Operation: the audit log, the chain, the configuration in force, background work, and what only a sandbox offers.

pub mod audit;
pub mod chain;
pub mod chain_admin;
pub(crate) mod chain_parts;
pub mod chain_queue;
pub mod configuration;
pub mod demo;
pub mod maintenance;
pub(crate) mod parts;
pub mod readiness;
pub mod restoration;
pub mod sandbox;
pub(crate) mod settings;
mod transactions;
pub(crate) mod write_proof;
