//! Selects and runs the checks of a verification.

use std::sync::Arc;

use portico_domain::pipelines::Pipeline;
use portico_domain::{Country, ErrorCode, FaultCode, Timestamp, ValidationError};
use portico_screening::{Applicant, ApplicantField, Check, CheckRun, Finding, Outcome, Reference};
use portico_store::chain::Word;
use portico_store::screening::{BeginChecks, Case, FinishCheck, NewCheck, StoredCheck};

use crate::caller::CallContext;
use crate::error::{Error, Result};
use crate::people::access::signed_in;
use crate::people::budgets::Cost;
use crate::people::keystore::PersonKey;
use crate::screening::results::{CheckReport, VALID_SECONDS, finding_context, opened, sealed};
use crate::screening::service::{Screening, Verification};

/// The checks to run, and the country whose rules apply.
pub(crate) struct Plan {
    pub(crate) checks: Vec<Check>,
    pub(crate) country: Country,
    pub(crate) client: Option<String>,
}

impl Screening {
    /// Selects the checks: those of the named pipeline, else of the caller's own, else all that the inputs allow.
    /// Reports every input that a required check lacks.
    pub(crate) async fn plan(&self, call: &CallContext, request: &Verification) -> Result<Plan> {
        let (_, tenant) = signed_in(&call.actor)?;
        let pipeline: Option<Pipeline> = match &request.client {
            Some(client) => {
                let named = self.core.db.pipeline_of_client(client).await?;
                Some(named.ok_or(Error::NotFound(ErrorCode::PipelineNotFound))?)
            }
            None => self.core.db.pipeline(tenant).await?,
        };
        let applicant = &request.applicant;
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
        for field in ApplicantField::ALL {
            let mut needing = checks.iter().filter(|check| check.missing(applicant).contains(&field));
            if let Some(check) = needing.next() {
                let fault =
                    ValidationError::new(FaultCode::Required, format!("is required by the {check} check"));
                faults.push((format!("/{field}"), fault));
            }
        }
        if !faults.is_empty() {
            return Err(Error::InvalidValues(faults));
        }
        let country = pipeline.country.unwrap_or_else(|| self.core.country.clone());
        Ok(Plan { checks, country, client: pipeline.client.map(Into::into) })
    }

    /// Runs the checks without a valid finding concurrently, and stores each finding immediately.
    pub(crate) async fn run_checks(
        &self,
        call: &CallContext,
        case: &Case,
        plan: &Plan,
        applicant: &Arc<Applicant>,
        key: &PersonKey,
    ) -> Result<Vec<(Finding, CheckReport)>> {
        let now = self.core.clock.now();
        let new = |check: &Check| NewCheck {
            kind: check.name(),
            inputs: input_digest(key, *check, applicant, &plan.country),
            reference: self.core.ids.next(),
            bureau: self.core.screening.bureaus.screening.routing.bureau(*check).name().into(),
        };
        let account = self.core.paying_account(&call.actor).await?;
        let record_budget = self.core.budget(&call.actor, account, Cost::Record);
        let records = self.records_of_a_result(key, &record_budget).await?;
        let begin = BeginChecks {
            case: case.id.clone(),
            checks: plan.checks.iter().map(new).collect(),
            seal: key.clone(),
            valid_since: now.minus_seconds(VALID_SECONDS),
            budget: self.core.budget(&call.actor, account, Cost::Check),
            needed: (record_budget, records),
            at: now,
        };
        let begun = self.core.db.write(begin).await?;
        let (mut found, mut checks) = (Vec::new(), Vec::new());
        for (check, stored) in plan.checks.iter().zip(begun) {
            match self.known(key, case, &stored, &plan.country)? {
                Some(known) => {
                    let (bureau, reference) = (&*stored.bureau, &*stored.reference);
                    tracing::debug!(%check, bureau, reference, "an earlier finding is used");
                    found.push(known);
                }
                None => {
                    let reference = Reference::parse(&stored.reference)
                        .map_err(|_| Error::Bug("a reference that no bureau takes".into()))?;
                    checks.push((*check, reference));
                }
            }
        }
        let references = checks.clone();
        let run = CheckRun { applicant: applicant.clone(), country: plan.country.clone(), checks };
        let mut running = self.core.screening.bureaus.runner.start(&run);
        let mut failed = Vec::new();
        while let Some(outcome) = running.next().await {
            let reference = references.iter().find(|(check, _)| *check == outcome.check);
            match (&outcome.result, reference) {
                (Ok(finding), Some((_, reference))) => {
                    found.push(
                        self.store_finding(key, case, reference, finding.clone(), &outcome, plan).await?,
                    );
                }
                _ => failed.push(outcome),
            }
        }
        match check_error(&failed) {
            Some(error) => Err(error),
            None => {
                found.sort_by_key(|(_, report)| report.check);
                Ok(found)
            }
        }
    }

    /// An earlier finding for the same inputs.
    fn known(
        &self,
        key: &PersonKey,
        case: &Case,
        stored: &StoredCheck,
        country: &Country,
    ) -> Result<Option<(Finding, CheckReport)>> {
        let (Some(finding), Some(at)) = (&stored.finding, stored.finished_at) else { return Ok(None) };
        let finding: Finding = opened(key, &finding_context(&case.id, &stored.reference), finding)?;
        let report = self.report(&finding, &stored.bureau, at, country);
        Ok(Some((finding, report)))
    }

    fn report(&self, finding: &Finding, bureau: &str, at: Timestamp, country: &Country) -> CheckReport {
        CheckReport {
            check: finding.check(),
            passed: finding.passed(country, &self.core.screening.bureaus.screening.thresholds),
            country: country.clone(),
            bureau: bureau.into(),
            finished_at: at.micros(),
            disputed_at: None,
        }
    }

    async fn store_finding(
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
            finding: sealed(key, &finding_context(&case.id, reference.as_str()), &finding)?,
            at,
        };
        self.core.db.write(op).await?;
        let report = self.report(&finding, &outcome.bureau, at, &plan.country);
        Ok((finding, report))
    }
}

fn what_checks_need() -> String {
    let needs = Check::ALL.map(|check| {
        let fields: Vec<&str> = check.required_inputs().iter().map(|field| field.name()).collect();
        format!("{check} needs {}", fields.join(", "))
    });
    format!("no check can run: {}", needs.join("; "))
}

/// Detects whether a check's inputs changed.
fn input_digest(key: &PersonKey, check: Check, applicant: &Applicant, country: &Country) -> Word {
    let mut parts: Vec<&[u8]> =
        vec![b"inputs of a check", check.name().as_bytes(), country.as_str().as_bytes()];
    for (field, value) in check.inputs(applicant) {
        parts.extend([field.name().as_bytes(), value.as_bytes()]);
    }
    key.digest(&parts)
}

/// The error for checks without a finding: retry later, unless a bureau rejects the input.
fn check_error(failed: &[Outcome]) -> Option<Error> {
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
                faults.push((String::new(), ValidationError::new(FaultCode::RefusedByBureau, message)));
            }
        }
    }
    match (faults.is_empty(), whys.is_empty()) {
        (true, true) => None,
        (_, false) => Some(Error::Bureau { retry_after, why: whys.join(", ") }),
        (false, true) => Some(Error::InvalidValues(faults)),
    }
}
