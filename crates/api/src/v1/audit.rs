//! `/v1/audit`: the audit log, and whether it was altered.

use portico_app::audit::{
    AnchorRecord, AuditFault, AuditFilter, AuditStatus, EndedVerification, Inspection, LoggedEntry, Progress,
};
use portico_domain::{Label, Timestamp, ValidationError};
use serde::Serialize;
use tracing::Instrument as _;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::{KnownFormat, ObjectBuilder, RefOr, SchemaFormat};

use crate::access::OPERATORS_ONLY;
use crate::input::{Input, Param, Reader};
use crate::operation::{Context, Operation, get, post, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::{Json, names};

/// Faults that a response names one by one.
const MAX_REPORTED_FAULTS: usize = 100;

pub(crate) fn operations() -> Vec<Operation> {
    with_tag("Operation", vec![
        get("/v1/audit", OPERATORS_ONLY, list).id("listAuditEntries")
            .about("Each entry's hash covers the one before it.").summary(
            "The audit log, the newest entry first. With a filter a page may have fewer entries than its limit, even \
             none, and a next page",
        ),
        get("/v1/audit/verification", OPERATORS_ONLY, status)
            .id("getAuditVerification")
            .about("Replicas verify on their own.")
            .summary("Where the audit log ends and is anchored, and what the server that answers has verified"),
        post("/v1/audit/verification", OPERATORS_ONLY, verify)
            .id("verifyAudit")
            .about("Answers at once with the present state; `GET /v1/audit/verification` tells what was found.")
            .summary("Begins to verify the whole audit log in the background, unless that is under way"),
    ])
}

/// An entry of the audit log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
struct EntryOut {
    /// From 1 on, without gaps
    number: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Who did it
    #[schema(example = "user ada")]
    actor: String,
    #[schema(example = "verification.read")]
    action: String,
    /// The id of what it was done to
    subject: String,
    detail: String,
    /// Covers the entry and the hash of the one before
    hash: String,
}

impl From<LoggedEntry> for EntryOut {
    fn from(entry: LoggedEntry) -> Self {
        Self {
            number: entry.seq,
            at: entry.at,
            actor: entry.actor,
            action: entry.action,
            subject: entry.subject,
            detail: entry.detail,
            hash: hex::encode_prefixed(entry.hash),
        }
    }
}

struct Moment(Timestamp);

impl Param for Moment {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        text.format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))).into()
    }
    fn from_text(text: &str) -> std::result::Result<Self, ValidationError> {
        Timestamp::parse(text).map(Self)
    }
}

struct List(AuditFilter, Paging);

impl Input for List {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let actor = from.query::<Label>("actor", "Only what this actor did, such as `user ada`");
        let action = from.query::<Label>("action", "Only actions that begin like this, such as `key.`");
        let subject = from.query::<Label>("subject", "Only what was done to this id");
        let since = from.query::<Moment>("from", "Only entries of this moment and later ones");
        let until = from.query::<Moment>("to", "Only entries before this moment");
        let paging = Paging::read(from);
        let text = |label: Option<Label>| label.map(|label| label.as_str().to_owned());
        let all = AuditFilter::default();
        let filter = AuditFilter {
            actor: text(actor),
            action: text(action),
            subject: text(subject),
            from: since.map_or(all.from, |since| since.0),
            until: until.map_or(all.until, |until| until.0),
        };
        Some(Self(filter, paging))
    }
}

async fn list(cx: Context, List(filter, paging): List) -> Result<PagedResponse<EntryOut>> {
    let reader = cx.app().audit.reader(&cx.call, filter).await?;
    PagedResponse::read(cx, reader, paging, async |_, reader, after, limit| {
        Ok(reader.page(after, limit).await?.map(Into::into))
    })
    .await
}

/// How the audit log stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditVerification)]
struct StatusOut {
    /// How many entries there are
    entries: i64,
    /// The last entry's hash
    head: String,
    /// Whether entries have keyed hashes
    is_keyed: bool,
    /// Whether the server found that the log was cut or rewritten, and no longer anchors it
    is_altered: bool,
    /// Whether the chain says where the log is anchored
    is_chain_known: bool,
    /// Where the log is anchored on the chain, if it is
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    anchor: Option<AnchorOut>,
    /// The verification that is under way
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    running: Option<RunningOut>,
    /// The last verification that ended since the server's start
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    latest: Option<VerifiedOut>,
}

/// The end of the log, as the chain has it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditAnchor)]
struct AnchorOut {
    hash: String,
    /// The entry with this hash; none: the log was cut or rewritten
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    entry: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    transaction_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    block_number: Option<u64>,
    /// When the block was made
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    at: Option<Timestamp>,
}

impl From<AnchorRecord> for AnchorOut {
    fn from(anchor: AnchorRecord) -> Self {
        Self {
            hash: hex::encode_prefixed(anchor.hash),
            entry: anchor.entry,
            transaction_hash: anchor.transaction.map(hex::encode_prefixed),
            block_number: anchor.block,
            at: anchor.at,
        }
    }
}

/// A verification that is under way.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunningVerification)]
struct RunningOut {
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// Entries that were verified so far
    entries: i64,
}

impl From<Progress> for RunningOut {
    fn from(progress: Progress) -> Self {
        Self { since: progress.since, entries: progress.read }
    }
}

/// What was verified.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EndedVerification)]
struct VerifiedOut {
    /// When it ended
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Whether the whole log could be read
    is_complete: bool,
    /// Whether the end of the log was compared with the chain
    is_compared: bool,
    /// Entries that were verified
    entries: i64,
    /// The entry at which the chain's anchor stands
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    anchored_entry: Option<i64>,
    /// How many faults there are; 0: the log is intact
    fault_count: u64,
    /// The first 100 of them
    faults: Vec<FaultOut>,
}

/// What is wrong with the log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditFault)]
struct FaultOut {
    /// A stable word
    #[schema(schema_with = names::<AuditFault>)]
    code: &'static str,
    /// The entry that it is about
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    entry: Option<i64>,
    /// The same in words
    text: String,
}

impl From<&AuditFault> for FaultOut {
    fn from(fault: &AuditFault) -> Self {
        Self { code: fault.code(), entry: fault.entry(), text: fault.to_string() }
    }
}

impl From<EndedVerification> for VerifiedOut {
    fn from(EndedVerification { at, found, is_compared }: EndedVerification) -> Self {
        let is_complete = found.is_some();
        let Inspection { entries, faults, fault_count, anchored, .. } = found.unwrap_or_default();
        let faults = faults.iter().take(MAX_REPORTED_FAULTS).map(Into::into).collect();
        Self { at, is_complete, is_compared, entries, anchored_entry: anchored, fault_count, faults }
    }
}

impl From<AuditStatus> for StatusOut {
    fn from(status: AuditStatus) -> Self {
        Self {
            entries: status.head.seq,
            head: hex::encode_prefixed(status.head.hash),
            is_keyed: status.head.keyed,
            is_altered: status.is_altered,
            is_chain_known: status.anchor.is_some(),
            anchor: status.anchor.flatten().map(Into::into),
            running: status.running.map(Into::into),
            latest: status.latest.map(Into::into),
        }
    }
}

async fn status(cx: Context, (): ()) -> Result<Json<StatusOut>> {
    Ok(Json(cx.app().audit.status(&cx.call).await?.into()))
}

async fn verify(cx: Context, (): ()) -> Result<Json<StatusOut>> {
    if let Some(work) = cx.app().audit.begin_verification(&cx.call)? {
        cx.service.background.spawn(work.in_current_span());
    }
    status(cx, ()).await
}
