//! Unvalidated settings from flags, environment and file, under the same names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use portico_screening::{BureauConfig, ScreeningConfig};
use serde::Deserialize;
use toml::Table;

use super::ProfileName;
use super::in_force::Sources;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    pub data: Option<PathBuf>,
    pub database: Option<String>,
    pub database_url_file: Option<PathBuf>,
    pub keystore: Option<String>,
    pub keystore_url_file: Option<PathBuf>,
    pub chain: Option<String>,
    pub chain_url_file: Option<PathBuf>,
    pub log: Option<String>,
    pub listen: Option<String>,
    pub admin_listen: Option<String>,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    pub profile: Option<ProfileName>,
    pub allow_open: Option<bool>,
    pub allow_host: Option<Vec<String>>,
    pub cors_origin: Option<Vec<String>>,
    pub trusted_hops: Option<usize>,
    pub rate_limit: Option<u32>,
    pub checks_per_person: Option<u32>,
    pub checks_per_account: Option<u32>,
    pub records_per_person: Option<u32>,
    pub records_per_account: Option<u32>,
    pub chain_reads: Option<u32>,
    pub max_connections: Option<usize>,
    pub max_connections_per_address: Option<usize>,
    pub max_in_flight: Option<usize>,
    pub max_response_memory: Option<usize>,
    pub country: Option<String>,
    pub issuer: Option<String>,
    pub audience: Option<String>,
    pub jwks_url: Option<String>,
    pub jwks_refresh: Option<u64>,
    pub admin_claim: Option<String>,
    pub console_client: Option<String>,
    pub basemap: Option<PathBuf>,
    pub encryption_key: Option<String>,
    pub encryption_key_file: Option<PathBuf>,
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
    #[serde(skip)]
    pub sources: Sources,
}

impl Settings {
    /// Reads the file; flags and environment override it. `environment`: which of the flags are from there.
    pub fn load(file: Option<&Path>, flags: Table, environment: &BTreeSet<String>) -> Result<Self> {
        let mut settings = file.map(read_file).transpose()?.unwrap_or_default();
        let sources = Sources::new(settings.keys().cloned(), flags.keys().cloned(), environment);
        settings.extend(flags);
        Ok(Self { sources, ..settings.try_into()? })
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
        let settings = Settings::load(Some(file.path()), flags, &BTreeSet::new()).unwrap();
        assert_eq!((settings.country.as_deref(), settings.rate_limit), (Some("CA"), Some(7)));
    }

    #[test]
    fn unknown_key_is_reported_with_its_line() {
        let file = file("log = \"info\"\nlisen = \"x\"\n");
        let loaded = Settings::load(Some(file.path()), Table::new(), &BTreeSet::new());
        let error = loaded.err().map(|error| format!("{error:#}"));
        let error = error.unwrap_or_default();
        assert!(error.contains("lisen") && error.contains("line 2"), "{error}");
    }
}
