//! Read-only calls of contracts, also for gas estimates.

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, Sealed, TxKind, U256};
use quick_cache::sync::Cache;
use revm::ExecuteEvm;
use revm::context::result::{EVMError, ExecutionResult};
use revm::context::{CfgEnv, TxEnv};

use crate::error::{CallError, ChainError, Refused};
use crate::executor::executor;
use crate::state::{State, View};
use crate::{CALL_GAS_CAP, block, execute};

const MAX_CACHED_CALLS: usize = 1 << 12;
/// Call data and result together; longer ones are not cached.
const MAX_CACHED_CALL_BYTES: usize = 1 << 10;

/// A read-only call, unsigned and free.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Call {
    pub from: Address,
    /// `None`: the data is the init code of a contract.
    pub to: Option<Address>,
    pub data: Bytes,
    /// At most [`CALL_GAS_CAP`], which is also the default.
    pub gas: Option<u64>,
    /// In wei; the caller's balance must cover it.
    pub value: U256,
}

pub(crate) type CallOutcome = Result<ExecutionResult, Refused>;

/// Results of calls, each with the hash of its block and the time that the contract saw. A result depends on nothing
/// else, so it is valid while that block is the head and the second lasts.
pub(crate) struct CallCache(Cache<Call, ((B256, u64), Bytes)>);

impl std::fmt::Debug for CallCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallCache").field("len", &self.0.len()).finish()
    }
}

impl Default for CallCache {
    fn default() -> Self {
        Self(Cache::new(MAX_CACHED_CALLS))
    }
}

impl CallCache {
    /// Calls a contract on the latest state, at `now` or at the time of the latest block if that is later, or returns
    /// the cached result.
    pub(crate) fn call(
        &self,
        state: &State,
        rules: &CfgEnv,
        call: &Call,
        now: u64,
    ) -> Result<Bytes, CallError> {
        let seen = |head: &Sealed<Header>| (head.hash(), head.timestamp.max(now));
        if let Some((valid_for, cached)) = self.0.get(call)
            && valid_for == seen(&state.head())
        {
            return Ok(cached);
        }
        let view = state.view()?;
        let valid_for = seen(view.head());
        let result = output(transact(view, rules, call, now)?.map_err(CallError::Refused)?)?;
        if call.data.len() + result.len() <= MAX_CACHED_CALL_BYTES {
            self.0.insert(call.clone(), (valid_for, result.clone()));
        }
        Ok(result)
    }
}

pub(crate) fn output(result: ExecutionResult) -> Result<Bytes, CallError> {
    match result {
        ExecutionResult::Success { output, .. } => Ok(output.into_data()),
        ExecutionResult::Revert { output, .. } => Err(CallError::Reverted(output)),
        ExecutionResult::Halt { reason, .. } => Err(CallError::Halted(reason.to_string())),
    }
}

/// Runs the call on one block's state, at `now` or at the block's time if that is later.
pub(crate) fn transact(
    view: View<'_>,
    rules: &CfgEnv,
    call: &Call,
    now: u64,
) -> Result<CallOutcome, ChainError> {
    let env = TxEnv {
        caller: call.from,
        kind: call.to.map_or(TxKind::Create, TxKind::Call),
        data: call.data.clone(),
        gas_limit: call.gas.unwrap_or(CALL_GAS_CAP).min(CALL_GAS_CAP),
        value: call.value,
        gas_price: 0,
        chain_id: Some(rules.chain_id),
        ..TxEnv::default()
    };
    let mut block = block::env(view.head());
    block.timestamp = block.timestamp.max(U256::from(now));
    let mut evm = executor(view, rules, block);
    match evm.transact_one(env) {
        Ok(result) => Ok(Ok(result)),
        Err(EVMError::Transaction(invalid)) => Ok(Err(execute::refused(invalid, &evm.ctx.tx))),
        Err(EVMError::Database(error)) => Err(error),
        Err(other) => Err(ChainError::Executor(other.to_string())),
    }
}
