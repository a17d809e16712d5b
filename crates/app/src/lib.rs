//! The use cases, one file per area. All surfaces call these; this is the only place where the store and the
//! chain and the screening meet.
//!
//! A use case takes a [`Call`] (who asks, and under which idempotency key), checks that the caller may do it,
//! and runs one unit of work.

pub mod access;
pub mod applications;
mod attestations;
pub mod audit;
pub mod chain;
pub mod clock;
pub mod demo;
pub mod devices;
mod error;
mod identities;
pub mod keys;
pub mod keystore;
pub mod listings;
mod people;
pub mod pipelines;
pub mod portfolios;
pub mod readiness;
pub mod requirements;
pub mod saved;
pub mod templates;
pub mod tokens;
pub mod vault;
pub mod verifications;

use std::sync::Arc;

use portico_domain::{Country, Text};
use portico_store::sql::Op;
use portico_store::{Answering, ChangeContext, Db, Idempotent};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use access::Actor;
pub use error::{Error, Result};

use clock::{Clock, Ids};
use keystore::Keystore;
use tokens::Tokens;
use vault::Vault;
use verifications::Bureaus;

/// What kind of instance this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// For trying things out: mostly open, on loopback only.
    Sandbox,
    /// For people and money.
    Live,
}

impl Profile {
    /// Its name, as the command line and the database have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Live => "live",
        }
    }

    /// How its API keys begin.
    const fn key_prefix(self) -> &'static str {
        match self {
            Self::Sandbox => "test",
            Self::Live => "live",
        }
    }
}

/// The application: everything that the use cases need.
#[derive(Debug)]
pub struct Portico {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub vault: Arc<Vault>,
    pub tokens: Tokens,
    /// What kind of instance this is.
    pub profile: Profile,
    /// The country of listings that name none.
    pub country: Country,
    /// The keys of people; a command that needs none has none.
    pub keystore: Option<Keystore>,
    /// What runs the checks of applicants.
    pub bureaus: Bureaus,
    /// For how many days the inputs of a verification are kept.
    pub retention_days: i64,
    /// The chain; a command beside the server has none.
    pub chain: Option<chain::Chain>,
    /// The last proof that the database can be written.
    pub write_proof: readiness::WriteProof,
}

/// One request to a use case.
#[derive(Debug, Clone)]
pub struct Call {
    pub actor: Actor,
    /// The key under which it must be done only once, and what was asked.
    pub once: Option<IdempotencyKey>,
}

/// An idempotency key, digested together with its scope, and the request's own digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// Caller, route and key.
    pub scope: [u8; 32],
    pub fingerprint: [u8; 32],
}

/// Work whose answer is known beforehand, such as a new id: if it is asked for again under the same key, the
/// first answer is given, not the new one.
fn answering<O: Op<Out = ()>, A>(op: O, answer: A) -> Answering<O, A> {
    Answering { op, answer }
}

impl Portico {
    /// Who changes something, and when, for the event row.
    fn by(&self, call: &Call) -> ChangeContext {
        ChangeContext { account: call.actor.account(), at: self.clock.now() }
    }

    /// Runs a unit of work; once only, if the call has a key.
    async fn write<O: Op<Out: Serialize + DeserializeOwned + Sync>>(
        &self,
        call: &Call,
        op: O,
    ) -> Result<O::Out> {
        self.remember_account(&call.actor).await?;
        Ok(match call.once {
            None => self.db.write(op).await?,
            Some(once) => self.db.write(Idempotent { op, key: self.once(once) }).await?,
        })
    }

    /// The key as the store takes it.
    fn once(&self, IdempotencyKey { scope, fingerprint }: IdempotencyKey) -> portico_store::IdempotencyKey {
        portico_store::IdempotencyKey { scope, fingerprint, at: self.clock.now(), seal: self.vault.clone() }
    }

    /// The keys of people.
    pub fn keystore(&self) -> Result<&Keystore> {
        self.keystore.as_ref().ok_or_else(|| Error::Unavailable("there is no keystore here".into()))
    }

    pub fn new_id<K: portico_domain::text::Kind>(&self) -> Text<K> {
        Text::stored(self.ids.next())
    }

    /// Removes what is no longer kept. Meant to be called from time to time.
    pub async fn tidy(&self) -> Result<()> {
        while self.db.write(portico_store::Forget { at: self.clock.now() }).await? > 0 {}
        self.forget_inputs().await?;
        self.apply_erasures().await?;
        self.anchor_audit().await?;
        self.keystore()?.scrub().await
    }
}
