//! Verifying an applicant: the checks of a pipeline, run against bureaus, and what came of them.
//!
//! A check's reference is stored before a bureau is asked, and its finding as soon as it is there; the result
//! only when all are. So a retry goes on where the last one stopped, and there is never half a result.

use std::sync::Arc;

use portico_domain::pipelines::Pipeline;
use portico_domain::{
    CaseId, ClientId, Country, Credit, ErrorCode, Income, Label, Timestamp, UserId, ValidationError,
    VerificationId, WalletId,
};
use portico_screening::config;
pub use portico_screening::{Applicant, Check, personal};
use portico_screening::{Field, Finding, Order, Outcome, Reference, Runner};
use portico_store::screening::{
    BeginChecks, Case, FinishCheck, NewCheck, StoreVerification, StoredCheck, StoredVerification,
};
use portico_store::{Cursor, Page, StoredReply};
use serde::{Deserialize, Serialize};

use crate::access::signed_in;
use crate::identities::{commitment, token_number};
use crate::keystore::PersonKey;
use crate::{Call, Core, Error, Result};

/// How long a finding and a result are valid: 30 days.
pub(crate) const VALID_SECONDS: i64 = 30 * 24 * 60 * 60;
const NO_SUCH_VERIFICATION: Error = Error::NotFound(ErrorCode::VerificationNotFound);

/// What runs the checks.
#[derive(Debug)]
pub struct Bureaus {
    runner: Runner,
    screening: config::Screening,
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

/// A result as the specification shows it.
#[derive(Debug, Clone)]
pub struct Verified {
    pub token: String,
    pub id: VerificationId,
    /// The yearly income; 0 if that was not checked.
    pub income: Income,
    /// Whether the score is high enough; no if that was not checked.
    pub qualified: bool,
}

/// A result without its values.
#[derive(Debug, Clone)]
pub struct Report {
    pub id: VerificationId,
    pub case: CaseId,
    pub token: String,
    /// Whether the token was revoked.
    pub revoked: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it is valid.
    pub expires_at: Timestamp,
    /// When the applicant consented.
    pub consented_at: Option<Timestamp>,
    pub consent_version: Option<Label>,
    /// Whose pipeline was used.
    pub client: Option<String>,
    /// What came of every check.
    pub checks: Vec<CheckReport>,
}

/// What came of a check.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CheckReport {
    pub check: Check,
    /// Whether it was passed.
    pub passed: bool,
    pub bureau: String,
    /// When it was found, in microseconds.
    finished_at: i64,
}

impl CheckReport {
    /// When it was found.
    pub fn finished_at(&self) -> Timestamp {
        Timestamp::from_micros(self.finished_at)
    }

    /// Until when it need not be asked again.
    pub fn expires_at(&self) -> Timestamp {
        self.finished_at().minus_seconds(-VALID_SECONDS)
    }

    /// Why it was not passed, as a notice of adverse action has to say it.
    pub fn reason(&self) -> Option<&'static str> {
        (!self.passed).then_some(match self.check {
            Check::Eviction => "eviction_on_file",
            Check::Income => "income_not_verified",
            Check::SoftCredit => "credit_score_below_threshold",
            Check::CriminalBackground => "criminal_record_on_file",
        })
    }
}

/// The sealed part that stays until the person is erased.
#[derive(Serialize, Deserialize)]
struct SealedOutcome {
    client: Option<String>,
    checks: Vec<CheckReport>,
}

/// The sealed part that stays while it is valid.
#[derive(Serialize, Deserialize)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    /// The score, if it was checked.
    pub(crate) fn credit(&self) -> Option<Credit> {
        self.0.iter().find_map(|finding| match finding {
            Finding::SoftCredit { score } => Some(Credit::from_units(score.points().into())),
            _ => None,
        })
    }

    /// The income; 0 if it was not checked.
    pub(crate) fn income(&self) -> Income {
        let found = self.0.iter().find_map(|finding| match finding {
            Finding::Income { yearly } => Some(*yearly),
            _ => None,
        });
        found.unwrap_or(Income::from_units(0))
    }
}

fn place<'a>(id: &'a VerificationId, column: &'a [u8]) -> [&'a [u8]; 3] {
    [b"verifications", id.as_str().as_bytes(), column]
}

