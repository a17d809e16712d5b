//! The configuration of bureaus and routing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use portico_domain::{Country, Timestamp};
use portico_screening::config::{BuildContext, Screening};
use portico_screening::{BureauConfig, Check, ScreeningConfig};
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    bureaus: BTreeMap<String, BureauConfig>,
    screening: ScreeningConfig,
}

fn build(file: &str) -> Result<Screening, Vec<String>> {
    let file: File = toml::from_str(file).unwrap();
    let env = |name: &str| (name == "ACME_SECRET").then(|| "a secret of thirty-two characters\n".to_owned());
    let key = vec![1; 32].into();
    let now = Arc::new(|| Timestamp::from_micros(0));
    file.screening.build(&file.bureaus, &BuildContext { sandbox_key: &key, now, env: &env })
}

fn names(screening: &Screening) -> [String; 4] {
    Check::ALL.map(|check| screening.routing.bureau(check).name().to_owned())
}

#[test]
fn sandbox_serves_all_checks_by_default() {
    let screening = build("").unwrap();
    assert_eq!(names(&screening), ["sandbox"; 4]);
    assert_eq!(screening.routing.in_sandbox(), Check::ALL);
    assert_eq!(
        (screening.policy.check_timeout, screening.policy.total_timeout),
        (Duration::from_secs(10), Duration::from_secs(15))
    );
    assert_eq!(screening.thresholds.of(&Country::parse("US").unwrap()).points(), 620);
}

#[test]
fn each_check_goes_to_its_configured_bureau() {
    let screening = build(
        r#"
        [bureaus.acme]
        url = "https://bureau.example/portico"
        secret_env = "ACME_SECRET"
        most_at_once = 10
        [bureaus.bank]
        url = "http://127.0.0.1:9000"
        secret = "another secret that is long enough"
        name = "Bank Reports, Inc."
        address = "1 Main Street, Dover, DE 19901, USA"
        telephone = " +1 800 555 0100 "
        timeout_ms = 4000
        connect_timeout_ms = 1000
        signed_answers = false
        [screening]
        eviction = "acme"
        income = "bank"
        soft_credit = "acme"
        check_timeout_ms = 8000
        timeout_ms = 9000
        tries = 2
        credit_threshold = { CA = 660 }
        "#,
    )
    .unwrap();
    assert_eq!(names(&screening), ["acme", "bank", "acme", "sandbox"]);
    assert_eq!(screening.routing.in_sandbox(), [Check::CriminalBackground]);
    assert_eq!(screening.routing.bureau(Check::Eviction).max_concurrency(), 10);
    assert_eq!((screening.policy.check_timeout, screening.policy.max_tries), (Duration::from_secs(8), 2));
    assert_eq!(screening.thresholds.of(&Country::parse("ca").unwrap()).points(), 660);
    let bank = screening.disclosure("bank").unwrap();
    assert_eq!(
        (&*bank.name, &*bank.address, &*bank.telephone),
        ("Bank Reports, Inc.", "1 Main Street, Dover, DE 19901, USA", "+1 800 555 0100")
    );
    assert_eq!(screening.disclosure("acme"), None);
    assert!(screening.disclosure("sandbox").is_some());
}

#[test]
fn disclosure_needs_all_of_its_fields() {
    let file: File = toml::from_str("[bureaus.acme]\naddress = \"x\"").unwrap();
    assert_eq!(file.bureaus["acme"].missing_disclosure().collect::<Vec<_>>(), ["name", "telephone"]);
}

#[test]
fn all_configuration_errors_are_reported_together() {
    let faults = build(
        r#"
        [bureaus.acme]
        url = "http://bureau.example"
        secret = "short"
        timeout_ms = 0
        [bureaus.bank]
        secret_file = "/nonexistent/secret"
        secret_env = "BANK_SECRET"
        [bureaus.file]
        url = "https://bureau.example"
        secret_file = "/nonexistent/secret"
        [bureaus.env]
        url = "https://bureau.example"
        name = " "
        address = "two\nlines"
        secret_env = "NOBODY_SETS_THIS"
        most_at_once = 0
        [bureaus.none]
        url = "https://bureau.example"
        [bureaus."a b"]
        url = "https://bureau.example"
        secret_env = "ACME_SECRET"
        [bureaus.sandbox]
        url = "https://bureau.example"
        secret_env = "ACME_SECRET"
        [screening]
        eviction = "acme"
        income = "bnak"
        check_timeout_ms = 20000
        tries = 0
        "#,
    )
    .unwrap_err();
    assert_eq!(
        faults,
        [
            "bureaus.a b: the key must be 1 to 64 letters, digits, - and _",
            "bureaus.acme.timeout_ms must be between 1 and 120000",
            "bureaus.acme.url must begin with https:// (http:// only on this machine)",
            "bureaus.acme.secret must be at least 32 bytes long",
            "bureaus.bank.secret: give only one of secret, secret_file and secret_env",
            "bureaus.bank.url is missing",
            "bureaus.env.name must not be empty",
            "bureaus.env.address must not contain control characters",
            "bureaus.env.secret_env: the variable NOBODY_SETS_THIS is not set",
            "bureaus.env.most_at_once must be between 1 and 65536",
            "bureaus.file.secret_file /nonexistent/secret cannot be read: entity not found",
            "bureaus.none.secret is missing: give secret, secret_file or secret_env",
            "bureaus.sandbox: this name is the inner bureau's; choose another",
            "screening.income: there is no bureau \"bnak\"; there are: a b, acme, bank, env, file, none, sandbox",
            "screening.check_timeout_ms must not be longer than timeout_ms",
            "screening.tries must be between 1 and 10",
        ]
    );
}

#[test]
fn an_unknown_key_is_refused_by_name() {
    for (file, key) in [("[bureaus.acme]\nurll = \"x\"", "urll"), ("[screening]\ncredit = \"x\"", "credit")] {
        assert!(toml::from_str::<File>(file).err().unwrap().to_string().contains(key));
    }
}

#[test]
fn invalid_threshold_is_refused() {
    assert!(toml::from_str::<File>("[screening]\ncredit_threshold = { US = 900 }").is_err());
}

#[test]
fn a_configuration_does_not_print_its_secret() {
    let file: File =
        toml::from_str("[bureaus.acme]\nsecret = \"a secret that must not be printed\"").unwrap();
    assert!(!format!("{:?}", file.bureaus).contains("printed"));
}
