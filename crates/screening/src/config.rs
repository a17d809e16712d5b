//! The configuration of bureaus and routing. Reports all errors together.
//!
//! ```toml
//! [bureaus.acme]
//! url = "https://bureau.example/portico"
//! secret_env = "ACME_SECRET"
//! name = "Acme Reports, Inc."
//! address = "1 Main Street, Dover, DE 19901, USA"
//! telephone = "+1 800 555 0100"
//!
//! [screening]
//! soft_credit = "acme"        # what is not named is the sandbox's
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::{SecretSlice, SecretString};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::http::{HttpBureau, HttpBureauSettings, Now};
use crate::{Bureau, BureauContact, Check, Policy, Routing, Sandbox, Thresholds};

const MAX_TIMEOUT_MS: u64 = 120_000;
const MAX_CONCURRENCY_LIMIT: usize = 65_536;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BureauConfig {
    pub url: Option<String>,
    /// For the adverse action notice, like `address` and `telephone`. A live instance needs all three.
    pub name: Option<String>,
    pub address: Option<String>,
    pub telephone: Option<String>,
    pub secret: Option<SecretString>,
    pub secret_file: Option<PathBuf>,
    pub secret_env: Option<String>,
    /// Whether responses must be signed.
    #[serde(rename = "signed_answers")]
    pub require_signed_responses: Option<bool>,
    /// Per request.
    pub timeout_ms: Option<u64>,
    pub connect_timeout_ms: Option<u64>,
    #[serde(rename = "most_at_once")]
    pub max_concurrency: Option<usize>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScreeningConfig {
    pub eviction: Option<String>,
    pub income: Option<String>,
    pub soft_credit: Option<String>,
    pub criminal_background: Option<String>,
    /// Per check, with all retries.
    pub check_timeout_ms: Option<u64>,
    /// For all checks of an applicant.
    pub timeout_ms: Option<u64>,
    pub tries: Option<u32>,
    /// The qualifying score by country.
    pub credit_threshold: Thresholds,
}

/// What a configuration depends on.
pub struct BuildContext<'a> {
    /// The key of the sandbox's generated values.
    pub sandbox_key: &'a SecretSlice<u8>,
    pub now: Now,
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

#[derive(Debug, Clone)]
pub struct Screening {
    pub routing: Routing,
    pub policy: Policy,
    pub thresholds: Thresholds,
    disclosures: BTreeMap<String, BureauContact>,
}

impl Screening {
    /// The disclosure of a bureau by its stored name. `None`: it has none or is no longer configured.
    pub fn disclosure(&self, bureau: &str) -> Option<&BureauContact> {
        self.disclosures.get(bureau)
    }
}

impl ScreeningConfig {
    /// Builds the bureaus and the routing, or returns all errors, each starting with its key.
    pub fn build(
        &self,
        bureaus: &BTreeMap<String, BureauConfig>,
        context: &BuildContext<'_>,
    ) -> Result<Screening, Vec<String>> {
        let mut faults = Vec::new();
        let sandbox: Arc<dyn Bureau> = Arc::new(Sandbox::new(context.sandbox_key));
        let mut made = BTreeMap::from([(Sandbox::NAME, Some(Arc::clone(&sandbox)))]);
        let mut disclosures = BTreeMap::from([(Sandbox::NAME.to_owned(), Sandbox::disclosure())]);
        for (name, config) in bureaus {
            let mut wrong = Vec::new();
            if let Some(disclosure) = BureauContact::parse(config.disclosure_fields(), &mut wrong) {
                disclosures.insert(name.clone(), disclosure);
            }
            faults.extend(wrong.into_iter().map(|fault| format!("bureaus.{name}.{fault}")));
            let bureau = config.build(name, context).map_err(|wrong| {
                faults.extend(wrong.into_iter().map(|fault| format!("bureaus.{name}.{fault}")));
            });
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
                faults.push(format!("bureaus.{name}: the key must be 1 to 64 letters, digits, - and _"));
            }
            if name == Sandbox::NAME {
                faults.push(format!("bureaus.{name}: this name is the inner bureau's; choose another"));
            } else {
                made.insert(name, bureau.ok().map(|bureau| Arc::new(bureau) as Arc<dyn Bureau>));
            }
        }
        let mut routing = Routing::all(sandbox);
        for (check, key, name) in self.routes() {
            match name.map(|name| (name, made.get(name))) {
                None | Some((_, Some(None))) => {}
                Some((_, Some(Some(bureau)))) => routing = routing.with(check, Arc::clone(bureau)),
                Some((name, None)) => {
                    let known: Vec<_> = made.keys().copied().collect();
                    let known = known.join(", ");
                    faults.push(format!("screening.{key}: there is no bureau {name:?}; there are: {known}"));
                }
            }
        }
        let policy = self.policy(&mut faults);
        let thresholds = self.credit_threshold.clone();
        if faults.is_empty() {
            Ok(Screening { routing, policy, thresholds, disclosures })
        } else {
            Err(faults)
        }
    }

    fn routes(&self) -> [(Check, &'static str, Option<&str>); 4] {
        [
            (Check::Eviction, "eviction", self.eviction.as_deref()),
            (Check::Income, "income", self.income.as_deref()),
            (Check::SoftCredit, "soft_credit", self.soft_credit.as_deref()),
            (Check::CriminalBackground, "criminal_background", self.criminal_background.as_deref()),
        ]
    }

    fn policy(&self, faults: &mut Vec<String>) -> Policy {
        let mut policy = Policy::default();
        let here = |faults: Vec<String>| faults.into_iter().map(|fault| format!("screening.{fault}"));
        let mut wrong = Vec::new();
        set_time(&mut policy.check_timeout, "check_timeout_ms", self.check_timeout_ms, &mut wrong);
        set_time(&mut policy.total_timeout, "timeout_ms", self.timeout_ms, &mut wrong);
        if self.check_timeout_ms.is_some() && policy.check_timeout > policy.total_timeout && wrong.is_empty()
        {
            wrong.push("check_timeout_ms must not be longer than timeout_ms".into());
        }
        match self.tries {
            None => {}
            Some(tries @ 1..=10) => policy.max_tries = tries,
            Some(_) => wrong.push("tries must be between 1 and 10".into()),
        }
        faults.extend(here(wrong));
        policy
    }
}

impl BureauConfig {
    /// The fields of the disclosure that the configuration lacks; a live instance needs all of them.
    pub fn missing_disclosure(&self) -> impl Iterator<Item = &'static str> {
        self.disclosure_fields().into_iter().filter_map(|(field, value)| value.is_none().then_some(field))
    }

    fn disclosure_fields(&self) -> [(&'static str, Option<&str>); 3] {
        [
            ("name", self.name.as_deref()),
            ("address", self.address.as_deref()),
            ("telephone", self.telephone.as_deref()),
        ]
    }

    fn build(&self, name: &str, context: &BuildContext<'_>) -> Result<HttpBureau, Vec<String>> {
        let mut faults = Vec::new();
        let secret = self.secret(context.env).map_err(|fault| faults.push(fault)).ok();
        let url = self.url.clone().ok_or("url is missing").map_err(|fault| faults.push(fault.into())).ok();
        // The missing secret is reported already; a valid placeholder lets the other settings be checked.
        let stand_in = || SecretString::from("-".repeat(crate::http::MIN_SECRET_BYTES));
        let mut settings = HttpBureauSettings::new(
            name,
            url.unwrap_or_else(|| "https://localhost".into()),
            secret.unwrap_or_else(stand_in),
        );
        settings.require_signed_responses = self.require_signed_responses.unwrap_or(true);
        set_time(&mut settings.timeout, "timeout_ms", self.timeout_ms, &mut faults);
        set_time(&mut settings.connect_timeout, "connect_timeout_ms", self.connect_timeout_ms, &mut faults);
        match self.max_concurrency {
            None => {}
            Some(most @ 1..=MAX_CONCURRENCY_LIMIT) => settings.max_concurrency = most,
            Some(_) => faults.push(format!("most_at_once must be between 1 and {MAX_CONCURRENCY_LIMIT}")),
        }
        match HttpBureau::new(settings, Arc::clone(&context.now)) {
            Ok(bureau) if faults.is_empty() => Ok(bureau),
            Ok(_) => Err(faults),
            Err(more) => Err(faults.into_iter().chain(more).collect()),
        }
    }

    fn secret(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<SecretString, String> {
        let trimmed = |text: String| SecretString::from(Zeroizing::new(text).trim_end_matches(['\r', '\n']));
        match (&self.secret, &self.secret_file, &self.secret_env) {
            (Some(secret), None, None) => Ok(secret.clone()),
            (None, Some(path), None) => std::fs::read_to_string(path)
                .map(trimmed)
                .map_err(|error| format!("secret_file {} cannot be read: {}", path.display(), error.kind())),
            (None, None, Some(name)) => {
                env(name).map(trimmed).ok_or_else(|| format!("secret_env: the variable {name} is not set"))
            }
            (None, None, None) => Err("secret is missing: give secret, secret_file or secret_env".into()),
            _ => Err("secret: give only one of secret, secret_file and secret_env".into()),
        }
    }
}

fn set_time(time: &mut Duration, key: &str, millis: Option<u64>, faults: &mut Vec<String>) {
    match millis {
        None => {}
        Some(millis @ 1..=MAX_TIMEOUT_MS) => *time = Duration::from_millis(millis),
        Some(_) => faults.push(format!("{key} must be between 1 and {MAX_TIMEOUT_MS}")),
    }
}
