//! `eth_call` and `eth_estimateGas`.

use revm::context::result::ExecutionResult;
use serde_json::Value;

use super::answers::{self, quantity};
use super::error::RpcError;
use super::methods::Session;
use super::params::{BlockRef, Params};
use crate::call::{self, Call};
use crate::error::CallError;
use crate::{CALL_GAS_CAP, TRANSACTION_GAS_CAP};

/// What a transfer takes.
const TRANSFER_GAS: u64 = 21_000;
/// The gas that a called contract gets with value that is sent to it.
const STIPEND: u64 = 2_300;
/// An estimate may be too high by one part in so many.
const PRECISION: u64 = 64;

type Result<T> = std::result::Result<T, RpcError>;

impl Session<'_> {
    pub(super) fn call(&mut self, params: &Params) -> Result<Value> {
        let (call, block) = (params.call(0)?, params.block_or_latest(1)?);
        let result = self.ran(&call, block)?;
        Ok(answers::bytes(&call::output(result)?))
    }

    /// The least gas with which the call succeeds, nearly. What it uses is not enough: a part of it may be
    /// given back at the end only, and a contract keeps a part of its gas from those that it calls.
    pub(super) fn estimate(&mut self, params: &Params) -> Result<Value> {
        let (mut call, block) = (params.call(0)?, params.block_or_latest(1)?);
        let cap = call.gas.unwrap_or(TRANSACTION_GAS_CAP).min(TRANSACTION_GAS_CAP);
        if call.data.is_empty() && self.enough(&mut call, block, TRANSFER_GAS.min(cap))? {
            return Ok(quantity(TRANSFER_GAS.min(cap)));
        }
        call.gas = Some(cap);
        let result = self.ran(&call, block)?;
        let gas = *result.gas();
        match result {
            ExecutionResult::Halt { .. } if gas.total_gas_spent() >= cap => {
                return Err(RpcError::server(format!("gas required exceeds allowance ({cap})")));
            }
            result => call::output(result)?,
        };
        let (mut low, mut high) = (gas.tx_gas_used() - 1, cap);
        let guess = (gas.total_gas_spent() + STIPEND) / 63 * 64;
        if guess > low && guess < high {
            if self.enough(&mut call, block, guess)? { high = guess } else { low = guess }
        }
        while high - low > high / PRECISION {
            let middle = low.midpoint(high).min(low.saturating_mul(2));
            if self.enough(&mut call, block, middle)? { high = middle } else { low = middle }
        }
        Ok(quantity(high))
    }

    fn enough(&mut self, call: &mut Call, block: BlockRef, gas: u64) -> Result<bool> {
        call.gas = Some(gas);
        Ok(self.tried(call, block)?.is_ok_and(|result| result.is_success()))
    }

    fn ran(&mut self, call: &Call, block: BlockRef) -> Result<ExecutionResult> {
        Ok(self.tried(call, block)?.map_err(CallError::Refused)?)
    }

    /// Runs a call, and takes its gas from what the whole body may use.
    fn tried(&mut self, call: &Call, block: BlockRef) -> Result<call::Ran> {
        if call.gas.unwrap_or(CALL_GAS_CAP).min(CALL_GAS_CAP) > self.gas {
            return Err(RpcError::server("the calls of this body use too much gas: send smaller batches"));
        }
        let rules = &self.chain.rules().calls;
        let ran = self.on_state(block, |view| call::transact(view, rules, call))?;
        if let Ok(result) = &ran {
            self.gas = self.gas.saturating_sub(result.gas().total_gas_spent());
        }
        Ok(ran)
    }
}
