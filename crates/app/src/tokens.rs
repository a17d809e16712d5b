//! Bearer tokens of the instance's own issuer and of an external one.
//!
//! Checks `typ`, `crit`, `alg`, `exp`, `nbf`, `iss`, `aud` and `sub`. Verified tokens are cached until they expire.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use jsonwebtoken::jwk::{Jwk, JwkSet, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey, Header, Validation};
use portico_domain::{AccountId, Tenant, Timestamp, UserId, ValidationError};
use portico_screening::backoff::{Backoff, SystemJitter};
use secrecy::{ExposeSecret, SecretSlice};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Actor, Error, Profile, Result, discovery};

/// In tokens of the instance's own issuer.
const OWN_ISSUER: &str = "portico";
const OWN_AUDIENCE: &str = "portico";
/// Own tokens are valid for at most this long.
pub const MAX_OWN_LIFETIME: Duration = Duration::from_hours(24);
/// Tokens of the external issuer may expire at most this far ahead.
const MAX_EXTERNAL_LIFETIME: Duration = Duration::from_hours(30 * 24);
/// Tolerated clock difference.
const LEEWAY_SECONDS: u64 = 30;
/// What a token's `typ` may be, if there is one: that of JWTs in general or of access tokens (RFC 9068).
const TOKEN_TYPES: [&str; 2] = ["jwt", "at+jwt"];
const MAX_REMEMBERED_TOKENS: usize = 10_000;
const MAX_DOCUMENT_BYTES: usize = 1 << 20;
/// Between two attempts to read the first keys of an issuer that is discovered.
const DISCOVERY_BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_mins(1) };

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
    /// `None`: discovered, from the issuer's configuration.
    pub jwks_url: Option<String>,
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
    /// `None`: the user is a tenant of their own.
    pub account: Option<AccountId>,
    /// May act for others.
    pub admin: bool,
    /// At most [`MAX_OWN_LIFETIME`].
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
    jti: Option<String>,
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

const NOT_VALID: Error = Error::Unauthenticated(Cow::Borrowed("the bearer token is not valid"));

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

    /// `id` becomes the token's `jti`.
    pub(crate) fn issue(&self, token: &NewToken, id: String, now: Timestamp) -> Result<String> {
        if token.ttl > MAX_OWN_LIFETIME {
            return Err(Error::Bug("a token must not be valid for more than a day".into()));
        }
        let now = now.micros() / 1_000_000;
        let claims = Claims {
            iss: OWN_ISSUER.into(),
            aud: OWN_AUDIENCE.into(),
            sub: token.user.as_str().into(),
            exp: now.saturating_add(seconds(token.ttl)),
            nbf: Some(now),
            iat: Some(now),
            jti: Some(id),
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

    /// False until the keys of a discovered issuer were read once: nobody can sign in before.
    pub(crate) fn are_ready(&self) -> bool {
        self.external.as_ref().is_none_or(|external| !external.awaits_discovery())
    }

    /// Reads the keys of a discovered issuer, until that succeeds once. From then on they are refreshed when they are
    /// used, as those with a configured URL are from the beginning.
    pub(crate) async fn discover(&self) {
        if let Some(external) = &self.external {
            external.discover().await;
        }
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
        check_header(&header)?;
        if header.alg == Algorithm::EdDSA && header.kid.as_deref() == Some(&self.key_id()) {
            let checks = validation(&[Algorithm::EdDSA], OWN_ISSUER, OWN_AUDIENCE);
            let claims = decode(token, &self.verifying, &checks)?;
            if claims.portico_profile.as_deref() != Some(self.profile.name()) {
                return Err(NOT_VALID);
            }
            check_lifetime(&claims, now, MAX_OWN_LIFETIME)?;
            let admin = claims.scope.as_ref().is_some_and(|scope| contains_word(scope, "admin"));
            return actor(&claims, admin);
        }
        let external = self.external.as_ref().ok_or(NOT_VALID)?;
        let (actor, until) = external.verify(token, &header, now).await?;
        Ok((actor, until.min(now.saturating_add(seconds(external.settings.jwks_refresh)))))
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

    async fn verify(self: &Arc<Self>, token: &str, header: &Header, now: i64) -> Result<(Actor, i64)> {
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
        if self.keys().are_older_than(self.settings.jwks_refresh) {
            self.replace_keys().await;
        }
    }

    fn awaits_discovery(&self) -> bool {
        self.settings.jwks_url.is_none() && self.keys().set.is_none()
    }

    async fn discover(&self) {
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

/// Rejects tokens that are something else than access tokens or identity tokens, and those with extensions that must be
/// understood: none are.
fn check_header(header: &Header) -> Result<()> {
    let typ = header.typ.as_deref().map(str::to_ascii_lowercase);
    let is_known = |typ: &String| TOKEN_TYPES.contains(&typ.strip_prefix("application/").unwrap_or(typ));
    if header.crit.is_some() || !typ.as_ref().is_none_or(is_known) {
        return Err(NOT_VALID);
    }
    Ok(())
}

/// A token that expires in the far future is a mistake of its issuer, or no access token.
fn check_lifetime(claims: &Claims, now: i64, longest: Duration) -> Result<()> {
    let longest = seconds(longest);
    let latest = now.saturating_add(longest).saturating_add(LEEWAY_SECONDS.cast_signed());
    let is_too_long = claims.iat.is_some_and(|issued| claims.exp.saturating_sub(issued) > longest);
    if claims.exp > latest || is_too_long { Err(NOT_VALID) } else { Ok(()) }
}

fn seconds(of: Duration) -> i64 {
    i64::try_from(of.as_secs()).unwrap_or(i64::MAX)
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
    let user = UserId::parse(&claims.sub).map_err(|fault| claim_fault("sub", &fault))?;
    let tenant = match claims.account.as_deref().map(AccountId::parse).transpose() {
        Ok(Some(account)) => Tenant::Account(account),
        Ok(None) => Tenant::User(user.clone()),
        Err(fault) => return Err(claim_fault("account", &fault)),
    };
    Ok((Actor::User { user, tenant, admin }, claims.exp))
}

/// Names the rule, never the value.
fn claim_fault(claim: &str, fault: &ValidationError) -> Error {
    Error::Unauthenticated(format!("the bearer token is not valid: its {claim} {fault}").into())
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
            jwks_url: Some(format!("http://{}/keys", silent.local_addr().unwrap())),
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
