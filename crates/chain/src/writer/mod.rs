//! The writer: makes database and chain agree, whatever fails in between.
//!
//! The [`Engine`] is a set of steps (take a lease, commit a group, send, follow), each of which may be cut off
//! anywhere and run again: everything that must not be forgotten is in the database, and what is kept in
//! memory is a copy of it. The [`Writer`] runs the steps in tasks of their own.

mod commit;
mod deliver;
mod engine;
mod follow;
mod lease;
mod reorg;
mod service;

use std::time::Duration;

pub use commit::Committed;
pub use engine::{Engine, Status};
pub use service::{Now, Writer};

use crate::Result;

/// How the writer behaves.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The most items in one batch.
    pub batch: usize,
    /// The most nonces that are on their way at once.
    pub window: usize,
    /// The most items that may wait to be mined; beyond that nothing is accepted.
    pub backlog: usize,
    /// After this long without a block a transaction is sent again.
    pub resend: Duration,
    /// After this long, and two blocks without it, a transaction is replaced by one that pays more.
    pub replace: Duration,
    /// So long must a holder of a lease be still before another takes it.
    pub patience: Duration,
    /// The most that is paid per gas, in wei.
    pub fee_cap: u64,
    /// This process is the only one, as on the embedded chain: no lease is held by anybody else.
    pub alone: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            batch: 256,
            window: 16,
            backlog: 10_000,
            resend: Duration::from_secs(3),
            replace: Duration::from_secs(20),
            patience: Duration::from_secs(10),
            fee_cap: 500_000_000_000,
            alone: false,
        }
    }
}

/// A moment at which a process may die, or an answer get lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Before a unit of work on the database.
    Writing,
    /// When all of it is done and nothing is committed.
    Committing,
    /// After it was committed, before anybody was told.
    Written,
    /// Before a transaction is sent.
    Sending,
    /// After it was sent.
    Sent,
}

/// Watches the steps. In the simulation it decides where the process dies.
pub trait Watch: Send + Sync + std::fmt::Debug + 'static {
    /// Called at a step; an error there is passed on at once.
    fn at(&self, _step: Step) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {}
