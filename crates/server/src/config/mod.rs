//! Configuration: flag over environment over file over default. All errors are reported at once.

mod chain;
mod declaration;
mod effective;
mod kinds;
mod layers;
mod listen;
mod network;
mod settings;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;

use anyhow::{Result, bail};
use portico_api::AllowedHosts;
use portico_api::basemap::Basemap;
use portico_app::budgets::{Budgets, DailyLimits};
use portico_app::clock::{Clock as _, SystemClock};
use portico_app::configuration::{Setting, SettingSource};
use portico_app::consents::Consents;
use portico_app::screening::Bureaus;
use portico_app::tokens::ExternalIssuer;
use portico_app::vault::ROOT_BYTES;
use portico_app::{AccessTable, Profile};
use portico_app::{Location, Role};
use portico_domain::Country;
use portico_screening::config::{BuildContext, Screening};
use portico_screening::{BureauConfig, Check, ScreeningConfig};
use secrecy::{SecretSlice, SecretString};

pub(crate) use self::chain::{ChainConfig, ChainUrl};
pub use self::kinds::{ProfileName, SandboxAccess};
pub(crate) use self::layers::{
    ChainFlags, CommonFlags, Flags, NoFlags, ProfileFlags, RestoreFlags, ServeFlags,
};
pub(crate) use self::listen::ListenConfig;
pub use self::settings::Settings;
use crate::data::DataFolder;

/// A browser uses six; idle connections give way to new ones.
const DEFAULT_MAX_CONNECTIONS_PER_ADDRESS: usize = 256;

/// The validated configuration.
pub struct Config {
    /// What needs no validation; without keys.
    pub(crate) settings: Settings,
    pub data: DataFolder,
    pub database: Location,
    pub profile: Option<Profile>,
    pub(crate) listen: ListenConfig,
    /// What is allowed and probably not meant.
    pub(crate) warnings: Vec<&'static str>,
    /// Flags of the command line that show a secret.
    pub(crate) exposed_secrets: Vec<String>,
    pub(crate) hosts: AllowedHosts,
    pub(crate) budgets: Budgets,
    pub(crate) country: Country,
    pub(crate) issuer: Option<ExternalIssuer>,
    pub(crate) basemap: Basemap,
    pub(crate) encryption_key: Option<SecretString>,
    pub(crate) chain: ChainConfig,
    /// `None`: in its usual place.
    pub(crate) keystore: Option<Location>,
    pub(crate) consents: Consents,
    /// The configuration in force, without secrets.
    pub(crate) effective: Vec<Setting>,
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
        let data = DataFolder::new(settings.data.clone());
        let profile = settings.profile.map(Profile::from);
        let database = database(&settings, &data, &mut faults);
        let keystore = settings.keystore.as_deref().map(|url| faults.take("keystore", Location::parse(url)));
        settings.set_dependent_defaults(&data);
        let chain = ChainConfig::new(&settings, &mut faults);
        let issuer = faults.take("issuer", network::issuer(&settings)).flatten();
        let listen = ListenConfig::new(&settings, &mut faults);
        network::check_origins(&settings, &mut faults);
        let country = faults.take("country", Country::parse(&settings.country));
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
        let (effective, exposed_secrets) = (effective::effective(&settings), settings.exposed_secrets());
        settings.chain_key = None;
        Ok(Self {
            data,
            database,
            profile,
            warnings: listen::warnings(&settings, &listen),
            exposed_secrets,
            hosts: network::allowed_hosts(&settings),
            listen,
            budgets: budgets(&settings),
            country,
            issuer,
            basemap,
            encryption_key: settings.encryption_key.take().map(|key| SecretString::from(&*key)),
            chain,
            keystore: keystore.flatten(),
            consents,
            effective,
            settings,
        })
    }

    pub(crate) fn access(&self, profile: Profile) -> AccessTable {
        match self.settings.sandbox_access {
            SandboxAccess::Live => AccessTable::Live,
            SandboxAccess::Open => profile.into(),
        }
    }

    /// The bureaus. The sandbox bureau derives its values from `sandbox_key`. Commands use only that one, so they need
    /// no bureau secrets and cause no costs.
    pub(crate) fn bureaus(&self, sandbox_key: &SecretSlice<u8>, role: Role) -> Result<Bureaus> {
        let built = match role {
            Role::Server => build(&self.settings.screening, &self.settings.bureaus, sandbox_key),
            Role::Tool => build(&ScreeningConfig::default(), &BTreeMap::new(), sandbox_key),
        };
        Ok(Bureaus::new(built.map_err(|faults| anyhow::anyhow!(faults.join("\n")))?))
    }
}

