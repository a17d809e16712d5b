//! What tokens claim, and the rules that all of them follow.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation};
use portico_domain::{AccountId, Tenant, UserId, ValidationError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::caller::Actor;
use crate::error::{Error, Result};

/// Tolerated clock difference.
const LEEWAY_SECONDS: u64 = 30;
/// What a token's `typ` may be, if there is one: that of JWTs in general or of access tokens (RFC 9068).
const TOKEN_TYPES: [&str; 2] = ["jwt", "at+jwt"];

pub(super) const NOT_VALID: Error = Error::Unauthenticated(Cow::Borrowed("the bearer token is not valid"));

#[derive(Serialize, Deserialize)]
pub(super) struct Claims {
    pub(super) iss: String,
    pub(super) aud: Value,
    pub(super) sub: String,
    pub(super) exp: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nbf: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) iat: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) jti: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<Value>,
    /// Only in tokens of the own issuer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) portico_profile: Option<String>,
    #[serde(flatten)]
    pub(super) rest: HashMap<String, Value>,
}

/// Rejects tokens that are something else than access tokens or identity tokens, and those with extensions that must be
/// understood: none are.
pub(super) fn check_header(header: &Header) -> Result<()> {
    let typ = header.typ.as_deref().map(str::to_ascii_lowercase);
    let is_known = |typ: &String| TOKEN_TYPES.contains(&typ.strip_prefix("application/").unwrap_or(typ));
    if header.crit.is_some() || !typ.as_ref().is_none_or(is_known) {
        return Err(NOT_VALID);
    }
    Ok(())
}

/// A token that expires in the far future is a mistake of its issuer, or no access token.
pub(super) fn check_lifetime(claims: &Claims, now: i64, longest: Duration) -> Result<()> {
    let longest = seconds(longest);
    let latest = now.saturating_add(longest).saturating_add(LEEWAY_SECONDS.cast_signed());
    let is_too_long = claims.iat.is_some_and(|issued| claims.exp.saturating_sub(issued) > longest);
    if claims.exp > latest || is_too_long { Err(NOT_VALID) } else { Ok(()) }
}

pub(super) fn seconds(of: Duration) -> i64 {
    i64::try_from(of.as_secs()).unwrap_or(i64::MAX)
}

pub(super) fn validation(algorithms: &[Algorithm], issuer: &str, audience: &str) -> Validation {
    let mut checks = Validation::new(algorithms.first().copied().unwrap_or(Algorithm::EdDSA));
    checks.algorithms = algorithms.to_vec();
    checks.leeway = LEEWAY_SECONDS;
    checks.validate_nbf = true;
    checks.set_issuer(&[issuer]);
    checks.set_audience(&[audience]);
    checks.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    checks
}

pub(super) fn decode(token: &str, key: &DecodingKey, checks: &Validation) -> Result<Claims> {
    jsonwebtoken::decode::<Claims>(token, key, checks).map(|data| data.claims).map_err(|_| NOT_VALID)
}

pub(super) fn actor(claims: &Claims, admin: bool) -> Result<(Actor, i64)> {
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
pub(super) fn contains_word(claim: &Value, word: &str) -> bool {
    match claim {
        Value::String(words) => words.split_ascii_whitespace().any(|one| one == word),
        Value::Array(words) => words.iter().any(|one| one.as_str() == Some(word)),
        _ => false,
    }
}
