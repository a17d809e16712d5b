//! Authenticates callers. Every presented credential must be valid, even where none is needed.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use portico_app::{Actor, Error, Portico};

use crate::access::{BEARER_CHALLENGE, KEY_CHALLENGE, RequiredCredential};
use crate::problem::{Problem, Result};

static API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// If a request has both a token and a key, the operation's need decides which one counts.
pub(crate) async fn authenticate(
    app: &Portico,
    headers: &HeaderMap,
    need: RequiredCredential,
) -> Result<Actor> {
    let unreadable =
        || Problem::unauthenticated(BEARER_CHALLENGE, "a credential is unreadable or given twice");
    let user = match bearer(single(headers, &AUTHORIZATION).map_err(|()| unreadable())?)? {
        Some(token) => {
            let verified = app.keys.verify_token(token).await;
            Some(verified.map_err(|error| challenged(error, BEARER_CHALLENGE))?)
        }
        None => None,
    };
    let key = match single(headers, &API_KEY).map_err(|()| unreadable())? {
        Some(key) => Some(app.keys.verify(key).await.map_err(|error| challenged(error, KEY_CHALLENGE))?),
        None => None,
    };
    Ok(match need {
        RequiredCredential::Key => key.or(user),
        _ => user.or(key),
    }
    .unwrap_or(Actor::Anonymous))
}

fn challenged(error: Error, challenge: &'static str) -> Problem {
    match error {
        Error::Unauthenticated(detail) => Problem::unauthenticated(challenge, detail),
        other => other.into(),
    }
}

fn bearer(authorization: Option<&str>) -> Result<Option<&str>> {
    let Some(value) = authorization else { return Ok(None) };
    bearer_token(value).map(Some).ok_or_else(|| {
        Problem::unauthenticated(BEARER_CHALLENGE, "the Authorization header must be: Bearer <token>")
    })
}

/// However the scheme and the space after it are written.
pub(crate) fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// A header that occurs at most once and contains only visible ASCII.
pub(crate) fn single<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> std::result::Result<Option<&'h str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next().map(|value| value.to_str()), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(text)), None) => Ok(Some(text)),
        _ => Err(()),
    }
}
