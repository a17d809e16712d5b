//! Verifying an applicant: the checks of a pipeline, run against bureaus, and what came of them.
//!
//! A check's reference is stored before a bureau is asked, and its finding as soon as it is there; the result
//! only when all are. So a retry goes on where the last one stopped, and there is never half a result.

use std::sync::Arc;

use portico_domain::{CaseId, ClientId, Label, Timestamp, UserId, VerificationId, WalletId};
use portico_screening::config;
pub use portico_screening::{Applicant, Check, personal};
use portico_screening::{Field, Finding, Runner};
use portico_store::screening::{Case, StoreVerification, StoredVerification};
use portico_store::{Cursor, Page, StoredReply};

use crate::access::signed_in;
use crate::checks::Plan;
use crate::identities::{commitment, token_number};
use crate::keystore::PersonKey;
pub use crate::results::{CheckReport, Report, Verified};
use crate::results::{
    Findings, NO_SUCH_VERIFICATION, SealedOutcome, VALID_SECONDS, findings, opened, place, sealed,
};
use crate::{Call, Core, Result};

/// What runs the checks.
#[derive(Debug)]
pub struct Bureaus {
    pub(crate) runner: Runner,
    pub(crate) screening: config::Screening,
}

impl Bureaus {
    /// Bureaus as they are configured.
    pub fn new(screening: config::Screening) -> Self {
        Self { runner: Runner::new(&screening.routing, screening.policy), screening }
    }

    /// What runs the checks, for metrics.
    pub fn runner(&self) -> &Runner {
        &self.runner
    }
}

/// What is asked of a verification.
#[derive(Debug)]
pub struct Verification {
    /// An earlier result that is to be given again.
    pub verified: Option<VerificationId>,
    /// Whose pipeline says which checks run.
    pub client: Option<ClientId>,
    /// The case it belongs to.
    pub case: Option<CaseId>,
    /// Where a new token goes.
    pub wallet: Option<WalletId>,
    pub applicant: Applicant,
    /// When the applicant consented.
    pub consented_at: Option<Timestamp>,
    pub consent_version: Option<Label>,
}

/// Verifying applicants: pipelines, checks and results.
#[derive(Debug)]
pub struct Screening {
    pub(crate) core: Arc<Core>,
}

impl Screening {
    /// Verifies an applicant, who is the caller.
    pub async fn verify(&self, call: &Call, asked: Verification) -> Result<Verified> {
        let (user, _) = signed_in(&call.actor)?;
        self.core.remember_account(&call.actor).await?;
        if let Some(id) = &asked.verified {
            return self.verified_before(call, user, id).await;
        }
        if let Some(once) = call.once
            && let Some(id) =
                self.core.db.write(StoredReply::<VerificationId>::new(self.core.once(once))).await?
        {
            let key = self.core.keystore()?.person(user).await?.ok_or(NO_SUCH_VERIFICATION)?;
            return self.shown(&key, &self.own_verification(user, &id).await?).await;
        }
        let plan = self.plan(call, &asked).await?;
        let key = self.core.person_key(user).await?;
        let case = self.core.open_case(call, asked.case.clone(), asked.wallet.as_ref(), &key).await?;
        let applicant = Arc::new(asked.applicant);
        let found = self.run_checks(&case, &plan, &applicant, &key).await?;
        let consent = (asked.consented_at, asked.consent_version);
        let id = self.keep_result(call, &case, plan, &applicant, &key, found, consent).await?;
        self.core.attest_soon(user).await;
        self.core.wake_chain();
        let verification = self.core.db.verification(&id).await?.ok_or(NO_SUCH_VERIFICATION)?;
        self.shown(&key, &verification).await
    }

    /// An earlier result of the caller, if it is still valid.
    async fn verified_before(&self, call: &Call, user: &UserId, id: &VerificationId) -> Result<Verified> {
        let verification = self.own_verification(user, id).await?;
        if verification.expires_at <= self.core.clock.now() {
            return Err(NO_SUCH_VERIFICATION);
        }
        let key = self.core.keystore()?.person(user).await?.ok_or(NO_SUCH_VERIFICATION)?;
        self.core.put_on_record(self.core.entry(call, "verification.given_again", id.as_str(), "")).await?;
        self.shown(&key, &verification).await
    }

    async fn own_verification(&self, user: &UserId, id: &VerificationId) -> Result<StoredVerification> {
        let found = self.core.db.verification(id).await?;
        found.filter(|found| found.user == *user).ok_or(NO_SUCH_VERIFICATION)
    }

