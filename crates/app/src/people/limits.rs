//! The limits of what costs money, and the one that is counted in memory: reads of a remote chain.

use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, RateLimiter};
use portico_domain::{ErrorCode, Quota};
use portico_store::chain::Word;

use crate::error::{Error, Result};

/// The most that one request reads at once: a page of blocks and the head.
const MAX_READS_PER_REQUEST: NonZeroU32 = NonZeroU32::new(128).unwrap();
/// A network of strangers may read this fraction of what all of them may.
const NETWORK_SHARE_DIVISOR: u32 = 4;
/// Payers without recent reads are removed when there are more than this.
const MAX_PAYERS: usize = 10_000;

/// How much a person and an account may use in a day; 0: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DailyLimits {
    pub person: u32,
    pub account: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budgets {
    /// Checks that a bureau is asked for.
    pub checks: DailyLimits,
    /// Items that are written to the chain.
    pub records: DailyLimits,
    /// Reads of a remote chain in a second, for each account, and for strangers together; 0: no limit. One network of
    /// strangers gets a quarter of theirs.
    pub chain_reads: u32,
}

/// Callers that pay together: they share one limit of chain reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ReadPayer {
    Account(Word),
    Strangers,
    Network(IpAddr),
}

#[derive(Debug)]
pub(crate) struct ChainReaders {
    limiters: Option<[ChainReadLimiter; 2]>,
    clock: DefaultClock,
}

#[derive(Debug)]
struct ChainReadLimiter {
    limiter: DefaultKeyedRateLimiter<ReadPayer>,
    per_second: NonZeroU32,
}

impl ChainReadLimiter {
    fn new(per_second: NonZeroU32) -> Self {
        let burst = per_second.max(MAX_READS_PER_REQUEST);
        let limiter = RateLimiter::keyed(governor::Quota::per_second(per_second).allow_burst(burst));
        Self { limiter, per_second }
    }
}

impl ChainReaders {
    pub(crate) fn new(per_second: u32) -> Self {
        let limiters = NonZeroU32::new(per_second).map(|rate| {
            let of_network = NonZeroU32::new(rate.get() / NETWORK_SHARE_DIVISOR).unwrap_or(NonZeroU32::MIN);
            [rate, of_network].map(ChainReadLimiter::new)
        });
        Self { limiters, clock: DefaultClock::default() }
    }

    pub(super) fn take(&self, payer: &ReadPayer, reads: NonZeroU32) -> Result<()> {
        let Some([shared, of_network]) = &self.limiters else { return Ok(()) };
        let ChainReadLimiter { limiter, per_second } = match payer {
            ReadPayer::Network(_) => of_network,
            ReadPayer::Account(_) | ReadPayer::Strangers => shared,
        };
        if limiter.len() > MAX_PAYERS {
            limiter.retain_recent();
        }
        match limiter.check_key_n(payer, reads) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(not_until)) => {
                let wait = not_until.wait_time_from(self.clock.now());
                let quota = Quota {
                    name: "chain-reads",
                    limit: per_second.get(),
                    window_seconds: 1,
                    remaining: 0,
                    reset_seconds: u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1),
                };
                Err(Error::OverQuota { code: ErrorCode::RateLimited, quota })
            }
            Err(_) => Err(Error::Bug("more reads than one request may cause".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_reads_are_limited_per_account_and_for_strangers() {
        let readers = ChainReaders::new(1);
        let page = NonZeroU32::new(100).unwrap();
        let account = |number| ReadPayer::Account([number; 32]);
        assert!(readers.take(&ReadPayer::Strangers, page).is_ok());
        let over = readers.take(&ReadPayer::Strangers, page).unwrap_err();
        let Error::OverQuota { code: ErrorCode::RateLimited, quota } = over else { panic!("{over}") };
        assert_eq!((quota.name, quota.limit, quota.remaining), ("chain-reads", 1, 0));
        assert!((70..=73).contains(&quota.reset_seconds), "{quota:?}");
        assert!(readers.take(&account(1), page).is_ok());
        assert!(readers.take(&account(1), page).is_err());
        assert!(readers.take(&account(2), page).is_ok());
        assert!((0..1000).all(|_| ChainReaders::new(0).take(&ReadPayer::Strangers, page).is_ok()));
    }

    #[test]
    fn a_network_of_strangers_gets_a_quarter() {
        let readers = ChainReaders::new(1000);
        let page = NonZeroU32::new(125).unwrap();
        let network = |number| ReadPayer::Network(IpAddr::from([192, 0, 2, number]));
        assert_eq!((0..8).filter(|_| readers.take(&network(1), page).is_ok()).count(), 2);
        assert_eq!((0..8).filter(|_| readers.take(&network(2), page).is_ok()).count(), 2);
        assert_eq!((0..9).filter(|_| readers.take(&ReadPayer::Strangers, page).is_ok()).count(), 8);
    }
}
