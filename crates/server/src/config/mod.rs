//! Configuration: flag over environment over file over default. All errors are reported at once.

mod budgets;
mod chain;
mod in_force;
mod listen;
mod network;
mod secrets;
mod settings;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;

use anyhow::{Result, bail};
use portico_api::basemap::Basemap;
use portico_api::{AllowedHosts, DEFAULT_MAX_IN_FLIGHT, DEFAULT_MAX_RESPONSE_BYTES};
use portico_app::Profile;
use portico_app::budgets::Budgets;
use portico_app::clock::{Clock as _, SystemClock};
use portico_app::configuration::Setting;
use portico_app::consents::Consents;
use portico_app::screening::Bureaus;
use portico_app::tokens::ExternalIssuer;
use portico_app::vault::ROOT_BYTES;
use portico_domain::Country;
use portico_screening::config::{BuildContext, Screening};
use portico_screening::{BureauConfig, Check, ScreeningConfig};
use portico_store::{Location, Role};
use secrecy::{SecretSlice, SecretString};
use serde::{Deserialize, Serialize};

pub(crate) use self::chain::{ChainConfig, ChainUrl};
pub use self::in_force::Sources;
pub(crate) use self::listen::ListenConfig;
pub use self::secrets::secrets_shown;
pub use self::settings::Settings;
use crate::data::DataFolder;

const DEFAULT_RETENTION_DAYS: u32 = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ProfileName {
    Sandbox,
    Live,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Sandbox => Self::Sandbox,
            ProfileName::Live => Self::Live,
        }
    }
}

/// The validated configuration.
pub struct Config {
    pub data: DataFolder,
    pub database: Location,
    pub profile: Option<Profile>,
    pub log: String,
    pub(crate) listen: ListenConfig,
    /// What is allowed and probably not meant.
    pub(crate) warnings: Vec<&'static str>,
    pub(crate) hosts: AllowedHosts,
    pub(crate) origins: Vec<String>,
    pub(crate) trusted_hops: usize,
    pub(crate) rate_limit: u32,
    pub(crate) budgets: Budgets,
    pub(crate) max_in_flight: usize,
    pub(crate) max_response_bytes: usize,
    pub(crate) country: Country,
    pub(crate) issuer: Option<ExternalIssuer>,
    pub(crate) console_client: Option<String>,
    pub(crate) basemap: Basemap,
    pub(crate) encryption_key: Option<SecretString>,
    pub(crate) chain: ChainConfig,
    /// `None`: in its usual place.
    pub(crate) keystore: Option<Location>,
    pub(crate) retention_days: u32,
    pub(crate) consents: Consents,
    /// Without secrets.
    pub(crate) in_force: Vec<Setting>,
    bureaus: BTreeMap<String, BureauConfig>,
    screening: ScreeningConfig,
}

/// Collects configuration errors.
#[derive(Default)]
struct ConfigErrors(Vec<String>);

impl ConfigErrors {
    fn add(&mut self, fault: impl Into<String>) {
        self.0.push(fault.into());
    }

    fn take<T, E: std::fmt::Display>(&mut self, name: &str, outcome: Result<T, E>) -> Option<T> {
        outcome.map_err(|error| self.add(format!("{name} {error}"))).ok()
    }
}

