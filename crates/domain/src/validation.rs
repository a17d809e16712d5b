//! Validation errors: a stable code for programs and a message for people.

use std::borrow::Cow;

/// The message names the rule, never the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError {
    /// Stable and machine-readable, such as `too_long`.
    pub code: &'static str,
    pub message: Cow<'static, str>,
}

impl ValidationError {
    pub fn new(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into() }
    }
}

impl std::fmt::Display for ValidationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ValidationError {}
