//! Calls that change nothing: reading contracts, and finding out how much gas something takes.

use alloy_primitives::{Address, Bytes, TxKind, U256};
use revm::ExecuteEvm;
use revm::context::result::{EVMError, ExecutionResult};
use revm::context::{CfgEnv, TxEnv};

use crate::error::{CallError, ChainError, Refused};
use crate::executor::executor;
use crate::state::View;
use crate::{CALL_GAS_CAP, block, execute};

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
