//! `/v1/applications`: an application with its checks and flags, its withdrawal and its decision.

use portico_app::applications::{
    ApplicationSummary, ApplicationView, Basis, CheckState, CheckStatus, DecisionRequest, Evaluation,
    FlagProof, NameCheck, Party, RecordedDecision, SharedFinding, Sharing, TimelineEntry,
};
use portico_app::chain::ItemKind;
use portico_app::screening::Check;
use portico_app::screening::personal::Name;
use portico_domain::applications::{ApplicationStatus, Decision, DecisionBasis};
use portico_domain::{Description, FaultCode, Timestamp, UserId, ValidationError};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::listing_details::ListingTerms;
use super::notices::{GivenNoticeOut, NoticeOut};
use crate::access::{BEARER, OWNED, SIGNED_IN};
use crate::input::{IfMatch, Input, Reader};
use crate::operation::{Context, Operation, delete, get, post, put, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::{Created, Json, JsonArray, Message, Tagged, message};
use crate::root::applications::{ApplicationCheck, OneApplication};
use crate::v1::chain::ChainRecordOut;

const NOT_APPLIED: &str = "The user has not applied to this listing";

pub(crate) fn operations() -> Vec<Operation> {
    with_tag("Applications", vec![
        get("/v1/users/{userId}/applications", SIGNED_IN, list)
            .id("listApplications")
            .about("For the applicant and the operator.")
            .summary("All applications of a user, with their status, oldest first"),
        get("/v1/applications/{userId}/{listingId}", SIGNED_IN, read)
            .id("getApplication")
            .about("Answers with the checks that the owner requires, the four flags, the decision and what happened so far. No score and no income is in it.")
            .summary("The newest application to a listing; for its applicant, the listing's owner and the operator")
            .not_found(NOT_APPLIED),
        delete("/v1/applications/{userId}/{listingId}", BEARER, withdraw)
            .id("withdrawApplication")
            .about("An open application is withdrawn; a decision stays. The owner sees neither checks nor flags any more.")
            .summary("Ends what an application shares with the listing's owner, and clears its flags; for the applicant")
            .not_found(NOT_APPLIED)
            .conflict("The sharing has ended already"),
        put("/v1/applications/{userId}/{listingId}/report", BEARER, renew)
            .id("renewApplicationReport")
            .about("A report stays as it is once it is complete: later verifications do not change it.")
            .summary("Shares the applicant's present results with the listing's owner; for the applicant, while it is open")
            .not_found(NOT_APPLIED)
            .conflict("It was decided or withdrawn already, ended with its listing, or the present results are about somebody else"),
        post("/v1/applications/{userId}/{listingId}/name-check", SIGNED_IN, check_name)
            .id("checkApplicantName")
            .about("Each answer is audited and shown to the applicant; wrong names are limited.")
            .summary("Whether an application's report is about somebody of this name; for the listing's owner and the operator")
            .not_found(NOT_APPLIED)
            .conflict("The applicant shares no report"),
        post("/v1/applications/{userId}/{listingId}/decision", SIGNED_IN, decide)
            .id("decideApplication")
            .about("Only an open application can be decided. A decline or a condition names the checks that it is based on, each of which must have a valid finding, or says that it is based on no report.")
            .summary("Approves or declines an application; for the listing's owner and the operator. A decline or a condition that names checks gives the applicant a notice")
            .not_found(NOT_APPLIED)
            .conflict("It was decided or withdrawn already, ended with its listing, or a named check has no valid finding")
            .precondition_failed("The application was changed since the version in If-Match"),
        get("/v1/applications/{userId}/{listingId}/proof", BEARER, proof)
            .id("getApplicationProof")
            .about("Whoever is given flags and salt checks them with the contract's `isAttested`, without this service.")
            .summary("What opens the commitment on the chain; for the applicant alone")
            .not_found("The user has not applied to this listing, or no flags are attested"),
        get("/v1/applications/{userId}/{listingId}/records", OWNED, records)
            .id("listApplicationRecords")
            .about("Names the contract, the key and the transaction, so that anyone can read the flags from the chain.")
            .summary("Where the four flags of an application stand on the chain: one record, or none before a verification")
            .not_found(NOT_APPLIED),
    ])
}

/// One of a user's applications.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApplicationSummary)]
struct ApplicationSummaryOut {
    id: String,
    listing_id: String,
    status: ApplicationStatus,
    #[schema(value_type = String, format = DateTime)]
    applied_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    decision: Option<DecisionOut>,
    /// For the applicant alone
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    notice: Option<NoticeOut>,
}

impl From<ApplicationSummary> for ApplicationSummaryOut {
    fn from(application: ApplicationSummary) -> Self {
        Self {
            id: application.id.into(),
            listing_id: application.listing.into(),
            status: application.status,
            applied_at: application.applied_at,
            decision: application.decision.map(Into::into),
            notice: application.notice.map(Into::into),
        }
    }
}

/// A required check of an applicant, without its values.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApplicationCheckState)]
pub(crate) struct CheckStateOut {
    check: Check,
    status: CheckStatus,
    /// Until when the finding is valid
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    expires_at: Option<Timestamp>,
}

impl From<CheckState> for CheckStateOut {
    fn from(state: CheckState) -> Self {
        Self { check: state.check, status: state.status, expires_at: state.expires_at }
    }
}

/// What an application's checks and flags say now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationState {
    /// The checks that the listing's owner requires, as frozen when the user applied
    checks: Vec<CheckStateOut>,
    /// Whether every required check has a valid finding
    complete: bool,
    /// All false until every required check has a valid finding, and if nothing is required
    flags: ApplicationCheck,
    /// When the flags expire
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    expires_at: Option<Timestamp>,
    /// Too many different terms were asked for about this applicant in 30 days: the flags stay false
    flags_withheld: bool,
}

