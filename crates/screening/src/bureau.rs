//! The one trait behind which every bureau stands, what it is asked, and how it may fail.

use std::pin::Pin;
use std::time::Duration;

use portico_domain::{Country, ValidationError};
use tokio::time::Instant;

use crate::{Applicant, Check, Finding};

/// How many checks a bureau is asked at once, unless it says otherwise: all four of 256 applicants.
pub const MOST_AT_ONCE: usize = 1024;

/// The caller's name for one check of one case. It stays the same when the check is tried again, so that the
/// bureau does the work, and charges for it, once; other inputs need another one. It says nothing about the
/// person.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference(Box<str>);

impl Reference {
    pub const MAX: usize = 128;

    /// Takes 1 to 128 letters, digits and `-._~`: what needs no escaping in a header or a path.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        // Two dots would be a step up in a path.
        let dots = text.bytes().all(|byte| byte == b'.');
        if text.len() > Self::MAX || dots || !text.bytes().all(plain) {
            return Err(ValidationError::new("not_a_reference", "must be 1 to 128 letters, digits and -._~"));
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

/// What a bureau is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What to find out.
    pub check: Check,
    /// About whom. A bureau uses [`Check::inputs`] of it, nothing else.
    pub applicant: &'a Applicant,
    /// Under which name, the same for every try.
    pub reference: &'a Reference,
    /// By which country's rules.
    pub country: &'a Country,
    /// When the answer is of no use any more.
    pub deadline: Instant,
}

/// A bureau's answer, some time.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Finding, BureauError>> + Send + 'a>>;

/// Someone who knows things about people.
pub trait Bureau: Send + Sync {
    /// Its name in the configuration, in metrics and in results.
    fn name(&self) -> &str;

    /// Runs one check. Dropping the answer gives it up.
    fn check<'a>(&'a self, request: Request<'a>) -> Answer<'a>;

    /// How many checks it is asked at once.
    fn most_at_once(&self) -> usize {
        MOST_AT_ONCE
    }

    /// Whether its failures say something about the next request. If not, no circuit breaker guards it.
    fn fails_as_a_whole(&self) -> bool {
        true
    }
}

/// Why a bureau gave no finding. It never holds a personal value or the bureau's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BureauError {
    /// It does not take this input; trying again changes nothing.
    #[error("the bureau refused the request")]
    Refused,
    /// It is there and asks for patience.
    #[error("the bureau is busy")]
    Busy {
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// It cannot be reached, or failed.
    #[error("the bureau is unavailable")]
    Unavailable {
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// It took too long.
    #[error("the bureau took too long")]
    TooSlow,
    /// It answered what makes no sense, or what cannot be trusted. Asking at once again would not help.
    #[error("the bureau's answer cannot be used: {0}")]
    Broken(&'static str),
}

impl BureauError {
    /// Whether another try, soon, may succeed.
    pub const fn is_passing(self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Unavailable { .. } | Self::TooSlow)
    }

    /// Whether it speaks against the bureau's health.
    pub const fn is_the_bureaus_fault(self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::TooSlow | Self::Broken(_))
    }

    /// How long the bureau asks to be left alone.
    pub const fn retry_after(self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after } | Self::Unavailable { retry_after } => retry_after,
            Self::Refused | Self::TooSlow | Self::Broken(_) => None,
        }
    }

    /// One word for metrics and logs.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Busy { .. } => "busy",
            Self::Unavailable { .. } => "unavailable",
            Self::TooSlow => "too_slow",
            Self::Broken(_) => "broken",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_fits_a_header_and_a_path_as_it_is() {
        for good in ["a", "case-1.eviction~2_b", &"x".repeat(128)] {
            assert_eq!(Reference::parse(good).unwrap().as_str(), good);
        }
        for wrong in ["", ".", "..", "a/b", "a b", "a%20", "ä", "a\r\nb", &"x".repeat(129)] {
            assert_eq!(Reference::parse(wrong).unwrap_err().code, "not_a_reference", "{wrong}");
        }
    }
}
