//! Runs the checks of a verification pipeline against bureaus.
//!
//! An [`Applicant`] holds what a person sent, in types that do not print and are wiped when dropped. A
//! [`Bureau`] answers one [`Check`] about an applicant with a [`Finding`]: the [`Sandbox`] inside, or any
//! vendor behind the protocol of [`http`]. A [`Routing`] says which bureau serves which check, and a
//! [`Runner`] runs several checks side by side, with deadlines, retries and circuit breakers.
//!
//! Nothing here is stored and nothing personal is logged. No error of this crate holds an applicant's value or
//! a bureau's words.

pub mod applicant;
pub mod backoff;
pub mod breaker;
pub mod bureau;
pub mod checks;
pub mod config;
pub mod findings;
pub mod http;
pub mod personal;
pub mod routing;
pub mod runner;
pub mod sandbox;

pub use applicant::{Applicant, Field};
pub use bureau::{Answer, Bureau, BureauError, Reference, Request};
pub use checks::Check;
pub use config::{BureauConfig, ScreeningConfig};
pub use findings::{Finding, Score, Thresholds};
pub use http::HttpBureau;
pub use routing::Routing;
pub use runner::{Failure, Order, Outcome, Policy, Runner, Running, Why};
pub use sandbox::Sandbox;
