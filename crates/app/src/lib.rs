//! The use cases: one service per area, one file per service. All surfaces call these; only this crate combines the
//! store, the chain and the screening.
//!
//! Every public method of a service takes a [`Call`] (caller and idempotency key) and authorises its caller, unless
//! everybody may call it. Exceptions: authentication (`Keys::verify`, `verify_token`, `jwks`), the readers that an
//! authorised call returns (`AuditReader`, `KeyReader`), `Listings::new_id`, flags without data (`Audit::is_altered`,
//! `Audit::knows_key`), the accessors of [`Portico`], and [`Maintenance`], the background work, which no request
//! calls.

pub mod access;
mod applicant_identity;
pub mod applications;
pub mod audit;
pub mod budgets;
mod builder;
pub mod bureaus;
pub mod chain;
pub mod chain_queue;
mod checks;
pub mod claims;
pub mod clock;
pub mod configuration;
pub mod consents;
mod core;
pub mod demo;
pub mod devices;
mod discovery;
mod disputes;
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
pub mod sandbox;
mod saved;
pub mod screening;
pub mod templates;
pub mod tokens;
mod transactions;
pub mod vault;
mod verifications;
mod wished_wallets;

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use portico_domain::Country;

use crate::core::Core;
pub use access::Actor;
pub use applications::Applications;
pub use audit::Audit;
pub use builder::{Builder, Parts};
pub use chain::Chain;
pub use configuration::Configuration;
pub use devices::Devices;
pub use error::{Error, Result};
pub use identities::Identities;
pub use keys::Keys;
pub use listings::{ListingDetails, Listings};
pub use maintenance::Maintenance;
pub use people::People;
pub use portfolios::Portfolios;
pub use portico_store::{Cursor, ListingVersion, Page};
pub use sandbox::Sandbox;
pub use screening::Screening;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// For trials: mostly open, on loopback only.
    Sandbox,
    /// For production.
    Live,
}

impl Profile {
    /// The name on the command line and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Live => "live",
        }
    }

    const fn key_prefix(self) -> &'static str {
        match self {
            Self::Sandbox => "test",
            Self::Live => "live",
        }
    }
}

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
    pub configuration: Configuration,
    pub sandbox: Sandbox,
    pub maintenance: Maintenance,
    core: Arc<Core>,
}

impl Portico {
    fn new(core: Core) -> Self {
        let core = Arc::new(core);
        Self {
            listings: Listings::new(core.clone()),
            applications: Applications { core: core.clone() },
            screening: Screening { core: core.clone() },
            identities: Identities { core: core.clone() },
            chain: Chain { core: core.clone() },
            portfolios: Portfolios { core: core.clone() },
            devices: Devices { core: core.clone() },
            keys: Keys { core: core.clone(), uses_noted: Mutex::default() },
            people: People { core: core.clone() },
            audit: Audit { core: core.clone() },
            configuration: Configuration { core: core.clone() },
            sandbox: Sandbox { core: core.clone() },
            maintenance: Maintenance { core: core.clone() },
            core,
        }
    }

    pub fn profile(&self) -> Profile {
        self.core.profile
    }

    /// For listings that name no country.
    pub fn country(&self) -> &Country {
        &self.core.country
    }

    /// Digests a request's idempotency key with its scope (caller and operation), and the request itself.
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

#[derive(Debug, Clone)]
pub struct Call {
    pub actor: Actor,
    /// The idempotency key, if the caller sent one.
    pub idempotency_key: Option<IdempotencyKey>,
    /// The caller's network, where one is known: what an anonymous caller uses is counted by it.
    pub network: Option<IpAddr>,
}

impl Call {
    pub const fn new(actor: Actor) -> Self {
        Self { actor, idempotency_key: None, network: None }
    }
}

/// Both parts are digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// Caller, route and key.
    pub scope: [u8; 32],
    pub fingerprint: [u8; 32],
}
