//! `/v1/chain/transactions`: one with its data and logs, and the service's own of an account or contract.

use portico_app::chain::{Address, BatchTransaction, ItemKind, Log, TransactionDetails, TransactionStatus};
use portico_app::chain_queue::BatchStatus;
use serde::Serialize;
use utoipa::ToSchema;

use super::chain::contract_schema;
use crate::access::PUBLIC;
use crate::input::{Hash, Input, Reader, WalletAddress};
use crate::operation::{Context, Operation, get, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::Json;

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Chain",
        vec![
            get("/v1/chain/transactions", PUBLIC, transactions).id("listTransactions")
            .about("Only transactions that this service sent.").summary(
                "This service's transactions that an account signed or that call a contract, the newest first",
            ),
            get("/v1/chain/transactions/{hash}", PUBLIC, transaction)
                .id("getTransaction")
                .about("With its data and logs, as far as the node has them.")
                .summary("A transaction, what became of it, and what it wrote")
                .not_found("There is no such transaction"),
        ],
    )
}

/// What became of a transaction; `replaced` by another one of its account.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = TransactionStatus)]
enum MiningStatus {
    Pending,
    Mined,
    Replaced,
    Failed,
}

/// What became of a transaction.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Transaction)]
struct TransactionOut {
    hash: String,
    status: MiningStatus,
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
    #[schema(schema_with = contract_schema)]
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
        TransactionStatus::Pending => (MiningStatus::Pending, None),
        TransactionStatus::Mined => (MiningStatus::Mined, None),
        TransactionStatus::Failed => (MiningStatus::Failed, None),
        TransactionStatus::Replaced(by) => (MiningStatus::Replaced, by),
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
    status: MiningStatus,
    from: String,
    nonce: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    block_number: Option<i64>,
    /// The contract that it calls; absent if it only uses up a nonce
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = contract_schema)]
    contract: Option<&'static str>,
    /// How many items it carries there
    items: i64,
}

impl From<BatchTransaction> for OwnTransactionOut {
    fn from(batch: BatchTransaction) -> Self {
        Self {
            hash: hex::encode_prefixed(batch.hash),
            status: match batch.status {
                BatchStatus::Signed => MiningStatus::Pending,
                BatchStatus::Mined | BatchStatus::Final => MiningStatus::Mined,
                BatchStatus::Reverted => MiningStatus::Failed,
                BatchStatus::Foreign => MiningStatus::Replaced,
            },
            from: Address::from(batch.signer).to_string(),
            nonce: batch.nonce,
            block_number: batch.block,
            contract: batch.kind.map(ItemKind::contract),
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
