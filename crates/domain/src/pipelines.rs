//! Verification pipelines: which checks an account requires of its applicants.

use crate::{ClientId, Country};

/// All fields are optional; a write changes only the fields it names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// The name that clients use; unique among all accounts.
    pub client: Option<ClientId>,
    pub eviction: Option<bool>,
    pub income: Option<bool>,
    pub soft_credit: Option<bool>,
    pub criminal_background: Option<bool>,
    /// The country whose rules apply.
    pub country: Option<Country>,
}

impl Pipeline {
    #[must_use]
    pub fn changed_by(self, change: Self) -> Self {
        Self {
            client: change.client.or(self.client),
            eviction: change.eviction.or(self.eviction),
            income: change.income.or(self.income),
            soft_credit: change.soft_credit.or(self.soft_credit),
            criminal_background: change.criminal_background.or(self.criminal_background),
            country: change.country.or(self.country),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_write_changes_only_what_it_names() {
        let before = Pipeline { eviction: Some(true), income: Some(true), ..Pipeline::default() };
        let change = Pipeline { income: Some(false), ..Pipeline::default() };
        let after = Pipeline { eviction: Some(true), income: Some(false), ..Pipeline::default() };
        assert_eq!(before.changed_by(change), after);
    }
}
