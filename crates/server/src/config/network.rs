//! Allowed hosts and origins, and the external token issuer.

use std::time::Duration;

use portico_api::AllowedHosts;
use portico_app::Profile;
use portico_app::tokens::ExternalIssuer;
use portico_domain::endpoints;

use super::{ConfigErrors, Settings};

pub(super) fn check_origins(settings: &Settings, faults: &mut ConfigErrors) {
    for origin in settings.cors_origin.iter().filter(|origin| !is_origin(origin)) {
        faults.add(format!("cors_origin: {origin} is not an origin, such as https://app.example"));
    }
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
    let names = settings.allow_host.clone();
    match settings.profile_or_sandbox() {
        Profile::Sandbox => {
            let own = ["localhost", "127.0.0.1", "::1"].map(String::from);
            let names = own.into_iter().chain(names).collect();
            AllowedHosts { names: Some(names), any_address: settings.allow_open }
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
    let jwks_refresh = match settings.jwks_refresh {
        seconds @ 1..=3600 => Duration::from_secs(seconds),
        _ => return Err("jwks_refresh must be 1 to 3600 seconds"),
    };
    match (settings.issuer.as_deref(), &settings.audience, settings.jwks_url.as_deref()) {
        (None, None, None) => Ok(None),
        (Some(issuer), Some(_), None)
            if !issuer.starts_with("http://") && !issuer.starts_with("https://") =>
        {
            Err("must be a URL, unless jwks_url is given: its configuration is read from there")
        }
        (Some(issuer), Some(audience), jwks_url) => Ok(Some(ExternalIssuer {
            issuer: issuer.to_owned(),
            audience: audience.clone(),
            jwks_url: jwks_url.map(ToOwned::to_owned),
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
    use super::super::layers::tests::from_file;
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
            let mut faults = ConfigErrors::default();
            check_origins(&from_file(&format!("cors_origin = [\"{origin}\"]")), &mut faults);
            assert!(faults.0[0].contains("cors_origin") && faults.0[0].contains(origin), "{:?}", faults.0);
        }
        for origin in ["https://app.example", "http://localhost:3000", "http://[::1]:8080", "app://portico"] {
            assert!(is_origin(origin), "{origin}");
        }
    }

    #[test]
    fn sandbox_always_checks_the_host() {
        let hosts = |file: &str| allowed_hosts(&from_file(file));
        for allow_open in [false, true] {
            let own = hosts(&format!("allow_open = {allow_open}"));
            assert_eq!((own.names.unwrap().len(), own.any_address), (3, allow_open));
            let names =
                hosts(&format!("allow_open = {allow_open}\nallow_host = [\"portico.test\"]")).names.unwrap();
            assert!(["localhost", "portico.test"].iter().all(|host| names.iter().any(|name| name == host)));
        }
        assert_eq!(hosts("profile = \"live\"").names, None);
        assert_eq!(hosts("profile = \"live\"\nallow_host = [\"a\"]").names, Some(vec!["a".into()]));
    }

    #[test]
    fn issuer_needs_an_audience_and_is_discovered_without_jwks_url() {
        let fault = |file: &str| issuer(&from_file(file)).err().unwrap_or_default();
        assert!(fault("issuer = \"https://id\"").contains("audience"));
        let found = issuer(&from_file("issuer = \"https://id\"\naudience = \"a\"")).unwrap();
        assert_eq!(found.unwrap().jwks_url, None);
        assert!(fault("issuer = \"tenant\"\naudience = \"a\"").contains("jwks_url"));
        assert!(fault("jwks_url = \"https://id/keys\"").contains("jwks_url"));
    }
}
