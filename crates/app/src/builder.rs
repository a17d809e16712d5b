//! Builds the application, for the server, for commands and for tests.

use std::sync::Arc;

use portico_chain::block_cache::BlockCache;
use portico_domain::Country;
use portico_store::Db;

use crate::applications::Orphans;
use crate::clock::{CalendarClock, Ids, RandomIds, Randomness, SystemClock, SystemRandomness};
use crate::core::Core;
use crate::operation::audit::{AuditAlarm, AuditVerification};
use crate::operation::chain::ChainWriter;
use crate::operation::configuration::Setting;
use crate::operation::readiness::WriteProof;
use crate::people::budgets::{Budgets, ChainReaders};
use crate::people::keystore::Keystore;
use crate::people::tokens::Tokens;
use crate::people::vault::Vault;
use crate::portico::Portico;
use crate::profile::{AccessTable, Profile};
use crate::screening::consents::Consents;
use crate::screening::service::Bureaus;

const DEFAULT_RETENTION_DAYS: u32 = 30;

/// What every application needs; the rest has defaults.
#[derive(Debug)]
pub struct Parts {
    pub db: Db,
    pub profile: Profile,
    pub vault: Vault,
    pub tokens: Tokens,
    pub bureaus: Bureaus,
}

/// Without a keystore and a chain until they are added.
#[derive(Debug)]
pub struct Builder(Core);

impl Builder {
    pub fn new(Parts { db, profile, vault, tokens, bureaus }: Parts) -> Self {
        Self(Core {
            db,
            clock: CalendarClock::new(Arc::new(SystemClock)),
            ids: Arc::new(RandomIds),
            randomness: Arc::new(SystemRandomness),
            vault: Arc::new(vault),
            tokens,
            profile,
            access: profile.into(),
            country: Country::stored("US"),
            keystore: None,
            bureaus,
            consents: Consents::default(),
            retention_days: DEFAULT_RETENTION_DAYS.into(),
            chain: None,
            budgets: Budgets::default(),
            chain_readers: ChainReaders::new(0),
            final_blocks: BlockCache::default(),
            write_proof: WriteProof::default(),
            audit_alarm: AuditAlarm::default(),
            audit_verification: AuditVerification::default(),
            settings: Vec::new(),
            orphans: Orphans::default(),
        })
    }

    /// Replaces the profile's own table.
    #[must_use]
    pub fn access(self, access: AccessTable) -> Self {
        Self(Core { access, ..self.0 })
    }

    #[must_use]
    pub fn clock(self, clock: CalendarClock) -> Self {
        Self(Core { clock, ..self.0 })
    }

    /// Replaces random ids.
    #[must_use]
    pub fn ids(self, ids: Arc<dyn Ids>) -> Self {
        Self(Core { ids, ..self.0 })
    }

    #[must_use]
    pub fn randomness(self, randomness: Arc<dyn Randomness>) -> Self {
        Self(Core { randomness, ..self.0 })
    }

    /// For listings that name no country.
    #[must_use]
    pub fn country(self, country: Country) -> Self {
        Self(Core { country, ..self.0 })
    }

    #[must_use]
    pub fn keystore(self, keystore: Keystore) -> Self {
        Self(Core { keystore: Some(keystore), ..self.0 })
    }

    #[must_use]
    pub fn consents(self, consents: Consents) -> Self {
        Self(Core { consents, ..self.0 })
    }

    /// How long a verification's inputs are kept.
    #[must_use]
    pub fn retention_days(self, days: u32) -> Self {
        Self(Core { retention_days: days.into(), ..self.0 })
    }

    #[must_use]
    pub fn chain(self, chain: ChainWriter) -> Self {
        Self(Core { chain: Some(chain), ..self.0 })
    }

    #[must_use]
    pub fn budgets(self, budgets: Budgets) -> Self {
        Self(Core { budgets, chain_readers: ChainReaders::new(budgets.chain_reads), ..self.0 })
    }

    /// The settings in force, without secrets.
    #[must_use]
    pub fn settings(self, settings: Vec<Setting>) -> Self {
        Self(Core { settings, ..self.0 })
    }

    pub fn build(self) -> Portico {
        Portico::new(self.0)
    }
}
