//! Allowed hosts and origins, and the external token issuer.

use std::time::Duration;

use portico_api::AllowedHosts;
use portico_app::Profile;
use portico_app::tokens::ExternalIssuer;
use portico_domain::endpoints;

use super::{ConfigErrors, Settings};

const DEFAULT_JWKS_REFRESH_SECONDS: u64 = 30;
/// Requests a second.
const LIVE_RATE_LIMIT: u32 = 100;

pub(super) fn origins(settings: &Settings, faults: &mut ConfigErrors) -> Vec<String> {
    let origins = settings.cors_origin.clone().unwrap_or_default();
    for origin in origins.iter().filter(|origin| !is_origin(origin)) {
        faults.add(format!("cors_origin: {origin} is no origin, such as https://app.example"));
    }
    origins
}

/// A sandbox serves its own developer.
pub(super) fn rate_limit(settings: &Settings) -> u32 {
    settings.rate_limit.unwrap_or(match settings.profile_or_sandbox() {
        Profile::Sandbox => 0,
        Profile::Live => LIVE_RATE_LIMIT,
    })
}

/// An origin is a scheme, a host and optionally a port.
fn is_origin(text: &str) -> bool {
    let host = text.split_once("://").filter(|(scheme, _)| !scheme.is_empty()).map_or("", |(_, host)| host);
    !host.is_empty()
        && !text.contains('*')
        && host.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
}

/// The sandbox serves only local host names and those that are given, against DNS rebinding. If it is open, it also
/// serves its addresses, whatever they are: an address cannot be rebound.
pub(super) fn allowed_hosts(settings: &Settings) -> AllowedHosts {
    let names = settings.allow_host.clone().unwrap_or_default();
    match settings.profile_or_sandbox() {
        Profile::Sandbox => {
            let own = ["localhost", "127.0.0.1", "::1"].map(String::from);
            let names = own.into_iter().chain(names).collect();
            AllowedHosts { names: Some(names), any_address: settings.allow_open.unwrap_or(false) }
        }
        Profile::Live => {
            AllowedHosts { names: Some(names).filter(|names| !names.is_empty()), any_address: false }
        }
    }
}

pub(super) fn issuer(settings: &Settings) -> Result<Option<ExternalIssuer>, &'static str> {
    let admin_claim = match settings.admin_claim.as_deref().map(|claim| claim.split_once('=')) {
        None => None,
        Some(Some((claim, value))) if !claim.is_empty() && !value.is_empty() => {
            Some((claim.into(), value.into()))
        }
        Some(_) => return Err("admin_claim must be CLAIM=VALUE"),
    };
    let jwks_refresh = match settings.jwks_refresh.unwrap_or(DEFAULT_JWKS_REFRESH_SECONDS) {
        seconds @ 1..=3600 => Duration::from_secs(seconds),
        _ => return Err("jwks_refresh must be 1 to 3600 seconds"),
    };
    match (&settings.issuer, &settings.audience, &settings.jwks_url) {
        (None, None, None) => Ok(None),
        (Some(issuer), Some(_), None)
            if !issuer.starts_with("http://") && !issuer.starts_with("https://") =>
        {
            Err("must be a URL, unless jwks_url is given: its configuration is read from there")
        }
        (Some(issuer), Some(audience), jwks_url) => Ok(Some(ExternalIssuer {
            issuer: issuer.clone(),
            audience: audience.clone(),
            jwks_url: jwks_url.clone(),
            jwks_refresh,
            admin_claim,
        })),
        _ => Err("issuer and audience must be given together, and jwks_url only with them"),
    }
}

/// An attacker who can alter the issuer's responses can sign in as anybody.
pub(super) fn check_live_issuer(settings: &Settings, faults: &mut ConfigErrors) {
    for (setting, url) in [("issuer", &settings.issuer), ("jwks_url", &settings.jwks_url)] {
        if let Some(Err(fault)) = url.as_deref().map(endpoints::check_secure) {
            let flag = setting.replace('_', "-");
            faults.add(format!("{setting} (--{flag}): of a live instance, it {fault}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ProfileName;
    use super::*;

    #[test]
    fn origin_is_a_scheme_and_a_host() {
        let wrong = [
            "*",
            "https://*.example",
            "app.example",
            "https://",
            "https://app.example/",
            "https://ä.example",
            "://x",
        ];
        for origin in wrong {
            let settings = Settings { cors_origin: Some(vec![origin.into()]), ..Settings::default() };
            let mut faults = ConfigErrors::default();
            origins(&settings, &mut faults);
            assert!(faults.0[0].contains("cors_origin") && faults.0[0].contains(origin), "{:?}", faults.0);
        }
        for origin in ["https://app.example", "http://localhost:3000", "http://[::1]:8080", "app://portico"] {
            assert!(is_origin(origin), "{origin}");
        }
    }

    #[test]
    fn live_limits_requests_by_default_and_zero_turns_it_off() {
        let limit = |profile, rate_limit| {
            super::rate_limit(&Settings { profile: Some(profile), rate_limit, ..Settings::default() })
        };
        assert_eq!(limit(ProfileName::Live, None), 100);
        assert_eq!(limit(ProfileName::Live, Some(0)), 0);
        assert_eq!(limit(ProfileName::Sandbox, None), 0);
        assert_eq!(limit(ProfileName::Sandbox, Some(7)), 7);
    }

    #[test]
    fn sandbox_always_checks_the_host() {
        let hosts = |profile, allow_open, names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            let settings = Settings {
                profile: Some(profile),
                allow_open: Some(allow_open),
                allow_host: Some(names),
                ..Settings::default()
            };
            allowed_hosts(&settings)
        };
        for allow_open in [false, true] {
            let own = hosts(ProfileName::Sandbox, allow_open, &[]);
            assert_eq!((own.names.unwrap().len(), own.any_address), (3, allow_open));
            let names = hosts(ProfileName::Sandbox, allow_open, &["portico.test"]).names.unwrap();
            assert!(["localhost", "portico.test"].iter().all(|host| names.iter().any(|name| name == host)));
        }
        assert_eq!(hosts(ProfileName::Live, false, &[]).names, None);
        assert_eq!(hosts(ProfileName::Live, false, &["a"]).names, Some(vec!["a".into()]));
    }

    #[test]
    fn issuer_needs_an_audience_and_is_discovered_without_jwks_url() {
        let settings = |issuer: &str, audience: Option<&str>| Settings {
            issuer: Some(issuer.into()),
            audience: audience.map(String::from),
            ..Settings::default()
        };
        assert!(issuer(&settings("https://id", None)).is_err_and(|fault| fault.contains("audience")));
        assert_eq!(issuer(&settings("https://id", Some("a"))).unwrap().unwrap().jwks_url, None);
        assert!(issuer(&settings("tenant", Some("a"))).is_err_and(|fault| fault.contains("jwks_url")));
        let keys_only = Settings { jwks_url: Some("https://id/keys".into()), ..Settings::default() };
        assert!(issuer(&keys_only).is_err_and(|fault| fault.contains("jwks_url")));
    }
}
