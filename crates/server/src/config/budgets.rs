//! Budgets of what costs money. A sandbox has none: its bureau and its chain are its own.

use portico_app::Profile;
use portico_app::budgets::{Budgets, DailyLimits};

use super::Settings;

const LIVE_BUDGETS: Budgets = Budgets {
    checks: DailyLimits { person: 40, account: 2_000 },
    records: DailyLimits { person: 500, account: 5_000 },
    chain_reads: 100,
};

pub(super) fn budgets(settings: &Settings) -> Budgets {
    let default = match settings.profile_or_sandbox() {
        Profile::Sandbox => Budgets::default(),
        Profile::Live => LIVE_BUDGETS,
    };
    Budgets {
        checks: DailyLimits {
            person: settings.checks_per_person.unwrap_or(default.checks.person),
            account: settings.checks_per_account.unwrap_or(default.checks.account),
        },
        records: DailyLimits {
            person: settings.records_per_person.unwrap_or(default.records.person),
            account: settings.records_per_account.unwrap_or(default.records.account),
        },
        chain_reads: settings.chain_reads.unwrap_or(default.chain_reads),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ProfileName;
    use super::*;

    #[test]
    fn live_has_budgets_by_default_and_a_setting_changes_one() {
        assert_eq!(budgets(&Settings::default()), Budgets::default());
        let live = Settings { profile: Some(ProfileName::Live), ..Settings::default() };
        assert_eq!(budgets(&live), LIVE_BUDGETS);
        let changed = budgets(&Settings { checks_per_person: Some(0), ..live });
        assert_eq!(
            changed,
            Budgets { checks: DailyLimits { person: 0, ..LIVE_BUDGETS.checks }, ..LIVE_BUDGETS }
        );
    }
}
