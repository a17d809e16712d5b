//! The configuration in force, as the operator sees it: every setting with its value and where that comes from. A secret
//! shows only that it is set, a URL that may hold one only its scheme and host.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use portico_app::configuration::{Setting, SettingSource, SettingValue};
use portico_screening::{BureauConfig, ScreeningConfig};
use portico_store::Location;

use super::{ChainUrl, Config, Settings};

/// Where settings were given, by name.
#[derive(Default)]
pub struct Sources(BTreeMap<String, SettingSource>);

impl Sources {
    /// A flag wins over the environment, the environment over the file.
    pub(super) fn new(
        file: impl Iterator<Item = String>,
        flags: impl Iterator<Item = String>,
        environment: &BTreeSet<String>,
    ) -> Self {
        let mut sources: BTreeMap<_, _> = file.map(|name| (name, SettingSource::File)).collect();
        sources.extend(flags.map(|name| {
            let is_variable = environment.contains(&name);
            (name, if is_variable { SettingSource::Environment } else { SettingSource::Flag })
        }));
        Self(sources)
    }
}

struct List<'s> {
    sources: &'s Sources,
    settings: Vec<Setting>,
}

impl List<'_> {
    /// Nested settings are in the file only.
    fn source(&self, name: &str) -> SettingSource {
        let top = name.split('.').next().unwrap_or(name);
        self.sources.0.get(top).copied().unwrap_or(SettingSource::Default)
    }

    fn push(&mut self, name: impl Into<String>, value: SettingValue) {
        let name = name.into();
        let source = match value {
            SettingValue::NotSet => SettingSource::Default,
            _ => self.source(&name),
        };
        self.settings.push(Setting { name, value, source });
    }

    fn shown(&mut self, name: impl Into<String>, value: impl Display) {
        self.push(name, SettingValue::Shown(value.to_string()));
    }

    fn optional(&mut self, name: impl Into<String>, value: Option<impl Display>) {
        match value {
            Some(value) => self.shown(name, value),
            None => self.push(name, SettingValue::NotSet),
        }
    }

    fn hidden(&mut self, name: impl Into<String>, is_set: bool) {
        self.push(name, if is_set { SettingValue::Hidden } else { SettingValue::NotSet });
    }

    /// The last setting is set and was given nowhere: it was read from a file of its own.
    fn may_be_from_file(&mut self, was_given: bool) {
        if let Some(last) = self.settings.last_mut()
            && was_given
            && last.source == SettingSource::Default
        {
            last.source = SettingSource::SecretFile;
        }
    }
}

/// Of `scheme://user:password@host:port/path?query` only scheme, host and port: the rest may hold a secret.
fn without_secrets(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "…".into() };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();
    // A password with a slash in it looks like a host.
    let host = if path.contains('@') { "…" } else { host };
    format!("{scheme}://{host}")
}

fn location(location: &Location) -> String {
    match location {
        Location::Sqlite(path) => format!("sqlite:{}", path.display()),
        Location::Postgres(url) => without_secrets(url),
    }
}

/// In the order of the documentation.
pub(super) fn settings(config: &Config, written: &Settings) -> Vec<Setting> {
    let mut list = List { sources: &written.sources, settings: Vec::new() };
    storage(&mut list, config, written);
    serving(&mut list, config, written);
    limits(&mut list, config);
    people(&mut list, config, written);
    chain(&mut list, config, written);
    for (name, bureau) in &config.bureaus {
        bureau_settings(&mut list, name, bureau);
    }
    screening(&mut list, &config.screening);
    list.settings
}

fn storage(list: &mut List<'_>, config: &Config, written: &Settings) {
    list.shown("data", config.data.path().display());
    list.shown("database", location(&config.database));
    list.may_be_from_file(written.database.is_some());
    list.optional("database_url_file", written.database_url_file.as_ref().map(|path| path.display()));
    list.optional("keystore", config.keystore.as_ref().map(location));
    list.may_be_from_file(written.keystore.is_some());
    list.optional("keystore_url_file", written.keystore_url_file.as_ref().map(|path| path.display()));
    list.hidden("encryption_key", config.encryption_key.is_some());
    list.may_be_from_file(config.encryption_key.is_some());
    list.optional("encryption_key_file", written.encryption_key_file.as_ref().map(|path| path.display()));
    list.shown("retention_days", config.retention_days);
}

