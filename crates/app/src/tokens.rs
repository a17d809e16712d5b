//! Bearer tokens of the instance's own issuer and of an external one.
//!
//! Checks `exp`, `nbf`, `iss`, `aud` and `alg`. Verified tokens are cached until they expire.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey, Header, Validation};
use portico_domain::{AccountId, Timestamp, UserId};
use secrecy::{ExposeSecret, SecretSlice};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Actor, Error, Profile, Result};

/// In tokens of the instance's own issuer.
const OWN_ISSUER: &str = "portico";
const OWN_AUDIENCE: &str = "portico";
/// Tolerated clock difference.
const LEEWAY_SECONDS: u64 = 30;
const MAX_REMEMBERED_TOKENS: usize = 10_000;
const MAX_JWKS_BYTES: usize = 1 << 20;

pub struct Tokens {
    /// Own tokens name their profile: a sandbox issues them to anyone.
    profile: Profile,
    signing: EncodingKey,
    verifying: DecodingKey,
    /// As published.
    public: String,
    external: Option<Arc<External>>,
    verified: Mutex<HashMap<[u8; 32], (Actor, i64)>>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens")
    }
}

/// An external `OpenID` Connect issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalIssuer {
    /// The expected `iss`.
    pub issuer: String,
    /// Must be in `aud`.
    pub audience: String,
    pub jwks_url: String,
    /// How long keys, and tokens that they verified, are used before a refresh. The first use after that starts the
    /// fetch and does not wait for it, so a withdrawn key is trusted for up to twice as long, or longer if nobody
    /// signs in.
    pub jwks_refresh: Duration,
    /// Claim and value that make an administrator; without it there is none.
    pub admin_claim: Option<(String, String)>,
}

struct External {
    settings: ExternalIssuer,
    client: reqwest::Client,
    keys: Mutex<Keys>,
    /// Held during a fetch.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Clone, Default)]
struct Keys {
    set: Option<Arc<JwkSet>>,
    fetched_at: Option<Instant>,
}

impl Keys {
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

#[derive(Debug, Clone)]
pub struct NewToken {
    pub user: UserId,
    /// Defaults to the user's own account.
    pub account: Option<AccountId>,
    /// May act for others.
    pub admin: bool,
    pub ttl: Duration,
}

#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: Value,
    sub: String,
    exp: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    nbf: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iat: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Value>,
    /// Only in tokens of the own issuer.
    #[serde(skip_serializing_if = "Option::is_none")]
    portico_profile: Option<String>,
    #[serde(flatten)]
    rest: HashMap<String, Value>,
}

const NOT_VALID: Error = Error::Unauthenticated("the bearer token is not valid");

impl Tokens {
    /// `seed` is the own issuer's secret of 32 bytes.
    pub fn new(seed: &SecretSlice<u8>, external: Option<ExternalIssuer>, profile: Profile) -> Result<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.expose_secret())
            .map_err(|_| Error::Bug("the issuer's key must be 32 bytes".into()))?;
        let pkcs8 = pair.to_pkcs8v1().map_err(|_| Error::Bug("the issuer's key cannot be used".into()))?;
        let public = pair.public_key().as_ref();
        let external = external.map(External::new).transpose()?.map(Arc::new);
        Ok(Self {
            profile,
            signing: EncodingKey::from_ed_der(pkcs8.as_ref()),
            verifying: DecodingKey::from_ed_der(public),
            public: BASE64_URL_SAFE_NO_PAD.encode(public),
            external,
            verified: Mutex::default(),
        })
    }

    pub fn issue(&self, token: &NewToken, now: Timestamp) -> Result<String> {
        let now = now.micros() / 1_000_000;
        let claims = Claims {
            iss: OWN_ISSUER.into(),
            aud: OWN_AUDIENCE.into(),
            sub: token.user.as_str().into(),
            exp: now.saturating_add(i64::try_from(token.ttl.as_secs()).unwrap_or(i64::MAX)),
            nbf: Some(now),
            iat: Some(now),
            account: token.account.as_ref().map(|account| account.as_str().into()),
            scope: token.admin.then(|| "admin".into()),
            portico_profile: Some(self.profile.name().into()),
            rest: HashMap::new(),
        };
        let header = Header { kid: Some(self.key_id()), ..Header::new(Algorithm::EdDSA) };
        jsonwebtoken::encode(&header, &claims, &self.signing).map_err(|error| Error::Bug(error.to_string()))
    }

    pub fn jwks(&self) -> Value {
        json!({"keys": [{
            "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": self.key_id(), "x": self.public,
        }]})
    }

    fn key_id(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(&digest(&SHA256, self.public.as_bytes()).as_ref()[..12])
    }

    pub async fn verify(&self, token: &str, now: Timestamp) -> Result<Actor> {
        let mut fingerprint = [0; 32];
        fingerprint.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
        let seconds = now.micros() / 1_000_000;
        if let Some((actor, until)) = self.remembered().get(&fingerprint)
            && *until > seconds
        {
            return Ok(actor.clone());
        }
        let (actor, until) = Box::pin(self.verify_anew(token, seconds)).await?;
        let mut remembered = self.remembered();
        if remembered.len() >= MAX_REMEMBERED_TOKENS {
            remembered.clear();
        }
        remembered.insert(fingerprint, (actor.clone(), until));
        Ok(actor)
    }

    fn remembered(&self) -> MutexGuard<'_, HashMap<[u8; 32], (Actor, i64)>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token's actor, and until when to cache it.
    async fn verify_anew(&self, token: &str, now: i64) -> Result<(Actor, i64)> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| NOT_VALID)?;
        if header.alg == Algorithm::EdDSA && header.kid.as_deref() == Some(&self.key_id()) {
            let checks = validation(&[Algorithm::EdDSA], OWN_ISSUER, OWN_AUDIENCE);
            let claims = decode(token, &self.verifying, &checks)?;
            if claims.portico_profile.as_deref() != Some(self.profile.name()) {
                return Err(NOT_VALID);
            }
            let admin = claims.scope.as_ref().is_some_and(|scope| contains_word(scope, "admin"));
            return actor(&claims, admin);
        }
        let external = self.external.as_ref().ok_or(NOT_VALID)?;
        let (actor, until) = external.verify(token, &header).await?;
        let refresh = i64::try_from(external.settings.jwks_refresh.as_secs()).unwrap_or(0);
        Ok((actor, until.min(now.saturating_add(refresh))))
    }
}

