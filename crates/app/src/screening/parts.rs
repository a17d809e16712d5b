//! The bureaus and the rules that every verification shares.

use portico_screening::{Runner, config};

use crate::screening::consent_texts::Consents;

#[derive(Debug)]
pub(crate) struct ScreeningParts {
    pub(crate) bureaus: Bureaus,
    pub(crate) consents: Consents,
    /// How long a verification's inputs are kept.
    pub(crate) retention_days: i64,
    /// The most different sets of terms that owners learn something about, per person in 30 days.
    pub(crate) disclosures_per_person: i64,
    /// Whether applicants must have seen the conditions that they apply under.
    pub(crate) requires_conditions: bool,
}

#[derive(Debug)]
pub struct Bureaus {
    pub(crate) runner: Runner,
    pub(crate) screening: config::Screening,
}

impl Bureaus {
    pub fn new(screening: config::Screening) -> Self {
        Self { runner: Runner::new(&screening.routing, screening.policy), screening }
    }

    /// For metrics.
    pub fn runner(&self) -> &Runner {
        &self.runner
    }
}
