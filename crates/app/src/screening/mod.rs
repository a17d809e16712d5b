//! Screening: what a pipeline asks for, how a verification runs it, and the identity tokens that follow from it.

pub(crate) mod applicant_identity;
pub mod bureaus;
mod checks;
pub mod claims;
pub(crate) mod consent_texts;
pub mod consents;
mod disputes;
pub(crate) mod identities;
pub(crate) mod parts;
mod pipelines;
pub(crate) mod results;
pub(crate) mod service;
mod verifications;
mod wished_wallets;

pub use parts::Bureaus;
pub use portico_screening::{Applicant, Check, personal};
pub use results::{AdverseReason, CheckReport, VerificationReport, VerificationResult};
pub use service::Verification;
