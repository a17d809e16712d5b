//! An external `OpenID` Connect issuer: its keys, how they are fetched and refreshed, and the tokens that they verify.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{Jwk, JwkSet, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{AlgorithmFamily, DecodingKey, Header};
use portico_screening::backoff::{Backoff, SystemJitter};
use tracing::Instrument as _;

use super::claims::{NOT_VALID, actor, check_lifetime, contains_word, decode, validation};
use super::discovery;
use crate::caller::Actor;
use crate::error::{Error, Result};

/// Tokens of the external issuer may expire at most this far ahead.
const MAX_EXTERNAL_LIFETIME: Duration = Duration::from_hours(30 * 24);
const MAX_DOCUMENT_BYTES: usize = 1 << 20;
/// Between two attempts to read the first keys of an issuer that is discovered.
const DISCOVERY_BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_mins(1) };

/// An external `OpenID` Connect issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalIssuer {
    /// The expected `iss`.
    pub issuer: String,
    /// Must be in `aud`.
    pub audience: String,
    /// `None`: discovered, from the issuer's configuration.
    pub jwks_url: Option<String>,
    /// How long keys, and tokens that they verified, are used before a refresh. The first use after that starts the
    /// fetch and does not wait for it, so a withdrawn key is trusted for up to twice as long, or longer if nobody
    /// signs in.
    pub jwks_refresh: Duration,
    /// Claim and value that make an administrator; without it there is none.
    pub admin_claim: Option<(String, String)>,
}

pub(super) struct External {
    pub(super) settings: ExternalIssuer,
    client: reqwest::Client,
    keys: Mutex<JwksCache>,
    /// Held during a fetch.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Clone, Default)]
struct JwksCache {
    set: Option<Arc<JwkSet>>,
    fetched_at: Option<Instant>,
}

impl JwksCache {
    fn find(&self, kid: Option<&str>) -> Option<Jwk> {
        let set = self.set.as_ref()?;
        match kid {
            Some(kid) => set.find(kid).cloned(),
            None if set.keys.len() == 1 => set.keys.first().cloned(),
            None => None,
        }
    }

