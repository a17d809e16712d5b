//! `/v1/verifications` and the erasure of a person.

use portico_app::screening::{AdverseReason, Check, CheckReport, VerificationReport};
use portico_domain::{Timestamp, UserId, VerificationId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::BEARER;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, delete, get, post, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::{Created, Json, Message, message};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag("Screening", vec![
        get("/v1/verifications", BEARER, list)
            .id("listVerifications")
            .about("What came of every check, without its values.")
            .summary("The caller's results, oldest first"),
        get("/v1/verifications/{id}", BEARER, read)
            .id("getVerification")
            .about("Names the checks that were not passed with the notice that the law asks for.")
            .summary("One of the caller's results: what came of every check, without its values")
            .not_found("The caller has no such result"),
        post("/v1/verifications/{id}/checks/{check}/dispute", BEARER, dispute)
            .id("disputeCheck")
            .about("Only while the finding is valid. The bureau is asked again next time.")
            .summary("Disputes a finding: owners see the dispute until a new finding replaces it. Only for the person the finding is about")
            .not_found("There is no such result, or it has no such check")
            .conflict("The finding has expired"),
        delete("/v1/users/{userId}/personal-data", BEARER, erase).id("erasePersonalData")
            .about("For the person and the operator. It cannot be undone.").summary(
            "Erases a person: unreadable at once, also in backups; tokens and API keys are revoked, flags cleared",
        ),
    ])
}

/// What came of a verification, without its values.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Verification)]
struct VerificationOut {
    id: String,
    case_id: String,
    token_id: String,
    /// Whether the token was revoked
    revoked: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// From then on the checks have to be run again
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// Whose pipeline was used
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    consented_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    consent_version: Option<String>,
    checks: Vec<CheckOut>,
    /// The checks that back the token's name now: passed, not expired, run on that name
    backed_by: Vec<Check>,
    /// For every check that was not passed, what a notice of adverse action has to say
    adverse_actions: Vec<AdverseAction>,
}

/// What came of a check.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = VerificationCheck)]
struct CheckOut {
    check: Check,
    outcome: CheckOutcome,
    /// Who was asked
    #[schema(example = "sandbox")]
    bureau: String,
    #[schema(value_type = String, format = DateTime)]
    finished_at: Timestamp,
    /// Until then it is not asked again for this case
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// When the person disputed it; the bureau is asked again next time
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    disputed_at: Option<Timestamp>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum CheckOutcome {
    Passed,
    Failed,
}

/// A reason why an application may be declined, for the notice that the law asks for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AdverseAction {
    check: Check,
    /// A stable word
    reason: AdverseReason,
    /// Who reported it
    #[schema(example = "sandbox")]
    bureau: String,
    #[schema(value_type = String, format = DateTime)]
    recorded_at: Timestamp,
    /// What the applicant has to be told
    notice: String,
}

impl From<&CheckReport> for CheckOut {
    fn from(report: &CheckReport) -> Self {
        Self {
            check: report.check,
            outcome: if report.passed { CheckOutcome::Passed } else { CheckOutcome::Failed },
            bureau: report.bureau.clone(),
            finished_at: report.finished_at(),
            expires_at: report.expires_at(),
            disputed_at: report.disputed_at(),
        }
    }
}

fn adverse(report: &CheckReport) -> Option<AdverseAction> {
    let reason = report.reason()?;
    let found = match report.check {
        Check::Eviction => "an eviction that is on file",
        Check::Income => "an income that could not be verified",
        Check::SoftCredit => "a credit score below the threshold",
        Check::CriminalBackground => "a criminal record that is on file",
    };
    let bureau = report.bureau.clone();
    let notice = format!(
        "Your application may be declined because of {found}, as reported by {bureau}, which does not \
         decide about it. You may ask {bureau} for a free copy of the report within 60 days, and dispute what is wrong \
         or incomplete in it."
    );
    Some(AdverseAction { check: report.check, reason, bureau, recorded_at: report.finished_at(), notice })
}

impl From<VerificationReport> for VerificationOut {
    fn from(report: VerificationReport) -> Self {
        Self {
            id: report.id.into(),
            case_id: report.case.into(),
            token_id: report.token,
            revoked: report.revoked,
            created_at: report.created_at,
            expires_at: report.expires_at,
            client_id: report.client,
            consented_at: report.consented_at,
            consent_version: report.consent_version.map(Into::into),
            checks: report.checks.iter().map(Into::into).collect(),
            backed_by: report.backed_by.clone(),
            adverse_actions: report.checks.iter().filter_map(adverse).collect(),
        }
    }
}

struct List(Paging);

impl Input for List {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self(Paging::read(from)))
    }
}

async fn list(cx: Context, List(paging): List) -> Result<PagedResponse<VerificationOut>> {
    PagedResponse::read(cx, (), paging, async |cx, _, after, limit| {
        Ok(cx.app().screening.verifications(&cx.call, after, limit).await?.map(Into::into))
    })
    .await
}

struct Read(VerificationId);

impl Input for Read {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("id", "The result").map(Self)
    }
}

async fn read(cx: Context, Read(id): Read) -> Result<Json<VerificationOut>> {
    Ok(Json(cx.app().screening.verification(&cx.call, &id).await?.into()))
}

struct Dispute(VerificationId, Check);

impl Input for Dispute {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let id = from.path("id", "The result");
        let check = from.path("check", "The check whose finding is disputed");
        Some(Self(id?, check?))
    }
}

async fn dispute(cx: Context, Dispute(id, check): Dispute) -> Result<Created<Message>> {
    cx.app().screening.dispute(&cx.call, &id, check).await?;
    Ok(Created::at(&["v1", "verifications", id.as_str()], message("Finding disputed")))
}

struct Erase(UserId);

impl Input for Erase {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("userId", "Who is erased").map(Self)
    }
}

async fn erase(cx: Context, Erase(user): Erase) -> Result<Json<Message>> {
    cx.app().people.erase(&cx.call, &user).await?;
    Ok(Json(message("Personal data erased")))
}