impl ApplicationState {
    pub(crate) fn new(evaluation: Evaluation, flags_withheld: bool) -> Self {
        Self {
            checks: evaluation.checks.into_iter().map(Into::into).collect(),
            complete: evaluation.complete,
            flags: evaluation.flags.map(|flags| flags.passes).unwrap_or_default().into(),
            expires_at: evaluation.flags.map(|flags| flags.expires_at()),
            flags_withheld,
        }
    }
}

/// An application to a listing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Application)]
struct ApplicationOut {
    id: String,
    user_id: String,
    listing_id: String,
    status: ApplicationStatus,
    #[schema(value_type = String, format = DateTime)]
    applied_at: Timestamp,
    /// The listing's terms when the user applied; null if it had none
    terms: Option<ListingTerms>,
    #[serde(flatten)]
    state: ApplicationState,
    sharing: SharingOut,
    /// The findings that are shared, the same ones from the moment they are complete until the applicant renews them
    report: Vec<SharedFindingOut>,
    /// Whether the applicant has seen these terms and checks before applying
    conditions_seen: bool,
    /// When the listing's owner checked a name against the report, and whether it was that name
    name_checks: Vec<NameCheckOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    decision: Option<DecisionOut>,
    /// The notice of an adverse action; for the applicant alone
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    notice: Option<NoticeOut>,
    /// When the applicant got a notice, and which checks it names
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    notice_given: Option<GivenNoticeOut>,
    /// What happened to it, oldest first
    timeline: Vec<TimelineEntryOut>,
}

