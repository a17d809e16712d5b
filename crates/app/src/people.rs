//! Forgetting people. Destroying a person's key makes them unreadable at once, in every copy; what is left of
//! them here goes in the same moment, and again after a restore.

use portico_domain::UserId;
use portico_store::screening::{ErasePerson, ForgetInputs};

use crate::{Actor, Call, Portico, Result};

/// Erasures that are followed in one go.
const AT_ONCE: i64 = 100;
const DAY: i64 = 24 * 60 * 60;
/// How long attempts at names are remembered.
const GUESSES_SECONDS: i64 = 2 * 60 * 60;

impl Portico {
    /// Erases a person: the key first, then everything that it sealed; tokens are revoked and flags cleared.
    pub async fn erase_person(&self, call: &Call, user: &UserId) -> Result<()> {
        self.may_act_for(&call.actor, user).await?;
        let erasure = self.keystore.erase(user, self.clock.now()).await?;
        self.forget_person(call, user, erasure, erasure - 1).await
    }

    async fn forget_person(&self, call: &Call, user: &UserId, erasure: i64, after: i64) -> Result<()> {
        let mut gone = self.cleared_flags(user).await?;
        gone.extend(self.db.cases_of(user).await?.iter().map(|case| self.revoked_token(case)));
        let entry = self.entry(call, "person.erased", user.as_str(), "");
        let (user, by) = (user.clone(), self.by(call));
        self.db.write(ErasePerson { user, gone, erasure, after, entry, by }).await?;
        self.wake_chain();
        Ok(())
    }

    /// Follows the erasures that the keystore knows of and this database does not: those since the backup from
    /// which it came, and those that a crash cut off. Tells how many.
    pub async fn follow_erasures(&self) -> Result<u64> {
        let call = Call { actor: Actor::Operator, once: None };
        let mut followed = 0;
        loop {
            let mut after = self.db.erasures_followed().await?;
            let erasures = self.keystore.erasures_after(after, AT_ONCE).await?;
            if erasures.is_empty() {
                return Ok(followed);
            }
            // The keys are gone, but maybe not yet from the log; once they are followed nobody looks again.
            self.keystore.forget().await?;
            for (erasure, user) in erasures {
                self.forget_person(&call, &user, erasure.seq, after).await?;
                after = erasure.seq;
                followed += 1;
            }
        }
    }

    /// Forgets inputs that are no longer kept, and values that are no longer valid.
    pub(crate) async fn forget_inputs(&self) -> Result<()> {
        let now = self.clock.now();
        let op = || ForgetInputs {
            inputs_before: now.minus_seconds(self.retention_days * DAY),
            checks_before: now.minus_seconds(crate::verifications::VALID_SECONDS),
            guesses_before: now.minus_seconds(GUESSES_SECONDS),
            at: now,
        };
        while self.db.write(op()).await? > 0 {}
        Ok(())
    }
}
