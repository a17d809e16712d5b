//! The one way in which a value is refused: a stable code for programs and a sentence for people.

use std::borrow::Cow;

/// Why a value was refused. The message names the rule, never the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError {
    /// A stable, machine-readable word such as `too_long`.
    pub code: &'static str,
    /// The rule in words.
    pub message: Cow<'static, str>,
}

impl ValidationError {
    /// A fault with a fixed or a formatted message.
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
