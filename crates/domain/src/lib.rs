//! What a listing, a requirement, an application, a portfolio **is**.
//!
//! Types that cannot hold a wrong value, and the rules between them. No I/O, no HTTP, no SQL, and no clock
//! of its own: whoever needs the time passes it in.

pub mod applications;
pub mod chain;
pub mod decimal;
pub mod devices;
mod error_code;
pub mod geo;
pub mod keys;
pub mod listings;
pub mod names;
pub mod pipelines;
pub mod portfolios;
pub mod requirements;
pub mod search;
pub mod text;
pub mod time;
pub mod validation;

pub use decimal::{Allocation, Credit, Degrees, Income, Kilometres, Money, SafeInteger, Whole};
pub use error_code::ErrorCode;
pub use text::{
    AccountId, CaseId, City, ClientId, Country, Description, DeviceId, DeviceIdentifier, KeyId, Label, Link,
    ListingId, Network, PortfolioId, PostalCode, State, Street, TemplateId, Text, UserId, VerificationId,
    WalletId,
};
pub use time::Timestamp;
pub use validation::ValidationError;
