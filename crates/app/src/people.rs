//! Erasing people. Destroying a person's key makes their data unreadable in every copy; the rows here are removed
//! with it, and again after a restore. Each erasure is applied once, so that data which the person stores later
//! stays.

use std::sync::Arc;

use portico_domain::UserId;
use portico_store::ReplaceKeystore;
use portico_store::audit::Entry;
use portico_store::chain::RetireItems;
use portico_store::screening::{AdvanceErasures, ErasePerson, ErasureToApply, ForgetInputs};

use crate::access::require_operator;
use crate::keystore::PersonKey;
use crate::{Actor, Call, Core, Result};

const PAGE_ITEMS: i64 = 100;
const DAY_SECONDS: i64 = 24 * 60 * 60;
/// How long name guesses are kept.
const GUESS_RETENTION_SECONDS: i64 = 2 * 60 * 60;

fn operator() -> Call {
    Call { actor: Actor::Operator, idempotency_key: None }
}

#[derive(Debug)]
pub struct People {
    pub(crate) core: Arc<Core>,
}

impl People {
    /// Destroys the key first, then removes everything that it sealed, revokes tokens and clears flags.
    pub async fn erase(&self, call: &Call, user: &UserId) -> Result<()> {
        self.core.may_act_for(&call.actor, user).await?;
        // While their key exists: afterwards nobody can tell which flags were theirs.
        let key = self.core.keystore()?.person(user).await?;
        if let Some(key) = &key {
            self.core.db.write(RetireItems(self.core.cleared_flags(key).await?)).await?;
        }
        let erasure = self.core.keystore()?.erase(user, self.core.clock.now()).await?;
        // The caller learns about a failed scrub, but the erasure itself is complete: nothing is left to be erased
        // later, when the person may have come back.
        let scrubbed = self.core.keystore()?.scrub().await;
        self.core.forget_person(call, user, key.as_ref(), ErasureToApply::New(erasure)).await?;
        scrubbed
    }

    /// Adopts the keystore in place of a lost one. Nobody can read what the lost one sealed, so everyone who was
    /// screened is erased; returns how many.
    pub async fn replace_keystore(&self, call: &Call) -> Result<u64> {
        require_operator(&call.actor)?;
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
        call: &Call,
        user: &UserId,
        key: Option<&PersonKey>,
        erasure: ErasureToApply,
    ) -> Result<bool> {
        let (ErasureToApply::New(seq) | ErasureToApply::Found(seq, _)) = erasure;
        let mut deleted_items = match key {
            Some(key) => self.cleared_flags(key).await?,
            None => Vec::new(),
        };
        deleted_items.extend(self.db.cases_of(user).await?.iter().map(|case| self.revoked_token(case)));
        let entry = self.entry(call, "person.erased", user.as_str(), format!("erasure {seq}"));
        let (user, by, person) = (user.clone(), self.context(call), key.map(PersonKey::id));
        let applied = self.db.write(ErasePerson { user, person, deleted_items, erasure, entry, by }).await?;
        self.wake_chain();
        Ok(applied)
    }

    /// Applies the erasures that the keystore knows and this database does not: those since its backup, and those
    /// that a crash interrupted. Returns how many.
    pub(crate) async fn apply_erasures(&self) -> Result<u64> {
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
                if !self.db.erasure_is_applied(erasure.seq).await? {
                    let found = ErasureToApply::Found(erasure.seq, erasure.at);
                    applied += u64::from(self.forget_person(&operator(), &user, None, found).await?);
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

    /// A person's key, created on first use. After an erasure there is a new key only when nothing is left to erase,
    /// so that a late erasure never removes newer data.
    pub(crate) async fn person_key(&self, user: &UserId) -> Result<PersonKey> {
        if let Some(key) = self.keystore()?.person(user).await? {
            return Ok(key);
        }
        for erasure in self.keystore()?.erasures_of(user).await? {
            if !self.db.erasure_is_applied(erasure.seq).await? {
                let found = ErasureToApply::Found(erasure.seq, erasure.at);
                self.forget_person(&operator(), user, None, found).await?;
            }
        }
        self.keystore()?.person_or_new(user, self.clock.now()).await
    }

    /// Deletes inputs past their retention, and expired values.
    pub(crate) async fn forget_inputs(&self) -> Result<()> {
        let now = self.clock.now();
        let op = || ForgetInputs {
            inputs_before: now.minus_seconds(self.retention_days * DAY_SECONDS),
            checks_before: now.minus_seconds(crate::results::VALID_SECONDS),
            guesses_before: now.minus_seconds(GUESS_RETENTION_SECONDS),
            at: now,
        };
        while self.db.write(op()).await? > 0 {}
        Ok(())
    }
}
