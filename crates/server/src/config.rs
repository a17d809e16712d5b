//! Configuration: flag over environment over file over default. Everything that is wrong is named at once.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use portico_app::Profile;
use portico_app::clock::{Clock as _, SystemClock};
use portico_app::tokens::ExternalIssuer;
use portico_app::vault::ROOT_BYTES;
use portico_app::verifications::Bureaus;
use portico_chain::contracts::Contracts;
use portico_chain::signer::Key;
use portico_domain::Country;
use portico_screening::config::{BuildContext, Screening};
use portico_screening::{BureauConfig, Check, ScreeningConfig};
use portico_store::{Location, Role};
use secrecy::{SecretSlice, SecretString};
use serde::Deserialize;

use crate::chain_config::{CONFIRMATIONS, ChainConfig, ChainUrl, FEE_CAP_GWEI};
use crate::data::Data;

const DEFAULT_JWKS_REFRESH_SECONDS: u64 = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
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

/// What was given, by flag or environment; and, as the same keys, what the file may hold.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", default)]
pub struct Flags {
    pub data: Option<PathBuf>,
    pub database: Option<String>,
    pub keystore: Option<String>,
    pub chain: Option<String>,
    #[serde(skip)]
    pub config: Option<PathBuf>,
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
    pub chain_key: Option<String>,
    pub chain_key_file: Option<PathBuf>,
    pub chain_confirmations: Option<u64>,
    pub chain_fee_cap: Option<u64>,
    pub retention_days: Option<u32>,
    /// In the file only.
    pub bureaus: BTreeMap<String, BureauConfig>,
    pub screening: ScreeningConfig,
}

impl Flags {
    /// These, with what they leave open taken from `other`.
    fn or(self, other: Self) -> Self {
        Self {
            data: self.data.or(other.data),
            database: self.database.or(other.database),
            keystore: self.keystore.or(other.keystore),
            chain: self.chain.or(other.chain),
            config: self.config,
            log: self.log.or(other.log),
            listen: self.listen.or(other.listen),
            profile: self.profile.or(other.profile),
            allow_open: self.allow_open.or(other.allow_open),
            allow_host: self.allow_host.or(other.allow_host),
            cors_origin: self.cors_origin.or(other.cors_origin),
            trusted_hops: self.trusted_hops.or(other.trusted_hops),
            rate_limit: self.rate_limit.or(other.rate_limit),
            max_connections: self.max_connections.or(other.max_connections),
            max_in_flight: self.max_in_flight.or(other.max_in_flight),
            country: self.country.or(other.country),
            issuer: self.issuer.or(other.issuer),
            audience: self.audience.or(other.audience),
            jwks_url: self.jwks_url.or(other.jwks_url),
            jwks_refresh: self.jwks_refresh.or(other.jwks_refresh),
            admin_claim: self.admin_claim.or(other.admin_claim),
            console_client: self.console_client.or(other.console_client),
            encryption_key: self.encryption_key.or(other.encryption_key),
            chain_id: self.chain_id.or(other.chain_id),
            chain_contracts: self.chain_contracts.or(other.chain_contracts),
            chain_key: self.chain_key.or(other.chain_key),
            chain_key_file: self.chain_key_file.or(other.chain_key_file),
            chain_confirmations: self.chain_confirmations.or(other.chain_confirmations),
            chain_fee_cap: self.chain_fee_cap.or(other.chain_fee_cap),
            retention_days: self.retention_days.or(other.retention_days),
            bureaus: other.bureaus,
            screening: other.screening,
        }
    }
}

/// What the service runs with.
pub struct Config {
    pub data: Data,
    /// Where the database is.
    pub database: Location,
    /// What kind of instance this is to be, if that was said.
    pub profile: Option<Profile>,
    pub log: String,
    pub(crate) listen: SocketAddr,
    pub(crate) hosts: Option<Vec<String>>,
    pub(crate) origins: Vec<String>,
    pub(crate) trusted_hops: usize,
    pub(crate) rate_limit: u32,
    pub(crate) max_connections: usize,
    pub(crate) max_in_flight: usize,
    pub(crate) country: Country,
    pub(crate) issuer: Option<ExternalIssuer>,
    pub(crate) console_client: Option<String>,
    pub(crate) encryption_key: Option<SecretString>,
    pub(crate) chain: ChainConfig,
    pub(crate) keystore: Location,
    pub(crate) retention_days: u32,
    bureaus: BTreeMap<String, BureauConfig>,
    screening: ScreeningConfig,
}

