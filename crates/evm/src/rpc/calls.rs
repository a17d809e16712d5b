//! `eth_call` and `eth_estimateGas`.

use revm::context::result::ExecutionResult;
use serde_json::{Value, json};

use super::encode::quantity;
use super::error::RpcError;
use super::params::{BlockRef, Params};
use super::session::Session;
use crate::call::{self, Call};
use crate::error::CallError;
use crate::{CALL_GAS_CAP, TRANSACTION_GAS_CAP};

const TRANSFER_GAS: u64 = 21_000;
/// The gas that a called contract gets for free with a transfer of value.
const CALL_STIPEND_GAS: u64 = 2_300;
/// An estimate is at most 1/64 too high.
const ESTIMATE_TOLERANCE_DIVISOR: u64 = 64;

type Result<T> = std::result::Result<T, RpcError>;

impl Session<'_> {
    pub(super) fn call(&mut self, params: &Params) -> Result<Value> {
        let (call, block) = (params.call(0)?, params.block_or_latest(1)?);
        let result = self.run_call(&call, block)?;
        Ok(json!(call::output(result)?))
    }

    /// Nearly the least gas limit with which the call succeeds. The gas used is not enough: refunds come only at the
    /// end, and a contract passes on at most 63/64 of its gas.
    pub(super) fn estimate(&mut self, params: &Params) -> Result<Value> {
        let (mut call, block) = (params.call(0)?, params.block_or_latest(1)?);
        let cap = call.gas.unwrap_or(TRANSACTION_GAS_CAP).min(TRANSACTION_GAS_CAP);
        if call.data.is_empty() && self.succeeds_with(&mut call, block, TRANSFER_GAS.min(cap))? {
            return Ok(quantity(TRANSFER_GAS.min(cap)));
        }
        call.gas = Some(cap);
        let result = self.run_call(&call, block)?;
        let gas = *result.gas();
        match result {
            ExecutionResult::Halt { .. } if gas.total_gas_spent() >= cap => {
                return Err(RpcError::server(format!("gas required exceeds allowance ({cap})")));
            }
            result => call::output(result)?,
        };
        let (mut low, mut high) = (gas.tx_gas_used() - 1, cap);
        let guess = (gas.total_gas_spent() + CALL_STIPEND_GAS) / 63 * 64;
        if guess > low && guess < high {
            if self.succeeds_with(&mut call, block, guess)? { high = guess } else { low = guess }
        }
        while high - low > high / ESTIMATE_TOLERANCE_DIVISOR {
            let middle = low.midpoint(high).min(low.saturating_mul(2));
            if self.succeeds_with(&mut call, block, middle)? { high = middle } else { low = middle }
        }
        Ok(quantity(high))
    }

    fn succeeds_with(&mut self, call: &mut Call, block: BlockRef, gas: u64) -> Result<bool> {
        call.gas = Some(gas);
        Ok(self.try_call(call, block)?.is_ok_and(|result| result.is_success()))
    }

    fn run_call(&mut self, call: &Call, block: BlockRef) -> Result<ExecutionResult> {
        Ok(self.try_call(call, block)?.map_err(CallError::Refused)?)
    }

    /// Runs a call and charges its gas to the budget of the whole body.
    fn try_call(&mut self, call: &Call, block: BlockRef) -> Result<call::CallOutcome> {
        if call.gas.unwrap_or(CALL_GAS_CAP).min(CALL_GAS_CAP) > self.gas {
            return Err(RpcError::server("the calls of this body use too much gas: send smaller batches"));
        }
        let rules = &self.chain.rules().calls;
        // A block that is named by its number or hash keeps its own time.
        let now = if matches!(block, BlockRef::Latest) { self.now } else { 0 };
        let outcome = self.on_state(block, |view| call::transact(view, rules, call, now))?;
        if let Ok(result) = &outcome {
            self.gas = self.gas.saturating_sub(result.gas().total_gas_spent());
        }
        Ok(outcome)
    }
}
