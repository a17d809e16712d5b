//! Builds the application, for the server, for commands and for tests.

use std::sync::Arc;

use portico_domain::Country;
use portico_store::Db;

use crate::applications::orphans::Orphans;
use crate::clock::{CalendarClock, Ids, RandomIds, Randomness, SystemClock, SystemRandomness};
use crate::core::Core;
use crate::operation::chain_parts::{ChainParts, ChainWriter};
use crate::operation::parts::OperationParts;
use crate::operation::settings::Setting;
use crate::people::keystore::Keystore;
use crate::people::limits::{Budgets, ChainReaders};
use crate::people::parts::PeopleParts;
use crate::people::tokens::Tokens;
use crate::people::vault::Vault;
use crate::portico::Portico;
use crate::profile::{AccessTable, Profile};
use crate::screening::consent_texts::Consents;
use crate::screening::parts::{Bureaus, ScreeningParts};

const DEFAULT_RETENTION_DAYS: u32 = 30;
const DEFAULT_DISCLOSURES_PER_PERSON: u32 = 40;

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
            profile,
            access: profile.into(),
            country: Country::stored("US"),
            people: PeopleParts {
                keystore: None,
                tokens,
                budgets: Budgets::default(),
                chain_readers: ChainReaders::new(0),
            },
            screening: ScreeningParts {
                bureaus,
                consents: Consents::default(),
                retention_days: DEFAULT_RETENTION_DAYS.into(),
                disclosures_per_person: DEFAULT_DISCLOSURES_PER_PERSON.into(),
                requires_conditions: false,
            },
            orphans: Orphans::default(),
            chain: ChainParts::default(),
            operation: OperationParts::default(),
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
    pub fn keystore(mut self, keystore: Keystore) -> Self {
        self.0.people.keystore = Some(keystore);
        self
    }

    #[must_use]
    pub fn consents(mut self, consents: Consents) -> Self {
        self.0.screening.consents = consents;
        self
    }

    /// The most different sets of terms that owners learn something about, per person in 30 days.
    #[must_use]
    pub fn disclosures_per_person(mut self, limit: u32) -> Self {
        self.0.screening.disclosures_per_person = limit.into();
        self
    }

    /// Whether applicants must have seen the conditions that they apply under.
    #[must_use]
    pub fn require_conditions(mut self, required: bool) -> Self {
        self.0.screening.requires_conditions = required;
        self
    }

    /// How long records of flags wait for each other.
    #[must_use]
    pub fn flag_interval_seconds(mut self, seconds: u32) -> Self {
        self.0.chain.flag_interval_seconds = seconds.into();
        self
    }

    /// How long a verification's inputs are kept.
    #[must_use]
    pub fn retention_days(mut self, days: u32) -> Self {
        self.0.screening.retention_days = days.into();
        self
    }

    #[must_use]
    pub fn chain(mut self, chain: ChainWriter) -> Self {
        self.0.chain.writer = Some(chain);
        self
    }

    #[must_use]
    pub fn budgets(mut self, budgets: Budgets) -> Self {
        self.0.people.budgets = budgets;
        self.0.people.chain_readers = ChainReaders::new(budgets.chain_reads);
        self
    }

    /// The settings in force, without secrets.
    #[must_use]
    pub fn settings(mut self, settings: Vec<Setting>) -> Self {
        self.0.operation.settings = settings;
        self
    }

    pub fn build(self) -> Portico {
        Portico::new(self.0)
    }
}
