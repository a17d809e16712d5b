//! Verifies applicants: runs a pipeline's checks against bureaus and stores the result.
//!
//! A check's reference is stored before the bureau request, its finding as soon as it arrives, and the result when
//! all findings are there. So a retry resumes where the last attempt stopped, and there is never a partial result.

use std::sync::Arc;
use std::time::Instant;

use portico_domain::{Label, Timestamp, UserId, VerificationId};
use portico_screening::{Applicant, ApplicantField, Check, Finding};
use portico_store::screening::{Case, Lifetime, StoreVerification, StoredVerification};
use portico_store::{Budget, Cursor, Page, StoredReply};
use tracing::Instrument as _;

use crate::caller::CallContext;
use crate::error::Result;
use crate::people::access::signed_in;
use crate::people::keystore::PersonKey;
use crate::screening::applicant_identity::ApplicantIdentity;
use crate::screening::checks::Plan;
use crate::screening::identities::{commitment, token_number};
use crate::screening::results::{
    CheckReport, Findings, NO_SUCH_VERIFICATION, SealedOutcome, VALID_SECONDS, VerificationReport,
    VerificationResult, findings, outcome, sealed, sealing_context,
};
use crate::screening::service::{Screening, Verification};

impl Screening {
    /// The applicant is the caller.
    pub async fn verify(&self, call: &CallContext, request: Verification) -> Result<VerificationResult> {
        let (user, _) = signed_in(&call.actor)?;
        self.core.remember_tenant(&call.actor).await?;
        if let Some(id) = &request.verified {
            return self.verified_before(call, user, id).await;
        }
        if let Some(idempotency_key) = call.idempotency_key
            && let Some(id) = self
                .core
                .db
                .write(StoredReply::<VerificationId>::new(self.core.store_key(idempotency_key)))
                .await?
        {
            let key = self.core.keystore()?.person(user).await?.ok_or(NO_SUCH_VERIFICATION)?;
            return self.shown(&key, &self.own_verification(user, &id).await?).await;
        }
        self.check_consent(request.consent_version.as_ref())?;
        let plan = self.plan(call, &request).await?;
        let (key, lifetime) = self.core.person_key(user).await?;
        let id = self.core.new_id();
        let span = tracing::error_span!("verification", verification = %id);
        let id = self.check_and_store(call, id, request, plan, (&key, lifetime)).instrument(span).await?;
        self.core.record_flags_or_defer(user).await;
        self.core.chain.wake();
        let verification = self.core.db.verification(&id).await?.ok_or(NO_SUCH_VERIFICATION)?;
        self.shown(&key, &verification).await
    }

    /// Runs the checks and stores the result; returns its id.
    async fn check_and_store(
        &self,
        call: &CallContext,
        id: VerificationId,
        request: Verification,
        plan: Plan,
        (key, lifetime): (&PersonKey, Lifetime),
    ) -> Result<VerificationId> {
        let began = Instant::now();
        let case = self.core.open_case(call, request.case, request.wallet.as_ref(), (key, lifetime)).await?;
        let applicant = Arc::new(request.applicant);
        let found = self.run_checks(call, &case, &plan, &applicant, key).await?;
        if let Some(id) = self.known_before(&case, &applicant, key, &found).await? {
            tracing::info!(verification = %id, "an earlier verification has the same findings");
            return Ok(id);
        }
        let (checks, consent) = (found.len(), (request.consented_at, request.consent_version));
        let id = self.store_result(call, (id, &case), plan, &applicant, key, found, consent).await?;
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(verification = %id, checks, milliseconds, "verification finished");
        Ok(id)
    }

    /// The case's newest verification, if it has exactly these findings of the same identity.
    async fn known_before(
        &self,
        case: &Case,
        applicant: &Applicant,
        key: &PersonKey,
        found: &[(Finding, CheckReport)],
    ) -> Result<Option<VerificationId>> {
        let Some(newest) = self.core.db.newest_verification(&case.user, &case.id).await? else {
            return Ok(None);
        };
        let before = outcome(key, &newest)?;
        let same_identity = before.identity == ApplicantIdentity::new(key, applicant);
        let same_findings = before.checks.len() == found.len()
            && before.checks.iter().zip(found).all(|(known, (_, report))| known.is_of_same_finding(report));
        let is_valid = newest.findings.is_some() && newest.expires_at > self.core.clock.now();
        Ok((same_identity && same_findings && is_valid).then_some(newest.id))
    }

    /// Returns the caller's earlier result if it is still valid.
    async fn verified_before(
        &self,
        call: &CallContext,
        user: &UserId,
        id: &VerificationId,
    ) -> Result<VerificationResult> {
        let verification = self.own_verification(user, id).await?;
        if verification.expires_at <= self.core.clock.now() {
            return Err(NO_SUCH_VERIFICATION);
        }
        let key = self.core.keystore()?.person(user).await?.ok_or(NO_SUCH_VERIFICATION)?;
        self.core
            .append_audit_entry(self.core.entry(call, "verification.given_again", id.as_str(), ""))
            .await?;
        self.shown(&key, &verification).await
    }

    async fn own_verification(&self, user: &UserId, id: &VerificationId) -> Result<StoredVerification> {
        let found = self.core.db.verification(id).await?;
        found.filter(|found| found.user == *user).ok_or(NO_SUCH_VERIFICATION)
    }

