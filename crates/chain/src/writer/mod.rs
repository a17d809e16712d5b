//! The writer: keeps database and chain consistent, whatever fails in between.
//!
//! The [`Engine`] is a set of steps (acquire a lease, commit a group, send, follow). Each may be interrupted anywhere
//! and run again: durable state is in the database, and the state in memory is a copy of it. The [`Writer`] runs the steps in
//! background tasks.

mod commit;
mod deliver;
mod engine;
mod follow;
mod lease;
mod reorg;
mod service;

use std::time::Duration;

pub use commit::CommittedGroup;
pub use engine::{Engine, Status};
pub use service::{Now, Writer};

use crate::Result;

#[derive(Debug, Clone, Copy)]
pub struct WriterSettings {
    /// Items per batch.
    pub batch: usize,
    /// Nonces in flight.
    pub window: usize,
    /// Items that may wait to be mined; beyond that nothing is accepted.
    pub backlog: usize,
    /// How many of these one payer may have.
    pub max_waiting_per_payer: usize,
    /// Resend a transaction that is not in a block after this time.
    pub resend: Duration,
    /// Replace a transaction by one that pays more after this time and two blocks without it.
    pub replace: Duration,
    /// Take over a lease whose holder has not renewed it for this long.
    pub lease_timeout: Duration,
    /// The highest fee per gas, in wei.
    pub fee_cap: u64,
    /// No other process holds leases, as on the embedded chain.
    pub is_only_process: bool,
}

impl Default for WriterSettings {
    fn default() -> Self {
        Self {
            batch: 256,
            window: 16,
            backlog: 10_000,
            max_waiting_per_payer: 1_000,
            resend: Duration::from_secs(3),
            replace: Duration::from_secs(20),
            lease_timeout: Duration::from_secs(10),
            fee_cap: 500_000_000_000,
            is_only_process: false,
        }
    }
}

/// A point at which a process may die, or a reply get lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failpoint {
    /// Before a unit of work.
    Writing,
    /// All work is done, nothing is committed.
    Committing,
    /// Committed, and the caller does not know yet.
    Written,
    Sending,
    Sent,
}

/// In the simulation it decides where the process dies.
pub trait FailpointHook: Send + Sync + std::fmt::Debug + 'static {
    /// An error is returned to the caller immediately.
    fn at(&self, _step: Failpoint) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
pub struct NoFailpoints;

impl FailpointHook for NoFailpoints {}
