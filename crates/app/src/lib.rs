//! The use cases: one folder per area, one file per service. All surfaces call these; only this crate combines the
//! store, the chain and the screening.
//!
//! - `homes/`: listings, their records on the chain, saved listings, requirements
//! - `screening/`: pipelines, verifications, their results, and the identity tokens that follow from them
//! - `applications/`: applying, deciding, and what each side sees
//! - `portfolios/`: portfolios of users, templates, devices
//! - `people/`: keystore, vault, tokens, API keys, access, budgets, erasure
//! - `operation/`: audit log, chain, configuration, maintenance, readiness, the sandbox
//!
//! Below them are the caller, the clock, errors, `Core`, and [`Database`], what an operator does without an application.
//! `Core` is what the services share: the database, the clock and the like, and each area's own parts. The files that
//! define these parts do not import `Core`.
//!
//! Every public method of a service takes a [`CallContext`] (caller and idempotency key) and authorises its caller,
//! unless everybody may call it. Exceptions: authentication (`Keys::verify`, `verify_token`, `jwks`), the readers that
//! an authorised call returns (`AuditReader`, `KeyReader`), flags without data (`Audit::is_altered`,
//! `Audit::knows_key`), the accessors of [`Portico`], and [`Maintenance`], the background work, which no request
//! calls.

pub mod applications;
mod builder;
mod caller;
pub mod clock;
mod core;
mod database;
mod error;
mod homes;
mod operation;
pub mod people;
pub mod portfolios;
mod portico;
mod profile;
pub mod screening;

pub use applications::Applications;
pub use builder::{Builder, Parts};
pub use caller::{Actor, CallContext, IdempotencyKey};
pub use database::Database;
pub use error::{Error, Result};
pub use homes::listings::{self, ListingDetails, Listings, NewListing};
pub use operation::audit::{self, Audit};
pub use operation::chain::{self, Chain};
pub use operation::configuration::{self, Configuration};
pub use operation::maintenance::{self, Maintenance};
pub use operation::sandbox::{self, Sandbox};
pub use operation::{chain_admin, chain_queue, demo, readiness, restoration};
pub use people::erasure::People;
pub use people::keys::{self, Keys};
pub use people::{access, budgets, keystore, tokens, vault};
pub use portfolios::devices::Devices;
pub use portfolios::templates;
pub use portfolios::user_portfolios::Portfolios;
pub use portico::Portico;
pub use portico_store::{Cursor, ListingVersion, Location, Page, Role};
pub use profile::{AccessTable, Profile};
pub use screening::identities::Identities;
pub use screening::service::Screening;
pub use screening::{bureaus, claims, consents};
