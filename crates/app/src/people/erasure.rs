//! Erasing people. Destroying a person's key makes their data unreadable in every copy; the rows here are removed
//! with it, and again after a restore. Each erasure is applied once, so that data which the person stores later
//! stays.

use std::sync::Arc;

use portico_domain::{Tenant, Timestamp, UserId};
use portico_store::audit::Entry;
use portico_store::keystore::PersonId;
use portico_store::screening::{AdvanceErasures, ErasePerson, ForgetAppliedErasures, ForgetInputs, Lifetime};
use portico_store::{ReplaceKeystore, UserCounts};

use crate::caller::{Actor, CallContext, require_operator};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::keystore::PersonKey;

const PAGE_ITEMS: i64 = 100;
const DAY_SECONDS: i64 = 24 * 60 * 60;
/// How long name guesses are kept.
const GUESS_RETENTION_SECONDS: i64 = 2 * 60 * 60;

fn operator() -> CallContext {
    CallContext::new(Actor::Operator)
}

#[derive(Debug)]
pub struct People {
    pub(crate) core: Arc<Core>,
}

/// What the service has of a user, in numbers.
#[derive(Debug)]
pub struct UserOverview {
    pub user: UserId,
    /// The user themselves, or the account that their last token named.
    pub tenant: Tenant,
    /// Whether something is sealed with a key of theirs.
    pub has_personal_data: bool,
    pub counts: UserCounts,
}

impl People {
    /// For operators; the read is audited. An unknown id has zero counts: there is no list of users.
    pub async fn overview(&self, call: &CallContext, user: UserId) -> Result<UserOverview> {
        require_operator(&call.actor)?;
        self.core.append_audit_entry(self.core.entry(call, "user.read", user.as_str(), "")).await?;
        let key = self.core.keystore()?.person(&user).await?;
        let person = key.as_ref().map(PersonKey::id);
        let counts = self.core.db.user_counts(&user, person.as_ref(), self.core.clock.machine_now()).await?;
        let tenant = self.core.db.tenant_of(&user).await?;
        Ok(UserOverview { user, tenant, has_personal_data: key.is_some(), counts })
    }

    /// Destroys the key first, then removes everything that it sealed, revokes tokens and clears flags.
    pub async fn erase(&self, call: &CallContext, user: &UserId) -> Result<()> {
        // An API key may not erase: erasure is irreversible.
        if let Actor::Key { .. } = call.actor {
            return Err(Error::Forbidden("a person is erased with a bearer token, not with an API key"));
        }
        self.core.may_act_for(&call.actor, user).await?;
        let (erasure, destroyed) = self.core.keystore()?.erase(user, self.core.clock.now()).await?;
        // The caller learns about a failed scrub, but the erasure itself is complete: nothing is left to be erased
        // later, when the person may have come back.
        let scrubbed = self.core.keystore()?.scrub().await;
        self.core.forget_person(call, user, destroyed, erasure).await?;
        scrubbed
    }

    /// Adopts the keystore in place of a lost one. Nobody can read what the lost one sealed, so everyone who was
    /// screened is erased; returns how many.
    pub async fn replace_keystore(&self, call: &CallContext) -> Result<u64> {
        require_operator(&call.actor)?;
        self.core.key_audit_log(true).await?;
        self.core.db.write(ForgetAppliedErasures).await?;
        let (mut after, mut erased) = (String::new(), 0);
        loop {
            let people = self.core.db.screened_people(&after, PAGE_ITEMS).await?;
            let Some(last) = people.last() else { break };
            after = last.as_str().to_owned();
            for user in people {
                self.erase(call, &user).await?;
                erased += 1;
            }
        }
        self.core.clear_all_flags().await?;
        self.core.delete_orphaned_applications().await?;
        let keystore = self.core.keystore()?.id().await?;
        let entry: Entry = self.core.entry(call, "encryption.keystore_replaced", "every person's key", "");
        self.core.db.write(ReplaceKeystore { keystore, entry }).await?;
        Ok(erased)
    }
}

impl Core {
    pub(crate) async fn forget_person(
        &self,
        call: &CallContext,
        user: &UserId,
        person: Option<PersonId>,
        erasure: i64,
    ) -> Result<bool> {
        let op = ErasePerson {
            user: user.clone(),
            person,
            erasure,
            keys_revoked_at: self.clock.machine_now(),
            entry: self.entry(call, "person.erased", user.as_str(), format!("erasure {erasure}")),
            by: self.context(call),
        };
        let applied = self.db.write(op).await?;
        if applied {
            tracing::info!(erasure, "erasure applied");
        }
        self.chain.wake();
        Ok(applied)
    }

    /// Applies the erasures that the keystore knows and this database does not: those since its backup, and those
    /// that a crash interrupted. Returns how many. Those after `until` are left to the request that is applying them.
    pub(crate) async fn apply_erasures(&self, until: Timestamp) -> Result<u64> {
        // Erasures of several replicas may become visible out of order.
        let settled = self.clock.now().minus_seconds(DAY_SECONDS);
        let (mut after, mut applied) = (self.db.erasures_applied_up_to().await?, 0);
        let mut up_to = None;
        let mut all_settled = true;
        loop {
            let erasures = self.keystore()?.erasures_after(after, PAGE_ITEMS).await?;
            let Some((last, _)) = erasures.last() else { break };
            after = last.seq;
            for (erasure, user) in erasures {
                if erasure.at <= until && !self.db.erasure_is_applied(erasure.seq).await? {
                    applied += u64::from(self.forget_person(&operator(), &user, None, erasure.seq).await?);
                }
                all_settled &= erasure.at < settled;
                if all_settled {
                    up_to = Some(erasure.seq);
                }
            }
        }
        if let Some(up_to) = up_to {
            self.db.write(AdvanceErasures(up_to)).await?;
        }
        if applied > 0 {
            self.delete_orphaned_applications().await?;
        }
        Ok(applied)
    }

    /// A person's key, created on first use, and since when it can be used. After an erasure there is a new key only when nothing is left to erase,
    /// so that a late erasure never removes newer data.
    pub(crate) async fn person_key(&self, user: &UserId) -> Result<(PersonKey, Lifetime)> {
        // Before the key: whatever destroys the key is later.
        let erasures = self.keystore()?.erasures_of(user).await?;
        let lifetime = Lifetime::new(user, erasures.last().map_or(0, |last| last.seq));
        if let Some(key) = self.keystore()?.person(user).await? {
            return Ok((key, lifetime));
        }
        for erasure in erasures {
            if !self.db.erasure_is_applied(erasure.seq).await? {
                self.forget_person(&operator(), user, None, erasure.seq).await?;
            }
        }
        Ok((self.keystore()?.person_or_new(user, self.clock.now()).await?, lifetime))
    }

    /// Deletes inputs past their retention, and expired values.
    pub(crate) async fn forget_inputs(&self) -> Result<()> {
        let now = self.clock.now();
        let op = || ForgetInputs {
            inputs_before: now.minus_seconds(self.screening.retention_days * DAY_SECONDS),
            checks_before: now.minus_seconds(crate::screening::results::VALID_SECONDS),
            guesses_before: now.minus_seconds(GUESS_RETENTION_SECONDS),
            at: now,
        };
        while self.db.write(op()).await? > 0 {}
        Ok(())
    }
}