/// Collects everything that is wrong.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn take<T, E: std::fmt::Display>(&mut self, name: &str, outcome: Result<T, E>) -> Option<T> {
        outcome.map_err(|error| self.0.push(format!("{name} {error}"))).ok()
    }
}

impl Config {
    /// Reads the file, if there is one, and checks everything that the role needs.
    pub fn load(flags: Flags, role: Role) -> Result<Self> {
        let file = flags.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
        Self::check(flags.or(file), role)
    }

    fn check(flags: Flags, role: Role) -> Result<Self> {
        let mut faults = Faults::default();
        let chain = chain(&flags, &mut faults);
        let issuer = faults.take("issuer", issuer(&flags)).flatten();
        let given_profile = flags.profile.map(Profile::from);
        let profile = given_profile.unwrap_or(Profile::Sandbox);
        let data = Data::new(flags.data.unwrap_or_else(|| "portico-data".into()));
        let database = match &flags.database {
            Some(url) => faults.take("database", Location::parse(url)),
            None => Some(Location::Sqlite(data.database())),
        };
        let listen = flags.listen.as_deref().unwrap_or("127.0.0.1:8080");
        let listen: Option<SocketAddr> =
            faults.take("listen", listen.parse().map_err(|_| "must be ADDRESS:PORT, such as 127.0.0.1:8080"));
        let country = Country::parse(flags.country.as_deref().unwrap_or("US"));
        let country = faults.take("country", country);
        if let Some(key) = &flags.encryption_key
            && (key.len() != 64 || !key.bytes().all(|byte| byte.is_ascii_hexdigit()))
        {
            faults.0.push("encryption_key must be 64 hexadecimal digits".into());
        }
        let keystore = match (&flags.keystore, &database) {
            (Some(url), _) => faults.take("keystore", Location::parse(url)),
            (None, Some(Location::Postgres(url))) => Some(Location::Postgres(url.clone())),
            (None, _) => Some(Location::Sqlite(data.keystore())),
        };
        let allow_open = flags.allow_open.unwrap_or(false);
        // Made here only to find what is wrong; the sandbox's values matter later.
        let screening = match role {
            Role::Tool => None,
            Role::Server => build(&flags.screening, &flags.bureaus, &vec![0; ROOT_BYTES].into())
                .map_err(|wrong| faults.0.extend(wrong))
                .ok(),
        };
        let origins = flags.cors_origin.unwrap_or_default();
        for origin in origins.iter().filter(|origin| !is_origin(origin)) {
            faults.0.push(format!("cors_origin: {origin} is no origin, such as https://app.example"));
        }
        match profile {
            // A command beside the server neither listens nor checks anybody.
            _ if role == Role::Tool => {}
            Profile::Sandbox if listen.is_some_and(|at| !at.ip().is_loopback()) && !allow_open => faults.0.push(
                "listen: the sandbox is open to anybody, so it listens on loopback only; add --allow-open if that is meant"
                    .into(),
            ),
            Profile::Sandbox => {}
            Profile::Live => {
                if chain.url == ChainUrl::Embedded {
                    faults.0.push("chain: a live instance needs a real chain: --chain https://…".into());
                }
                if chain.keys.is_empty() {
                    faults.0.push("chain_key: a live instance needs one: PORTICO_CHAIN_KEY".into());
                }
                let in_sandbox = screening.map(|screening| screening.routing.in_sandbox()).unwrap_or_default();
                if !in_sandbox.is_empty() {
                    let checks: Vec<&str> = in_sandbox.into_iter().map(Check::name).collect();
                    faults.0.push(format!(
                        "screening: a live instance needs real bureaus, in the file: [bureaus.NAME], and [screening] for {}",
                        checks.join(", ")
                    ));
                }
                if flags.encryption_key.is_none() {
                    faults.0.push("encryption_key: a live instance needs one: PORTICO_ENCRYPTION_KEY".into());
                }
            }
        }
        let (Some(database), Some(keystore), Some(listen), Some(country), true) =
            (database, keystore, listen, country, faults.0.is_empty())
        else {
            bail!("the configuration cannot be used:\n  - {}", faults.0.join("\n  - "));
        };
        let hosts = allowed_hosts(profile, allow_open, flags.allow_host.unwrap_or_default());
        Ok(Self {
            data,
            database,
            profile: given_profile,
            log: flags.log.or_else(|| std::env::var("RUST_LOG").ok()).unwrap_or_else(|| "info".into()),
            listen,
            hosts,
            origins,
            trusted_hops: flags.trusted_hops.unwrap_or(0),
            rate_limit: flags.rate_limit.unwrap_or(0),
            max_connections: flags.max_connections.unwrap_or(4096),
            max_in_flight: flags.max_in_flight.unwrap_or(1024),
            country,
            issuer,
            console_client: flags.console_client,
            encryption_key: flags.encryption_key.map(SecretString::from),
            chain,
            keystore,
            retention_days: flags.retention_days.unwrap_or(RETENTION_DAYS),
            bureaus: flags.bureaus,
            screening: flags.screening,
        })
    }

