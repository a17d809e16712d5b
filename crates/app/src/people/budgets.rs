//! Who pays for what costs money: checks by bureaus, writes to the chain, and reads of a remote chain.
//!
//! A person and an account each have a budget by the day for checks and records. It is in the database: a restart gives
//! nobody a new one, and replicas share it. Reads of the chain are cheap and are limited by the second, in memory. The
//! operator pays for nothing: the money is theirs.

use std::num::NonZeroU32;

use portico_chain::AnyNode;
use portico_domain::keys::KeyScope;
use portico_domain::{Quota, UserId};
use portico_store::chain::Word;
use portico_store::{Budget, Charge};

use crate::caller::{Actor, CallContext};
use crate::core::Core;
use crate::error::Result;
use crate::people::limits::ReadPayer;

pub use crate::people::limits::{Budgets, DailyLimits};

const DAY_SECONDS: u32 = 24 * 60 * 60;
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
            Cost::Check => self.people.budgets.checks,
            Cost::Record => self.people.budgets.records,
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
    pub(crate) async fn record_budget(&self, call: &CallContext) -> Result<Budget> {
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

    /// Allows this many reads of the node, which costs money unless it is in this process.
    pub(crate) async fn charge_chain_reads(&self, call: &CallContext, reads: usize) -> Result<()> {
        let Some(reads) = u32::try_from(reads).ok().and_then(NonZeroU32::new) else { return Ok(()) };
        if call.actor.is_operator() || matches!(self.chain.reader()?.0, AnyNode::Embedded(_)) {
            return Ok(());
        }
        match self.paying_account(&call.actor).await? {
            Some(account) => self.people.chain_readers.take(&ReadPayer::Account(account), reads),
            None => {
                // The network first: what it is refused is not taken from other strangers.
                if let Some(network) = call.network {
                    self.people.chain_readers.take(&ReadPayer::Network(network), reads)?;
                }
                self.people.chain_readers.take(&ReadPayer::Strangers, reads)
            }
        }
    }
}
