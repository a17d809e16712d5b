//! Bearer tokens of the instance's own issuer and of an external one.
//!
//! Checks `typ`, `crit`, `alg`, `exp`, `nbf`, `iss`, `aud` and `sub`. Verified tokens are cached until they expire.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header};
use portico_domain::{AccountId, Timestamp, UserId};
use secrecy::{ExposeSecret, SecretSlice};
use serde_json::{Value, json};

use super::claims::{
    Claims, NOT_VALID, actor, check_header, check_lifetime, contains_word, decode, seconds, validation,
};
use super::external::{External, ExternalIssuer};
use crate::caller::Actor;
use crate::error::{Error, Result};
use crate::profile::Profile;

/// In tokens of the instance's own issuer.
const OWN_ISSUER: &str = "portico";
const OWN_AUDIENCE: &str = "portico";
/// Own tokens are valid for at most this long.
pub const MAX_OWN_LIFETIME: Duration = Duration::from_hours(24);
const MAX_CACHED_TOKENS: usize = 10_000;
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
        if remembered.len() >= MAX_CACHED_TOKENS {
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