impl Config {
    /// Validates the settings that the role needs.
    pub fn new(mut settings: Settings, role: Role) -> Result<Self> {
        let mut faults = ConfigErrors::default();
        settings.read_secrets(&mut faults);
        let data = DataFolder::new(settings.data.clone().unwrap_or_else(|| "portico-data".into()));
        let chain = ChainConfig::new(&settings, &mut faults);
        let issuer = faults.take("issuer", network::issuer(&settings)).flatten();
        let database = database(&settings, &data, &mut faults);
        let keystore = settings.keystore.as_deref().map(|url| faults.take("keystore", Location::parse(url)));
        let listen = ListenConfig::new(&settings, &mut faults);
        let origins = network::origins(&settings, &mut faults);
        let country = faults.take("country", Country::parse(settings.country.as_deref().unwrap_or("US")));
        let basemap = basemap(&settings, &data, role, &mut faults);
        let consents = Consents::new(&settings.consents).map_err(|found| faults.0.extend(found)).ok();
        check_encryption_key(&settings, &mut faults);
        if role == Role::Server {
            check_server(&settings, listen.as_ref(), &chain, &mut faults);
        }
        let (Some(database), Some(listen), Some(country), Some(consents), true) =
            (database, listen, country, consents, faults.0.is_empty())
        else {
            bail!("the configuration cannot be used:\n  - {}", faults.0.join("\n  - "));
        };
        let warnings = listen::warnings(&settings, &listen);
        let (rate_limit, budgets) = (network::rate_limit(&settings), budgets::budgets(&settings));
        let log = settings.log.take().or_else(|| std::env::var("RUST_LOG").ok());
        let mut config = Self {
            data,
            database,
            profile: settings.profile.map(Profile::from),
            hosts: network::allowed_hosts(&settings),
            log: log.unwrap_or_else(|| "info".into()),
            warnings,
            listen,
            origins,
            trusted_hops: settings.trusted_hops.unwrap_or(0),
            rate_limit,
            budgets,
            max_in_flight: settings.max_in_flight.unwrap_or(DEFAULT_MAX_IN_FLIGHT),
            max_response_bytes: settings
                .max_response_memory
                .map_or(DEFAULT_MAX_RESPONSE_BYTES, |mib| mib.saturating_mul(1 << 20)),
            country,
            issuer,
            console_client: settings.console_client.take(),
            basemap,
            encryption_key: settings.encryption_key.take().map(SecretString::from),
            chain,
            keystore: keystore.flatten(),
            retention_days: settings.retention_days.unwrap_or(DEFAULT_RETENTION_DAYS),
            consents,
            in_force: Vec::new(),
            bureaus: std::mem::take(&mut settings.bureaus),
            screening: std::mem::take(&mut settings.screening),
        };
        config.in_force = in_force::settings(&config, &settings);
        Ok(config)
    }

    /// The bureaus. The sandbox bureau derives its values from `sandbox_key`. Commands use only that one, so they need
    /// no bureau secrets and cause no costs.
    pub(crate) fn bureaus(&self, sandbox_key: &SecretSlice<u8>, role: Role) -> Result<Bureaus> {
        let built = match role {
            Role::Server => build(&self.screening, &self.bureaus, sandbox_key),
            Role::Tool => build(&ScreeningConfig::default(), &BTreeMap::new(), sandbox_key),
        };
        Ok(Bureaus::new(built.map_err(|faults| anyhow::anyhow!(faults.join("\n")))?))
    }
}

impl Settings {
    /// The profile to validate for, before the database's own is known.
    fn profile_or_sandbox(&self) -> Profile {
        self.profile.map_or(Profile::Sandbox, Profile::from)
    }
}

fn database(settings: &Settings, data: &DataFolder, faults: &mut ConfigErrors) -> Option<Location> {
    match &settings.database {
        Some(url) => faults.take("database", Location::parse(url)),
        None => Some(Location::Sqlite(data.database())),
    }
}

/// Only a file that is named must be there.
fn basemap(settings: &Settings, data: &DataFolder, role: Role, faults: &mut ConfigErrors) -> Basemap {
    let path = settings.basemap.clone().unwrap_or_else(|| data.basemap());
    let basemap = Basemap::new(path.clone());
    match basemap.check() {
        Err(error) if error.kind() == ErrorKind::NotFound && settings.basemap.is_none() => {}
        Err(error) if role == Role::Server => {
            faults.add(format!(
                "basemap (--basemap, or basemap.pmtiles in the data folder): {} {error}",
                path.display()
            ));
        }
        _ => {}
    }
    basemap
}

fn check_encryption_key(settings: &Settings, faults: &mut ConfigErrors) {
    if let Some(key) = &settings.encryption_key
        && (key.len() != 64 || !key.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        faults.add("encryption_key must be 64 hexadecimal digits");
    }
}

/// Settings that only a server needs: commands neither listen nor screen.
fn check_server(
    settings: &Settings,
    listen: Option<&ListenConfig>,
    chain: &ChainConfig,
    faults: &mut ConfigErrors,
) {
    // Built only to collect errors, so any sandbox key does.
    let screening = build(&settings.screening, &settings.bureaus, &vec![0; ROOT_BYTES].into())
        .map_err(|found| faults.0.extend(found))
        .ok();
    match settings.profile_or_sandbox() {
        Profile::Sandbox => {
            let is_open = listen.is_some_and(|listen| !listen.address.ip().is_loopback());
            if is_open && !settings.allow_open.unwrap_or(false) {
                faults.add(
                    "listen: the sandbox is open to anybody, so it listens on loopback only; add --allow-open if that is meant",
                );
            }
        }
        Profile::Live => check_live(settings, chain, screening, faults),
    }
}

