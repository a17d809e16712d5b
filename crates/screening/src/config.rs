//! The configuration of bureaus and of routing. Everything that is wrong is named at once.
//!
//! ```toml
//! [bureaus.acme]
//! url = "https://bureau.example/portico"
//! secret_env = "ACME_SECRET"
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

use crate::http::{HttpBureau, Now, Settings};
use crate::{Bureau, Check, Policy, Routing, Sandbox, Thresholds};

/// The longest time-out that makes sense, in milliseconds.
const LONGEST_MS: u64 = 120_000;
/// The most checks at once that make sense.
const MOST_AT_ONCE: usize = 65_536;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BureauConfig {
    pub url: Option<String>,
    /// The shared secret itself.
    pub secret: Option<SecretString>,
    /// The file that holds it.
    pub secret_file: Option<PathBuf>,
    /// The environment variable that holds it.
    pub secret_env: Option<String>,
    /// Whether its answers must be signed.
    pub signed_answers: Option<bool>,
    /// How long one request may take.
    pub timeout_ms: Option<u64>,
    /// How long a connection may take.
    pub connect_timeout_ms: Option<u64>,
    /// How many checks it is asked at once.
    pub most_at_once: Option<usize>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScreeningConfig {
    /// The bureau for evictions.
    pub eviction: Option<String>,
    /// The bureau for incomes.
    pub income: Option<String>,
    /// The bureau for credit scores.
    pub soft_credit: Option<String>,
    /// The bureau for criminal records.
    pub criminal_background: Option<String>,
    /// How long one check may take, with all its tries.
    pub check_timeout_ms: Option<u64>,
    /// How long all checks of an applicant may take together.
    pub timeout_ms: Option<u64>,
    /// How often a check is tried at most.
    pub tries: Option<u32>,
    /// The score from which a person counts as qualified, by country.
    pub credit_threshold: Thresholds,
}

/// What a configuration is made with.
pub struct Surroundings<'a> {
    /// The key of the sandbox's made-up values.
    pub sandbox_key: &'a SecretSlice<u8>,
    pub now: Now,
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

/// What a configuration comes to.
#[derive(Debug, Clone)]
pub struct Screening {
    /// Which bureau serves which check.
    pub routing: Routing,
    /// How long and how often.
    pub policy: Policy,
    /// From which score a person counts as qualified.
    pub thresholds: Thresholds,
}

impl ScreeningConfig {
    /// Makes the bureaus and routes the checks, or says everything that is wrong: the key, then what it must be.
    pub fn build(
        &self,
        bureaus: &BTreeMap<String, BureauConfig>,
        surroundings: &Surroundings<'_>,
    ) -> Result<Screening, Vec<String>> {
        let mut faults = Vec::new();
        let sandbox: Arc<dyn Bureau> = Arc::new(Sandbox::new(surroundings.sandbox_key));
        let mut made = BTreeMap::from([(Sandbox::NAME, Some(Arc::clone(&sandbox)))]);
        for (name, config) in bureaus {
            let bureau = config.build(name, surroundings).map_err(|wrong| {
                faults.extend(wrong.into_iter().map(|fault| format!("bureaus.{name}.{fault}")));
            });
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
        if faults.is_empty() { Ok(Screening { routing, policy, thresholds }) } else { Err(faults) }
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
        set_time(&mut policy.check, "check_timeout_ms", self.check_timeout_ms, &mut wrong);
        set_time(&mut policy.whole, "timeout_ms", self.timeout_ms, &mut wrong);
        if self.check_timeout_ms.is_some() && policy.check > policy.whole && wrong.is_empty() {
            wrong.push("check_timeout_ms must not be longer than timeout_ms".into());
        }
        match self.tries {
            None => {}
            Some(tries @ 1..=10) => policy.tries = tries,
            Some(_) => wrong.push("tries must be between 1 and 10".into()),
        }
        faults.extend(here(wrong));
        policy
    }
}

impl BureauConfig {
    fn build(&self, name: &str, surroundings: &Surroundings<'_>) -> Result<HttpBureau, Vec<String>> {
        let mut faults = Vec::new();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
            faults.push("name must be 1 to 64 letters, digits, - and _".into());
        }
        let secret = self.secret(surroundings.env).map_err(|fault| faults.push(fault)).ok();
        let url = self.url.clone().ok_or("url is missing").map_err(|fault| faults.push(fault.into())).ok();
        // What is missing is named already; in its place stands something that is right.
        let stand_in = || SecretString::from("-".repeat(crate::http::SHORTEST_SECRET));
        let mut settings = Settings::new(
            name,
            url.unwrap_or_else(|| "https://localhost".into()),
            secret.unwrap_or_else(stand_in),
        );
        settings.signed_answers = self.signed_answers.unwrap_or(true);
        set_time(&mut settings.timeout, "timeout_ms", self.timeout_ms, &mut faults);
        set_time(&mut settings.connect_timeout, "connect_timeout_ms", self.connect_timeout_ms, &mut faults);
        match self.most_at_once {
            None => {}
            Some(most @ 1..=MOST_AT_ONCE) => settings.most_at_once = most,
            Some(_) => faults.push(format!("most_at_once must be between 1 and {MOST_AT_ONCE}")),
        }
        match HttpBureau::new(settings, Arc::clone(&surroundings.now)) {
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
        Some(millis @ 1..=LONGEST_MS) => *time = Duration::from_millis(millis),
        Some(_) => faults.push(format!("{key} must be between 1 and {LONGEST_MS}")),
    }
}