    /// The bureaus, whose sandbox makes values up under this key. A command beside the server asks no other one:
    /// it needs no secrets of theirs, and what it makes up costs nothing.
    pub(crate) fn bureaus(&self, sandbox_key: &SecretSlice<u8>, role: Role) -> Result<Bureaus> {
        let built = match role {
            Role::Server => build(&self.screening, &self.bureaus, sandbox_key),
            Role::Tool => build(&ScreeningConfig::default(), &BTreeMap::new(), sandbox_key),
        };
        Ok(Bureaus::new(built.map_err(|faults| anyhow::anyhow!(faults.join("\n")))?))
    }
}

/// For how many days the inputs of a verification are kept.
const RETENTION_DAYS: u32 = 30;

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

fn chain(flags: &Flags, faults: &mut Faults) -> ChainConfig {
    let url = match flags.chain.as_deref().unwrap_or("embedded") {
        "embedded" => ChainUrl::Embedded,
        urls => ChainUrl::Remote(urls.split(',').map(|url| url.trim().to_owned()).collect()),
    };
    if let ChainUrl::Remote(urls) = &url
        && !urls.iter().all(|url| url.starts_with("http://") || url.starts_with("https://"))
    {
        faults.0.push("chain must be embedded, or http(s)://… (several with commas between)".into());
    }
    let from_file = flags.chain_key_file.as_deref().map(|path| {
        std::fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    });
    let from_file = from_file.and_then(|text| faults.take("chain_key_file", text));
    let keys = flags.chain_key.clone().or(from_file).unwrap_or_default();
    let keys: Vec<SecretString> = keys
        .split([',', '\n'])
        .map(str::trim)
        .filter(|key| !key.is_empty())
        .map(SecretString::from)
        .collect();
    for key in &keys {
        faults.take("chain_key:", Key::parse(key));
    }
    let contracts = flags.chain_contracts.as_deref().map(|list| {
        let addresses: Option<Vec<_>> = list.split(',').map(|address| address.trim().parse().ok()).collect();
        addresses
            .and_then(|addresses| addresses.try_into().ok())
            .map(Contracts)
            .ok_or("must be the four addresses that `portico chain deploy` prints, with commas between")
    });
    ChainConfig {
        url,
        id: flags.chain_id,
        contracts: contracts.and_then(|contracts| faults.take("chain_contracts", contracts)),
        keys,
        confirmations: flags.chain_confirmations.unwrap_or(CONFIRMATIONS).max(1),
        fee_cap: flags.chain_fee_cap.unwrap_or(FEE_CAP_GWEI).saturating_mul(1_000_000_000),
    }
}

/// Whether pages can have this origin: a scheme and a host, and a port if need be.
fn is_origin(text: &str) -> bool {
    let host = text.split_once("://").filter(|(scheme, _)| !scheme.is_empty()).map_or("", |(_, host)| host);
    !host.is_empty()
        && !text.contains('*')
        && host.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
}

/// The sandbox answers for its own machine only, so that no page elsewhere can reach it under another name, unless
/// it is meant to be open and nobody says for which names.
fn allowed_hosts(profile: Profile, allow_open: bool, more: Vec<String>) -> Option<Vec<String>> {
    match profile {
        Profile::Sandbox if !allow_open || !more.is_empty() => {
            let own = ["localhost", "127.0.0.1", "::1"].map(String::from);
            Some(own.into_iter().chain(more).collect())
        }
        _ if more.is_empty() => None,
        _ => Some(more),
    }
}

