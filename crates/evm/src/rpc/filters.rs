//! The filters that clients have installed.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use alloy_primitives::B128;
use alloy_rpc_types_eth::Filter;

/// Callers are anonymous, so all of them share this limit.
const MAX_FILTERS: usize = 1000;
/// A filter that nobody polls for this long is removed.
const FILTER_TTL: Duration = Duration::from_mins(5);

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
    pub(super) fn install(&self, source: Source, next_block: u64, now: Instant) -> Option<B128> {
        let mut filters = self.live(now);
        if filters.len() >= MAX_FILTERS {
            return None;
        }
        let id = B128::random();
        filters.insert(id, InstalledFilter { source, next_block, polled_at: now });
        Some(id)
    }

    /// What a filter reports, and from which block on. A copy, since searches cache bloom filters in it.
    pub(super) fn poll(&self, id: B128, now: Instant) -> Option<(Source, u64)> {
        let mut filters = self.live(now);
        let filter = filters.get_mut(&id)?;
        filter.polled_at = now;
        Some((filter.source.clone(), filter.next_block))
    }

    pub(super) fn advance(&self, id: B128, next_block: u64, now: Instant) {
        if let Some(filter) = self.live(now).get_mut(&id) {
            filter.next_block = filter.next_block.max(next_block);
        }
    }

    pub(super) fn uninstall(&self, id: B128, now: Instant) -> bool {
        self.live(now).remove(&id).is_some()
    }
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
