//! Applications of users to listings. Applying, reading and deciding have different rules.

mod decisions;
mod document;
pub(crate) mod evaluation;
mod flags;
mod notice;
pub(crate) mod orphans;
mod qualification;
mod service;
mod view;

pub use decisions::DecisionRequest;
pub(crate) use document::open_document;
pub use document::{Party, RecordedDecision, TimelineEntry};
pub use evaluation::{CheckState, CheckStatus, Evaluation};
pub use notice::{Notice, Supplier, UsedReport, UsedScore};
pub use qualification::{Qualification, Term, TermState, TermStatus, TermValue};
pub use service::Applications;
pub use view::{Applicant, ApplicationSummary, ApplicationView, Sharing};
