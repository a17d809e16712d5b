//! What an application's flags and checks say: its frozen terms and checks against the applicant's findings.

use std::collections::BTreeSet;

use portico_domain::chain::{Passes, Terms};
use portico_domain::{Country, Credit, Income, Timestamp, UserId};
use portico_records::CheckFlags;
use portico_screening::{Check, Finding};
use serde::Serialize;
use utoipa::ToSchema;

use crate::core::Core;
use crate::error::Result;
use crate::people::keystore::PersonKey;
use crate::screening::applicant_identity::ApplicantIdentity;
use crate::screening::results::{CheckReport, findings, outcome};

/// Only this many of a person's newest verifications are evaluated.
const MAX_VERIFICATIONS: i64 = 100;
const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// One result of the applicant.
pub(crate) struct PastResult {
    pub(crate) identity: ApplicantIdentity,
    pub(crate) reports: Vec<CheckReport>,
    /// Empty once they have expired.
    pub(crate) findings: Vec<Finding>,
}

struct Known {
    report: CheckReport,
    finding: Option<Finding>,
}

/// An applicant's findings, one per check: the newest of the present identity.
pub(crate) struct PersonFindings {
    known: Vec<Known>,
    /// Earlier results were about somebody else, and count no more.
    pub(crate) identity_changed: bool,
}

impl PersonFindings {
    /// Of somebody who was never verified.
    pub(crate) fn none() -> Self {
        Self { known: Vec::new(), identity_changed: false }
    }

    /// From results, the newest first. Only findings for the country count.
    pub(crate) fn new(results: Vec<PastResult>, country: &Country, now: Timestamp) -> Self {
        let (mut known, mut identity, mut identity_changed) =
            (Vec::<Known>::new(), ApplicantIdentity::default(), false);
        let mut disputed: BTreeSet<(Check, i64)> = BTreeSet::new();
        for result in results {
            let of = result.identity;
            if !of.agrees_with(&identity) {
                identity_changed = result.reports.iter().any(|report| report.expires_at() > now);
                break;
            }
            identity.merge(&of);
            for report in result.reports {
                if report.country != *country {
                    continue;
                }
                if report.disputed_at.is_some() {
                    disputed.insert((report.check, report.finished_at));
                }
                let finding = result.findings.iter().find(|finding| finding.check() == report.check).cloned();
                match known.iter_mut().find(|known| known.report.check == report.check) {
                    None => known.push(Known { report, finding }),
                    Some(newest) if newest.report.finished_at < report.finished_at => {
                        *newest = Known { report, finding };
                    }
                    Some(_) => {}
                }
            }
        }
        for Known { report, .. } in &mut known {
            // The same finding may be part of several results.
            if disputed.contains(&(report.check, report.finished_at)) {
                report.disputed_at.get_or_insert(report.finished_at);
            }
        }
        Self { known, identity_changed }
    }

    fn newest(&self, check: Check) -> Option<&Known> {
        self.known.iter().find(|known| known.report.check == check)
    }

    fn valid(&self, check: Check, now: Timestamp) -> Option<&Known> {
        self.newest(check).filter(|known| known.report.expires_at() > now)
    }

    /// The report and the value of a check, if they are valid.
    pub(crate) fn valid_finding(&self, check: Check, now: Timestamp) -> Option<(&CheckReport, &Finding)> {
        self.valid(check, now).and_then(|known| Some((&known.report, known.finding.as_ref()?)))
    }

    /// Whether there was a finding that is not valid any more.
    pub(crate) fn is_expired(&self, check: Check, now: Timestamp) -> bool {
        self.newest(check).is_some_and(|known| known.report.expires_at() <= now)
    }

    pub(crate) fn credit(&self, now: Timestamp) -> Option<Credit> {
        match self.valid(Check::SoftCredit, now)?.finding.as_ref()? {
            Finding::SoftCredit { score, .. } => Some(Credit::from_units(score.points().into())),
            _ => None,
        }
    }

    pub(crate) fn income(&self, now: Timestamp) -> Option<Income> {
        match self.valid(Check::Income, now)?.finding.as_ref()? {
            Finding::Income { yearly } => Some(*yearly),
            _ => None,
        }
    }
}

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
    /// They expire at the beginning of a UTC day. `None`: there is nothing to attest.
    pub flags: Option<CheckFlags>,
    /// Whether flags or checks reveal anything about score or income.
    pub(crate) discloses: bool,
    pub identity_changed: bool,
}

