//! Clients that poll for new blocks and logs (`eth_newFilter` and its kin).

use std::time::Instant;

use alloy_primitives::B128;
use serde_json::{Value, json};

use super::error::RpcError;
use super::filters::Source;
use super::params::Params;
use super::session::Session;
use crate::logs::{self, LOGS_BLOCK_CAP, LogsError};

type Result<T> = std::result::Result<T, RpcError>;

impl Session<'_> {
    pub(super) fn new_filter(&self, source: Source) -> Result<Value> {
        let next_block = self.chain.head().number + 1;
        let id = self.chain.filters().install(source, next_block, Instant::now());
        id.map(|id| json!(id)).ok_or_else(|| RpcError::server("too many filters: try again in a few minutes"))
    }

    pub(super) fn new_log_filter(&self, params: &Params) -> Result<Value> {
        let filter = params.filter(0)?;
        if filter.get_block_hash().is_some() {
            return Err(RpcError::params("a filter reports new blocks: use eth_getLogs for a blockHash"));
        }
        logs::blocks(&filter, &self.history()?)?;
        self.new_filter(Source::Logs(Box::new(filter)))
    }

    /// What is new since the last poll. After a long pause a poll reports a part, and the next one the rest.
    pub(super) fn filter_changes(&mut self, params: &Params) -> Result<Value> {
        let (id, source, from) = self.poll(params)?;
        let history = self.history()?;
        let mut end = (history.head() + 1).min(from.saturating_add(LOGS_BLOCK_CAP));
        let changes = match source {
            Source::PendingTransactions => return Ok(json!([])),
            Source::Blocks => {
                self.charge_blocks(end.saturating_sub(from))?;
                let headers = history.headers(from, end - 1, |_| true)?;
                headers.iter().map(|header| json!(header.hash())).collect()
            }
            Source::Logs(filter) => {
                let (first, last) = filter.extract_block_range();
                let blocks = |end: u64| {
                    from.max(first.unwrap_or(0))
                        ..end.min(last.map_or(u64::MAX, |last| last.saturating_add(1)))
                };
                loop {
                    self.charge_blocks(end.saturating_sub(from))?;
                    match logs::search(&filter, blocks(end), &history, Some(self.deadline)) {
                        Err(LogsError::TooMany) if end - from > 1 => end = from.midpoint(end),
                        found => break json!(found?),
                    }
                }
            }
        };
        self.chain.filters().advance(id, end, Instant::now());
        Ok(changes)
    }

    /// Everything that a log filter matches, not only what is new.
    pub(super) fn filter_logs(&mut self, params: &Params) -> Result<Value> {
        match self.poll(params)? {
            (_, Source::Logs(filter), _) => self.search(&filter),
            _ => Err(not_found()),
        }
    }

    pub(super) fn uninstall_filter(&self, params: &Params) -> Result<Value> {
        Ok(json!(self.chain.filters().uninstall(id(params)?.unwrap_or_default(), Instant::now())))
    }

    fn poll(&self, params: &Params) -> Result<(B128, Source, u64)> {
        let found = id(params)?.and_then(|id| Some((id, self.chain.filters().poll(id, Instant::now())?)));
        found.map(|(id, (source, from))| (id, source, from)).ok_or_else(not_found)
    }
}

/// `None`: no filter has such an id.
fn id(params: &Params) -> Result<Option<B128>> {
    params.required(0, "filter id").map(|id: String| id.parse().ok())
}

fn not_found() -> RpcError {
    RpcError::server("filter not found")
}
