//! Assigns bureaus to checks.

use std::sync::Arc;

use crate::{Bureau, Check, Sandbox};

#[derive(Clone)]
pub struct Routing {
    eviction: Arc<dyn Bureau>,
    income: Arc<dyn Bureau>,
    soft_credit: Arc<dyn Bureau>,
    criminal_background: Arc<dyn Bureau>,
}

impl Routing {
    pub fn all(bureau: Arc<dyn Bureau>) -> Self {
        Self {
            eviction: Arc::clone(&bureau),
            income: Arc::clone(&bureau),
            soft_credit: Arc::clone(&bureau),
            criminal_background: bureau,
        }
    }

    #[must_use]
    pub fn with(mut self, check: Check, bureau: Arc<dyn Bureau>) -> Self {
        let place = match check {
            Check::Eviction => &mut self.eviction,
            Check::Income => &mut self.income,
            Check::SoftCredit => &mut self.soft_credit,
            Check::CriminalBackground => &mut self.criminal_background,
        };
        *place = bureau;
        self
    }

    pub fn bureau(&self, check: Check) -> &Arc<dyn Bureau> {
        match check {
            Check::Eviction => &self.eviction,
            Check::Income => &self.income,
            Check::SoftCredit => &self.soft_credit,
            Check::CriminalBackground => &self.criminal_background,
        }
    }

    /// Checks that the sandbox serves; a live instance must have none.
    pub fn in_sandbox(&self) -> Vec<Check> {
        Check::ALL.into_iter().filter(|&check| self.bureau(check).name() == Sandbox::NAME).collect()
    }
}

impl std::fmt::Debug for Routing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(Check::ALL.map(|check| (check.name(), self.bureau(check).name()))).finish()
    }
}