impl Evaluation {
    pub(crate) fn new(
        terms: Option<&Terms>,
        required: &[Check],
        findings: &PersonFindings,
        now: Timestamp,
    ) -> Self {
        let checks: Vec<CheckState> =
            required.iter().map(|check| state(*check, terms, findings, now)).collect();
        let complete = checks.iter().all(|state| state.status.is_valid());
        let flags = terms.filter(|_| complete).and_then(|terms| flags(terms, required, findings, now));
        let has_values = (required.contains(&Check::SoftCredit) && findings.credit(now).is_some())
            || (required.contains(&Check::Income) && findings.income(now).is_some());
        Self {
            checks,
            complete,
            flags,
            discloses: terms.is_some() && has_values,
            identity_changed: findings.identity_changed,
        }
    }

    /// Of an application that has ended.
    pub(crate) fn nothing() -> Self {
        let (complete, discloses, identity_changed) = (false, false, false);
        Self { checks: Vec::new(), complete, flags: None, discloses, identity_changed }
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
fn state(check: Check, terms: Option<&Terms>, findings: &PersonFindings, now: Timestamp) -> CheckState {
    let Some(known) = findings.newest(check) else {
        return CheckState { check, status: CheckStatus::Missing, expires_at: None };
    };
    let expires_at = known.report.expires_at();
    let minimum = terms.map_or((Credit::from_units(0), Income::from_units(0)), |terms| {
        (terms.min_credit(), terms.min_income())
    });
    let passed = match check {
        Check::SoftCredit => findings.credit(now).is_some_and(|credit| credit >= minimum.0),
        Check::Income => findings.income(now).is_some_and(|income| income >= minimum.1),
        Check::Eviction | Check::CriminalBackground => known.report.passed,
    };
    let status = match (expires_at <= now, known.report.disputed_at, passed) {
        (true, ..) => CheckStatus::Expired,
        (_, Some(_), _) => CheckStatus::Disputed,
        (_, _, true) => CheckStatus::Passed,
        (_, _, false) => CheckStatus::NotPassed,
    };
    CheckState { check, status, expires_at: Some(expires_at) }
}

fn flags(terms: &Terms, required: &[Check], findings: &PersonFindings, now: Timestamp) -> Option<CheckFlags> {
    let expiry = |check: Check| findings.valid(check, now).map(|known| known.report.expires_at());
    let earliest = required.iter().copied().filter_map(expiry).min();
    // Terms that require nothing are met by everyone who was verified.
    let earliest = earliest.or_else(|| Check::ALL.into_iter().filter_map(expiry).min())?;
    let expires_at = Timestamp::from_micros(earliest.micros().div_euclid(DAY_MICROS) * DAY_MICROS);
    // Flags depend on required checks only: a notice must be able to name every check that a flag reveals.
    let credit = findings.credit(now).filter(|_| required.contains(&Check::SoftCredit));
    let income = findings.income(now).filter(|_| required.contains(&Check::Income));
    let passes = Passes::of(terms, credit, income.unwrap_or(Income::from_units(0)));
    (expires_at > now).then_some(CheckFlags { passes, expires_at })
}

/// The checks that terms need: those whose minimum or preference is not zero.
pub(crate) fn checks_of_terms(terms: &Terms) -> Vec<Check> {
    let needs_income = terms.pref_income() > Income::from_units(0);
    let needs_credit = terms.pref_credit() > Credit::from_units(0);
    let needed = [(Check::Income, needs_income), (Check::SoftCredit, needs_credit)];
    needed.into_iter().filter(|(_, is_needed)| *is_needed).map(|(check, _)| check).collect()
}

impl Core {
    /// For an application that requires findings for this country.
    pub(crate) async fn person_findings(
        &self,
        user: &UserId,
        country: &Country,
        key: &PersonKey,
    ) -> Result<PersonFindings> {
        let mut results = Vec::new();
        for stored in self.db.newest_verifications(user, MAX_VERIFICATIONS).await? {
            let outcome = outcome(key, &stored)?;
            let found = match &stored.findings {
                Some(_) => findings(key, &stored)?.0,
                None => Vec::new(),
            };
            results.push(PastResult { identity: outcome.identity, reports: outcome.checks, findings: found });
        }
        Ok(PersonFindings::new(results, country, self.clock.now()))
    }
}
