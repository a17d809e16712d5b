//! Runs the checks of a verification pipeline against bureaus.
//!
//! An [`Applicant`] holds a person's data in types that do not print and are wiped when dropped. A [`Bureau`] answers
//! one [`Check`] with a [`Finding`]: the embedded [`Sandbox`], or any vendor behind the protocol of [`http`]. A
//! [`Routing`] assigns bureaus to checks, and a [`Runner`] runs checks concurrently, with deadlines, retries and
//! circuit breakers.
//!
//! Nothing here is stored and nothing personal is logged. No error of this crate contains an applicant's value or a
//! bureau's text.

pub mod applicant;
pub mod backoff;
pub mod breaker;
pub mod bureau;
pub mod checks;
pub mod config;
pub mod disclosure;
pub mod findings;
pub mod http;
pub mod personal;
pub mod routing;
pub mod runner;
pub mod sandbox;

pub use applicant::{Applicant, ApplicantField};
pub use bureau::{Bureau, BureauError, CheckFuture, Reference, Request};
pub use checks::Check;
pub use config::{BureauConfig, ScreeningConfig};
pub use disclosure::BureauContact;
pub use findings::{Finding, Score, ScoreFactor, ScoreRange, Thresholds};
pub use http::HttpBureau;
pub use routing::Routing;
pub use runner::{CheckRun, Failure, FailureReason, Outcome, Policy, Runner, Running};
pub use sandbox::Sandbox;