    fn are_older_than(&self, age: Duration) -> bool {
        self.fetched_at.is_none_or(|at| at.elapsed() >= age)
    }
}

impl External {
    pub(super) fn new(settings: ExternalIssuer) -> Result<Self> {
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(5))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Error::Bug(error.to_string()))?;
        Ok(Self { settings, client, keys: Mutex::default(), fetching: tokio::sync::Mutex::default() })
    }

    pub(super) async fn verify(
        self: &Arc<Self>,
        token: &str,
        header: &Header,
        now: i64,
    ) -> Result<(Actor, i64)> {
        let jwk = self.key(header.kid.as_deref()).await?;
        let key = DecodingKey::from_jwk(&jwk).map_err(|_| NOT_VALID)?;
        // HMAC secrets are never published, so such a token is forged.
        if key.family() == AlgorithmFamily::Hmac {
            return Err(NOT_VALID);
        }
        let is_keys_own =
            |algorithm| jwk.common.key_algorithm.is_none_or(|own| own == KeyAlgorithm::from(algorithm));
        if !key.family().algorithms().contains(&header.alg) || !is_keys_own(header.alg) {
            return Err(NOT_VALID);
        }
        let checks = validation(&[header.alg], &self.settings.issuer, &self.settings.audience);
        let claims = decode(token, &key, &checks)?;
        check_lifetime(&claims, now, MAX_EXTERNAL_LIFETIME)?;
        let admin = self.settings.admin_claim.as_ref().is_some_and(|(claim, value)| {
            let named = if claim == "scope" { claims.scope.as_ref() } else { claims.rest.get(claim) };
            named.is_some_and(|named| contains_word(named, value))
        });
        actor(&claims, admin)
    }

    /// Returns a known key immediately; refreshes an old list in the background.
    async fn key(self: &Arc<Self>, kid: Option<&str>) -> Result<Jwk> {
        let known = self.keys().clone();
        if let Some(key) = known.find(kid) {
            if known.are_older_than(self.settings.jwks_refresh) && self.fetching.try_lock().is_ok() {
                let this = self.clone();
                tokio::spawn(async move { this.refresh().await }.in_current_span());
            }
            return Ok(key);
        }
        self.refresh().await;
        let known = self.keys().clone();
        if known.set.is_none() {
            return Err(Error::Unavailable("the issuer's keys could not be read".into()));
        }
        known.find(kid).ok_or(NOT_VALID)
    }

    fn keys(&self) -> MutexGuard<'_, JwksCache> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn refresh(&self) {
        let _one_at_a_time = self.fetching.lock().await;
        if self.keys().are_older_than(self.settings.jwks_refresh) {
            self.replace_keys().await;
        }
    }

    pub(super) fn awaits_discovery(&self) -> bool {
        self.settings.jwks_url.is_none() && self.keys().set.is_none()
    }

    pub(super) async fn discover(&self) {
        let mut tries = 0;
        while self.awaits_discovery() {
            let one_at_a_time = self.fetching.lock().await;
            if self.awaits_discovery() {
                self.replace_keys().await;
            }
            drop(one_at_a_time);
            if self.awaits_discovery() {
                tries += 1;
                tokio::time::sleep(DISCOVERY_BACKOFF.after(tries, &SystemJitter)).await;
            }
        }
    }

    async fn replace_keys(&self) {
        let fetched = self.fetch().await;
        let mut keys = self.keys();
        // Set after the fetch, so that the next caller fetches again if this one is cancelled.
        keys.fetched_at = Some(Instant::now());
        match fetched {
            Ok(set) => keys.set = Some(Arc::new(set)),
            // Known keys stay usable.
            Err(error) => tracing::warn!(%error, "the issuer's keys could not be read"),
        }
    }

    async fn fetch(&self) -> Result<JwkSet, String> {
        let url = match &self.settings.jwks_url {
            Some(url) => url.clone(),
            None => {
                let issuer = &self.settings.issuer;
                let document = self.get(&discovery::configuration_url(issuer)).await?;
                discovery::jwks_url(&document, issuer)?
            }
        };
        let mut set: JwkSet =
            serde_json::from_slice(&self.get(&url).await?).map_err(|error| error.to_string())?;
        set.keys.retain(verifies_signatures);
        Ok(set)
    }

    async fn get(&self, url: &str) -> Result<Vec<u8>, String> {
        let answer = self.client.get(url).send().await.map_err(|e| e.without_url().to_string())?;
        let mut answer = answer.error_for_status().map_err(|e| e.without_url().to_string())?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|e| e.without_url().to_string())? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_DOCUMENT_BYTES {
                return Err("the answer is too long".into());
            }
        }
        Ok(body)
    }
}

/// Whether a published key is for verifying signatures, as far as it says what it is for.
fn verifies_signatures(jwk: &Jwk) -> bool {
    let is_for_signatures = |of: &PublicKeyUse| *of == PublicKeyUse::Signature;
    let verifies = |operations: &Vec<KeyOperations>| operations.contains(&KeyOperations::Verify);
    jwk.common.public_key_use.as_ref().is_none_or(is_for_signatures)
        && jwk.common.key_operations.as_ref().is_none_or(verifies)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn known_key_does_not_wait_for_the_issuer() {
        // Accepts connections and never responds.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let settings = ExternalIssuer {
            issuer: "https://id.example".into(),
            audience: "portico".into(),
            jwks_url: Some(format!("http://{}/keys", silent.local_addr().unwrap())),
            jwks_refresh: Duration::from_secs(30),
            admin_claim: None,
        };
        let external = Arc::new(External::new(settings).unwrap());
        let set = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "known", "x": "AAAA"}]});
        let set = Some(Arc::new(serde_json::from_value(set).unwrap()));
        *external.keys() = JwksCache { set, fetched_at: Instant::now().checked_sub(Duration::from_secs(30)) };
        for _ in 0..2 {
            assert!(external.key(Some("known")).now_or_never().is_some_and(|key| key.is_ok()));
            tokio::task::yield_now().await;
        }
        assert!(external.fetching.try_lock().is_err(), "the list is being read anew");
        assert!(external.key(Some("unknown")).now_or_never().is_none(), "it may be a new one");
    }
}
