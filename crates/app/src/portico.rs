//! The services of one instance over their shared parts.

use std::sync::{Arc, Mutex};

use crate::applications::Applications;
use crate::caller::{Actor, IdempotencyKey};
use crate::core::Core;
use crate::homes::listings::Listings;
use crate::operation::audit::Audit;
use crate::operation::chain::Chain;
use crate::operation::configuration::Configuration;
use crate::operation::maintenance::Maintenance;
use crate::operation::sandbox::Sandbox;
use crate::people::erasure::People;
use crate::people::keys::Keys;
use crate::portfolios::devices::Devices;
use crate::portfolios::user_portfolios::Portfolios;
use crate::profile::{AccessTable, Profile};
use crate::screening::identities::Identities;
use crate::screening::service::Screening;

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
    pub(crate) core: Arc<Core>,
}

impl Portico {
    pub(crate) fn new(core: Core) -> Self {
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

    pub fn access(&self) -> AccessTable {
        self.core.access
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
