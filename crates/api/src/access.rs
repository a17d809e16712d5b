//! The access table: which credential each operation needs. Use cases check ownership themselves.

use portico_app::{AccessTable, Actor};

use crate::problem::{Problem, Result};

/// The credential that an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredCredential {
    /// None. A credential that is presented must still be valid.
    None,
    Bearer,
    /// A bearer token, or an API key without an owner.
    BearerOrOperator,
    Key,
    /// A bearer token or an API key.
    SignedIn,
    /// A token with the scope `admin`, or an API key without an owner.
    Operator,
    /// None; but a caller who signs in must be the operator.
    AnonymousOrOperator,
}

impl RequiredCredential {
    /// For the document.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::None => "Anyone may call it; a credential that is sent must be valid.",
            Self::Bearer => "Needs a bearer token.",
            Self::BearerOrOperator => "Needs a bearer token, or the API key of an operator.",
            Self::Key => "Needs an API key.",
            Self::SignedIn => "Needs a bearer token or an API key.",
            Self::Operator => "Needs the bearer token or the API key of an operator.",
            Self::AnonymousOrOperator => {
                "Anyone may call it without a credential; one that is sent must be an operator's."
            }
        }
    }
}

/// What each table requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub open: RequiredCredential,
    pub live: RequiredCredential,
}

const fn row(open: RequiredCredential, live: RequiredCredential) -> Access {
    Access { open, live }
}

pub(crate) const PUBLIC: Access = row(RequiredCredential::None, RequiredCredential::None);
/// Revoking a key: one's own, or for the operator any.
pub(crate) const BEARER_OR_OPERATOR: Access =
    row(RequiredCredential::BearerOrOperator, RequiredCredential::BearerOrOperator);
/// A user's own data: listings, portfolios, devices, applications by path.
pub(crate) const OWNED: Access = row(RequiredCredential::None, RequiredCredential::SignedIn);
/// Pipelines, identities, verifications, and a person's own keys.
pub(crate) const BEARER: Access = row(RequiredCredential::Bearer, RequiredCredential::Bearer);
/// Requirements records, devices of a network, device statistics, metrics.
pub(crate) const OPERATORS: Access = row(RequiredCredential::None, RequiredCredential::Operator);
/// What belongs to the service itself, also in a sandbox: audit log, everybody's keys, queue, bureaus, configuration.
pub(crate) const OPERATORS_ONLY: Access = row(RequiredCredential::Operator, RequiredCredential::Operator);
/// Applications and applicants.
pub(crate) const SIGNED_IN: Access = row(RequiredCredential::SignedIn, RequiredCredential::SignedIn);
pub(crate) const KEY: Access = row(RequiredCredential::Key, RequiredCredential::Key);
/// Writes of predefined portfolios.
pub(crate) const CATALOGUE: Access =
    row(RequiredCredential::AnonymousOrOperator, RequiredCredential::Operator);

/// Challenges for `WWW-Authenticate`.
pub(crate) const BEARER_CHALLENGE: &str = "Bearer";
pub(crate) const KEY_CHALLENGE: &str = "ApiKey header=\"X-API-Key\"";
const EITHER_CHALLENGE: &str = "Bearer, ApiKey header=\"X-API-Key\"";

impl Access {
    pub fn need(self, table: AccessTable) -> RequiredCredential {
        match table {
            AccessTable::Open => self.open,
            AccessTable::Live => self.live,
        }
    }

    /// Rejects callers without the needed credential.
    pub(crate) fn check(self, table: AccessTable, actor: &Actor) -> Result<()> {
        let need = self.need(table);
        let missing = match (need, actor) {
            // Not reachable over HTTP.
            (_, Actor::Operator) => return Ok(()),
            (RequiredCredential::None, _) | (RequiredCredential::AnonymousOrOperator, Actor::Anonymous) => {
                return Ok(());
            }
            (RequiredCredential::Bearer | RequiredCredential::BearerOrOperator, Actor::User { .. }) => {
                return Ok(());
            }
            (RequiredCredential::Key, Actor::Key { .. }) => return Ok(()),
            (RequiredCredential::SignedIn, Actor::User { .. } | Actor::Key { .. }) => return Ok(()),
            (
                RequiredCredential::Operator
                | RequiredCredential::AnonymousOrOperator
                | RequiredCredential::BearerOrOperator,
                actor,
            ) if actor.is_operator() => {
                return Ok(());
            }
            (
                RequiredCredential::Operator | RequiredCredential::AnonymousOrOperator,
                Actor::User { .. } | Actor::Key { .. },
            ) => {
                let problem = Problem::from(portico_app::Error::Forbidden("this is for the operator"));
                return Err(problem);
            }
            (RequiredCredential::Bearer | RequiredCredential::BearerOrOperator, _) => {
                (BEARER_CHALLENGE, "a bearer token is needed")
            }
            (RequiredCredential::Key, _) => (KEY_CHALLENGE, "an API key is needed: X-API-Key"),
            (RequiredCredential::SignedIn | RequiredCredential::Operator, Actor::Anonymous) => {
                (EITHER_CHALLENGE, "a bearer token or an API key is needed")
            }
        };
        Err(Problem::unauthenticated(missing.0, missing.1))
    }
}