fn serving(list: &mut List<'_>, config: &Config, written: &Settings) {
    list.shown("log", &config.log);
    if list.source("log") == SettingSource::Default
        && std::env::var_os("RUST_LOG").is_some()
        && let Some(last) = list.settings.last_mut()
    {
        last.source = SettingSource::Environment;
    }
    list.shown("listen", config.listen.address);
    list.optional("admin_listen", config.listen.admin);
    let tls = config.listen.tls.as_ref();
    list.optional("tls_cert", tls.map(|tls| tls.certificate.display()));
    list.optional("tls_key", tls.map(|tls| tls.key.display()));
    list.shown("profile", written.profile_or_sandbox().name());
    list.shown("allow_open", written.allow_open.unwrap_or(false));
    list.optional("allow_host", config.hosts.names.as_ref().map(|names| names.join(", ")));
    list.optional("cors_origin", Some(config.origins.join(", ")).filter(|origins| !origins.is_empty()));
    list.shown("trusted_hops", config.trusted_hops);
    list.shown("country", config.country.as_str());
    list.optional("basemap", written.basemap.as_ref().map(|path| path.display()));
}

fn limits(list: &mut List<'_>, config: &Config) {
    let budgets = &config.budgets;
    for (name, limit) in [
        ("rate_limit", config.rate_limit),
        ("checks_per_person", budgets.checks.person),
        ("checks_per_account", budgets.checks.account),
        ("records_per_person", budgets.records.person),
        ("records_per_account", budgets.records.account),
        ("chain_reads", budgets.chain_reads),
    ] {
        list.shown(name, limit);
    }
    list.shown("max_connections", config.listen.max_connections);
    list.shown("max_connections_per_address", config.listen.max_connections_per_address);
    list.shown("max_in_flight", config.max_in_flight);
    list.shown("max_response_memory", config.max_response_bytes >> 20);
}

fn people(list: &mut List<'_>, config: &Config, written: &Settings) {
    let issuer = config.issuer.as_ref();
    list.optional("issuer", issuer.map(|issuer| without_secrets(&issuer.issuer)));
    list.optional("audience", issuer.map(|issuer| &issuer.audience));
    list.optional("jwks_url", written.jwks_url.as_deref().map(without_secrets));
    list.optional("jwks_refresh", issuer.map(|issuer| issuer.jwks_refresh.as_secs()));
    let admin = issuer.and_then(|issuer| issuer.admin_claim.as_ref());
    list.optional("admin_claim", admin.map(|(claim, value)| format!("{claim}={value}")));
    list.optional("console_client", config.console_client.as_ref());
    let versions: Vec<&str> = written.consents.keys().map(String::as_str).collect();
    list.optional("consents", Some(versions.join(", ")).filter(|versions| !versions.is_empty()));
}

fn chain(list: &mut List<'_>, config: &Config, written: &Settings) {
    let url = match &config.chain.url {
        ChainUrl::Embedded => "embedded".to_owned(),
        ChainUrl::Remote(urls) => urls.iter().map(|url| without_secrets(url)).collect::<Vec<_>>().join(", "),
    };
    list.shown("chain", url);
    list.may_be_from_file(written.chain.is_some());
    list.optional("chain_url_file", written.chain_url_file.as_ref().map(|path| path.display()));
    list.hidden("chain_key", !config.chain.keys.is_empty());
    list.may_be_from_file(!config.chain.keys.is_empty());
    list.optional("chain_key_file", written.chain_key_file.as_ref().map(|path| path.display()));
    list.optional("chain_id", config.chain.id);
    let contracts = config.chain.contracts.map(|contracts| contracts.0.map(|one| one.to_string()).join(", "));
    list.optional("chain_contracts", contracts);
    list.optional("chain_owner", config.chain.owner);
    list.shown("chain_confirmations", config.chain.confirmations);
    list.shown("chain_fee_cap", config.chain.fee_cap / super::chain::WEI_PER_GWEI);
}

fn bureau_settings(list: &mut List<'_>, bureau: &str, config: &BureauConfig) {
    let BureauConfig {
        url,
        name,
        address,
        telephone,
        secret,
        secret_file,
        secret_env,
        signed_answers,
        timeout_ms,
        connect_timeout_ms,
        most_at_once,
    } = config;
    let key = |setting: &str| format!("bureaus.{bureau}.{setting}");
    list.optional(key("url"), url.as_deref().map(without_secrets));
    list.optional(key("name"), name.as_ref());
    list.optional(key("address"), address.as_ref());
    list.optional(key("telephone"), telephone.as_ref());
    list.hidden(key("secret"), secret.is_some());
    list.optional(key("secret_file"), secret_file.as_ref().map(|path| path.display()));
    list.optional(key("secret_env"), secret_env.as_ref());
    list.optional(key("signed_answers"), *signed_answers);
    list.optional(key("timeout_ms"), *timeout_ms);
    list.optional(key("connect_timeout_ms"), *connect_timeout_ms);
    list.optional(key("most_at_once"), *most_at_once);
}

