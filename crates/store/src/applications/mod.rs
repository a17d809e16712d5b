//! Applications to listings. A row names the applicant by the id of their key in the keystore; who that is, and
//! everything else about the application, is sealed in its document.

pub(crate) mod changes;
pub(crate) mod reports;
pub(crate) mod stored;
pub(crate) mod submission;

pub use changes::{ChangeApplication, DeleteOrphanedApplications, SharingChange};
pub use reports::{Disclosure, FlagRecord, ReportOutcome, StoreReport};
pub use stored::StoredApplication;
pub use submission::{ListingSubmission, NewApplication, SubmitApplications};
