//! The access table: which credential each operation needs. Use cases check ownership themselves.

use portico_app::{Actor, Profile};

use crate::problem::{Problem, Result};

/// The credential that an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// None. A credential that is presented must still be valid.
    Nothing,
    Bearer,
    /// A bearer token, or an API key without an owner.
    BearerOrOperator,
    Key,
    /// A bearer token or an API key.
    SignedIn,
    /// A token with the scope `admin`, or an API key without an owner.
    Operator,
    /// None; but a caller who signs in must be the operator.
    OperatorOrNobody,
}

/// What each profile requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub sandbox: Need,
    pub live: Need,
}

const fn row(sandbox: Need, live: Need) -> Access {
    Access { sandbox, live }
}

pub(crate) const PUBLIC: Access = row(Need::Nothing, Need::Nothing);
/// Revoking a key: one's own, or for the operator any.
pub(crate) const BEARER_OR_OPERATOR: Access = row(Need::BearerOrOperator, Need::BearerOrOperator);
/// A user's own data: listings, portfolios, devices, applications by path.
pub(crate) const OWNED: Access = row(Need::Nothing, Need::SignedIn);
/// Pipelines, identities, verifications, and a person's own keys.
pub(crate) const BEARER: Access = row(Need::Bearer, Need::Bearer);
/// Requirements records, devices of a network, device statistics, metrics.
pub(crate) const OPERATORS: Access = row(Need::Nothing, Need::Operator);
/// What belongs to the service itself, also in a sandbox: audit log, everybody's keys, queue, bureaus, configuration.
pub(crate) const OPERATORS_ONLY: Access = row(Need::Operator, Need::Operator);
/// Applications and applicants.
pub(crate) const SIGNED_IN: Access = row(Need::SignedIn, Need::SignedIn);
pub(crate) const KEY: Access = row(Need::Key, Need::Key);
/// Writes of predefined portfolios.
pub(crate) const CATALOGUE: Access = row(Need::OperatorOrNobody, Need::Operator);

/// Challenges for `WWW-Authenticate`.
pub(crate) const BEARER_CHALLENGE: &str = "Bearer";
pub(crate) const KEY_CHALLENGE: &str = "ApiKey header=\"X-API-Key\"";
const EITHER_CHALLENGE: &str = "Bearer, ApiKey header=\"X-API-Key\"";

impl Access {
    pub fn need(self, profile: Profile) -> Need {
        match profile {
            Profile::Sandbox => self.sandbox,
            Profile::Live => self.live,
        }
    }

    /// Rejects callers without the needed credential.
    pub(crate) fn check(self, profile: Profile, actor: &Actor) -> Result<()> {
        let need = self.need(profile);
        let missing = match (need, actor) {
            // Not reachable over HTTP.
            (_, Actor::Operator) => return Ok(()),
            (Need::Nothing, _) | (Need::OperatorOrNobody, Actor::Anonymous) => return Ok(()),
            (Need::Bearer | Need::BearerOrOperator, Actor::User { .. }) => return Ok(()),
            (Need::Key, Actor::Key { .. }) => return Ok(()),
            (Need::SignedIn, Actor::User { .. } | Actor::Key { .. }) => return Ok(()),
            (Need::Operator | Need::OperatorOrNobody | Need::BearerOrOperator, actor)
                if actor.is_operator() =>
            {
                return Ok(());
            }
            (Need::Operator | Need::OperatorOrNobody, Actor::User { .. } | Actor::Key { .. }) => {
                let problem = Problem::from(portico_app::Error::Forbidden("this is for the operator"));
                return Err(problem);
            }
            (Need::Bearer | Need::BearerOrOperator, _) => (BEARER_CHALLENGE, "a bearer token is needed"),
            (Need::Key, _) => (KEY_CHALLENGE, "an API key is needed: X-API-Key"),
            (Need::SignedIn | Need::Operator, Actor::Anonymous) => {
                (EITHER_CHALLENGE, "a bearer token or an API key is needed")
            }
        };
        Err(Problem::unauthenticated(missing.0, missing.1))
    }
}
