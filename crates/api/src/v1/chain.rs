//! `/v1/chain`: status and blocks.

use portico_app::chain::{Block, ItemKind, ItemStatus, Record};
use portico_domain::{SafeInteger, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::Object;

use crate::access::PUBLIC;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, get, with_tag};
use crate::paging::Limit;
use crate::problem::{Result, enumeration};
use crate::reply::{Json, JsonArray};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Chain",
        vec![
            get("/v1/chain/status", PUBLIC, status)
                .id("getChainStatus")
                .about("Names the contracts from which anyone can read records.")
                .summary("The chain's head, contracts, signers and queue"),
            get("/v1/chain/blocks", PUBLIC, blocks)
                .id("listBlocks")
                .about("Goes back from the newest block, or from `before`.")
                .summary("Blocks, the newest first"),
            get("/v1/chain/blocks/{number}", PUBLIC, block)
                .id("getBlock")
                .about("With the hashes of its transactions.")
                .summary("One block")
                .not_found("There is no such block"),
        ],
    )
}

/// Where something stands on the chain.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Record)]
pub(crate) struct ChainRecordOut {
    status: RecordStatus,
    /// Its key in the contract
    key: String,
    version: u64,
    /// The transaction that carries it
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    transaction_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    block_number: Option<u64>,
    /// The contract that holds it
    contract: String,
    chain_id: u64,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RecordStatus {
    Pending,
    Mined,
    #[serde(rename = "refused")]
    Rejected,
}

impl From<Record> for ChainRecordOut {
    fn from(record: Record) -> Self {
        Self {
            status: match record.status {
                ItemStatus::Waiting | ItemStatus::Signed => RecordStatus::Pending,
                ItemStatus::Mined => RecordStatus::Mined,
                ItemStatus::Rejected => RecordStatus::Rejected,
            },
            key: hex::encode_prefixed(record.key),
            version: record.version,
            transaction_hash: record.transaction.as_ref().map(hex::encode_prefixed),
            block_number: record.block,
            contract: record.contract.to_string(),
            chain_id: record.chain_id,
        }
    }
}

/// A block.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Block)]
struct BlockOut {
    number: u64,
    hash: String,
    parent_hash: String,
    #[schema(value_type = String, format = DateTime)]
    timestamp: Timestamp,
    gas_used: u64,
    gas_limit: u64,
    base_fee_per_gas: u64,
    /// The hashes of its transactions
    transactions: Vec<String>,
}

impl From<Block> for BlockOut {
    fn from(block: Block) -> Self {
        Self {
            number: block.number,
            hash: hex::encode_prefixed(block.hash.as_slice()),
            parent_hash: hex::encode_prefixed(block.parent.as_slice()),
            timestamp: Timestamp::from_micros(
                i64::try_from(block.timestamp).unwrap_or(0).saturating_mul(1_000_000),
            ),
            gas_used: block.gas_used,
            gas_limit: block.gas_limit,
            base_fee_per_gas: block.base_fee,
            transactions: block
                .transactions
                .iter()
                .map(|hash| hex::encode_prefixed(hash.as_slice()))
                .collect(),
        }
    }
}

/// How the chain stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChainStatus)]
struct StatusOut {
    chain_id: u64,
    node: ChainNode,
    /// Whether the node answers
    reachable: bool,
    /// Whether listings can be recorded at the moment
    signing: bool,
    /// The newest block that was seen
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    head: Option<BlockOut>,
    contracts: ContractsOut,
    signers: Vec<SignerOut>,
    queue: QueueOut,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ChainNode {
    Embedded,
    Remote,
}

/// The name of a contract.
pub(super) fn contract_schema() -> Object {
    enumeration(ItemKind::ALL.map(ItemKind::contract), "ListingRegistry")
}

/// Where the contracts are.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Contracts)]
struct ContractsOut {
    listing_registry: String,
    identity_token: String,
    application_checks: String,
    audit_anchor: String,
}

/// An account that signs.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Signer)]
struct SignerOut {
    address: String,
    next_nonce: i64,
    /// What it owns, in wei, if the node answers
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    balance: Option<String>,
}

/// What is still to be done, in items.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChainQueue)]
struct QueueOut {
    /// Not signed yet
    waiting: i64,
    /// Signed, and not yet in a block
    signed: i64,
    /// Refused by the chain for good
    failed: i64,
}

async fn status(cx: Context, (): ()) -> Result<Json<StatusOut>> {
    let status = cx.app().chain.status(&cx.call).await?;
    let contract = |kind| status.contracts.of(kind).to_string();
    Ok(Json(StatusOut {
        chain_id: status.chain_id,
        node: if status.embedded { ChainNode::Embedded } else { ChainNode::Remote },
        reachable: status.reachable,
        signing: status.writer.signer.is_some() && !status.writer.stopped,
        head: status.writer.head.map(Into::into),
        contracts: ContractsOut {
            listing_registry: contract(ItemKind::Listing),
            identity_token: contract(ItemKind::Identity),
            application_checks: contract(ItemKind::Check),
            audit_anchor: contract(ItemKind::Anchor),
        },
        signers: status
            .signers
            .into_iter()
            .map(|(address, next_nonce, balance)| SignerOut {
                address: address.to_string(),
                next_nonce,
                balance: balance.map(|wei| wei.to_string()),
            })
            .collect(),
        queue: QueueOut {
            waiting: status.backlog.waiting,
            signed: status.backlog.signed,
            failed: status.backlog.rejected,
        },
    }))
}

const DEFAULT_BLOCKS: usize = 20;
/// A remote chain needs one request per block.
const MAX_BLOCKS: usize = 100;

struct Blocks {
    limit: usize,
    before: Option<u64>,
}

impl Input for Blocks {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let limit = from.query::<Limit<MAX_BLOCKS>>("limit", "At most so many; 20 if absent");
        let before = from.query::<SafeInteger>("before", "Only blocks with lower numbers");
        Some(Self {
            limit: limit.map_or(DEFAULT_BLOCKS, |limit| limit.0),
            before: before.map(|number| number.units().unsigned_abs()),
        })
    }
}

async fn blocks(cx: Context, input: Blocks) -> Result<JsonArray<BlockOut>> {
    let blocks = cx.app().chain.blocks(&cx.call, input.before, input.limit).await?;
    Ok(JsonArray(blocks.into_iter().map(Into::into).collect()))
}

struct OneBlock(u64);

impl Input for OneBlock {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let number = from.path::<SafeInteger>("number", "The block's number")?;
        Some(Self(number.units().unsigned_abs()))
    }
}

async fn block(cx: Context, OneBlock(number): OneBlock) -> Result<Json<BlockOut>> {
    Ok(Json(cx.app().chain.block(&cx.call, number).await?.into()))
}
