//! Parses the positional arguments of a method. Errors name the argument.

use alloy_primitives::{Address, B256, Bytes, U256, hex};
use serde_json::{Map, Value};

use super::error::RpcError;
use crate::call::Call;
use crate::logs::LogFilter;

/// Addresses of a log filter, and values of each topic.
const MAX_FILTER_VALUES: usize = 1000;
const MAX_TOPICS: usize = 4;

type Result<T> = std::result::Result<T, RpcError>;

pub(super) struct Params(Vec<Value>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockRef {
    Latest,
    Number(u64),
    Hash(B256),
}

impl Params {
    pub(super) fn new(params: Vec<Value>) -> Self {
        Self(params)
    }

    /// An argument; null counts as absent.
    pub(super) fn get(&self, index: usize) -> Option<&Value> {
        self.0.get(index).filter(|value| !value.is_null())
    }

    fn required(&self, index: usize, name: &str) -> Result<&Value> {
        self.get(index).ok_or_else(|| invalid(name, "is missing"))
    }

    pub(super) fn address(&self, index: usize) -> Result<Address> {
        address(self.required(index, "address")?, "address")
    }

    pub(super) fn hash(&self, index: usize) -> Result<B256> {
        hash(self.required(index, "hash")?, "hash")
    }

    pub(super) fn slot(&self, index: usize) -> Result<U256> {
        quantity(self.required(index, "slot")?, "slot")
    }

    pub(super) fn index(&self, index: usize) -> Result<u64> {
        number(self.required(index, "index")?, "index")
    }

    pub(super) fn block(&self, index: usize) -> Result<BlockRef> {
        block(self.required(index, "block")?, "block")
    }

    pub(super) fn block_or_latest(&self, index: usize) -> Result<BlockRef> {
        self.get(index).map_or(Ok(BlockRef::Latest), |value| block(value, "block"))
    }

    /// Whether to return whole transactions instead of hashes.
    pub(super) fn full_transactions(&self, index: usize) -> Result<bool> {
        match self.get(index) {
            None => Ok(false),
            Some(Value::Bool(full)) => Ok(*full),
            Some(_) => Err(invalid("full transactions", "must be true or false")),
        }
    }

    /// A number of blocks, hexadecimal or a JSON number.
    pub(super) fn count(&self, index: usize) -> Result<u64> {
        match self.required(index, "block count")? {
            Value::Number(count) => {
                count.as_u64().ok_or_else(|| invalid("block count", "must be a whole number"))
            }
            value => number(value, "block count"),
        }
    }

    pub(super) fn percentiles(&self, index: usize) -> Result<Option<Vec<f64>>> {
        let Some(value) = self.get(index) else { return Ok(None) };
        let percentiles: Option<Vec<f64>> =
            value.as_array().and_then(|list| list.iter().map(Value::as_f64).collect());
        percentiles
            .filter(|list| {
                list.len() <= 100 && list.is_sorted() && list.iter().all(|p| (0.0..=100.0).contains(p))
            })
            .map(Some)
            .ok_or_else(|| invalid("percentiles", "must be at most 100 growing numbers from 0 to 100"))
    }

    /// A call. Fees and nonce are ignored.
    pub(super) fn call(&self, index: usize) -> Result<Call> {
        let call = object(self.required(index, "transaction")?, "transaction")?;
        for overrides in index + 2..=index + 3 {
            if self.get(overrides).is_some_and(|value| value.as_object().is_none_or(|map| !map.is_empty())) {
                return Err(RpcError::params("state and block overrides are not supported"));
            }
        }
        let bytes = |name| field(call, name).map(|value| bytes(value, name)).transpose();
        let data = match (bytes("input")?, bytes("data")?) {
            (Some(input), Some(data)) if input != data => {
                return Err(RpcError::params("data and input are both there and differ"));
            }
            (input, data) => input.or(data).unwrap_or_default(),
        };
        let address = |name| field(call, name).map(|value| address(value, name)).transpose();
        Ok(Call {
            from: address("from")?.unwrap_or_default(),
            to: address("to")?,
            data,
            gas: field(call, "gas")
                .map(|value| quantity(value, "gas"))
                .transpose()?
                .map(|gas| gas.saturating_to()),
            value: field(call, "value").map_or(Ok(U256::ZERO), |value| quantity(value, "value"))?,
        })
    }

    /// A log filter with its range: from and to, or one block's hash.
    pub(super) fn filter(&self, index: usize) -> Result<(LogFilter, BlockRef, BlockRef)> {
        let filter = object(self.required(index, "filter")?, "filter")?;
        let end = |name| field(filter, name).map(|value| range_end(value, name)).transpose();
        let (from, to) = (end("fromBlock")?, end("toBlock")?);
        let range = match field(filter, "blockHash") {
            Some(_) if from.is_some() || to.is_some() => {
                return Err(RpcError::params("blockHash excludes fromBlock and toBlock"));
            }
            Some(value) => {
                let block = BlockRef::Hash(hash(value, "blockHash")?);
                (block, block)
            }
            None => (from.unwrap_or(BlockRef::Latest), to.unwrap_or(BlockRef::Latest)),
        };
        let addresses = field(filter, "address")
            .map_or(Ok(Vec::new()), |value| one_or_many(value, "address", address))?;
        let topics = match field(filter, "topics") {
            None => Vec::new(),
            Some(Value::Array(topics)) if topics.len() <= MAX_TOPICS => {
                topics.iter().map(topic).collect::<Result<_>>()?
            }
            Some(_) => return Err(invalid("topics", "must be an array of at most four")),
        };
        Ok((LogFilter { addresses, topics, ..LogFilter::default() }, range.0, range.1))
    }
}

fn invalid(name: &str, what: &str) -> RpcError {
    RpcError::params(format!("invalid params: {name} {what}"))
}

fn object<'v>(value: &'v Value, name: &str) -> Result<&'v Map<String, Value>> {
    value.as_object().ok_or_else(|| invalid(name, "must be an object"))
}

