//! Who pays for what costs money: checks by bureaus, writes to the chain, and reads of a remote chain.
//!
//! A person and an account each have a budget by the day for checks and records. It is in the database: a restart gives
//! nobody a new one, and replicas share it. Reads of the chain are cheap and are limited by the second, in memory. The
//! operator pays for nothing: the money is theirs.

use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, RateLimiter};
use portico_chain::AnyNode;
use portico_domain::keys::KeyScope;
use portico_domain::{ErrorCode, Quota, UserId};
use portico_store::chain::Word;
use portico_store::{Budget, Charge, ForgetBudgets};

use crate::caller::{Actor, Call};
use crate::core::Core;
use crate::error::{Error, Result};

const DAY_SECONDS: u32 = 24 * 60 * 60;
/// The most that one request reads at once: a page of blocks and the head.
const MAX_READS_PER_REQUEST: NonZeroU32 = NonZeroU32::new(128).unwrap();
/// A network of strangers may read this fraction of what all of them may.
const NETWORK_SHARE_DIVISOR: u32 = 4;
/// Payers without recent reads are removed when there are more than this.
const MAX_READERS: usize = 10_000;

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

/// What a budget is of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cost {
    Check,
    Record,
}

impl Cost {
    /// For persons and for accounts.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Check => ["checks-per-person", "checks-per-account"],
            Self::Record => ["records-per-person", "records-per-account"],
        }
    }
}

impl Actor {
    fn person(&self) -> Option<&UserId> {
        match self {
            Self::User { user, .. } | Self::Key { scope: KeyScope::User(user), .. } => Some(user),
            _ => None,
        }
    }
}

impl Core {
    pub(crate) fn budget(&self, actor: &Actor, account: Option<Word>, cost: Cost) -> Budget {
        if actor.is_operator() {
            return Budget::default();
        }
        let limits = match cost {
            Cost::Check => self.budgets.checks,
            Cost::Record => self.budgets.records,
        };
        let person =
            actor.person().map(|user| self.vault.digest(&[b"payer", b"person", user.as_str().as_bytes()]));
        let payers = [(person, limits.person), (account, limits.account)];
        let charge = |((payer, limit), name): ((Option<Word>, u32), &'static str)| {
            let quota = Quota {
                name,
                limit,
                window_seconds: DAY_SECONDS,
                remaining: limit,
                reset_seconds: DAY_SECONDS,
            };
            Some(Charge::new(payer.filter(|_| limit > 0)?, quota, self.clock.now()))
        };
        Budget(payers.into_iter().zip(cost.names()).filter_map(charge).collect())
    }

    /// For what is written to the chain.
    pub(crate) async fn record_budget(&self, call: &Call) -> Result<Budget> {
        Ok(self.budget(&call.actor, self.paying_account(&call.actor).await?, Cost::Record))
    }

    /// A digest, because it stays for a day also if the person is erased.
    pub(crate) async fn paying_account(&self, actor: &Actor) -> Result<Option<Word>> {
        let tenant = match actor {
            _ if actor.is_operator() => None,
            // A user's own key names no account, and pays from the one that the user belongs to.
            Actor::Key { scope: KeyScope::User(user), .. } => Some(self.db.tenant_of(user).await?),
            _ => actor.tenant(),
        };
        Ok(tenant.map(|tenant| self.vault.digest(&[b"payer", b"tenant", tenant.stored().as_bytes()])))
    }

    pub(crate) async fn forget_budgets(&self) -> Result<()> {
        Ok(self.db.write(ForgetBudgets { at: self.clock.now() }).await?)
    }

    /// Allows this many reads of the node, which costs money unless it is in this process.
    pub(crate) async fn charge_chain_reads(&self, call: &Call, reads: usize) -> Result<()> {
        let Some(reads) = u32::try_from(reads).ok().and_then(NonZeroU32::new) else { return Ok(()) };
        if call.actor.is_operator() || matches!(self.chain_reader()?.0, AnyNode::Embedded(_)) {
            return Ok(());
        }
        match self.paying_account(&call.actor).await? {
            Some(account) => self.chain_readers.take(&Reader::Account(account), reads),
            None => {
                // The network first: what it is refused is not taken from other strangers.
                if let Some(network) = call.network {
                    self.chain_readers.take(&Reader::Network(network), reads)?;
                }
                self.chain_readers.take(&Reader::Strangers, reads)
            }
        }
    }
}

/// Callers that share one limit of chain reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Reader {
    Account(Word),
    Strangers,
    Network(IpAddr),
}

#[derive(Debug)]
pub struct ChainReaders {
    limiters: Option<[ChainReadLimiter; 2]>,
    clock: DefaultClock,
}

#[derive(Debug)]
struct ChainReadLimiter {
    limiter: DefaultKeyedRateLimiter<Reader>,
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
    pub fn new(per_second: u32) -> Self {
        let limiters = NonZeroU32::new(per_second).map(|rate| {
            let of_network = NonZeroU32::new(rate.get() / NETWORK_SHARE_DIVISOR).unwrap_or(NonZeroU32::MIN);
            [rate, of_network].map(ChainReadLimiter::new)
        });
        Self { limiters, clock: DefaultClock::default() }
    }

    fn take(&self, reader: &Reader, reads: NonZeroU32) -> Result<()> {
        let Some([shared, of_network]) = &self.limiters else { return Ok(()) };
        let ChainReadLimiter { limiter, per_second } = match reader {
            Reader::Network(_) => of_network,
            Reader::Account(_) | Reader::Strangers => shared,
        };
        if limiter.len() > MAX_READERS {
            limiter.retain_recent();
        }
        match limiter.check_key_n(reader, reads) {
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
        let account = |number| Reader::Account([number; 32]);
        assert!(readers.take(&Reader::Strangers, page).is_ok());
        let over = readers.take(&Reader::Strangers, page).unwrap_err();
        let Error::OverQuota { code: ErrorCode::RateLimited, quota } = over else { panic!("{over}") };
        assert_eq!((quota.name, quota.limit, quota.remaining), ("chain-reads", 1, 0));
        assert!((70..=73).contains(&quota.reset_seconds), "{quota:?}");
        assert!(readers.take(&account(1), page).is_ok());
        assert!(readers.take(&account(1), page).is_err());
        assert!(readers.take(&account(2), page).is_ok());
        assert!((0..1000).all(|_| ChainReaders::new(0).take(&Reader::Strangers, page).is_ok()));
    }

    #[test]
    fn a_network_of_strangers_gets_a_quarter() {
        let readers = ChainReaders::new(1000);
        let page = NonZeroU32::new(125).unwrap();
        let network = |number| Reader::Network(IpAddr::from([192, 0, 2, number]));
        assert_eq!((0..8).filter(|_| readers.take(&network(1), page).is_ok()).count(), 2);
        assert_eq!((0..8).filter(|_| readers.take(&network(2), page).is_ok()).count(), 2);
        assert_eq!((0..9).filter(|_| readers.take(&Reader::Strangers, page).is_ok()).count(), 8);
    }
}
