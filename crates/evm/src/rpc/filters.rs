//! Filters: clients that poll for new blocks and logs (`eth_newFilter` and its kin).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use alloy_primitives::B128;
use alloy_rpc_types_eth::Filter;
use serde_json::{Value, json};

use super::error::RpcError;
use super::methods::Session;
use super::params::Params;
use crate::logs::{self, LOGS_BLOCK_CAP, LogsError};

/// Callers are anonymous, so all of them share this limit.
const MAX_FILTERS: usize = 1000;
/// A filter that nobody polls for this long is removed.
const FILTER_TTL: Duration = Duration::from_mins(5);

type Result<T> = std::result::Result<T, RpcError>;

/// What a filter reports.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    Blocks,
    Logs(Box<Filter>),
    /// Nothing: transactions are mined at once.
    PendingTransactions,
}

#[derive(Debug, Clone)]
struct InstalledFilter {
    source: Source,
    /// The first block that was not reported yet.
    next_block: u64,
    polled_at: Instant,
}

/// All installed filters, by their random ids.
#[derive(Debug, Default)]
pub(crate) struct Filters(Mutex<HashMap<B128, InstalledFilter>>);

impl Filters {
    /// The filters that have not expired.
    fn live(&self, now: Instant) -> MutexGuard<'_, HashMap<B128, InstalledFilter>> {
        let mut filters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        filters.retain(|_, filter| now.saturating_duration_since(filter.polled_at) < FILTER_TTL);
        filters
    }

    /// `None`: there are too many filters.
    fn install(&self, source: Source, next_block: u64, now: Instant) -> Option<B128> {
        let mut filters = self.live(now);
        if filters.len() >= MAX_FILTERS {
            return None;
        }
        let id = B128::random();
        filters.insert(id, InstalledFilter { source, next_block, polled_at: now });
        Some(id)
    }

    /// What a filter reports, and from which block on. A copy, since searches cache bloom filters in it.
    fn poll(&self, id: B128, now: Instant) -> Option<(Source, u64)> {
        let mut filters = self.live(now);
        let filter = filters.get_mut(&id)?;
        filter.polled_at = now;
        Some((filter.source.clone(), filter.next_block))
    }

    fn advance(&self, id: B128, next_block: u64, now: Instant) {
        if let Some(filter) = self.live(now).get_mut(&id) {
            filter.next_block = filter.next_block.max(next_block);
        }
    }

    fn uninstall(&self, id: B128, now: Instant) -> bool {
        self.live(now).remove(&id).is_some()
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_expires_unless_it_is_polled() {
        let (filters, start) = (Filters::default(), Instant::now());
        let polled = filters.install(Source::Blocks, 7, start).unwrap();
        let idle = filters.install(Source::PendingTransactions, 7, start).unwrap();
        let later = start + FILTER_TTL.saturating_sub(Duration::from_secs(1));
        assert_eq!(filters.poll(polled, later), Some((Source::Blocks, 7)));
        filters.advance(polled, 9, later);
        let last = start + FILTER_TTL;
        assert_eq!(filters.poll(polled, last), Some((Source::Blocks, 9)));
        assert_eq!(filters.poll(idle, last), None);
        assert!(filters.uninstall(polled, last));
        assert!(!filters.uninstall(polled, last));
    }

    #[test]
    fn number_of_filters_is_limited() {
        let (filters, start) = (Filters::default(), Instant::now());
        let ids: Vec<_> = (0..MAX_FILTERS).map(|_| filters.install(Source::Blocks, 0, start)).collect();
        assert!(ids.iter().all(Option::is_some));
        assert_eq!(filters.install(Source::Blocks, 0, start), None);
        assert!(filters.uninstall(ids[0].unwrap(), start));
        assert!(filters.install(Source::Blocks, 0, start).is_some());
        assert!(filters.install(Source::Blocks, 0, start + FILTER_TTL).is_some(), "expired ones make room");
    }

    #[test]
    fn answer_to_an_older_poll_does_not_turn_back() {
        let (filters, now) = (Filters::default(), Instant::now());
        let id = filters.install(Source::Blocks, 1, now).unwrap();
        filters.advance(id, 5, now);
        filters.advance(id, 3, now);
        assert_eq!(filters.poll(id, now), Some((Source::Blocks, 5)));
    }
}
