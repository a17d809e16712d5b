//! Erasing people. Destroying a person's key makes them unreadable at once, in every copy; what is left of
//! them here goes in the same moment, and once more after a restore. Each erasure is applied once: what a person
//! stores afterwards stays.

use std::sync::Arc;

use portico_domain::UserId;
use portico_store::ReplaceKeystore;
use portico_store::audit::Entry;
use portico_store::screening::{AdvanceErasures, ErasePerson, ErasureToApply, ForgetInputs};

use crate::access::must_be_operator;
use crate::keystore::PersonKey;
use crate::{Actor, Call, Core, Result};

/// Erasures, and people, that are read at once.
const PAGE: i64 = 100;
const DAY: i64 = 24 * 60 * 60;
/// How long attempts at names are remembered.
const GUESSES_SECONDS: i64 = 2 * 60 * 60;

fn operator() -> Call {
    Call { actor: Actor::Operator, once: None }
}

/// People whose data is kept, and their erasure.
#[derive(Debug)]
pub struct People {
    pub(crate) core: Arc<Core>,
}

impl People {
    /// Erases a person: the key first, then everything that it sealed; tokens are revoked and flags cleared.
    pub async fn erase(&self, call: &Call, user: &UserId) -> Result<()> {
        self.core.may_act_for(&call.actor, user).await?;
        let erasure = self.core.keystore()?.erase(user, self.core.clock.now()).await?;
        // If the log cannot be scrubbed now, the caller is told so; but nothing is left to be erased later,
        // when the person may have come back.
        let scrubbed = self.core.keystore()?.scrub().await;
        self.core.forget_person(call, user, ErasureToApply::New(erasure)).await?;
        scrubbed
    }

    /// Takes the keystore as this database's own, in the place of one that was lost. What that one sealed nobody
    /// can read again, so everybody who was screened is erased. Tells how many that were.
    pub async fn replace_keystore(&self, call: &Call) -> Result<u64> {
        must_be_operator(&call.actor)?;
        let (mut after, mut erased) = (String::new(), 0);
        loop {
            let people = self.core.db.screened_people(&after, PAGE).await?;
            let Some(last) = people.last() else { break };
            after = last.as_str().to_owned();
            for user in people {
                self.erase(call, &user).await?;
                erased += 1;
            }
        }
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
        erasure: ErasureToApply,
    ) -> Result<bool> {
        let (ErasureToApply::New(seq) | ErasureToApply::Found(seq, _)) = erasure;
        let mut gone = self.cleared_flags(user).await?;
        gone.extend(self.db.cases_of(user).await?.iter().map(|case| self.revoked_token(case)));
        let entry = self.entry(call, "person.erased", user.as_str(), format!("erasure {seq}"));
        let (user, by) = (user.clone(), self.context(call));
        let applied = self.db.write(ErasePerson { user, gone, erasure, entry, by }).await?;
        self.wake_chain();
        Ok(applied)
    }

    /// Applies the erasures that the keystore knows of and this database does not: those since the backup from
    /// which it came, and those that a crash cut off. Tells how many.
    pub(crate) async fn apply_erasures(&self) -> Result<u64> {
        // Erasures of several replicas may become visible in another order than that of their places.
        let settled = self.clock.now().minus_seconds(DAY);
        let (mut after, mut applied) = (self.db.erasures_applied_up_to().await?, 0);
        let mut up_to = None;
        let mut all_settled = true;
        loop {
            let erasures = self.keystore()?.erasures_after(after, PAGE).await?;
            let Some((last, _)) = erasures.last() else { break };
            after = last.seq;
            for (erasure, user) in erasures {
                if !self.db.erasure_is_applied(erasure.seq).await? {
                    let found = ErasureToApply::Found(erasure.seq, erasure.at);
                    applied += u64::from(self.forget_person(&operator(), &user, found).await?);
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
        Ok(applied)
    }

    /// Somebody's key, which is made on first use. Whoever was erased gets a new one only when nothing of theirs
    /// is left to be erased: so an erasure that is applied late never meets what they stored since.
    pub(crate) async fn person_key(&self, user: &UserId) -> Result<PersonKey> {
        if let Some(key) = self.keystore()?.person(user).await? {
            return Ok(key);
        }
        for erasure in self.keystore()?.erasures_of(user).await? {
            if !self.db.erasure_is_applied(erasure.seq).await? {
                let found = ErasureToApply::Found(erasure.seq, erasure.at);
                self.forget_person(&operator(), user, found).await?;
            }
        }
        self.keystore()?.person_or_new(user, self.clock.now()).await
    }

    /// Forgets inputs that are no longer kept, and values that are no longer valid.
    pub(crate) async fn forget_inputs(&self) -> Result<()> {
        let now = self.clock.now();
        let op = || ForgetInputs {
            inputs_before: now.minus_seconds(self.retention_days * DAY),
            checks_before: now.minus_seconds(crate::results::VALID_SECONDS),
            guesses_before: now.minus_seconds(GUESSES_SECONDS),
            at: now,
        };
        while self.db.write(op()).await? > 0 {}
        Ok(())
    }
}
