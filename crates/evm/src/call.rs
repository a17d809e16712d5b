//! Calls that change nothing: reading contracts, and finding out how much gas something takes.

use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use revm::ExecuteEvm;
use revm::context::result::{EVMError, ExecutionResult};
use revm::context::{CfgEnv, TxEnv};

use crate::cache::Cache;
use crate::error::{CallError, ChainError, Refused};
use crate::executor::executor;
use crate::state::{ReadError, State, View};
use crate::{CALL_GAS_CAP, block, execute};

/// Answers that are kept.
const ANSWERS_KEPT: usize = 1 << 12;
/// How long the question and the answer may be together to be kept.
const ANSWER_BYTES: usize = 1 << 10;

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

/// Answers to calls. A call changes nothing and depends on nothing but its block, so that what was answered
/// once is true until the next block.
#[derive(Debug)]
pub(crate) struct Answers(Cache<Call, (B256, Bytes)>);

impl Default for Answers {
    fn default() -> Self {
        Self(Cache::new(ANSWERS_KEPT))
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
        let (block, ran) = state.read(|view| Ok((view.head().hash(), transact(view, rules, call)?)))?;
        let answer = output(ran.map_err(CallError::Refused)?)?;
        if call.data.len() + answer.len() <= ANSWER_BYTES {
            self.0.set(call.clone(), (block, answer.clone()));
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
pub(crate) fn transact(view: &mut View<'_>, rules: &CfgEnv, call: &Call) -> Result<Ran, ReadError> {
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
        Err(other) => Err(ChainError::Executor(other.to_string()).into()),
    }
}
