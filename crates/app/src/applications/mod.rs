//! Applications of users to listings. Applying, reading and deciding have different rules.

mod conditions;
mod decisions;
mod document;
pub(crate) mod evaluation;
mod name_check;
mod notice;
pub(crate) mod orphans;
mod proof;
mod qualification;
mod recording;
mod report;
mod service;
mod tag;
mod view;

pub use conditions::{PublicConditions, RequiredCheck, SeenConditions};
pub use decisions::{Basis, DecisionRequest};
pub use document::{NameCheck, Party, RecordedDecision, TimelineEntry};
pub use evaluation::{CheckState, CheckStatus, Evaluation};
pub use notice::{Notice, Supplier, UsedReport, UsedScore};
pub use proof::FlagProof;
pub use qualification::{Qualification, Term, TermState, TermStatus, TermValue};
pub use service::Applications;
pub use view::{Applicant, ApplicationSummary, ApplicationView, SharedFinding, Sharing};
