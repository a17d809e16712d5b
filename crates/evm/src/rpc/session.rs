//! The session of one body: what its requests may still use.

use std::time::{Duration, Instant};

use super::error::RpcError;
use crate::history::History;
use crate::logs::LOGS_BLOCK_CAP;
use crate::{CALL_GAS_CAP, Chain};

/// All calls of one body together.
const BODY_GAS_CAP: u64 = 8 * CALL_GAS_CAP;
/// All searches of one body together.
const BODY_BLOCKS_CAP: u64 = 5 * LOGS_BLOCK_CAP;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

type Result<T> = std::result::Result<T, RpcError>;

/// The remaining budgets of one body, which is one request or one batch.
pub(super) struct Session<'c> {
    pub(super) chain: &'c Chain,
    /// The time that calls on the latest block see, in seconds since 1970.
    pub(super) now: u64,
    pub(super) gas: u64,
    blocks: u64,
    pub(super) deadline: Instant,
    exhausted: bool,
}

impl<'c> Session<'c> {
    pub(super) fn new(chain: &'c Chain, now: u64) -> Self {
        let deadline = Instant::now() + BODY_TIMEOUT;
        Self { chain, now, gas: BODY_GAS_CAP, blocks: BODY_BLOCKS_CAP, deadline, exhausted: false }
    }

    /// Fails all further requests: the response is too long.
    pub(super) fn exhaust(&mut self) {
        self.exhausted = true;
    }

    /// Fails once a budget of time or length is used up.
    pub(super) fn check(&self) -> Result<()> {
        if self.exhausted {
            return Err(RpcError::server("the answers to this batch are too long: send smaller batches"));
        }
        if Instant::now() > self.deadline {
            return Err(RpcError::server("this takes too long: send smaller batches"));
        }
        Ok(())
    }

    pub(super) fn charge_blocks(&mut self, blocks: u64) -> Result<()> {
        self.blocks = self.blocks.checked_sub(blocks).ok_or_else(|| {
            RpcError::server("the searches of this batch are too wide: send smaller batches")
        })?;
        Ok(())
    }

    pub(super) fn history(&self) -> Result<History<'c>> {
        Ok(self.chain.history()?)
    }
}
