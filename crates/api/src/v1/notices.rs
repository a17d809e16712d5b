//! The notice of an adverse action, as its applicant reads it.

use portico_app::applications::{Notice, UsedReport, UsedScore};
use portico_app::screening::Check;
use portico_domain::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The notice of an adverse action (15 U.S.C. 1681m).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdverseActionNotice)]
pub(crate) struct NoticeOut {
    #[schema(value_type = String, format = DateTime)]
    given_at: Timestamp,
    /// The reports that the decision is based on
    reports: Vec<UsedReportOut>,
    /// What the bureaus had to do with the decision
    bureaus_role: &'static str,
    /// The applicant's right to a free copy of each report
    free_copy: &'static str,
    /// The applicant's right to dispute a report
    dispute: &'static str,
}

const BUREAUS_ROLE: &str =
    "The bureaus named here supplied reports. They did not make the decision, and cannot explain it.";
const FREE_COPY: &str =
    "You may ask each bureau for a free copy of its report within 60 days of this notice.";
const DISPUTE: &str = "You may dispute with each bureau whatever is inaccurate or incomplete in its report.";

/// A report that a decision is based on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NoticeReport)]
struct UsedReportOut {
    check: Check,
    supplier: SupplierOut,
    #[schema(value_type = String, format = DateTime)]
    reported_at: Timestamp,
    /// Of a credit report: the score that was used
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    score: Option<UsedScoreOut>,
}

/// The bureau that supplied a report.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NoticeSupplier)]
struct SupplierOut {
    name: String,
    /// Absent if the bureau is no longer configured
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    address: Option<String>,
    /// Absent if the bureau is no longer configured
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    telephone: Option<String>,
}

/// A credit score that was used.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NoticeScore)]
struct UsedScoreOut {
    score: u16,
    /// When it was reported
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// The possible scores; absent if the bureau did not say
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    range: Option<ScoreRangeOut>,
    /// What lowered the score most; empty if the bureau did not say
    factors: Vec<String>,
    /// Says so if the bureau gave no range or no factors
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    missing: Option<&'static str>,
}

/// The lowest and the highest possible score.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NoticeScoreRange)]
struct ScoreRangeOut {
    min: u16,
    max: u16,
}

impl From<Notice> for NoticeOut {
    fn from(notice: Notice) -> Self {
        Self {
            given_at: notice.at(),
            reports: notice.reports.into_iter().map(Into::into).collect(),
            bureaus_role: BUREAUS_ROLE,
            free_copy: FREE_COPY,
            dispute: DISPUTE,
        }
    }
}

impl From<UsedReport> for UsedReportOut {
    fn from(report: UsedReport) -> Self {
        let reported_at = report.reported_at();
        Self {
            check: report.check,
            supplier: SupplierOut {
                name: report.supplier.name,
                address: report.supplier.address,
                telephone: report.supplier.telephone,
            },
            reported_at,
            score: report.score.map(|score| used_score(score, reported_at)),
        }
    }
}

fn used_score(score: UsedScore, created_at: Timestamp) -> UsedScoreOut {
    let missing = match (score.range, score.factors.is_empty()) {
        (Some(_), false) => None,
        (Some(_), true) => Some("The bureau did not say which factors lowered the score."),
        (None, false) => Some("The bureau did not say the range of its scores."),
        (None, true) => {
            Some("The bureau said neither the range of its scores nor which factors lowered the score.")
        }
    };
    UsedScoreOut {
        score: score.points,
        created_at,
        range: score.range.map(|(min, max)| ScoreRangeOut { min, max }),
        factors: score.factors,
        missing,
    }
}

/// That the applicant got a notice; its content is for the applicant alone.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GivenNotice)]
pub(crate) struct GivenNoticeOut {
    #[schema(value_type = String, format = DateTime)]
    given_at: Timestamp,
    /// The checks that it names
    #[schema(example = json!(["eviction"]))]
    checks: Vec<&'static str>,
}

impl From<&Notice> for GivenNoticeOut {
    fn from(notice: &Notice) -> Self {
        Self { given_at: notice.at(), checks: notice.checks().map(Check::name).collect() }
    }
}
