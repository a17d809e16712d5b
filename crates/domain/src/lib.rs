//! The domain model: listings, requirements, applications, portfolios.
//!
//! Types that cannot hold an invalid value, and the rules between them. No I/O, no HTTP, no SQL; callers pass the
//! time in.

pub mod applications;
pub mod canonical;
pub mod chain;
pub mod clusters;
pub mod decimal;
pub mod devices;
pub mod endpoints;
mod error_code;
mod fault_code;
pub mod field_changes;
pub mod geo;
pub mod keys;
pub mod listing_changes;
pub mod listings;
pub mod names;
pub mod pipelines;
pub mod portfolios;
pub mod quotas;
pub mod requirements;
pub mod search;
mod tenants;
pub mod text;
pub mod time;
pub mod validation;

pub use decimal::{Allocation, Credit, Degrees, Income, Kilometres, Money, SafeInteger, Whole};
pub use error_code::ErrorCode;
pub use fault_code::FaultCode;
pub use quotas::Quota;
pub use tenants::Tenant;
pub use text::{
    AccountId, ApplicationId, CaseId, City, ClaimNonce, ClientId, Country, Description, DeviceId,
    DeviceIdentifier, KeyId, Label, Link, ListingDescription, ListingId, Network, PortfolioId, PostalCode,
    State, Street, TemplateId, Text, UserId, VerificationId, WalletId, WalletSignature,
};
pub use time::{Date, Timestamp};
pub use validation::ValidationError;
