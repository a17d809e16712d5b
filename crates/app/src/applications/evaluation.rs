//! What an application's flags and checks say: its frozen terms and checks against its report.

use portico_domain::chain::{Passes, Terms};
use portico_domain::{Credit, Income, Timestamp};
use portico_records::CheckFlags;
use portico_screening::Check;
use serde::Serialize;
use utoipa::ToSchema;

use super::report::ReportFindings;

/// How a required check stands. Of income and credit, passing is reaching the minimum of the terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    Passed,
    NotPassed,
    Missing,
    Expired,
    /// The applicant disputes the finding.
    Disputed,
}

impl CheckStatus {
    pub(crate) const fn is_valid(self) -> bool {
        matches!(self, Self::Passed | Self::NotPassed | Self::Disputed)
    }
}

/// A required check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckState {
    pub check: Check,
    pub status: CheckStatus,
    pub expires_at: Option<Timestamp>,
}

/// An application's flags and checks at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    pub checks: Vec<CheckState>,
    /// Every required check has a valid finding.
    pub complete: bool,
    /// `None`: there is nothing to attest.
    pub flags: Option<CheckFlags>,
    /// Whether flags or checks reveal anything about score or income.
    pub(crate) discloses: bool,
}

impl Evaluation {
    pub(crate) fn new(
        terms: Option<&Terms>,
        required: &[Check],
        findings: &ReportFindings,
        now: Timestamp,
    ) -> Self {
        let checks: Vec<CheckState> =
            required.iter().map(|check| state(*check, terms, findings, now)).collect();
        let complete = checks.iter().all(|state| state.status.is_valid());
        let flags = if complete { flags(terms, required, findings, now) } else { None };
        let has_values = (required.contains(&Check::SoftCredit) && findings.credit(now).is_some())
            || (required.contains(&Check::Income) && findings.income(now).is_some());
        Self { checks, complete, flags, discloses: terms.is_some() && has_values }
    }

    /// Of an application that has ended.
    pub(crate) fn nothing() -> Self {
        Self { checks: Vec::new(), complete: false, flags: None, discloses: false }
    }

    /// What may be shown while nothing about score and income may be.
    #[must_use]
    pub(crate) fn undisclosed(mut self) -> Self {
        for state in &mut self.checks {
            if matches!(state.check, Check::Income | Check::SoftCredit) && state.status.is_valid() {
                *state = CheckState { status: CheckStatus::Missing, expires_at: None, ..state.clone() };
                self.complete = false;
            }
        }
        Self { flags: None, ..self }
    }
}

/// Income and credit pass at the frozen minimum, so that a check reveals no more than the flags.
fn state(check: Check, terms: Option<&Terms>, findings: &ReportFindings, now: Timestamp) -> CheckState {
    let Some(report) = findings.report(check) else {
        return CheckState { check, status: CheckStatus::Missing, expires_at: None };
    };
    let expires_at = report.expires_at();
    let minimum = terms.map_or((Credit::from_units(0), Income::from_units(0)), |terms| {
        (terms.min_credit(), terms.min_income())
    });
    let passed = match check {
        Check::SoftCredit => findings.credit(now).is_some_and(|credit| credit >= minimum.0),
        Check::Income => findings.income(now).is_some_and(|income| income >= minimum.1),
        Check::Eviction | Check::CriminalBackground => report.passed,
    };
    let status = match (expires_at <= now, report.disputed_at, passed) {
        (true, ..) => CheckStatus::Expired,
        (_, Some(_), _) => CheckStatus::Disputed,
        (_, _, true) => CheckStatus::Passed,
        (_, _, false) => CheckStatus::NotPassed,
    };
    CheckState { check, status, expires_at: Some(expires_at) }
}

/// Terms that are not stated are met by whoever has what is required. Where nothing is, nothing is attested.
fn flags(
    terms: Option<&Terms>,
    required: &[Check],
    findings: &ReportFindings,
    now: Timestamp,
) -> Option<CheckFlags> {
    let expiry = |check: &Check| Some(findings.valid(*check, now)?.0.expires_at());
    let earliest = required.iter().filter_map(expiry).min()?;
    let passes = Passes::of(
        terms.unwrap_or(&Terms::NONE),
        findings.credit(now).filter(|_| required.contains(&Check::SoftCredit)),
        findings.income(now).filter(|_| required.contains(&Check::Income)).unwrap_or(Income::from_units(0)),
    );
    Some(CheckFlags::expiring(passes, earliest)).filter(|flags| flags.expires_at() > now)
}

/// The checks that terms need: those whose minimum or preference is not zero.
pub(crate) fn checks_of_terms(terms: &Terms) -> Vec<Check> {
    let needs_income = terms.pref_income() > Income::from_units(0);
    let needs_credit = terms.pref_credit() > Credit::from_units(0);
    let needed = [(Check::Income, needs_income), (Check::SoftCredit, needs_credit)];
    needed.into_iter().filter(|(_, is_needed)| *is_needed).map(|(check, _)| check).collect()
}