fn screening(list: &mut List<'_>, config: &ScreeningConfig) {
    let ScreeningConfig {
        eviction,
        income,
        soft_credit,
        criminal_background,
        check_timeout_ms,
        timeout_ms,
        tries,
        credit_threshold,
    } = config;
    for (check, bureau) in [
        ("eviction", eviction),
        ("income", income),
        ("soft_credit", soft_credit),
        ("criminal_background", criminal_background),
    ] {
        list.optional(format!("screening.{check}"), bureau.as_ref());
    }
    list.optional("screening.check_timeout_ms", *check_timeout_ms);
    list.optional("screening.timeout_ms", *timeout_ms);
    list.optional("screening.tries", *tries);
    for (country, score) in credit_threshold.by_country() {
        list.shown(format!("screening.credit_threshold.{country}"), score.points());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use portico_store::Role;
    use toml::Table;

    use super::*;

    /// In every place that may hold a secret.
    const CANARY: &str = "CaNaRy0123456789abcdef0123456789abcdef";

    fn config(file: &str, flags: Table, environment: &[&str]) -> Vec<Setting> {
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), file).unwrap();
        let environment = environment.iter().map(|name| (*name).to_owned()).collect();
        let settings = Settings::load(Some(path.path()), flags, &environment).unwrap();
        Config::new(settings, Role::Tool).unwrap().in_force
    }

    fn find<'s>(settings: &'s [Setting], name: &str) -> &'s Setting {
        settings.iter().find(|setting| setting.name == name).unwrap_or_else(|| panic!("{name} is not told"))
    }

    #[test]
    fn every_setting_is_told() {
        let settings = config("", Table::new(), &[]);
        let unknown = toml::from_str::<Settings>("no_such_setting = 1").err().unwrap().to_string();
        let (_, names) = unknown.split_once("expected one of").unwrap();
        let names = names.lines().next().unwrap().split(", ").map(|name| name.trim().trim_matches('`'));
        // Tables are told setting by setting.
        for name in names.filter(|name| !["bureaus", "screening"].contains(name)) {
            find(&settings, name);
        }
        find(&settings, "screening.income");
    }

    #[test]
    fn no_secret_is_told() {
        let hexadecimal = "c0ffee".repeat(11)[..64].to_owned();
        let urls = format!(
            "database = \"postgres://ada:{CANARY}@db.example:5432/x?password={CANARY}\"\n\
             keystore = \"postgres://ada:a/{CANARY}@keys.example/x\"\n\
             chain = \"https://{CANARY}:{CANARY}@node.example/v2/{CANARY},https://other.example?key={CANARY}\"\n\
             issuer = \"https://{CANARY}@issuer.example/tenant?{CANARY}\"\naudience = \"portico\"\n\
             jwks_url = \"https://keys.example/{CANARY}\"\n\
             encryption_key = \"{hexadecimal}\"\nchain_key = \"{hexadecimal}\"\n\
             [consents]\n\"2027-01\" = \"{CANARY}\"\n\
             [bureaus.acme]\nurl = \"https://{CANARY}@acme.example/{CANARY}?{CANARY}#{CANARY}\"\nsecret = \"{CANARY}\"\n"
        );
        let settings = config(&urls, Table::new(), &[]);
        let told = format!("{settings:?}");
        assert!(!told.contains(CANARY) && !told.contains("c0ffee") && !told.contains("ada"), "{told}");
        for host in ["db.example:5432", "node.example", "other.example", "issuer.example", "acme.example"] {
            assert!(told.contains(host), "{host}: {told}");
        }
        for secret in ["encryption_key", "chain_key", "bureaus.acme.secret"] {
            let told = find(&settings, secret);
            assert_eq!((&told.value, told.source), (&SettingValue::Hidden, SettingSource::File), "{secret}");
        }
    }

    #[test]
    fn source_of_each_setting_is_told() {
        let key = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(key.path(), "0f".repeat(32)).unwrap();
        let mut flags = toml::toml! { rate_limit = 7 log = "warn" };
        flags.insert("encryption_key_file".into(), key.path().display().to_string().into());
        let settings = config("rate_limit = 3\nlog = \"info\"\ncountry = \"MX\"\n", flags, &["log"]);
        let told = |name: &str| {
            let setting = find(&settings, name);
            (setting.value.clone(), setting.source)
        };
        let shown = |text: &str| SettingValue::Shown(text.into());
        assert_eq!(told("rate_limit"), (shown("7"), SettingSource::Flag));
        assert_eq!(told("log"), (shown("warn"), SettingSource::Environment));
        assert_eq!(told("country"), (shown("MX"), SettingSource::File));
        assert_eq!(told("max_in_flight"), (shown("1024"), SettingSource::Default));
        assert_eq!(told("tls_cert"), (SettingValue::NotSet, SettingSource::Default));
        assert_eq!(told("encryption_key"), (SettingValue::Hidden, SettingSource::SecretFile));
        assert_eq!(told("encryption_key_file").0, shown(&Path::new(key.path()).display().to_string()));
    }
}
