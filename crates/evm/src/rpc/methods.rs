//! The methods: what `cast`, viem and their like read from a node.

use alloy_consensus::Header;
use alloy_primitives::{B256, Sealed};
use alloy_rpc_types_eth::{BlockTransactions, FeeHistory, Filter};
use revm::Database;
use serde_json::{Value, json};

use super::encode::{self, quantity};
use super::error::RpcError;
use super::filters::Source;
use super::params::{BlockRef, Params};
use super::session::Session;
use crate::BASE_FEE;
use crate::error::ChainError;
use crate::history::History;
use crate::logs::{self, LOGS_BLOCK_CAP};
use crate::state::View;

const MAX_FEE_HISTORY_BLOCKS: u64 = 1024;
/// With reward percentiles, which need the receipts.
const MAX_REWARD_HISTORY_BLOCKS: u64 = 128;

type Result<T> = std::result::Result<T, RpcError>;

impl Session<'_> {
    pub(super) fn run(&mut self, method: &str, params: &Params) -> Result<Value> {
        self.check()?;
        match method {
            "web3_clientVersion" => Ok(json!(concat!("portico-evm/v", env!("CARGO_PKG_VERSION")))),
            "net_version" => Ok(json!(self.chain.chain_id().to_string())),
            "net_listening" => Ok(json!(true)),
            "eth_chainId" => Ok(quantity(self.chain.chain_id())),
            "eth_blockNumber" => Ok(quantity(self.chain.head().number)),
            "eth_syncing" => Ok(json!(false)),
            "eth_accounts" => Ok(json!([])),
            "eth_gasPrice" => Ok(quantity(BASE_FEE)),
            "eth_maxPriorityFeePerGas" => Ok(quantity(0_u8)),
            "eth_blobBaseFee" => Ok(quantity(1_u8)),
            "eth_feeHistory" => self.fee_history(params),
            "eth_getBlockByNumber" | "eth_getBlockByHash" => self.block(params),
            "eth_getBlockTransactionCountByNumber" | "eth_getBlockTransactionCountByHash" => {
                self.transaction_count(params)
            }
            "eth_getBlockReceipts" => self.block_receipts(params),
            "eth_getTransactionByHash" => self.transaction(params),
            "eth_getTransactionByBlockNumberAndIndex" | "eth_getTransactionByBlockHashAndIndex" => {
                self.transaction_at(params)
            }
            "eth_getTransactionReceipt" => self.receipt(params),
            "eth_getLogs" => self.logs(params),
            "eth_newFilter" => self.new_log_filter(params),
            "eth_newBlockFilter" => self.new_filter(Source::Blocks),
            "eth_newPendingTransactionFilter" => self.new_filter(Source::PendingTransactions),
            "eth_getFilterChanges" => self.filter_changes(params),
            "eth_getFilterLogs" => self.filter_logs(params),
            "eth_uninstallFilter" => self.uninstall_filter(params),
            "eth_getBalance" => self.balance(params),
            "eth_getTransactionCount" => self.nonce(params),
            "eth_getCode" => self.code(params),
            "eth_getStorageAt" => self.storage(params),
            "eth_call" => self.call(params),
            "eth_estimateGas" => self.estimate(params),
            _ => Err(unknown(method)),
        }
    }

    fn block(&self, params: &Params) -> Result<Value> {
        let block = params.block(0)?;
        let full = params.optional(1, "full transactions")?.unwrap_or(false);
        let history = self.history()?;
        let Some(number) = number(&history, block)? else { return Ok(Value::Null) };
        let Some(block) = history.block(number)? else { return Ok(Value::Null) };
        let transactions = if full {
            BlockTransactions::Full(history.transactions(&block.header)?)
        } else {
            BlockTransactions::Hashes(block.transactions.clone())
        };
        Ok(encode::block(block, transactions))
    }

    fn transaction_count(&self, params: &Params) -> Result<Value> {
        let history = self.history()?;
        let Some(number) = number(&history, params.block(0)?)? else { return Ok(Value::Null) };
        Ok(history.block(number)?.map_or(Value::Null, |block| quantity(block.transactions.len())))
    }

    fn block_receipts(&self, params: &Params) -> Result<Value> {
        let history = self.history()?;
        let Some(number) = number(&history, params.block(0)?)? else { return Ok(Value::Null) };
        let Some(header) = history.header(number)? else { return Ok(Value::Null) };
        Ok(history.receipts(&header)?.iter().map(encode::receipt).collect())
    }

    fn transaction(&self, params: &Params) -> Result<Value> {
        Ok(json!(self.chain.transaction(params.required(0, "hash")?)?))
    }

    fn transaction_at(&self, params: &Params) -> Result<Value> {
        let (block, position) = (params.block(0)?, params.number(1, "index")?);
        let history = self.history()?;
        let Some(block) = number(&history, block)? else { return Ok(Value::Null) };
        Ok(json!(history.transaction_at(block, position)?))
    }

    fn receipt(&self, params: &Params) -> Result<Value> {
        let found = self.chain.receipt(params.required(0, "hash")?)?;
        Ok(found.as_ref().map_or(Value::Null, encode::receipt))
    }

    fn logs(&mut self, params: &Params) -> Result<Value> {
        self.search(&params.filter(0)?)
    }

    pub(super) fn search(&mut self, filter: &Filter) -> Result<Value> {
        let history = self.history()?;
        let blocks = logs::blocks(filter, &history)?;
        self.charge_blocks(blocks.end.saturating_sub(blocks.start).min(LOGS_BLOCK_CAP))?;
        Ok(json!(logs::search(filter, blocks, &history, Some(self.deadline))?))
    }

    fn balance(&self, params: &Params) -> Result<Value> {
        let address = params.required(0, "address")?;
        self.on_state(params.block_or_latest(1)?, |view| {
            Ok(quantity(view.account(address)?.unwrap_or_default().balance))
        })
    }

    fn nonce(&self, params: &Params) -> Result<Value> {
        let address = params.required(0, "address")?;
        self.on_state(params.block_or_latest(1)?, |view| {
            Ok(quantity(view.account(address)?.unwrap_or_default().nonce))
        })
    }

    fn code(&self, params: &Params) -> Result<Value> {
        let address = params.required(0, "address")?;
        self.on_state(params.block_or_latest(1)?, |view| {
            let account = view.account(address)?.unwrap_or_default();
            Ok(json!(view.code(account.code_hash)?.original_bytes()))
        })
    }

    fn storage(&self, params: &Params) -> Result<Value> {
        let (address, slot) = (params.required(0, "address")?, params.required(1, "slot")?);
        self.on_state(params.block_or_latest(2)?, |mut view| {
            Ok(json!(B256::from(view.storage(address, slot)?)))
        })
    }

    /// Reads the state, if `block` is the latest.
    pub(super) fn on_state<T>(
        &self,
        block: BlockRef,
        read: impl FnOnce(View<'_>) -> std::result::Result<T, ChainError>,
    ) -> Result<T> {
        let view = self.chain.state().view()?;
        let latest = match block {
            BlockRef::Latest => true,
            BlockRef::Number(number) => number == view.head().number,
            BlockRef::Hash(hash) => hash == view.head().hash(),
        };
        let found = if latest { Some(read(view)?) } else { None };
        match found {
            Some(found) => Ok(found),
            None if number(&self.history()?, block)?
                .is_some_and(|number| number <= self.chain.head().number) =>
            {
                Err(RpcError::server("state is kept for the latest block only"))
            }
            None => Err(RpcError::server("block not found")),
        }
    }

    fn fee_history(&mut self, params: &Params) -> Result<Value> {
        let (count, newest) = (params.number(0, "block count")?, params.block(1)?);
        let percentiles = params.percentiles(2)?;
        let history = self.history()?;
        let newest = number(&history, newest)?
            .filter(|number| *number <= history.head())
            .ok_or_else(|| RpcError::server("block not found"))?;
        let cap = if percentiles.is_some() { MAX_REWARD_HISTORY_BLOCKS } else { MAX_FEE_HISTORY_BLOCKS };
        let count = count.min(cap).min(newest + 1);
        if count == 0 {
            return Ok(json!(FeeHistory::default()));
        }
        let headers = history.headers(newest + 1 - count, newest, |_| true)?;
        #[expect(clippy::cast_precision_loss, reason = "a ratio for display")]
        let gas_used_ratio =
            headers.iter().map(|header| header.gas_used as f64 / header.gas_limit as f64).collect();
        let reward = match percentiles {
            Some(percentiles) => Some(self.rewards(&history, &headers, &percentiles)?),
            None => None,
        };
        Ok(json!(FeeHistory {
            base_fee_per_gas: vec![u128::from(BASE_FEE); headers.len() + 1],
            gas_used_ratio,
            base_fee_per_blob_gas: vec![1; headers.len() + 1],
            blob_gas_used_ratio: vec![0.0; headers.len()],
            oldest_block: newest + 1 - count,
            reward,
        }))
    }

    fn rewards(
        &mut self,
        history: &History<'_>,
        headers: &[Sealed<Header>],
        percentiles: &[f64],
    ) -> Result<Vec<Vec<u128>>> {
        self.charge_blocks(headers.len() as u64)?;
        let rewards = headers.iter().map(|header| {
            self.check()?;
            let mut paid: Vec<(u128, u64)> = history
                .receipts(header)?
                .iter()
                .map(|receipt| (receipt.effective_gas_price - u128::from(BASE_FEE), receipt.gas_used))
                .collect();
            paid.sort_unstable();
            Ok(rewards(&paid, percentiles))
        });
        rewards.collect()
    }
}

