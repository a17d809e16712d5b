//! The [`Bureau`] trait, its requests and its errors.

use std::pin::Pin;
use std::time::Duration;

use portico_domain::{Country, FaultCode, ValidationError};
use tokio::time::Instant;

use crate::{Applicant, Check, Finding};

/// The default number of concurrent checks per bureau: all four of 256 applicants.
pub const DEFAULT_MAX_CONCURRENCY: usize = 1024;

/// The id of one check of one case. Retries reuse it, so that the bureau works and charges once; other inputs need
/// another one. It reveals nothing about the person.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference(Box<str>);

impl Reference {
    pub const MAX: usize = 128;

    /// 1 to 128 letters, digits and `-._~`: no escaping needed in a header or a path.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        // `..` would be a parent segment in a path.
        let dots = text.bytes().all(|byte| byte == b'.');
        if text.len() > Self::MAX || dots || !text.bytes().all(plain) {
            return Err(ValidationError::new(
                FaultCode::NotAReference,
                "must be 1 to 128 letters, digits and -._~",
            ));
        }
        Ok(Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub check: Check,
    /// A bureau uses only [`Check::inputs`] of it.
    pub applicant: &'a Applicant,
    /// The same for every try.
    pub reference: &'a Reference,
    /// The country whose rules apply.
    pub country: &'a Country,
    pub deadline: Instant,
}

pub type CheckFuture<'a> = Pin<Box<dyn Future<Output = Result<Finding, BureauError>> + Send + 'a>>;

/// A provider of checks.
pub trait Bureau: Send + Sync {
    /// Used in the configuration, metrics and results.
    fn name(&self) -> &str;

    /// Dropping the future cancels the check.
    fn check<'a>(&'a self, request: Request<'a>) -> CheckFuture<'a>;

    fn max_concurrency(&self) -> usize {
        DEFAULT_MAX_CONCURRENCY
    }

    /// Whether a failure predicts the next request's. If not, there is no circuit breaker.
    fn uses_circuit_breaker(&self) -> bool {
        true
    }
}

/// Never contains a personal value or the bureau's own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum BureauError {
    /// It rejects this input; retrying does not help.
    #[error("the bureau refused the request")]
    Refused,
    #[error("the bureau is busy")]
    Busy { retry_after: Option<Duration> },
    #[error("the bureau is unavailable")]
    Unavailable { retry_after: Option<Duration> },
    #[error("the bureau took too long")]
    TooSlow,
    /// Invalid or untrusted response. Retrying immediately does not help.
    #[error("the bureau's answer cannot be used: {0}")]
    Broken(&'static str),
}

impl BureauError {
    /// Whether a retry may succeed soon.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Unavailable { .. } | Self::TooSlow)
    }

    /// Whether the circuit breaker counts it.
    pub const fn counts_as_failure(self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::TooSlow | Self::Broken(_))
    }

    /// The bureau's `Retry-After`.
    pub const fn retry_after(self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after } | Self::Unavailable { retry_after } => retry_after,
            Self::Refused | Self::TooSlow | Self::Broken(_) => None,
        }
    }

    /// For metrics and logs.
    pub const fn kind(self) -> &'static str {
        self.into_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_needs_no_escaping() {
        for good in ["a", "case-1.eviction~2_b", &"x".repeat(128)] {
            assert_eq!(Reference::parse(good).unwrap().as_str(), good);
        }
        for wrong in ["", ".", "..", "a/b", "a b", "a%20", "ä", "a\r\nb", &"x".repeat(129)] {
            assert_eq!(Reference::parse(wrong).unwrap_err().code.name(), "not_a_reference", "{wrong}");
        }
    }
}
