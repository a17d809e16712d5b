//! Unvalidated settings from flags, environment and file, under the same names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use portico_screening::{BureauConfig, ScreeningConfig};
use serde::Deserialize;
use toml::Table;

use super::ProfileName;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    pub data: Option<PathBuf>,
    pub database: Option<String>,
    pub keystore: Option<String>,
    pub chain: Option<String>,
    pub log: Option<String>,
    pub listen: Option<String>,
    pub profile: Option<ProfileName>,
    pub allow_open: Option<bool>,
    pub allow_host: Option<Vec<String>>,
    pub cors_origin: Option<Vec<String>>,
    pub trusted_hops: Option<usize>,
    pub rate_limit: Option<u32>,
    pub max_connections: Option<usize>,
    pub max_in_flight: Option<usize>,
    pub country: Option<String>,
    pub issuer: Option<String>,
    pub audience: Option<String>,
    pub jwks_url: Option<String>,
    pub jwks_refresh: Option<u64>,
    pub admin_claim: Option<String>,
    pub console_client: Option<String>,
    pub encryption_key: Option<String>,
    pub chain_id: Option<u64>,
    pub chain_contracts: Option<String>,
    pub chain_owner: Option<String>,
    pub chain_key: Option<String>,
    pub chain_key_file: Option<PathBuf>,
    pub chain_confirmations: Option<u64>,
    pub chain_fee_cap: Option<u64>,
    pub retention_days: Option<u32>,
    /// In the file only.
    pub bureaus: BTreeMap<String, BureauConfig>,
    /// Consent texts by version.
    pub consents: BTreeMap<String, String>,
    pub screening: ScreeningConfig,
}

impl Settings {
    /// Reads the file; flags and environment override it.
    pub fn load(file: Option<&Path>, flags: Table) -> Result<Self> {
        let mut settings = file.map(read_file).transpose()?.unwrap_or_default();
        settings.extend(flags);
        Ok(settings.try_into()?)
    }
}

fn read_file(path: &Path) -> Result<Table> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the file {} cannot be read", path.display()))?;
    let wrong = || format!("the file {} is wrong", path.display());
    // Parsed as settings too, so that an error names the line.
    toml::from_str::<Settings>(&text).with_context(wrong)?;
    toml::from_str(&text).with_context(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn flag_overrides_file() {
        let file = file("country = \"MX\"\nrate_limit = 7\n[screening]\nincome = \"x\"\n");
        let flags = toml::toml! { country = "CA" };
        let settings = Settings::load(Some(file.path()), flags).unwrap();
        assert_eq!((settings.country.as_deref(), settings.rate_limit), (Some("CA"), Some(7)));
    }

    #[test]
    fn unknown_key_is_reported_with_its_line() {
        let file = file("log = \"info\"\nlisen = \"x\"\n");
        let error = Settings::load(Some(file.path()), Table::new()).err().map(|error| format!("{error:#}"));
        let error = error.unwrap_or_default();
        assert!(error.contains("lisen") && error.contains("line 2"), "{error}");
    }
}
