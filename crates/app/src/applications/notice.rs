//! The notice of an adverse action (15 U.S.C. 1681m). `docs/adverse-action.md` has the checklist.

use portico_domain::Timestamp;
use portico_screening::{BureauContact, Check, Finding};
use serde::{Deserialize, Serialize};

use super::document::Document;
use super::report::ReportFindings;
use crate::core::Core;
use crate::error::Result;
use crate::people::keystore::PersonKey;

/// What the applicant is told when a decision names a check, or when what they shared is not needed any more because the
/// listing was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    at: i64,
    /// One per report that was used.
    pub reports: Vec<UsedReport>,
}

impl Notice {
    pub fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.at)
    }

    /// What others than the applicant see of it: its date and the named checks.
    #[must_use]
    pub(crate) fn outline(mut self) -> Self {
        for report in &mut self.reports {
            report.supplier = Supplier { name: String::new(), address: None, telephone: None };
            report.reported_at = self.at;
            report.score = None;
        }
        self
    }

    pub fn checks(&self) -> impl Iterator<Item = Check> {
        self.reports.iter().map(|report| report.check)
    }
}

/// A report that a decision was based on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedReport {
    pub check: Check,
    pub supplier: Supplier,
    /// When the bureau answered.
    reported_at: i64,
    /// Only of a credit report.
    pub score: Option<UsedScore>,
}

impl UsedReport {
    pub fn reported_at(&self) -> Timestamp {
        Timestamp::from_micros(self.reported_at)
    }
}

/// The bureau that supplied a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supplier {
    pub name: String,
    pub address: Option<String>,
    pub telephone: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedScore {
    pub points: u16,
    /// Lowest and highest; `None`: the bureau did not say.
    pub range: Option<(u16, u16)>,
    /// What lowered the score most; empty: the bureau did not say.
    pub factors: Vec<String>,
}

impl Core {
    /// The notice for the named checks. A check without a valid finding is left out.
    pub(crate) fn notice(&self, reasons: &[Check], findings: &ReportFindings) -> Notice {
        let now = self.clock.now();
        let report = |check: &Check| {
            let (report, finding) = findings.valid(*check, now)?;
            Some(UsedReport {
                check: *check,
                supplier: self.supplier(&report.bureau),
                reported_at: report.finished_at().micros(),
                score: used_score(finding),
            })
        };
        Notice { at: now.micros(), reports: reasons.iter().filter_map(report).collect() }
    }

    /// The listing was deleted: tells the applicant what its owner was shown.
    pub(super) async fn notify_of_closing(&self, document: &mut Document, key: &PersonKey) -> Result<()> {
        if document.notice.is_none() && !document.report.is_empty() {
            let findings = self.report_findings(key, &document.report, &document.country).await?;
            let shown: Vec<Check> = findings.reports().map(|report| report.check).collect();
            let notice = self.notice(&shown, &findings);
            document.notice = Some(notice).filter(|notice| !notice.reports.is_empty());
        }
        Ok(())
    }

    fn supplier(&self, bureau: &str) -> Supplier {
        match self.screening.bureaus.screening.disclosure(bureau) {
            Some(BureauContact { name, address, telephone }) => Supplier {
                name: name.clone(),
                address: Some(address.clone()),
                telephone: Some(telephone.clone()),
            },
            // It is no longer configured.
            None => Supplier { name: bureau.into(), address: None, telephone: None },
        }
    }
}

fn used_score(finding: &Finding) -> Option<UsedScore> {
    match finding {
        Finding::SoftCredit { score, range, factors } => Some(UsedScore {
            points: score.points(),
            range: range.map(|range| (range.min(), range.max())),
            factors: factors.iter().map(|factor| factor.as_str().to_owned()).collect(),
        }),
        _ => None,
    }
}
