//! The configuration in force, as the operator sees it: every setting with its value and where that comes from. A secret
//! shows only that it is set, a URL that may hold one only its scheme and host.

use std::fmt::Display;

use portico_app::configuration::{Setting, SettingSource, SettingValue};
use portico_screening::{BureauConfig, ScreeningConfig};

use super::kinds::without_secrets;
use super::settings::{Settings, declarations};

struct List<'s> {
    written: &'s Settings,
    settings: Vec<Setting>,
}

impl List<'_> {
    /// Nested settings are in the file only.
    fn push(&mut self, name: impl Into<String>, value: SettingValue) {
        let name = name.into();
        let top = name.split('.').next().unwrap_or(&name);
        let source = match value {
            SettingValue::NotSet => SettingSource::Default,
            _ => self.written.sources.get(top).copied().unwrap_or(SettingSource::Default),
        };
        self.settings.push(Setting { name, value, source });
    }

    fn optional(&mut self, name: impl Into<String>, value: Option<impl Display>) {
        self.push(name, value.map_or(SettingValue::NotSet, |value| SettingValue::Shown(value.to_string())));
    }
}

/// In the order of the documentation.
pub(super) fn effective(settings: &Settings) -> Vec<Setting> {
    let mut list = List { written: settings, settings: Vec::new() };
    for declaration in declarations() {
        list.push(declaration.name, (declaration.show)(settings));
    }
    let versions: Vec<&str> = settings.consents.keys().map(String::as_str).collect();
    list.optional("consents", Some(versions.join(", ")).filter(|versions| !versions.is_empty()));
    for (name, bureau) in &settings.bureaus {
        bureau_settings(&mut list, name, bureau);
    }
    screening(&mut list, &settings.screening);
    list.settings
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
        require_signed_responses,
        timeout_ms,
        connect_timeout_ms,
        max_concurrency,
    } = config;
    let key = |setting: &str| format!("bureaus.{bureau}.{setting}");
    list.optional(key("url"), url.as_deref().map(without_secrets));
    list.optional(key("name"), name.as_ref());
    list.optional(key("address"), address.as_ref());
    list.optional(key("telephone"), telephone.as_ref());
    let hidden = if secret.is_some() { SettingValue::Hidden } else { SettingValue::NotSet };
    list.push(key("secret"), hidden);
    list.optional(key("secret_file"), secret_file.as_ref().map(|path| path.display()));
    list.optional(key("secret_env"), secret_env.as_ref());
    list.optional(key("signed_answers"), *require_signed_responses);
    list.optional(key("timeout_ms"), *timeout_ms);
    list.optional(key("connect_timeout_ms"), *connect_timeout_ms);
    list.optional(key("most_at_once"), *max_concurrency);
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
        list.optional(format!("screening.credit_threshold.{country}"), Some(score.points()));
    }
}

#[cfg(test)]
mod tests {
    use portico_app::Role;

    use super::super::Config;
    use super::super::layers::tests::load;
    use super::*;

    /// In every place that may hold a secret.
    const CANARY: &str = "CaNaRy0123456789abcdef0123456789abcdef";

    fn config(file: &str, flags: &[&str]) -> Vec<Setting> {
        Config::new(load(file, flags).unwrap(), Role::Tool).unwrap().effective
    }

    fn find<'s>(settings: &'s [Setting], name: &str) -> &'s Setting {
        settings.iter().find(|setting| setting.name == name).unwrap_or_else(|| panic!("{name} is not shown"))
    }

    #[test]
    fn shows_every_key_of_the_file() {
        let settings = config("", &[]);
        let unknown = toml::from_str::<Settings>("no_such_setting = 1").err().unwrap().to_string();
        let (_, names) = unknown.split_once("expected one of").unwrap();
        let names = names.lines().next().unwrap().split(", ").map(|name| name.trim().trim_matches('`'));
        // Tables are shown setting by setting.
        for name in names.filter(|name| !["bureaus", "screening"].contains(name)) {
            find(&settings, name);
        }
        find(&settings, "screening.income");
    }

    #[test]
    fn shows_no_secret() {
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
        let settings = config(&urls, &[]);
        let shown = format!("{settings:?}");
        assert!(!shown.contains(CANARY) && !shown.contains("c0ffee") && !shown.contains("ada"), "{shown}");
        for host in ["db.example:5432", "node.example", "other.example", "issuer.example", "acme.example"] {
            assert!(shown.contains(host), "{host}: {shown}");
        }
        for secret in ["encryption_key", "chain_key", "bureaus.acme.secret"] {
            let setting = find(&settings, secret);
            assert_eq!(
                (&setting.value, setting.source),
                (&SettingValue::Hidden, SettingSource::File),
                "{secret}"
            );
        }
    }

    #[test]
    fn shows_the_source_of_each_setting() {
        let key = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(key.path(), "0f".repeat(32)).unwrap();
        let path = key.path().display().to_string();
        let flags = ["--rate-limit=7", "--trusted-hops=1", "--encryption-key-file", &path];
        let settings = config("rate_limit = 3\ncountry = \"MX\"\n", &flags);
        let found = |name: &str| {
            let setting = find(&settings, name);
            (setting.value.clone(), setting.source)
        };
        let shown = |text: &str| SettingValue::Shown(text.into());
        assert_eq!(found("rate_limit"), (shown("7"), SettingSource::Flag));
        assert_eq!(found("country"), (shown("MX"), SettingSource::File));
        assert_eq!(found("max_in_flight"), (shown("1024"), SettingSource::Default));
        assert_eq!(found("checks_per_person"), (shown("0"), SettingSource::Default));
        assert_eq!(found("max_connections_per_address"), (shown("0"), SettingSource::Default));
        assert_eq!(found("profile"), (shown("sandbox"), SettingSource::Default));
        assert_eq!(found("sandbox_access"), (shown("open"), SettingSource::Default));
        assert_eq!(found("database"), (shown("sqlite:portico-data/portico.db"), SettingSource::Default));
        assert_eq!(found("tls_cert"), (SettingValue::NotSet, SettingSource::Default));
        assert_eq!(found("encryption_key"), (SettingValue::Hidden, SettingSource::SecretFile));
        assert_eq!(found("encryption_key_file").0, shown(&path));
    }
}
