//! What an application shares: findings of one identity, the same ones from the moment it is complete.

use portico_domain::{Country, Credit, Income, Timestamp, UserId, VerificationId};
use portico_screening::{Check, Finding};
use portico_store::screening::StoredVerification;
use serde::{Deserialize, Serialize};

use crate::core::Core;
use crate::error::Result;
use crate::people::keystore::PersonKey;
use crate::screening::applicant_identity::ApplicantIdentity;
use crate::screening::results::{CheckReport, findings, outcome};

/// Names findings by the verification that they are part of. Verifications never change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Whom all findings are about.
    identity: ApplicantIdentity,
    /// One per check.
    findings: Vec<(Check, VerificationId)>,
}

/// A verification of the applicant.
pub(crate) struct PastResult {
    id: VerificationId,
    identity: ApplicantIdentity,
    reports: Vec<CheckReport>,
    /// Empty once they have expired.
    findings: Vec<Finding>,
}

impl PastResult {
    fn open(key: &PersonKey, stored: &StoredVerification) -> Result<Self> {
        let outcome = outcome(key, stored)?;
        let findings = match &stored.findings {
            Some(_) => findings(key, stored)?.0,
            None => Vec::new(),
        };
        Ok(Self { id: stored.id.clone(), identity: outcome.identity, reports: outcome.checks, findings })
    }

    fn report(&self, check: Check, country: &Country) -> Option<&CheckReport> {
        self.reports.iter().find(|report| report.check == check && report.country == *country)
    }

    fn valid(&self, check: Check, country: &Country, now: Timestamp) -> bool {
        self.report(check, country).is_some_and(|report| report.expires_at() > now)
    }
}

/// What an application requires of its applicant.
pub(crate) struct Required<'a> {
    pub(crate) checks: &'a [Check],
    /// Where the bureaus have to have searched.
    pub(crate) country: &'a Country,
}

impl Report {
    pub(crate) fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// One that it takes findings from.
    pub(crate) fn any_verification(&self) -> Option<&VerificationId> {
        self.findings.first().map(|(_, id)| id)
    }

    pub(crate) fn is_about(&self, key: &PersonKey, first: &str, last: &str) -> bool {
        self.identity.has_name(key, first, last)
    }

    /// Whether what is shared here and there can be about one person.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.identity.agrees_with(&other.identity)
    }

    /// With valid findings for what it lacks, from results in order, the newest first. An empty report becomes one about
    /// whom the newest result is about.
    #[must_use]
    pub(crate) fn extended(mut self, results: &[PastResult], required: &Required, now: Timestamp) -> Self {
        let Required { checks, country } = *required;
        let is_valid = |id: &VerificationId, check: Check| {
            results.iter().any(|result| result.id == *id && result.valid(check, country, now))
        };
        self.findings.retain(|(check, id)| is_valid(id, *check));
        for result in results {
            if !self.identity.agrees_with(&result.identity) {
                continue;
            }
            let has_nothing = self.is_empty() && self.identity == ApplicantIdentity::default();
            let missing: Vec<Check> = checks
                .iter()
                .copied()
                .filter(|check| self.findings.iter().all(|(known, _)| known != check))
                .filter(|check| result.valid(*check, country, now))
                .collect();
            if has_nothing || !missing.is_empty() {
                self.identity.merge(&result.identity);
            }
            self.findings.extend(missing.into_iter().map(|check| (check, result.id.clone())));
        }
        self
    }
}

struct Known {
    report: CheckReport,
    finding: Option<Finding>,
}

/// A report's findings, opened.
#[derive(Default)]
pub(crate) struct ReportFindings(Vec<Known>);

impl ReportFindings {
    fn new(report: &Report, results: &[PastResult], country: &Country) -> Self {
        let known = |(check, id): &(Check, VerificationId)| {
            let result = results.iter().find(|result| result.id == *id)?;
            let report = result.report(*check, country)?.clone();
            let finding = result.findings.iter().find(|finding| finding.check() == *check).cloned();
            Some(Known { report, finding })
        };
        Self(report.findings.iter().filter_map(known).collect())
    }

    pub(crate) fn reports(&self) -> impl Iterator<Item = &CheckReport> {
        self.0.iter().map(|known| &known.report)
    }

    pub(crate) fn report(&self, check: Check) -> Option<&CheckReport> {
        self.reports().find(|report| report.check == check)
    }

    /// The report and the value of a check, if they are valid.
    pub(crate) fn valid(&self, check: Check, now: Timestamp) -> Option<(&CheckReport, &Finding)> {
        let known = self.0.iter().find(|known| known.report.check == check)?;
        Some((&known.report, known.finding.as_ref()?)).filter(|(report, _)| report.expires_at() > now)
    }

    pub(crate) fn credit(&self, now: Timestamp) -> Option<Credit> {
        match self.valid(Check::SoftCredit, now)?.1 {
            Finding::SoftCredit { score, .. } => Some(Credit::from_units(score.points().into())),
            _ => None,
        }
    }

    pub(crate) fn income(&self, now: Timestamp) -> Option<Income> {
        match self.valid(Check::Income, now)?.1 {
            Finding::Income { yearly } => Some(*yearly),
            _ => None,
        }
    }
}

impl Core {
    /// A person's results whose findings are still known, the newest first.
    pub(crate) async fn valid_results(&self, user: &UserId, key: &PersonKey) -> Result<Vec<PastResult>> {
        let found = self.db.valid_verifications(user, self.clock.now()).await?;
        found.iter().map(|stored| PastResult::open(key, stored)).collect()
    }

    pub(crate) async fn report_findings(
        &self,
        key: &PersonKey,
        report: &Report,
        country: &Country,
    ) -> Result<ReportFindings> {
        let mut results: Vec<PastResult> = Vec::new();
        for (_, id) in &report.findings {
            if results.iter().all(|result| result.id != *id)
                && let Some(stored) = self.db.verification(id).await?
            {
                results.push(PastResult::open(key, &stored)?);
            }
        }
        Ok(ReportFindings::new(report, &results, country))
    }

    /// What the person would share now.
    pub(crate) async fn present_report(
        &self,
        user: &UserId,
        key: &PersonKey,
        required: &Required<'_>,
    ) -> Result<Report> {
        let results = self.valid_results(user, key).await?;
        Ok(Report::default().extended(&results, required, self.clock.now()))
    }
}
