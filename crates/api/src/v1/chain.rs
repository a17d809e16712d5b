//! `/v1/chain`: status, blocks and transactions.

use portico_app::chain::{Address, Block, ItemKind, ItemStatus};
use portico_app::chain::{BatchTransaction, Log, Record, TransactionDetails, TransactionStatus};
use portico_app::chain_queue::BatchStatus;
use portico_domain::{SafeInteger, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::PUBLIC;
use crate::input::{Hash, Input, Reader, WalletAddress};
use crate::operation::{Context, Operation, get, with_tag};
use crate::paging::{Limit, PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::{Json, JsonArray};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Chain",
        vec![
            get("/v1/chain/status", PUBLIC, status)
                .id("getChainStatus")
                .summary("The chain's head, contracts, signers and queue"),
            get("/v1/chain/blocks", PUBLIC, blocks).id("listBlocks").summary("Blocks, the newest first"),
            get("/v1/chain/blocks/{number}", PUBLIC, block)
                .id("getBlock")
                .summary("One block")
                .not_found("There is no such block"),
            get("/v1/chain/transactions", PUBLIC, transactions).id("listTransactions").summary(
                "This service's transactions that an account signed or that call a contract, the newest first",
            ),
            get("/v1/chain/transactions/{hash}", PUBLIC, transaction)
                .id("getTransaction")
                .summary("A transaction, what became of it, and what it wrote")
                .not_found("There is no such transaction"),
        ],
    )
}

/// Where something stands on the chain.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Record)]
pub(crate) struct RecordOut {
    /// `pending`, `mined` or `refused`
    #[schema(example = "mined")]
    status: &'static str,
    /// By what the contract knows it
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

impl From<Record> for RecordOut {
    fn from(record: Record) -> Self {
        Self {
            status: match record.status {
                ItemStatus::Waiting | ItemStatus::Signed => "pending",
                ItemStatus::Mined => "mined",
                ItemStatus::Failed => "refused",
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
    /// `embedded` or `remote`
    node: &'static str,
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
        node: if status.embedded { "embedded" } else { "remote" },
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
            failed: status.backlog.failed,
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

/// What became of a transaction.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Transaction)]
struct TransactionOut {
    hash: String,
    /// `pending`, `mined`, `replaced` or `failed`
    #[schema(example = "mined")]
    status: &'static str,
    from: String,
    nonce: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    block_number: Option<u64>,
    /// The transaction that took its place
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    replaced_by: Option<String>,
    /// The contract that it calls, if it is one of this service's
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    contract: Option<&'static str>,
    /// How many items it carries there
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    items: Option<i64>,
    /// The account or contract that it is sent to; absent if it deploys a contract or the node does not have it
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    to: Option<String>,
    /// Its data, if the node has it
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    input: Option<String>,
    /// Once it is in a block
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    gas_used: Option<u64>,
    /// What contracts wrote, once it is in a block
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    logs: Option<Vec<LogOut>>,
}

/// What a contract wrote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Log)]
struct LogOut {
    /// The contract
    address: String,
    topics: Vec<String>,
    data: String,
}

impl From<Log> for LogOut {
    fn from(log: Log) -> Self {
        Self {
            address: log.address.to_string(),
            topics: log.topics.iter().map(hex::encode_prefixed).collect(),
            data: hex::encode_prefixed(&log.data),
        }
    }
}

struct OneTransaction(Hash);

impl Input for OneTransaction {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("hash", "The transaction's hash").map(Self)
    }
}

async fn transaction(
    cx: Context,
    OneTransaction(Hash(hash)): OneTransaction,
) -> Result<Json<TransactionOut>> {
    let TransactionDetails { traced, content, receipt } = cx.app().chain.transaction(&cx.call, hash).await?;
    let (status, replaced_by) = match traced.status {
        TransactionStatus::Pending => ("pending", None),
        TransactionStatus::Mined => ("mined", None),
        TransactionStatus::Failed => ("failed", None),
        TransactionStatus::Replaced(by) => ("replaced", by),
    };
    let (to, input) = content.map_or((None, None), |content| (content.to, Some(content.input)));
    let (gas_used, logs) =
        receipt.map_or((None, None), |receipt| (Some(receipt.gas_used), Some(receipt.logs)));
    Ok(Json(TransactionOut {
        hash: hex::encode_prefixed(hash),
        status,
        from: traced.from.to_string(),
        nonce: traced.nonce,
        block_number: traced.block,
        replaced_by: replaced_by.map(hex::encode_prefixed),
        contract: traced.items.map(|(kind, _)| kind.contract()),
        items: traced.items.map(|(_, items)| items),
        to: to.map(|to| to.to_string()),
        input: input.map(hex::encode_prefixed),
        gas_used,
        logs: logs.map(|logs| logs.into_iter().map(Into::into).collect()),
    }))
}

/// One of this service's transactions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OwnTransaction)]
struct OwnTransactionOut {
    hash: String,
    /// `pending`, `mined`, `replaced` by another one of its account, or `failed`
    #[schema(example = "mined")]
    status: &'static str,
    from: String,
    nonce: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    block_number: Option<i64>,
    /// The contract that it calls; absent if it only uses up a nonce
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    contract: Option<&'static str>,
    /// How many items it carries there
    items: i64,
}

impl From<BatchTransaction> for OwnTransactionOut {
    fn from(batch: BatchTransaction) -> Self {
        Self {
            hash: hex::encode_prefixed(batch.hash),
            status: match batch.status {
                BatchStatus::Signed => "pending",
                BatchStatus::Mined | BatchStatus::Final => "mined",
                BatchStatus::Reverted => "failed",
                BatchStatus::Foreign => "replaced",
            },
            from: Address::from(batch.signer).to_string(),
            nonce: batch.nonce,
            block_number: batch.block,
            contract: ItemKind::from_number(batch.kind).map(ItemKind::contract),
            items: batch.items,
        }
    }
}

struct Transactions(WalletAddress, Paging);

impl Input for Transactions {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let address = from.required_query("address", "The account or contract");
        let paging = Paging::read(from);
        Some(Self(address?, paging))
    }
}

async fn transactions(
    cx: Context,
    Transactions(WalletAddress(address), paging): Transactions,
) -> Result<PagedResponse<OwnTransactionOut>> {
    PagedResponse::read(cx, address, paging, async |cx, address, after, limit| {
        let page = cx.app().chain.transactions(&cx.call, (*address).into(), after, limit).await?;
        Ok(page.map(Into::into))
    })
    .await
}