    async fn shown(&self, key: &PersonKey, verification: &StoredVerification) -> Result<Verified> {
        let case = self.core.db.case(&verification.case).await?.ok_or(NO_SUCH_VERIFICATION)?;
        let findings = findings(key, verification)?;
        let outcome: SealedOutcome =
            opened(key, &place(&verification.id, b"outcome"), &verification.outcome)?;
        let qualified =
            outcome.checks.iter().any(|report| report.check == Check::SoftCredit && report.passed);
        Ok(Verified {
            token: token_number(&case.token),
            id: verification.id.clone(),
            income: findings.income(),
            qualified,
        })
    }

    /// Stores the result; the id of the first one, if it is asked for again.
    #[expect(clippy::too_many_arguments, reason = "a result is made of all of them")]
    async fn keep_result(
        &self,
        call: &Call,
        case: &Case,
        plan: Plan,
        applicant: &Applicant,
        key: &PersonKey,
        found: Vec<(Finding, CheckReport)>,
        (consented_at, consent_version): (Option<Timestamp>, Option<Label>),
    ) -> Result<VerificationId> {
        let (id, now) = (self.core.new_id(), self.core.clock.now());
        let (findings, checks): (Vec<Finding>, Vec<CheckReport>) = found.into_iter().unzip();
        let mut entries = vec![self.core.entry(call, "verification.made", id.as_str(), case.id.as_str())];
        let failed = checks.iter().filter(|report| !report.passed);
        entries.extend(failed.map(|report| {
            self.core.entry(call, "verification.adverse_action", id.as_str(), report.check.name())
        }));
        let outcome = SealedOutcome { client: plan.client, checks };
        let verification = StoredVerification {
            user: case.user.clone(),
            case: case.id.clone(),
            created_at: now,
            expires_at: now.minus_seconds(-VALID_SECONDS),
            consented_at,
            consent_version,
            inputs: Some(sealed(key, &place(&id, b"inputs"), &kept_inputs(applicant))?),
            findings: Some(sealed(key, &place(&id, b"findings"), &Findings(findings))?),
            outcome: sealed(key, &place(&id, b"outcome"), &outcome)?,
            id,
        };
        let (first, last) = (applicant.get(Field::FirstName), applicant.get(Field::LastName));
        let wanted = self.core.wanted_token(case, commitment(key, case, first, last)?);
        self.core.write(call, StoreVerification { verification, wanted, entries, at: now }).await
    }

    /// One of the caller's own results, without its values.
    pub async fn verification(&self, call: &Call, id: &VerificationId) -> Result<Report> {
        let (user, _) = signed_in(&call.actor)?;
        let found = self.own_verification(user, id).await?;
        let key = self.core.keystore()?.person(user).await?.ok_or(NO_SUCH_VERIFICATION)?;
        self.core.put_on_record(self.core.entry(call, "verification.read", id.as_str(), "")).await?;
        self.reported(&key, found).await
    }

    /// A piece of the caller's own results, oldest first.
    pub async fn verifications(
        &self,
        call: &Call,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Report>> {
        let (user, _) = signed_in(&call.actor)?;
        let page = self.core.db.verifications(user, after, limit).await?;
        let Some(key) = self.core.keystore()?.person(user).await? else {
            return Ok(Page { items: Vec::new(), next: None });
        };
        self.core.put_on_record(self.core.entry(call, "verifications.listed", user.as_str(), "")).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for found in page.items {
            items.push(self.reported(&key, found).await?);
        }
        Ok(Page { items, next: page.next })
    }

    async fn reported(&self, key: &PersonKey, found: StoredVerification) -> Result<Report> {
        let outcome: SealedOutcome = opened(key, &place(&found.id, b"outcome"), &found.outcome)?;
        let case = self.core.db.case(&found.case).await?.ok_or(NO_SUCH_VERIFICATION)?;
        Ok(Report {
            id: found.id,
            token: token_number(&case.token),
            revoked: case.revoked_at.is_some(),
            case: case.id,
            created_at: found.created_at,
            expires_at: found.expires_at,
            consented_at: found.consented_at,
            consent_version: found.consent_version,
            client: outcome.client,
            checks: outcome.checks,
        })
    }
}

/// What is kept of an applicant, sealed: everything but what is used and forgotten.
fn kept_inputs(applicant: &Applicant) -> std::collections::BTreeMap<&'static str, &str> {
    let kept = Field::ALL.into_iter().filter(|field| !field.is_never_stored());
    kept.filter_map(|field| Some((field.name(), applicant.get(field)?))).collect()
}
