//! The audit log: writing entries, anchoring the log on the chain, and verifying it.

mod anchoring;
mod inspection;
mod log;
pub(crate) mod state;
mod verification;

pub use inspection::{Anchor, AuditFault, Inspection};
pub use log::*;
pub use portico_store::audit::{AuditFilter, LoggedEntry};
pub use state::{EndedVerification, Progress};
pub use verification::{AnchorRecord, AuditStatus};
