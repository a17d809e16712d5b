//! Listen address, allowed hosts and origins, and the external token issuer.

use std::net::SocketAddr;
use std::time::Duration;

use portico_app::Profile;
use portico_app::tokens::ExternalIssuer;

use super::{Faults, Settings};

const DEFAULT_JWKS_REFRESH_SECONDS: u64 = 30;

pub(super) fn listen(settings: &Settings, faults: &mut Faults) -> Option<SocketAddr> {
    let address = settings.listen.as_deref().unwrap_or("127.0.0.1:8080").parse();
    faults.take("listen", address.map_err(|_| "must be ADDRESS:PORT, such as 127.0.0.1:8080"))
}

pub(super) fn origins(settings: &Settings, faults: &mut Faults) -> Vec<String> {
    let origins = settings.cors_origin.clone().unwrap_or_default();
    for origin in origins.iter().filter(|origin| !is_origin(origin)) {
        faults.add(format!("cors_origin: {origin} is no origin, such as https://app.example"));
    }
    origins
}

/// An origin is a scheme, a host and optionally a port.
fn is_origin(text: &str) -> bool {
    let host = text.split_once("://").filter(|(scheme, _)| !scheme.is_empty()).map_or("", |(_, host)| host);
    !host.is_empty()
        && !text.contains('*')
        && host.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
}

/// The sandbox serves only local host names, against DNS rebinding, unless it is open and no names are given. `None`
/// allows any name.
pub(super) fn allowed_hosts(settings: &Settings) -> Option<Vec<String>> {
    let names = settings.allow_host.clone().unwrap_or_default();
    match settings.profile_or_sandbox() {
        Profile::Sandbox if !settings.allow_open.unwrap_or(false) || !names.is_empty() => {
            let own = ["localhost", "127.0.0.1", "::1"].map(String::from);
            Some(own.into_iter().chain(names).collect())
        }
        _ if names.is_empty() => None,
        _ => Some(names),
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
            let mut faults = Faults::default();
            origins(&settings, &mut faults);
            assert!(faults.0[0].contains("cors_origin") && faults.0[0].contains(origin), "{:?}", faults.0);
        }
        for origin in ["https://app.example", "http://localhost:3000", "http://[::1]:8080", "app://portico"] {
            assert!(is_origin(origin), "{origin}");
        }
    }

    #[test]
    fn sandbox_always_allows_local_hosts() {
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
        assert_eq!(hosts(ProfileName::Sandbox, false, &[]).unwrap().len(), 3);
        assert_eq!(hosts(ProfileName::Sandbox, true, &[]), None);
        for allow_open in [false, true] {
            let hosts = hosts(ProfileName::Sandbox, allow_open, &["portico.test"]).unwrap();
            assert!(["localhost", "portico.test"].iter().all(|host| hosts.iter().any(|name| name == host)));
        }
        assert_eq!(hosts(ProfileName::Live, false, &["a"]), Some(vec!["a".into()]));
    }

    #[test]
    fn issuer_needs_audience_and_jwks_url() {
        let settings = Settings { issuer: Some("https://id".into()), ..Settings::default() };
        assert!(issuer(&settings).is_err_and(|fault| fault.contains("audience")));
    }
}
