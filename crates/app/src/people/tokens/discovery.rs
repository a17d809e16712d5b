//! OpenID Connect discovery: where an issuer publishes its keys.

use portico_domain::endpoints;
use serde::Deserialize;

const WELL_KNOWN: &str = "/.well-known/openid-configuration";

/// What an issuer says about itself; the rest is not needed.
#[derive(Deserialize)]
struct Configuration {
    issuer: String,
    jwks_uri: String,
}

/// Where the issuer's configuration is (OpenID Connect Discovery 1.0, section 4).
pub(crate) fn configuration_url(issuer: &str) -> String {
    format!("{}{WELL_KNOWN}", issuer.trim_end_matches('/'))
}

/// The URL of the keys. The document must be the issuer's own: its `issuer` is compared byte by byte.
pub(crate) fn jwks_url(document: &[u8], issuer: &str) -> Result<String, String> {
    let found: Configuration = serde_json::from_slice(document)
        .map_err(|_| "the issuer's configuration is not the JSON document that it must be".to_owned())?;
    if found.issuer != issuer {
        return Err(
            "the issuer's configuration is another issuer's: compare its `issuer` with --issuer".into()
        );
    }
    endpoints::check_secure(&found.jwks_uri)
        .map_err(|fault| format!("the `jwks_uri` of the issuer's configuration {fault}"))?;
    Ok(found.jwks_uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = "https://id.example/tenant/";

    fn read(issuer: &str, jwks_uri: &str) -> Result<String, String> {
        let document = serde_json::json!({"issuer": issuer, "jwks_uri": jwks_uri, "scopes_supported": []});
        jwks_url(document.to_string().as_bytes(), ISSUER)
    }

    #[test]
    fn configuration_is_below_the_issuer() {
        let url = "https://id.example/tenant/.well-known/openid-configuration";
        assert_eq!(configuration_url(ISSUER), url);
        assert_eq!(configuration_url("https://id.example/tenant"), url);
    }

    #[test]
    fn configuration_must_be_the_issuers_own() {
        assert_eq!(read(ISSUER, "https://keys.example/jwks").unwrap(), "https://keys.example/jwks");
        for another in ["https://id.example/tenant", "https://evil.example/", ""] {
            assert!(read(another, "https://keys.example/jwks").unwrap_err().contains("another issuer's"));
        }
        assert!(jwks_url(b"<html>", ISSUER).is_err());
        assert!(jwks_url(br#"{"issuer": "https://id.example/tenant/"}"#, ISSUER).is_err());
    }

    #[test]
    fn discovered_keys_come_over_https() {
        assert!(read(ISSUER, "http://127.0.0.1:8080/jwks").is_ok());
        for insecure in ["http://keys.example/jwks", "ftp://keys.example/jwks", "/jwks", ""] {
            assert!(read(ISSUER, insecure).unwrap_err().contains("jwks_uri"), "{insecure}");
        }
    }
}
