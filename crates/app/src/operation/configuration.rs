//! The configuration in force, for the operator. What is secret does not get here: the server says only that it is set.

use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use crate::caller::{Call, require_operator};
use crate::core::Core;
use crate::error::Result;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// As in the configuration file: `listen`, `bureaus.acme.url`.
    pub name: String,
    pub value: SettingValue,
    pub source: SettingSource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingValue {
    NotSet,
    /// It is set, and secret.
    Hidden,
    Shown(String),
}

/// What the value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingSource {
    Default,
    Flag,
    Environment,
    /// The configuration file.
    File,
    /// A secret file.
    SecretFile,
}

#[derive(Debug)]
pub struct Configuration {
    pub(crate) core: Arc<Core>,
}

impl Configuration {
    pub fn settings(&self, call: &Call) -> Result<&[Setting]> {
        require_operator(&call.actor)?;
        Ok(&self.core.settings)
    }
}
