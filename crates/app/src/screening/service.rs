//! Screening applicants: what a verification asks for, and what runs it. The use cases are in `verifications`, `checks`
//! and `pipelines`.

use std::sync::Arc;

use portico_domain::{CaseId, ClientId, Label, Timestamp, VerificationId, WalletId};
use portico_screening::Applicant;

use crate::core::Core;

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