fn finding_place<'a>(case: &'a CaseId, reference: &'a str) -> [&'a [u8]; 3] {
    [b"checks", case.as_str().as_bytes(), reference.as_bytes()]
}

fn sealed(key: &PersonKey, place: &[&[u8]], value: &impl Serialize) -> Result<Vec<u8>> {
    let plain = secrecy::zeroize::Zeroizing::new(
        serde_json::to_vec(value).map_err(|error| Error::Bug(error.to_string()))?,
    );
    key.seal(place, &plain)
}

fn opened<T: serde::de::DeserializeOwned>(key: &PersonKey, place: &[&[u8]], sealed: &[u8]) -> Result<T> {
    let plain = key.open(place, sealed)?;
    serde_json::from_slice(&plain).map_err(|_| Error::Bug("a sealed value makes no sense".into()))
}

/// The checks that have to run, and the country whose rules apply.
struct Plan {
    checks: Vec<Check>,
    country: Country,
    client: Option<String>,
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

    /// Which checks run: those of the pipeline that was named, else of the caller's own, else all that the
    /// inputs allow. What a required check lacks is named, all of it at once.
    async fn plan(&self, call: &Call, asked: &Verification) -> Result<Plan> {
        let (_, account) = signed_in(&call.actor)?;
        let pipeline: Option<Pipeline> = match &asked.client {
            Some(client) => {
                let named = self.core.db.pipeline_of_client(client).await?;
                Some(named.ok_or(Error::NotFound(ErrorCode::PipelineNotFound))?)
            }
            None => self.core.db.pipeline(account).await?,
        };
        let applicant = &asked.applicant;
        let Some(pipeline) = pipeline else {
            let possible = |check: &Check| check.missing(applicant).is_empty();
            let checks: Vec<Check> = Check::ALL.into_iter().filter(possible).collect();
            if checks.is_empty() {
                return Err(Error::NothingToCheck(what_checks_need()));
            }
            return Ok(Plan { checks, country: self.core.country.clone(), client: None });
        };
        let checks: Vec<Check> =
            Check::ALL.into_iter().filter(|check| check.required_by(&pipeline)).collect();
        if checks.is_empty() {
            return Err(Error::NothingToCheck("no check can run: the pipeline requires none".into()));
        }
        let mut faults: Vec<(String, ValidationError)> = Vec::new();
        for field in Field::ALL {
            let mut needing = checks.iter().filter(|check| check.missing(applicant).contains(&field));
            if let Some(check) = needing.next() {
                let fault = ValidationError::new("required", format!("is required by the {check} check"));
                faults.push((format!("/{field}"), fault));
            }
        }
        if !faults.is_empty() {
            return Err(Error::Faults(faults));
        }
        let country = pipeline.country.unwrap_or_else(|| self.core.country.clone());
        Ok(Plan { checks, country, client: pipeline.client.map(Into::into) })
    }

    /// Runs the checks that have no valid finding yet, side by side, and keeps each finding at once.
    async fn run_checks(
        &self,
        case: &Case,
        plan: &Plan,
        applicant: &Arc<Applicant>,
        key: &PersonKey,
    ) -> Result<Vec<(Finding, CheckReport)>> {
        let now = self.core.clock.now();
        let new = |check: &Check| NewCheck {
            kind: check.name(),
            tag: input_tag(key, *check, applicant, &plan.country),
            reference: self.core.ids.next(),
            bureau: self.core.bureaus.screening.routing.bureau(*check).name().into(),
        };
        let begin = BeginChecks {
            case: case.id.clone(),
            checks: plan.checks.iter().map(new).collect(),
            valid_since: now.minus_seconds(VALID_SECONDS),
            at: now,
        };
        let begun = self.core.db.write(begin).await?;
        let (mut found, mut checks) = (Vec::new(), Vec::new());
        for (check, stored) in plan.checks.iter().zip(begun) {
            match self.known(key, case, &stored, &plan.country)? {
                Some(known) => found.push(known),
                None => {
                    let reference = Reference::parse(&stored.reference)
                        .map_err(|_| Error::Bug("a reference that no bureau takes".into()))?;
                    checks.push((*check, reference));
                }
            }
        }
        let references = checks.clone();
        let order = Order { applicant: applicant.clone(), country: plan.country.clone(), checks };
        let mut running = self.core.bureaus.runner.start(&order);
        let mut failed = Vec::new();
        while let Some(outcome) = running.next().await {
            let reference = references.iter().find(|(check, _)| *check == outcome.check);
            match (&outcome.result, reference) {
                (Ok(finding), Some((_, reference))) => {
                    found.push(self.keep_finding(key, case, reference, *finding, &outcome, plan).await?);
                }
                _ => failed.push(outcome),
            }
        }
        match unsuccessful(&failed) {
            Some(error) => Err(error),
            None => {
                found.sort_by_key(|(_, report)| report.check);
                Ok(found)
            }
        }
    }