fn check_live(
    settings: &Settings,
    chain: &ChainConfig,
    screening: Option<Screening>,
    faults: &mut ConfigErrors,
) {
    if chain.url == ChainUrl::Embedded {
        faults.add("chain: a live instance needs a real chain: --chain https://…");
    }
    if chain.keys.is_empty() {
        faults.add("chain_key: a live instance needs one: PORTICO_CHAIN_KEY, or --chain-key-file");
    }
    network::check_live_issuer(settings, faults);
    let in_sandbox = screening.map(|screening| screening.routing.in_sandbox()).unwrap_or_default();
    if !in_sandbox.is_empty() {
        let checks: Vec<&str> = in_sandbox.into_iter().map(Check::name).collect();
        faults.add(format!(
            "screening: a live instance needs real bureaus, in the file: [bureaus.NAME], and [screening] for {}",
            checks.join(", ")
        ));
    }
    for (bureau, config) in &settings.bureaus {
        for field in config.missing_disclosure() {
            faults.add(format!(
                "bureaus.{bureau}.{field} is missing: a live instance needs it for the adverse action notice"
            ));
        }
    }
    if settings.encryption_key.is_none() {
        faults.add(
            "encryption_key: a live instance needs one: PORTICO_ENCRYPTION_KEY, or --encryption-key-file",
        );
    }
}

fn build(
    screening: &ScreeningConfig,
    bureaus: &BTreeMap<String, BureauConfig>,
    sandbox_key: &SecretSlice<u8>,
) -> Result<Screening, Vec<String>> {
    let context = BuildContext {
        sandbox_key,
        now: Arc::new(|| SystemClock.now()),
        env: &|name: &str| std::env::var(name).ok(),
    };
    screening.build(bureaus, &context)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(settings: Settings) -> String {
        Config::new(settings, Role::Server).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn live_reports_all_missing_settings_at_once() {
        let faults = faults(Settings { profile: Some(ProfileName::Live), ..Settings::default() });
        assert!(faults.contains("chain:") && faults.contains("encryption_key:"), "{faults}");
    }

    #[test]
    fn live_needs_the_disclosure_of_every_bureau() {
        let file = "profile = \"live\"\n[bureaus.acme]\naddress = \"1 Main Street\"";
        let faults = faults(toml::from_str(file).unwrap());
        assert!(faults.contains("bureaus.acme.name is missing"), "{faults}");
        assert!(faults.contains("bureaus.acme.telephone is missing"), "{faults}");
        assert!(!faults.contains("bureaus.acme.address"), "{faults}");
    }

    #[test]
    fn live_trusts_no_plain_http() {
        let settings = |profile, host: &str| Settings {
            profile: Some(profile),
            chain: Some(format!("https://node.example/v2/key,http://{host}:8545/token")),
            issuer: Some(format!("http://{host}/tenant")),
            audience: Some("portico".into()),
            jwks_url: Some(format!("http://{host}/keys")),
            ..Settings::default()
        };
        let remote = faults(settings(ProfileName::Live, "node.example"));
        for named in ["chain (--chain, --chain-url-file)", "issuer (--issuer)", "jwks_url (--jwks-url)"] {
            assert!(remote.contains(named), "{named}: {remote}");
        }
        assert!(!remote.contains("token"), "a URL may hold a secret: {remote}");
        let command = Config::new(settings(ProfileName::Live, "node.example"), Role::Tool);
        assert!(command.err().is_some_and(|error| error.to_string().contains("--chain-url-file")));
        for local in ["127.0.0.1", "127.3.2.1", "[::1]", "localhost"] {
            let faults = faults(settings(ProfileName::Live, local));
            assert!(!faults.contains("https://"), "{faults}");
        }
        assert_eq!(faults(settings(ProfileName::Sandbox, "node.example")), "");
    }

    #[test]
    fn sandbox_listens_on_loopback_unless_allowed() {
        let open = || Settings { listen: Some("0.0.0.0:1".into()), ..Settings::default() };
        assert!(faults(open()).contains("--allow-open"));
        assert_eq!(faults(Settings { allow_open: Some(true), ..open() }), "");
    }

    #[test]
    fn commands_do_not_check_the_listen_address() {
        let open = Settings { listen: Some("0.0.0.0:1".into()), ..Settings::default() };
        assert!(Config::new(open, Role::Tool).is_ok());
    }
}