fn issuer(flags: &Flags) -> Result<Option<ExternalIssuer>, &'static str> {
    let admin_claim = match flags.admin_claim.as_deref().map(|claim| claim.split_once('=')) {
        None => None,
        Some(Some((claim, value))) if !claim.is_empty() && !value.is_empty() => {
            Some((claim.into(), value.into()))
        }
        Some(_) => return Err("admin_claim must be CLAIM=VALUE"),
    };
    let jwks_refresh = match flags.jwks_refresh.unwrap_or(DEFAULT_JWKS_REFRESH_SECONDS) {
        seconds @ 1..=3600 => Duration::from_secs(seconds),
        _ => return Err("jwks_refresh must be 1 to 3600 seconds"),
    };
    match (&flags.issuer, &flags.audience, &flags.jwks_url) {
        (None, None, None) => Ok(None),
        (Some(issuer), Some(audience), Some(jwks_url)) => Ok(Some(ExternalIssuer {
            issuer: issuer.clone(),
            audience: audience.clone(),
            jwks_url: jwks_url.clone(),
            jwks_refresh,
            admin_claim,
        })),
        _ => Err("issuer, audience and jwks_url must be given together"),
    }
}

fn read_file(path: &Path) -> Result<Flags> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the file {} cannot be read", path.display()))?;
    toml::from_str(&text).with_context(|| format!("the file {} is wrong", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(flags: Flags) -> String {
        Config::check(flags, Role::Server).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_live_instance_names_everything_that_is_missing_at_once() {
        let faults = faults(Flags { profile: Some(ProfileName::Live), ..Flags::default() });
        assert!(faults.contains("chain:") && faults.contains("encryption_key:"), "{faults}");
    }

    #[test]
    fn the_sandbox_listens_on_loopback_unless_it_is_meant() {
        let open = || Flags { listen: Some("0.0.0.0:1".into()), ..Flags::default() };
        assert!(faults(open()).contains("--allow-open"));
        assert_eq!(faults(Flags { allow_open: Some(true), ..open() }), "");
    }

    #[test]
    fn commands_beside_the_server_do_not_mind_where_it_listens() {
        let open = Flags { listen: Some("0.0.0.0:1".into()), ..Flags::default() };
        assert!(Config::check(open, Role::Tool).is_ok());
    }

    #[test]
    fn what_no_page_can_come_from_is_no_origin() {
        let with = |origin: &str| Flags { cors_origin: Some(vec![origin.into()]), ..Flags::default() };
        for wrong in [
            "*",
            "https://*.example",
            "app.example",
            "https://",
            "https://app.example/",
            "https://ä.example",
            "://x",
        ] {
            let faults = faults(with(wrong));
            assert!(faults.contains("cors_origin") && faults.contains(wrong), "{wrong}: {faults}");
        }
        for right in ["https://app.example", "http://localhost:3000", "http://[::1]:8080", "app://portico"] {
            assert_eq!(faults(with(right)), "", "{right}");
        }
    }

    #[test]
    fn the_sandbox_always_answers_for_its_own_machine() {
        let hosts = |allow_open, more: &[&str]| {
            let more = more.iter().map(|&host| host.to_owned()).collect();
            allowed_hosts(Profile::Sandbox, allow_open, more)
        };
        assert_eq!(hosts(false, &[]).unwrap().len(), 3);
        assert_eq!(hosts(true, &[]), None);
        for allow_open in [false, true] {
            let hosts = hosts(allow_open, &["portico.test"]).unwrap();
            assert!(["localhost", "portico.test"].iter().all(|host| hosts.iter().any(|name| name == host)));
        }
        assert_eq!(allowed_hosts(Profile::Live, false, vec!["a".into()]), Some(vec!["a".into()]));
    }

    #[test]
    fn a_flag_wins_over_the_file() {
        let flag = Flags { country: Some("CA".into()), ..Flags::default() };
        let file = Flags { country: Some("MX".into()), rate_limit: Some(7), ..Flags::default() };
        let config = Config::check(flag.or(file), Role::Server).unwrap();
        assert_eq!((config.country.as_str(), config.rate_limit), ("CA", 7));
    }

    #[test]
    fn unknown_keys_of_the_file_are_refused_by_name() {
        let error =
            toml::from_str::<Flags>("lisen = \"x\"").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("lisen"), "{error}");
    }

    #[test]
    fn an_issuer_comes_with_audience_and_keys() {
        assert!(faults(Flags { issuer: Some("https://id".into()), ..Flags::default() }).contains("audience"));
    }
}