impl Settings {
    /// Defaults that depend on other settings.
    fn set_dependent_defaults(&mut self, data: &DataFolder) {
        self.profile.get_or_insert(ProfileName::Sandbox);
        self.database.get_or_insert_with(|| format!("sqlite:{}", data.database().display()).into());
        // All clients of a proxy have its address.
        let per_address = if self.trusted_hops > 0 { 0 } else { DEFAULT_MAX_CONNECTIONS_PER_ADDRESS };
        self.max_connections_per_address.get_or_insert(per_address);
        if let (None, Ok(filter)) = (&self.log, std::env::var("RUST_LOG")) {
            self.log = Some(filter);
            self.sources.insert("log".into(), SettingSource::Environment);
        }
        self.log.get_or_insert_with(|| "info".into());
    }
}

/// Budgets of what costs money. A sandbox has none: its bureau and its chain are its own.
fn budgets(settings: &Settings) -> Budgets {
    Budgets {
        checks: DailyLimits { person: settings.checks_per_person, account: settings.checks_per_account },
        records: DailyLimits { person: settings.records_per_person, account: settings.records_per_account },
        chain_reads: settings.chain_reads,
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
            if is_open && !settings.allow_open {
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
    if settings.sources.contains_key("sandbox_access") && settings.sandbox_access == SandboxAccess::Open {
        faults.add("sandbox_access: a live instance cannot be open");
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
    use super::layers::tests::from_file;
    use super::*;

    fn faults(file: &str) -> String {
        faults_of(file, Role::Server)
    }

    fn faults_of(file: &str, role: Role) -> String {
        Config::new(from_file(file), role).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn live_reports_all_missing_settings_at_once() {
        let faults = faults("profile = \"live\"");
        assert!(faults.contains("chain:") && faults.contains("encryption_key:"), "{faults}");
    }

    #[test]
    fn live_needs_the_disclosure_of_every_bureau() {
        let faults = faults("profile = \"live\"\n[bureaus.acme]\naddress = \"1 Main Street\"");
        assert!(faults.contains("bureaus.acme.name is missing"), "{faults}");
        assert!(faults.contains("bureaus.acme.telephone is missing"), "{faults}");
        assert!(!faults.contains("bureaus.acme.address"), "{faults}");
    }

    #[test]
    fn live_trusts_no_plain_http() {
        let settings = |profile, host: &str| {
            format!(
                "profile = \"{profile}\"\naudience = \"portico\"\n\
                 chain = \"https://node.example/v2/key,http://{host}:8545/token\"\n\
                 issuer = \"http://{host}/tenant\"\njwks_url = \"http://{host}/keys\""
            )
        };
        let remote = faults(&settings("live", "node.example"));
        for named in ["chain (--chain, --chain-url-file)", "issuer (--issuer)", "jwks_url (--jwks-url)"] {
            assert!(remote.contains(named), "{named}: {remote}");
        }
        assert!(!remote.contains("token"), "a URL may hold a secret: {remote}");
        let command = faults_of(&settings("live", "node.example"), Role::Tool);
        assert!(command.contains("--chain-url-file"), "{command}");
        for local in ["127.0.0.1", "127.3.2.1", "[::1]", "localhost"] {
            let faults = faults(&settings("live", local));
            assert!(!faults.contains("https://"), "{faults}");
        }
        assert_eq!(faults(&settings("sandbox", "node.example")), "");
    }

    #[test]
    fn sandbox_listens_on_loopback_unless_allowed() {
        assert!(faults("listen = \"0.0.0.0:1\"").contains("--allow-open"));
        assert_eq!(faults("listen = \"0.0.0.0:1\"\nallow_open = true"), "");
    }

    #[test]
    fn only_a_sandbox_chooses_its_access_table() {
        assert_eq!(faults("sandbox_access = \"live\""), "");
        assert!(faults("profile = \"live\"\nsandbox_access = \"open\"").contains("sandbox_access"));
        assert!(!faults("profile = \"live\"\nsandbox_access = \"live\"").contains("sandbox_access"));
    }

    #[test]
    fn commands_do_not_check_the_listen_address() {
        assert_eq!(faults_of("listen = \"0.0.0.0:1\"", Role::Tool), "");
    }
}