/// A finding that is shared, without its value.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SharedFinding)]
struct SharedFindingOut {
    check: Check,
    bureau: String,
    #[schema(value_type = String, format = DateTime)]
    reported_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

impl From<SharedFinding> for SharedFindingOut {
    fn from(finding: SharedFinding) -> Self {
        let SharedFinding { check, bureau, reported_at, expires_at } = finding;
        Self { check, bureau, reported_at, expires_at }
    }
}

/// A name that was checked against a report.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApplicantNameCheck)]
struct NameCheckOut {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    matches: bool,
}

impl From<NameCheck> for NameCheckOut {
    fn from(check: NameCheck) -> Self {
        Self { at: check.at(), matches: check.matches }
    }
}

/// With whom the applicant shares flags and checks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApplicationSharing)]
struct SharingOut {
    /// The listing's owner
    user_id: String,
    /// The owner's account
    account_id: String,
    /// Whose pipeline requires the checks
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client_id: Option<String>,
    /// False once the applicant has ended it, or the listing was deleted
    active: bool,
}

impl From<Sharing> for SharingOut {
    fn from(sharing: Sharing) -> Self {
        Self {
            user_id: sharing.owner.into(),
            account_id: sharing.account.into(),
            client_id: sharing.client.map(Into::into),
            active: sharing.is_active,
        }
    }
}

/// What the owner decided.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApplicationDecision)]
struct DecisionOut {
    decision: Decision,
    /// The checks that it is based on
    reasons: Vec<Check>,
    /// What it is based on if it names no checks
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    basis: Option<DecisionBasis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    note: Option<Description>,
    #[schema(value_type = String, format = DateTime)]
    decided_at: Timestamp,
}

impl From<RecordedDecision> for DecisionOut {
    fn from(decision: RecordedDecision) -> Self {
        Self {
            decision: decision.decision,
            reasons: decision.reasons.clone(),
            basis: decision.is_without_report.then_some(DecisionBasis::NoReport),
            decided_at: decision.at(),
            note: decision.note,
        }
    }
}

/// A change of an application.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApplicationStep)]
struct TimelineEntryOut {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The status from then on
    status: ApplicationStatus,
    by: Party,
}

impl From<TimelineEntry> for TimelineEntryOut {
    fn from(step: TimelineEntry) -> Self {
        Self { at: step.at(), status: step.status, by: step.by }
    }
}

impl From<ApplicationView> for ApplicationOut {
    fn from(view: ApplicationView) -> Self {
        let notice_given = view.notice.as_ref().map(Into::into);
        Self {
            id: view.id.into(),
            user_id: view.user.into(),
            listing_id: view.listing.into(),
            status: view.status,
            applied_at: view.applied_at,
            terms: view.terms.map(Into::into),
            state: ApplicationState::new(view.evaluation, view.is_withheld),
            sharing: view.sharing.into(),
            report: view.findings.into_iter().map(Into::into).collect(),
            conditions_seen: view.conditions_seen,
            name_checks: view.name_checks.into_iter().map(Into::into).collect(),
            decision: view.decision.map(Into::into),
            notice: view.notice.filter(|_| view.is_applicant).map(Into::into),
            notice_given,
            timeline: view.timeline.into_iter().map(Into::into).collect(),
        }
    }
}

struct List(UserId, Paging);

impl Input for List {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (user, paging) = (from.path("userId", "The applicant"), Paging::read(from));
        Some(Self(user?, paging))
    }
}

async fn list(cx: Context, List(user, paging): List) -> Result<PagedResponse<ApplicationSummaryOut>> {
    PagedResponse::read(cx, user, paging, async |cx, user, after, limit| {
        Ok(cx.app().applications.page(&cx.call, &user, after, limit).await?.map(Into::into))
    })
    .await
}

async fn read(cx: Context, OneApplication(user, listing): OneApplication) -> Result<Tagged<ApplicationOut>> {
    let view = cx.app().applications.view(&cx.call, &user, &listing).await?;
    let etag = format!("\"{}\"", view.tag);
    Ok(Tagged { body: view.into(), etag, is_known: false })
}

async fn withdraw(cx: Context, OneApplication(user, listing): OneApplication) -> Result<Json<Message>> {
    cx.app().applications.end_sharing(&cx.call, &user, &listing).await?;
    Ok(Json(message("Sharing ended")))
}

struct Renew(OneApplication);

impl Input for Renew {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let of = OneApplication::read(from);
        from.body();
        of.map(Self)
    }
    fn example() -> Option<Value> {
        Some(json!({}))
    }
}

async fn renew(cx: Context, Renew(OneApplication(user, listing)): Renew) -> Result<Json<Message>> {
    cx.app().applications.renew(&cx.call, &user, &listing).await?;
    Ok(Json(message("Report renewed")))
}

