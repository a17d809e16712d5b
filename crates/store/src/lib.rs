//! Storage for the domain: one set of queries, two engines.
//!
//! `engine/` is the ground: statements, transactions, pages, migrations and the two engines. On it stand the areas
//! (listings, devices, …), each with its statements, its reads as methods of [`Db`] and its writes as units of work
//! ([`sql::Op`]). On top: backups, the deployment, and what a database says about itself. To add an area: write the
//! statements once in the common dialect; where the engines differ, use [`sql::dialects`]. The conformance suite runs
//! every area on both engines.

mod applications;
pub mod audit;
pub mod backup;
mod budgets;
pub mod chain;
mod database_facts;
mod deployment;
mod devices;
mod engine;
mod idempotency;
mod keys;
pub mod keystore;
mod listings;
mod pipelines;
mod portfolios;
#[cfg(test)]
#[path = "../tests/statements/prepared.rs"]
mod prepared;
mod requirements;
mod saved;
pub mod screening;
mod templates;
mod tenants;
mod users;

pub use applications::{
    ChangeApplication, DeleteOrphanedApplications, Disclosure, FlagRecord, ListingSubmission, NewApplication,
    ReportOutcome, SharingChange, StoreReport, StoredApplication, SubmitApplications,
};
pub use budgets::{Budget, Charge, ForgetBudgets, Paid};
pub use deployment::{AdoptDeployment, AdvanceClock, Deployment, ProbeWrite, ReplaceKeystore};
pub use devices::{DeleteDevice, RegisterDevice, RegisterDevices};
pub use engine::counters::ChangeContext;
pub use engine::db::migrate;
pub use engine::migrate::{Migration, MigrationStatus};
pub use engine::page::{Cursor, Page};
pub use engine::{Db, Error, Location, Result, Role, sql};
pub use idempotency::{Answering, ForgetReplies, IdempotencyClaim, Idempotent, Seal, StoredReply};
pub use keys::{CreateKey, NoteKeyUse, Revocation, RevokeAgain, RevokeKey, StoredKey};
pub use listings::{
    CreateListing, DeleteListing, EditListing, ListingClusters, ListingItem, ListingVersion, StoredListing,
};
pub use pipelines::PutPipeline;
pub use portfolios::{ChangePortfolio, CopyTemplate, CreatePortfolio, DeletePortfolio};
pub use requirements::PutRequirements;
pub use saved::{SaveListing, UnsaveListing};
pub use templates::{ChangeTemplate, CreateTemplate};
pub use tenants::JoinTenant;
pub use users::UserCounts;
