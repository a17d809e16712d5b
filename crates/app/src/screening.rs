//! Screening applicants: what a verification asks for, and what runs it. The use cases are in `verifications`, `checks`
//! and `pipelines`.

use std::sync::Arc;

use portico_domain::{CaseId, ClientId, Label, Timestamp, VerificationId, WalletId};
use portico_screening::Runner;
use portico_screening::config;
pub use portico_screening::{Applicant, Check, personal};

use crate::Core;
pub use crate::results::{AdverseReason, CheckReport, VerificationReport, VerificationResult};

#[derive(Debug)]
pub struct Bureaus {
    pub(crate) runner: Runner,
    pub(crate) screening: config::Screening,
}

impl Bureaus {
    pub fn new(screening: config::Screening) -> Self {
        Self { runner: Runner::new(&screening.routing, screening.policy), screening }
    }

    /// For metrics.
    pub fn runner(&self) -> &Runner {
        &self.runner
    }
}

#[derive(Debug)]
pub struct Verification {
    /// Return this earlier result.
    pub verified: Option<VerificationId>,
    /// Whose pipeline selects the checks.
    pub client: Option<ClientId>,
    pub case: Option<CaseId>,
    /// The wallet that is to hold the token.
    pub wallet: Option<WalletId>,
    pub applicant: Applicant,
    pub consented_at: Option<Timestamp>,
    pub consent_version: Option<Label>,
}

/// Pipelines, checks and results.
#[derive(Debug)]
pub struct Screening {
    pub(crate) core: Arc<Core>,
}