fn field<'v>(object: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    object.get(name).filter(|value| !value.is_null())
}

fn digits<'v>(value: &'v Value, name: &str) -> Result<&'v str> {
    value
        .as_str()
        .and_then(|text| text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")))
        .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        .ok_or_else(|| invalid(name, "must be a string of hexadecimal digits that begins with 0x"))
}

/// A number; leading zeros are allowed.
fn quantity(value: &Value, name: &str) -> Result<U256> {
    let digits = digits(value, name)?;
    if digits.is_empty() || digits.len() > 64 {
        return Err(invalid(name, "must be a number of 1 to 64 hexadecimal digits"));
    }
    U256::from_str_radix(digits, 16).map_err(|_| invalid(name, "must be a hexadecimal number"))
}

fn number(value: &Value, name: &str) -> Result<u64> {
    quantity(value, name)?.try_into().map_err(|_| invalid(name, "is too large"))
}

fn bytes(value: &Value, name: &str) -> Result<Bytes> {
    hex::decode(digits(value, name)?)
        .map(Into::into)
        .map_err(|_| invalid(name, "must be an even number of hexadecimal digits"))
}

fn address(value: &Value, name: &str) -> Result<Address> {
    Address::try_from(bytes(value, name)?.as_ref())
        .map_err(|_| invalid(name, "must be an address of 20 bytes"))
}

fn hash(value: &Value, name: &str) -> Result<B256> {
    B256::try_from(bytes(value, name)?.as_ref()).map_err(|_| invalid(name, "must be a hash of 32 bytes"))
}

/// A block by tag, number or hash, or by an object with a number or hash (EIP-1898).
fn block(value: &Value, name: &str) -> Result<BlockRef> {
    if let Some(object) = value.as_object() {
        return match (field(object, "blockNumber"), field(object, "blockHash")) {
            (Some(value), None) => Ok(BlockRef::Number(number(value, "blockNumber")?)),
            (None, Some(value)) => Ok(BlockRef::Hash(hash(value, "blockHash")?)),
            _ => Err(invalid(name, "must have a blockNumber or a blockHash")),
        };
    }
    match value.as_str() {
        // 32 bytes are a hash: no block number is that long.
        Some(text) if text.len() == 66 => Ok(BlockRef::Hash(hash(value, name)?)),
        _ => range_end(value, name),
    }
}

/// A block by tag or number.
fn range_end(value: &Value, name: &str) -> Result<BlockRef> {
    match value.as_str() {
        // Every block is final at once.
        Some("latest" | "pending" | "safe" | "finalized") => Ok(BlockRef::Latest),
        Some("earliest") => Ok(BlockRef::Number(0)),
        _ => Ok(BlockRef::Number(number(value, name)?)),
    }
}

/// One value or an array.
fn one_or_many<T>(value: &Value, name: &str, one: impl Fn(&Value, &str) -> Result<T>) -> Result<Vec<T>> {
    match value {
        Value::Array(values) if values.len() > MAX_FILTER_VALUES => {
            Err(invalid(name, "names more than 1000"))
        }
        Value::Array(values) => values.iter().map(|value| one(value, name)).collect(),
        value => Ok(vec![one(value, name)?]),
    }
}

fn topic(value: &Value) -> Result<Vec<B256>> {
    match value {
        Value::Null => Ok(Vec::new()),
        value => one_or_many(value, "topics", hash),
    }
}