struct CheckName {
    of: OneApplication,
    first: Name,
    last: Name,
}

impl Input for CheckName {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let of = OneApplication::read(from);
        let mut body = from.body();
        let first = body.required("firstName", "The first name");
        let last = body.required("lastName", "The last name");
        Some(Self { of: of?, first: first?, last: last? })
    }
    fn example() -> Option<Value> {
        Some(json!({"firstName": "Ada", "lastName": "Lovelace"}))
    }
}

/// Whether a report is about somebody of a name.
#[derive(Debug, Serialize, ToSchema)]
struct NameMatch {
    matches: bool,
}

async fn check_name(cx: Context, CheckName { of, first, last }: CheckName) -> Result<Json<NameMatch>> {
    let OneApplication(user, listing) = of;
    let names = (first.expose(), last.expose());
    let matches = cx.app().applications.check_name(&cx.call, (&user, &listing), names).await?;
    Ok(Json(NameMatch { matches }))
}

struct Decide {
    of: OneApplication,
    request: DecisionRequest,
}

impl Input for Decide {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let of = OneApplication::read(from);
        let if_match = from.header::<IfMatch>(
            "If-Match",
            "The ETag of the version that was read: 412 if there is a newer one. Absent or *: the newest is decided",
        );
        let mut body = from.body();
        let decision = body.required("decision", "The decision");
        let reasons =
            body.optional::<Vec<Check>>("reasons", "The checks that it is based on").unwrap_or_default();
        let basis = body.optional("basis", "What it is based on if it names no checks");
        if decision.is_some_and(Decision::is_adverse) && reasons.is_empty() == basis.is_none() {
            let fault = "must name checks, or `basis` must say that it is based on no report";
            body.report("reasons", ValidationError::new(FaultCode::Missing, fault));
        }
        let note = body.optional("note", "A note for the applicant");
        let request = DecisionRequest {
            decision: decision?,
            basis: match basis {
                Some(DecisionBasis::NoReport) => Basis::NoReport,
                None => Basis::Checks(reasons),
            },
            note,
            if_match: if_match.and_then(|if_match| if_match.0),
        };
        Some(Self { of: of?, request })
    }
    fn example() -> Option<Value> {
        Some(json!({"decision": "declined", "reasons": ["eviction"], "note": "Thank you for applying"}))
    }
}

async fn decide(cx: Context, Decide { of, request }: Decide) -> Result<Created<Message>> {
    let OneApplication(user, listing) = of;
    cx.app().applications.decide(&cx.call, &user, &listing, request).await?;
    let path = ["v1", "applications", user.as_str(), listing.as_str()];
    Ok(Created::at(&path, message("Application decided")))
}

/// What opens the commitment to an application's flags on the chain.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApplicationProof)]
struct ProofOut {
    chain_id: u64,
    /// The address of ApplicationChecks
    contract: String,
    /// The record's key
    key: String,
    /// 1: lowest credit score, 2: preferred credit score, 4: lowest income, 8: preferred income
    flags: u8,
    /// The UTC day from whose beginning on nothing is attested, in days since 1970
    expiry_day: u32,
    salt: String,
}

impl From<FlagProof> for ProofOut {
    fn from(proof: FlagProof) -> Self {
        Self {
            chain_id: proof.chain_id,
            contract: proof.contracts.of(ItemKind::Check).to_string(),
            key: hex::encode_prefixed(proof.key),
            flags: proof.flags.passes.bits(),
            expiry_day: proof.flags.expiry_day,
            salt: hex::encode_prefixed(proof.salt),
        }
    }
}

async fn proof(cx: Context, OneApplication(user, listing): OneApplication) -> Result<Json<ProofOut>> {
    Ok(Json(cx.app().applications.proof(&cx.call, &user, &listing).await?.into()))
}

async fn records(
    cx: Context,
    OneApplication(user, listing): OneApplication,
) -> Result<JsonArray<ChainRecordOut>> {
    let record = cx.app().applications.record(&cx.call, &user, &listing).await?;
    Ok(JsonArray::at_most_one(record))
}