    async fn shown(&self, key: &PersonKey, verification: &StoredVerification) -> Result<VerificationResult> {
        let case = self.core.db.case(&verification.case).await?.ok_or(NO_SUCH_VERIFICATION)?;
        let findings = findings(key, verification)?;
        let outcome = outcome(key, verification)?;
        let qualified =
            outcome.checks.iter().any(|report| report.check == Check::SoftCredit && report.passed);
        Ok(VerificationResult {
            token: token_number(&case.token),
            id: verification.id.clone(),
            income: findings.income(),
            qualified,
        })
    }

    /// What a result costs in records: the token, and the flags of every application that it may complete.
    /// Never more than a day's budget, so that somebody with many applications can be verified once a day.
    pub(crate) async fn records_of_a_result(&self, key: &PersonKey, budget: &Budget) -> Result<u32> {
        let Some(most) = budget.smallest_limit() else { return Ok(1) };
        let flags = self.core.db.incomplete_applications(&key.id(), most.into()).await?;
        Ok(u32::try_from(flags).unwrap_or(most).saturating_add(1).min(most))
    }

    /// Stores the result; a retry gets the id of the first one.
    #[expect(clippy::too_many_arguments, reason = "a result is made of all of them")]
    async fn store_result(
        &self,
        call: &CallContext,
        (id, case): (VerificationId, &Case),
        plan: Plan,
        applicant: &Applicant,
        key: &PersonKey,
        found: Vec<(Finding, CheckReport)>,
        (consented_at, consent_version): (Option<Timestamp>, Option<Label>),
    ) -> Result<VerificationId> {
        let now = self.core.clock.now();
        let (findings, checks): (Vec<Finding>, Vec<CheckReport>) = found.into_iter().unzip();
        let mut entries =
            vec![self.core.entry(call, "verification.made", id.as_str(), case.known_as().as_str())];
        let failed = checks.iter().filter(|report| !report.passed);
        entries.extend(failed.map(|report| {
            self.core.entry(call, "verification.adverse_action", id.as_str(), report.check.name())
        }));
        let (first, last) =
            (applicant.get(ApplicantField::FirstName), applicant.get(ApplicantField::LastName));
        let name = commitment(key, case, first, last)?;
        let identity = ApplicantIdentity::new(key, applicant);
        let outcome = SealedOutcome { client: plan.client, checks, name, identity };
        let verification = StoredVerification {
            user: case.user.clone(),
            case: case.id.clone(),
            created_at: now,
            expires_at: now.minus_seconds(-VALID_SECONDS),
            consented_at,
            consent_version,
            inputs: Some(sealed(key, &sealing_context(&id, b"inputs"), &storable_inputs(applicant))?),
            findings: Some(sealed(key, &sealing_context(&id, b"findings"), &Findings(findings))?),
            outcome: sealed(key, &sealing_context(&id, b"outcome"), &outcome)?,
            id,
        };
        let budget = self.core.record_budget(call).await?;
        let records = self.records_of_a_result(key, &budget).await?;
        let op = StoreVerification { person: key.id(), verification, commitment: name, entries, at: now };
        self.core.write_recorded(call, op, records as usize).await
    }

    /// Without its values.
    pub async fn verification(&self, call: &CallContext, id: &VerificationId) -> Result<VerificationReport> {
        let (user, _) = signed_in(&call.actor)?;
        let found = self.own_verification(user, id).await?;
        let key = self.core.keystore()?.person(user).await?.ok_or(NO_SUCH_VERIFICATION)?;
        self.core.append_audit_entry(self.core.entry(call, "verification.read", id.as_str(), "")).await?;
        self.reported(&key, found).await
    }

    /// The caller's results without their values, oldest first.
    pub async fn verifications(
        &self,
        call: &CallContext,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<VerificationReport>> {
        let (user, _) = signed_in(&call.actor)?;
        let Page { items: found, next, stable_up_to } =
            self.core.db.verifications(user, after, limit).await?;
        let Some(key) = self.core.keystore()?.person(user).await? else {
            return Ok(Page::of(Vec::new()));
        };
        self.core
            .append_audit_entry(self.core.entry(call, "verifications.listed", user.as_str(), ""))
            .await?;
        let mut items = Vec::with_capacity(found.len());
        for found in found {
            items.push(self.reported(&key, found).await?);
        }
        Ok(Page { items, next, stable_up_to })
    }

    async fn reported(&self, key: &PersonKey, found: StoredVerification) -> Result<VerificationReport> {
        let outcome = outcome(key, &found)?;
        let case = self.core.db.case(&found.case).await?.ok_or(NO_SUCH_VERIFICATION)?;
        let committed = self.core.committed_name(&case).await?;
        let now = self.core.clock.now();
        Ok(VerificationReport {
            backed_by: committed.map(|name| outcome.checks_backing(&name, now)).unwrap_or_default(),
            id: found.id,
            token: token_number(&case.token),
            revoked: case.revoked_at.is_some(),
            case: case.known_as().clone(),
            created_at: found.created_at,
            expires_at: found.expires_at,
            consented_at: found.consented_at,
            consent_version: found.consent_version,
            client: outcome.client,
            checks: outcome.checks,
        })
    }
}

/// The stored inputs: all except those that are never stored.
fn storable_inputs(applicant: &Applicant) -> std::collections::BTreeMap<&'static str, &str> {
    let kept = ApplicantField::ALL.into_iter().filter(|field| !field.is_never_stored());
    kept.filter_map(|field| Some((field.name(), applicant.get(field)?))).collect()
}
