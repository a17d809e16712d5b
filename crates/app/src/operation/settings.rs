//! A setting of the configuration in force, as the operator sees it.

use serde::Serialize;
use utoipa::ToSchema;

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
