//! `/v1/listings`: owners' operations beyond the specification.

use std::collections::BTreeMap;

use portico_app::applications::Applicant;
use portico_domain::applications::ApplicationStatus;
use portico_domain::{ListingId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::{PUBLIC, SIGNED_IN};
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, get, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::{Json, JsonArray};
use crate::v1::applications::ApplicationState;
use crate::v1::chain::ChainRecordOut;

pub(crate) fn operations() -> Vec<Operation> {
    with_tag("Listings", vec![
        get("/v1/listings/{id}/applicants", SIGNED_IN, applicants)
            .id("listApplicants")
            .about("Flags and states of checks only: no score, no income.")
            .summary("Who applied to a listing, with the checks and flags of the newest application; for its owner and the operator")
            .not_found("There is no such listing"),
        get("/v1/listings/{id}/proof", PUBLIC, proof)
            .id("proveListing")
            .about("Everything that is needed to verify the record without trusting this service: `docs/proofs.md` shows how, with viem and web3.py.")
            .summary("The listing's recomputed digest and the digest on the chain")
            .not_found("There is no such listing, or it has no record on the chain"),
        get("/v1/listings/{id}/records", PUBLIC, records)
            .id("listListingRecords")
            .about("Names the contract, the key and the transaction that carries it.")
            .summary("Where a listing stands on the chain: one record, or none")
            .not_found("There is no such listing"),
        get("/v1/listings/stats/overview", PUBLIC, statistics)
            .id("getListingStatistics")
            .about("Counts of listings, of records on the chain and of applications.")
            .summary("Totals over all listings"),
    ])
}

/// One who applied to a listing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Applicant)]
struct ApplicantOut {
    user_id: String,
    #[schema(value_type = String, format = DateTime)]
    applied_at: Timestamp,
    status: ApplicationStatus,
    #[serde(flatten)]
    state: ApplicationState,
}

impl From<Applicant> for ApplicantOut {
    fn from(applicant: Applicant) -> Self {
        Self {
            user_id: applicant.user.into(),
            applied_at: applicant.applied_at,
            status: applicant.status,
            state: ApplicationState::new(applicant.evaluation, applicant.is_withheld),
        }
    }
}

struct Applicants(ListingId, Paging);

impl Input for Applicants {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (id, paging) = (from.path("id", "The listing"), Paging::read(from));
        Some(Self(id?, paging))
    }
}

async fn applicants(cx: Context, Applicants(id, paging): Applicants) -> Result<PagedResponse<ApplicantOut>> {
    PagedResponse::read(cx, id, paging, async |cx, id, after, limit| {
        Ok(cx.app().applications.applicants(&cx.call, &id, after, limit).await?.map(Into::into))
    })
    .await
}

pub(super) struct ListingPath(pub(super) ListingId);

impl Input for ListingPath {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("id", "The listing").map(Self)
    }
}

/// Proves that a listing was not altered since it was recorded. The digest is the Keccak-256 hash of the ABI
/// encoding of the salt (bytes32) and then the content's values (strings), in their order; `docs/proofs.md` has programs
/// that verify it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ListingProof {
    listing_id: String,
    /// Whether the two digests are the same
    matches: bool,
    /// The digest of what the database says now
    digest: String,
    /// The digest on the chain
    chain_digest: String,
    salt: String,
    /// What the digest covers, in its order
    content: Vec<ProofField>,
    /// The listing's key on the chain: the Keccak-256 hash of its id
    key: String,
    version: u64,
    /// The transaction that recorded it
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    transaction_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    block_number: Option<u64>,
    /// The contract that holds the record
    contract: String,
    chain_id: u64,
}

#[derive(Debug, Serialize, ToSchema)]
struct ProofField {
    name: &'static str,
    value: String,
}

async fn proof(cx: Context, ListingPath(id): ListingPath) -> Result<Json<ListingProof>> {
    let proof = cx.app().listings.proof(&cx.call, &id).await?;
    let record = proof.record;
    Ok(Json(ListingProof {
        listing_id: id.into(),
        matches: proof.digest == proof.on_chain,
        digest: hex::encode_prefixed(proof.digest),
        chain_digest: hex::encode_prefixed(proof.on_chain),
        salt: hex::encode_prefixed(proof.salt),
        content: proof.content.into_iter().map(|(name, value)| ProofField { name, value }).collect(),
        key: hex::encode_prefixed(record.key),
        version: record.version,
        transaction_hash: record.transaction.as_ref().map(hex::encode_prefixed),
        block_number: record.block,
        contract: record.contract.to_string(),
        chain_id: record.chain_id,
    }))
}

async fn records(cx: Context, ListingPath(id): ListingPath) -> Result<JsonArray<ChainRecordOut>> {
    let record = cx.app().listings.record_status(&cx.call, &id).await?;
    Ok(JsonArray::at_most_one(record))
}

/// Totals over all listings.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListingStatistics)]
struct ListingStatisticsOut {
    total_listings: i64,
    /// Listings with a record on the chain
    on_chain: i64,
    /// Listings without one
    off_chain: i64,
    total_applications: i64,
    state_distribution: BTreeMap<String, i64>,
}

async fn statistics(cx: Context, (): ()) -> Result<Json<ListingStatisticsOut>> {
    let statistics = cx.app().listings.statistics(&cx.call).await?;
    Ok(Json(ListingStatisticsOut {
        total_listings: statistics.total,
        on_chain: statistics.on_chain,
        off_chain: statistics.total - statistics.on_chain,
        total_applications: statistics.applications,
        state_distribution: statistics.by_state.into_iter().collect(),
    }))
}
