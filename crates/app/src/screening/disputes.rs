//! Disputing a finding. The owner of a listing sees that it is disputed, and a new finding replaces it.

use portico_domain::{ErrorCode, VerificationId};
use portico_screening::Check;
use portico_store::screening::{Dispute, StoredVerification};

use crate::caller::CallContext;
use crate::error::{Error, Result};
use crate::people::access::signed_in;
use crate::people::keystore::PersonKey;
use crate::screening::results::{NO_SUCH_VERIFICATION, outcome, sealed, sealing_context};
use crate::screening::service::Screening;

/// Attempts of a dispute that conflicts with others.
const MAX_ATTEMPTS: u32 = 10;

impl Screening {
    /// For the person the finding is about. Disputing it again has no effect.
    pub async fn dispute(&self, call: &CallContext, id: &VerificationId, check: Check) -> Result<()> {
        let (user, _) = signed_in(&call.actor)?;
        for _ in 0..MAX_ATTEMPTS {
            let found = self.core.db.verification(id).await?.ok_or(NO_SUCH_VERIFICATION)?;
            if found.user != *user {
                return Err(Error::Refused(ErrorCode::FindingNotYours));
            }
            let key = self.core.keystore()?.person(user).await?.ok_or(NO_SUCH_VERIFICATION)?;
            let Some(op) = self.disputed(call, &key, found, check).await? else { return Ok(()) };
            match self.core.db.write(op).await.map_err(Error::from) {
                Err(Error::Outdated) => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(()),
            }
        }
        Err(Error::Unavailable("a result changes all the time".into()))
    }

    /// `None`: it is disputed already.
    async fn disputed(
        &self,
        call: &CallContext,
        key: &PersonKey,
        found: StoredVerification,
        check: Check,
    ) -> Result<Option<Dispute>> {
        let now = self.core.clock.now();
        let checks = outcome(key, &found)?.checks;
        let report = checks.iter().find(|report| report.check == check);
        let report = report.ok_or(Error::NotFound(ErrorCode::CheckNotFound))?;
        if report.expires_at() <= now {
            return Err(Error::Conflict(ErrorCode::CheckNotValid));
        }
        if report.disputed_at.is_some() {
            return Ok(None);
        }
        // The same finding may be part of several results.
        let mut outcomes = Vec::new();
        for known in self.core.db.valid_verifications(&found.user, now).await? {
            let mut result = outcome(key, &known)?;
            let same = result.checks.iter_mut().find(|other| other.is_of_same_finding(report));
            let Some(same) = same.filter(|same| same.disputed_at.is_none()) else { continue };
            same.disputed_at = Some(now.micros());
            let after = sealed(key, &sealing_context(&known.id, b"outcome"), &result)?;
            outcomes.push((known.id, known.outcome, after));
        }
        Ok(Some(Dispute {
            entry: self.core.entry(call, "verification.disputed", found.id.as_str(), check.name()),
            case: found.case,
            check: check.name(),
            outcomes,
        }))
    }
}