    /// What was found before with the same inputs.
    fn known(
        &self,
        key: &PersonKey,
        case: &Case,
        stored: &StoredCheck,
        country: &Country,
    ) -> Result<Option<(Finding, CheckReport)>> {
        let (Some(finding), Some(at)) = (&stored.finding, stored.finished_at) else { return Ok(None) };
        let finding: Finding = opened(key, &finding_place(&case.id, &stored.reference), finding)?;
        Ok(Some((finding, self.report(finding, &stored.bureau, at, country))))
    }

    fn report(&self, finding: Finding, bureau: &str, at: Timestamp, country: &Country) -> CheckReport {
        CheckReport {
            check: finding.check(),
            passed: finding.passed(country, &self.core.bureaus.screening.thresholds),
            bureau: bureau.into(),
            finished_at: at.micros(),
        }
    }

    async fn keep_finding(
        &self,
        key: &PersonKey,
        case: &Case,
        reference: &Reference,
        finding: Finding,
        outcome: &Outcome,
        plan: &Plan,
    ) -> Result<(Finding, CheckReport)> {
        let at = self.core.clock.now();
        let op = FinishCheck {
            case: case.id.clone(),
            kind: outcome.check.name(),
            reference: reference.as_str().into(),
            finding: sealed(key, &finding_place(&case.id, reference.as_str()), &finding)?,
            at,
        };
        self.core.db.write(op).await?;
        Ok((finding, self.report(finding, &outcome.bureau, at, &plan.country)))
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

pub(crate) fn findings(key: &PersonKey, verification: &StoredVerification) -> Result<Findings> {
    let sealed = verification.findings.as_ref().ok_or(NO_SUCH_VERIFICATION)?;
    opened(key, &place(&verification.id, b"findings"), sealed)
}

/// What each check needs, in words.
fn what_checks_need() -> String {
    let needs = Check::ALL.map(|check| {
        let fields: Vec<&str> = check.needs().iter().map(|field| field.name()).collect();
        format!("{check} needs {}", fields.join(", "))
    });
    format!("no check can run: {}", needs.join("; "))
}

/// Tells whether a check has the inputs that it had before, without telling what they are.
fn input_tag(key: &PersonKey, check: Check, applicant: &Applicant, country: &Country) -> i64 {
    let mut parts: Vec<&[u8]> = vec![check.name().as_bytes(), country.as_str().as_bytes()];
    for (field, value) in check.inputs(applicant) {
        parts.extend([field.name().as_bytes(), value.as_bytes()]);
    }
    key.tag(&parts)
}

/// What is kept of an applicant, sealed: everything but what is used and forgotten.
fn kept_inputs(applicant: &Applicant) -> std::collections::BTreeMap<&'static str, &str> {
    let kept = Field::ALL.into_iter().filter(|field| !field.is_never_stored());
    kept.filter_map(|field| Some((field.name(), applicant.get(field)?))).collect()
}

/// The answer to checks that found nothing: come back, unless a bureau refuses what it was given.
fn unsuccessful(failed: &[Outcome]) -> Option<Error> {
    let mut faults = Vec::new();
    let (mut retry_after, mut whys) = (0, Vec::new());
    for outcome in failed {
        let Err(failure) = &outcome.result else { continue };
        match failure.retry_after_seconds() {
            Some(seconds) => {
                retry_after = retry_after.max(seconds);
                whys.push(format!("{} at {}: {}", outcome.check, outcome.bureau, failure.kind()));
            }
            None => {
                let message = format!("was not accepted for the {} check", outcome.check);
                faults.push((String::new(), ValidationError::new("refused_by_bureau", message)));
            }
        }
    }
    match (faults.is_empty(), whys.is_empty()) {
        (true, true) => None,
        (_, false) => Some(Error::Bureau { retry_after, why: whys.join(", ") }),
        (false, true) => Some(Error::Faults(faults)),
    }
}
