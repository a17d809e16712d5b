//! `/v1/chain/queue`: what waits for the chain, and what the chain has rejected.

use portico_app::chain::ItemKind;
use portico_app::chain_queue::{BatchStatus, ChainQueue, QueuedBatch, RejectedItem, WaitingItems};
use portico_domain::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::chain::contract_schema;
use crate::access::OPERATORS_ONLY;
use crate::operation::{Context, Operation, get, post, with_tag};
use crate::problem::Result;
use crate::reply::Json;

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Operation",
        vec![
            get("/v1/chain/queue", OPERATORS_ONLY, read)
                .id("getChainQueue")
                .about("At most 100 transactions and 100 rejected items.")
                .summary("What waits for the chain, and what the chain has rejected"),
            post("/v1/chain/queue/retry", OPERATORS_ONLY, retry)
                .id("retryChainQueue")
                .about("After the cause was removed. Answers with the number of items.")
                .summary("Queues what the chain has rejected again, 200 items at most"),
        ],
    )
}

/// The queue.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChainQueueDetails)]
struct QueueOut {
    /// Items that are not signed yet
    waiting: i64,
    /// Items that are signed and not in a block
    signed: i64,
    /// Items that the chain has rejected for good
    failed: i64,
    /// What waits, by contract
    waiting_by_contract: Vec<WaitingOut>,
    /// Transactions that are not final, at most 100
    transactions: Vec<QueuedOut>,
    /// What was rejected, at most 100
    failed_items: Vec<RejectedOut>,
}

/// What waits for one contract.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitingItems)]
struct WaitingOut {
    #[schema(schema_with = contract_schema)]
    contract: &'static str,
    items: i64,
    /// Since when the oldest of them waits
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
}

/// A transaction that is not final.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = QueuedTransaction)]
struct QueuedOut {
    /// The account that signs
    signer: String,
    nonce: i64,
    /// The contract that it calls; none: it only takes up a nonce
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = contract_schema)]
    contract: Option<&'static str>,
    items: i64,
    /// `signed`, or `mined`: in a block that is not final
    status: QueuedStatus,
    /// The newest attempt
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hash: Option<String>,
    /// How often it was signed, each time with a higher fee
    attempts: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    block_number: Option<i64>,
    /// When it was first signed
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    since: Option<Timestamp>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum QueuedStatus {
    Signed,
    Mined,
}

/// An item that the chain has rejected.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FailedItem)]
struct RejectedOut {
    #[schema(schema_with = contract_schema)]
    contract: &'static str,
    /// Its key in the contract
    key: String,
    version: i64,
    /// Whether it was to be deleted
    is_deletion: bool,
    /// When this version was requested
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
}

impl From<WaitingItems> for WaitingOut {
    fn from(waiting: WaitingItems) -> Self {
        Self { contract: waiting.kind.contract(), items: waiting.items, since: waiting.since }
    }
}

impl From<QueuedBatch> for QueuedOut {
    fn from(batch: QueuedBatch) -> Self {
        Self {
            signer: hex::encode_prefixed(batch.signer),
            nonce: batch.nonce,
            contract: batch.kind.map(ItemKind::contract),
            items: batch.items,
            status: if batch.status == BatchStatus::Signed {
                QueuedStatus::Signed
            } else {
                QueuedStatus::Mined
            },
            hash: batch.hash.map(hex::encode_prefixed),
            attempts: batch.attempts,
            block_number: batch.block,
            since: batch.since,
        }
    }
}

impl From<RejectedItem> for RejectedOut {
    fn from(rejected: RejectedItem) -> Self {
        Self {
            contract: rejected.item.kind.contract(),
            key: hex::encode_prefixed(rejected.item.key),
            version: rejected.item.version,
            is_deletion: rejected.deleted,
            since: rejected.since,
        }
    }
}

async fn read(cx: Context, (): ()) -> Result<Json<QueueOut>> {
    let ChainQueue { totals, waiting, batches, rejected } = cx.app().chain.queue(&cx.call).await?;
    Ok(Json(QueueOut {
        waiting: totals.waiting,
        signed: totals.signed,
        failed: totals.rejected,
        waiting_by_contract: waiting.into_iter().map(Into::into).collect(),
        transactions: batches.into_iter().map(Into::into).collect(),
        failed_items: rejected.into_iter().map(Into::into).collect(),
    }))
}

/// What was queued again.
#[derive(Debug, Serialize, ToSchema)]
struct Retried {
    message: &'static str,
    items: u64,
}

async fn retry(cx: Context, (): ()) -> Result<Json<Retried>> {
    let items = cx.app().chain.retry(&cx.call).await?;
    Ok(Json(Retried { message: "Queued again", items }))
}
