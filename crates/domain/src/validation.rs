//! Validation errors: a stable code for programs and a message for people.

use std::borrow::Cow;
use std::str::FromStr;

use strum::VariantNames;

use crate::FaultCode;

/// The message names the rule, never the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError {
    pub code: FaultCode,
    pub message: Cow<'static, str>,
    pub limits: Limits,
}

/// The numbers of the rule, for messages in other languages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    pub min: Option<i64>,
    pub max: Option<i64>,
}

impl ValidationError {
    pub fn new(code: FaultCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), limits: Limits::default() }
    }

    #[must_use]
    pub fn between(self, min: i64, max: i64) -> Self {
        Self { limits: Limits { min: Some(min), max: Some(max) }, ..self }
    }

    #[must_use]
    pub fn at_most(self, max: i64) -> Self {
        Self { limits: Limits { min: None, max: Some(max) }, ..self }
    }
}

/// The value of an enum with this name, which must match exactly.
pub fn parse_name<T: FromStr + VariantNames>(name: &str, code: FaultCode) -> Result<T, ValidationError> {
    let known = || format!("must be one of {}", T::VARIANTS.join(", "));
    name.parse().map_err(|_| ValidationError::new(code, known()))
}

impl std::fmt::Display for ValidationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ValidationError {}
