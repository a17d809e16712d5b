//! Parses the positional arguments of a method. Errors name the argument.

use alloy_eips::{BlockId, BlockNumberOrTag};
use alloy_primitives::{B256, U64};
use alloy_rpc_types_eth::{Filter, TransactionRequest};
use serde::Deserialize;
use serde_json::Value;

use super::error::RpcError;
use crate::call::Call;

/// Addresses and topics of a log filter.
const MAX_FILTER_VALUES: usize = 1000;
const MAX_PERCENTILES: usize = 100;

type Result<T> = std::result::Result<T, RpcError>;

pub(super) struct Params(Vec<Value>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockRef {
    Latest,
    Number(u64),
    Hash(B256),
}

impl From<BlockId> for BlockRef {
    fn from(block: BlockId) -> Self {
        match block {
            BlockId::Hash(hash) => Self::Hash(hash.block_hash),
            BlockId::Number(BlockNumberOrTag::Number(number)) => Self::Number(number),
            BlockId::Number(BlockNumberOrTag::Earliest) => Self::Number(0),
            // Every block is final at once.
            BlockId::Number(_) => Self::Latest,
        }
    }
}

impl Params {
    pub(super) fn new(params: Vec<Value>) -> Self {
        Self(params)
    }

    /// An argument; null counts as absent.
    pub(super) fn optional<'a, T: Deserialize<'a>>(&'a self, index: usize, name: &str) -> Result<Option<T>> {
        let parse = |value| T::deserialize(value).map_err(|error| invalid(name, &format!(": {error}")));
        self.0.get(index).filter(|value| !value.is_null()).map(parse).transpose()
    }

    pub(super) fn required<'a, T: Deserialize<'a>>(&'a self, index: usize, name: &str) -> Result<T> {
        self.optional(index, name)?.ok_or_else(|| invalid(name, " is missing"))
    }

    /// A number, in hexadecimal or as a JSON number.
    pub(super) fn number(&self, index: usize, name: &str) -> Result<u64> {
        self.required(index, name).map(|number: U64| number.to())
    }

    /// A block by tag, number or hash, or by an object with a number or hash (EIP-1898).
    pub(super) fn block(&self, index: usize) -> Result<BlockRef> {
        self.required(index, "block").map(|block: BlockId| block.into())
    }

    pub(super) fn block_or_latest(&self, index: usize) -> Result<BlockRef> {
        let block: Option<BlockId> = self.optional(index, "block")?;
        Ok(block.map_or(BlockRef::Latest, Into::into))
    }

    pub(super) fn percentiles(&self, index: usize) -> Result<Option<Vec<f64>>> {
        let percentiles: Option<Vec<f64>> = self.optional(index, "percentiles")?;
        let is_valid = |list: &Vec<f64>| {
            list.len() <= MAX_PERCENTILES
                && list.is_sorted()
                && list.iter().all(|p| (0.0..=100.0).contains(p))
        };
        if percentiles.as_ref().is_some_and(|list| !is_valid(list)) {
            return Err(invalid("percentiles", " must be at most 100 growing numbers from 0 to 100"));
        }
        Ok(percentiles)
    }

    /// A call. Fees and nonce are ignored.
    pub(super) fn call(&self, index: usize) -> Result<Call> {
        let call: TransactionRequest = self.required(index, "transaction")?;
        for overrides in index + 2..=index + 3 {
            let overrides: Option<&Value> = self.0.get(overrides).filter(|value| !value.is_null());
            if overrides.is_some_and(|value| value.as_object().is_none_or(|map| !map.is_empty())) {
                return Err(RpcError::params("state and block overrides are not supported"));
            }
        }
        let data = call.input.try_into_unique_input();
        Ok(Call {
            from: call.from.unwrap_or_default(),
            to: call.to.and_then(|to| to.to().copied()),
            data: data
                .map_err(|_| RpcError::params("data and input are both there and differ"))?
                .unwrap_or_default(),
            gas: call.gas,
            value: call.value.unwrap_or_default(),
        })
    }

    /// A log filter with its range: from and to, or one block's hash.
    pub(super) fn filter(&self, index: usize) -> Result<Filter> {
        let filter: Filter = self.required(index, "filter")?;
        let topics: usize = filter.topics.iter().map(alloy_rpc_types_eth::FilterSet::len).sum();
        if filter.address.len() + topics > MAX_FILTER_VALUES {
            return Err(invalid("filter", " names more than 1000 addresses and topics"));
        }
        Ok(filter)
    }
}

fn invalid(name: &str, what: &str) -> RpcError {
    RpcError::params(format!("invalid params: {name}{what}"))
}
