//! The use cases: one service per area, one file per service. All surfaces call these; this is the only place where
//! the store, the chain and the screening meet.
//!
//! Every public method takes a [`Call`] (who asks, and under which idempotency key), checks that the caller may do it,
//! and runs one unit of work. What the service does by itself is in [`Maintenance`].

pub mod access;
pub mod applications;
mod attestations;
pub mod audit;
pub mod chain;
mod checks;
pub mod clock;
mod core;
pub mod demo;
pub mod devices;
mod error;
pub mod identities;
pub mod keys;
pub mod keystore;
mod listing_records;
pub mod listings;
pub mod maintenance;
pub mod people;
mod pipelines;
pub mod portfolios;
pub mod readiness;
mod requirements;
mod results;
mod saved;
pub mod templates;
pub mod tokens;
pub mod vault;
pub mod verifications;

use std::sync::Arc;

use portico_domain::Country;

pub use crate::core::Core;
pub use access::Actor;
pub use applications::Applications;
pub use audit::Audit;
pub use chain::Chain;
pub use devices::Devices;
pub use error::{Error, Result};
pub use identities::Identities;
pub use keys::Keys;
pub use listings::Listings;
pub use maintenance::Maintenance;
pub use people::People;
pub use portfolios::Portfolios;
pub use portico_store::{Cursor, Page};
pub use verifications::Screening;

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

/// The application: its services.
#[derive(Debug)]
pub struct Portico {
    pub listings: Listings,
    pub applications: Applications,
    pub screening: Screening,
    pub identities: Identities,
    pub chain: Chain,
    pub portfolios: Portfolios,
    pub devices: Devices,
    pub keys: Keys,
    pub people: People,
    pub audit: Audit,
    pub maintenance: Maintenance,
    core: Arc<Core>,
}

impl Portico {
    pub fn new(core: Core) -> Self {
        let core = Arc::new(core);
        Self {
            listings: Listings { core: core.clone() },
            applications: Applications { core: core.clone() },
            screening: Screening { core: core.clone() },
            identities: Identities { core: core.clone() },
            chain: Chain { core: core.clone() },
            portfolios: Portfolios { core: core.clone() },
            devices: Devices { core: core.clone() },
            keys: Keys { core: core.clone() },
            people: People { core: core.clone() },
            audit: Audit { core: core.clone() },
            maintenance: Maintenance { core: core.clone() },
            core,
        }
    }

    pub fn profile(&self) -> Profile {
        self.core.profile
    }

    /// The country of listings that name none.
    pub fn country(&self) -> &Country {
        &self.core.country
    }

    /// A request's idempotency key, digested with its scope (who calls, and which operation), and the digest of
    /// the request itself.
    pub fn idempotency_key(
        &self,
        actor: &Actor,
        route: &str,
        key: &str,
        request: &[&[u8]],
    ) -> IdempotencyKey {
        let (vault, caller) = (&self.core.vault, actor.name());
        IdempotencyKey {
            scope: vault.digest(&[b"scope", caller.as_bytes(), route.as_bytes(), key.as_bytes()]),
            fingerprint: vault.digest(&[&[b"request".as_slice()], request].concat()),
        }
    }
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
