//! Calls that change nothing: reading contracts, and finding out how much gas something takes.

use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use quick_cache::sync::Cache;
use revm::ExecuteEvm;
use revm::context::result::{EVMError, ExecutionResult};
use revm::context::{CfgEnv, TxEnv};

use crate::error::{CallError, ChainError, Refused};
use crate::executor::executor;
use crate::state::{State, View};
use crate::{CALL_GAS_CAP, block, execute};

/// Answers that are kept.
const MAX_ANSWERS: usize = 1 << 12;
/// How long the question and the answer may be together to be kept.
const MAX_ANSWER_BYTES: usize = 1 << 10;

/// A call that changes nothing. Nobody signs it and nobody pays for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Call {
    pub from: Address,
    /// Who is called. `None`: the data are the code that makes a contract.
    pub to: Option<Address>,
    pub data: Bytes,
    /// How much gas there is, at most [`CALL_GAS_CAP`], which is also the default.
    pub gas: Option<u64>,
    /// What is sent along, in wei. The caller must have it.
    pub value: U256,
}

pub(crate) type Ran = Result<ExecutionResult, Refused>;

/// Answers to calls, each with the hash of its block. A call changes nothing and depends on nothing but its block, so
/// an answer is true while that block is the latest.
pub(crate) struct Answers(Cache<Call, (B256, Bytes)>);

impl std::fmt::Debug for Answers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answers").field("kept", &self.0.len()).finish()
    }
}

impl Default for Answers {
    fn default() -> Self {
        Self(Cache::new(MAX_ANSWERS))
    }
}

impl Answers {
    /// Calls a contract on the latest state, unless its answer is at hand.
    pub(crate) fn call(&self, state: &State, rules: &CfgEnv, call: &Call) -> Result<Bytes, CallError> {
        if let Some((block, answer)) = self.0.get(call)
            && block == state.head().hash()
        {
            return Ok(answer);
        }
        let view = state.view()?;
        let block = view.head().hash();
        let answer = output(transact(view, rules, call)?.map_err(CallError::Refused)?)?;
        if call.data.len() + answer.len() <= MAX_ANSWER_BYTES {
            self.0.insert(call.clone(), (block, answer.clone()));
        }
        Ok(answer)
    }
}

/// What the caller of a contract wants to know of a run.
pub(crate) fn output(result: ExecutionResult) -> Result<Bytes, CallError> {
    match result {
        ExecutionResult::Success { output, .. } => Ok(output.into_data()),
        ExecutionResult::Revert { output, .. } => Err(CallError::Reverted(output)),
        ExecutionResult::Halt { reason, .. } => Err(CallError::Halted(reason.to_string())),
    }
}

/// Runs the call on one block's state.
pub(crate) fn transact(view: View<'_>, rules: &CfgEnv, call: &Call) -> Result<Ran, ChainError> {
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
    let block = block::env(view.head());
    let mut evm = executor(view, rules, block);
    match evm.transact_one(env) {
        Ok(result) => Ok(Ok(result)),
        Err(EVMError::Transaction(invalid)) => Ok(Err(execute::refused(invalid, &evm.ctx.tx))),
        Err(EVMError::Database(error)) => Err(error),
        Err(other) => Err(ChainError::Executor(other.to_string())),
    }
}