/// For each percentile of a block's gas, the tip paid per gas.
fn rewards(paid: &[(u128, u64)], percentiles: &[f64]) -> Vec<u128> {
    let total: u64 = paid.iter().map(|(_, gas)| gas).sum();
    percentiles
        .iter()
        .map(|percentile| {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a block's gas, which is small and not negative"
            )]
            let threshold = (total as f64 * percentile / 100.0) as u64;
            let mut sum = 0;
            let reward = paid.iter().find(|(_, gas)| {
                sum += gas;
                sum >= threshold
            });
            reward.map_or(0, |(reward, _)| *reward)
        })
        .collect()
}

/// The number of the block, which may be after the head. `None`: no block has this hash.
fn number(history: &History<'_>, block: BlockRef) -> Result<Option<u64>> {
    match block {
        BlockRef::Latest => Ok(Some(history.head())),
        BlockRef::Number(number) => Ok(Some(number)),
        BlockRef::Hash(hash) => Ok(history.number(&hash)?),
    }
}

fn unknown(method: &str) -> RpcError {
    let writes = ["eth_send", "eth_sign", "personal_", "wallet_"];
    if writes.iter().any(|prefix| method.starts_with(prefix)) {
        return RpcError::method("this endpoint only reads: it takes and signs no transactions");
    }
    RpcError::method("this method does not exist here")
}