impl External {
    fn new(settings: ExternalIssuer) -> Result<Self> {
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(5))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Error::Bug(error.to_string()))?;
        Ok(Self { settings, client, keys: Mutex::default(), fetching: tokio::sync::Mutex::default() })
    }

    async fn verify(self: &Arc<Self>, token: &str, header: &Header) -> Result<(Actor, i64)> {
        let jwk = self.key(header.kid.as_deref()).await?;
        let key = DecodingKey::from_jwk(&jwk).map_err(|_| NOT_VALID)?;
        // HMAC secrets are never published, so such a token is forged.
        if key.family() == AlgorithmFamily::Hmac {
            return Err(NOT_VALID);
        }
        let checks = validation(key.family().algorithms(), &self.settings.issuer, &self.settings.audience);
        let claims = decode(token, &key, &checks)?;
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
                tokio::spawn(async move { this.refresh().await });
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

    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn refresh(&self) {
        let _one_at_a_time = self.fetching.lock().await;
        if !self.keys().are_older_than(self.settings.jwks_refresh) {
            return;
        }
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
        let answer =
            self.client.get(&self.settings.jwks_url).send().await.map_err(|e| e.without_url().to_string())?;
        let mut answer = answer.error_for_status().map_err(|e| e.without_url().to_string())?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|e| e.without_url().to_string())? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_JWKS_BYTES {
                return Err("the key list is too long".into());
            }
        }
        serde_json::from_slice(&body).map_err(|error| error.to_string())
    }
}

fn validation(algorithms: &[Algorithm], issuer: &str, audience: &str) -> Validation {
    let mut checks = Validation::new(algorithms.first().copied().unwrap_or(Algorithm::EdDSA));
    checks.algorithms = algorithms.to_vec();
    checks.leeway = LEEWAY_SECONDS;
    checks.validate_nbf = true;
    checks.set_issuer(&[issuer]);
    checks.set_audience(&[audience]);
    checks.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    checks
}

fn decode(token: &str, key: &DecodingKey, checks: &Validation) -> Result<Claims> {
    jsonwebtoken::decode::<Claims>(token, key, checks).map(|data| data.claims).map_err(|_| NOT_VALID)
}

fn actor(claims: &Claims, admin: bool) -> Result<(Actor, i64)> {
    let user = UserId::parse(&claims.sub).map_err(|_| NOT_VALID)?;
    let account =
        AccountId::parse(claims.account.as_deref().unwrap_or(&claims.sub)).map_err(|_| NOT_VALID)?;
    Ok((Actor::User { user, account, admin }, claims.exp))
}

/// The claim is the word, a list that contains it, or a space-separated list as in scopes.
fn contains_word(claim: &Value, word: &str) -> bool {
    match claim {
        Value::String(words) => words.split_ascii_whitespace().any(|one| one == word),
        Value::Array(words) => words.iter().any(|one| one.as_str() == Some(word)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn known_key_does_not_wait_for_the_issuer() {
        // Accepts connections and never responds.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let settings = ExternalIssuer {
            issuer: "https://id.example".into(),
            audience: "portico".into(),
            jwks_url: format!("http://{}/keys", silent.local_addr().unwrap()),
            jwks_refresh: Duration::from_secs(30),
            admin_claim: None,
        };
        let external = Arc::new(External::new(settings).unwrap());
        let set = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "known", "x": "AAAA"}]});
        let set = Some(Arc::new(serde_json::from_value(set).unwrap()));
        *external.keys() = Keys { set, fetched_at: Instant::now().checked_sub(Duration::from_secs(30)) };
        for _ in 0..2 {
            assert!(external.key(Some("known")).now_or_never().is_some_and(|key| key.is_ok()));
            tokio::task::yield_now().await;
        }
        assert!(external.fetching.try_lock().is_err(), "the list is being read anew");
        assert!(external.key(Some("unknown")).now_or_never().is_none(), "it may be a new one");
    }
}
