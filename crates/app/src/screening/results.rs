//! Results of verifications: their public form, and how they are sealed.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use portico_domain::{CaseId, Country, ErrorCode, Income, Label, Timestamp, VerificationId};
use portico_screening::{Check, Finding};
use portico_store::chain::Word;
use portico_store::screening::StoredVerification;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{Error, Result};
use crate::people::keystore::PersonKey;
use crate::screening::applicant_identity::ApplicantIdentity;

/// Findings and results are valid for 30 days.
pub(crate) const VALID_SECONDS: i64 = 30 * 24 * 60 * 60;
pub(crate) const NO_SUCH_VERIFICATION: Error = Error::NotFound(ErrorCode::VerificationNotFound);

/// A result as the specification shows it.
#[derive(Debug, Clone)]
pub struct VerificationResult {
    pub token: String,
    pub id: VerificationId,
    /// Yearly; 0 if it was not checked.
    pub income: Income,
    /// Whether the score reaches the threshold; false if it was not checked.
    pub qualified: bool,
}

/// A result without its values.
#[derive(Debug, Clone)]
pub struct VerificationReport {
    pub id: VerificationId,
    pub case: CaseId,
    pub token: String,
    pub revoked: bool,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub consented_at: Option<Timestamp>,
    pub consent_version: Option<Label>,
    /// The pipeline's client id.
    pub client: Option<String>,
    pub checks: Vec<CheckReport>,
    /// The checks that back the token's name now.
    pub backed_by: Vec<Check>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CheckReport {
    pub check: Check,
    pub passed: bool,
    pub bureau: String,
    /// Where the bureau searched.
    pub(crate) country: Country,
    /// In microseconds.
    pub(crate) finished_at: i64,
    /// When the applicant disputed it, in microseconds.
    pub(crate) disputed_at: Option<i64>,
}

impl CheckReport {
    pub fn finished_at(&self) -> Timestamp {
        Timestamp::from_micros(self.finished_at)
    }

    pub fn expires_at(&self) -> Timestamp {
        self.finished_at().minus_seconds(-VALID_SECONDS)
    }

    pub fn disputed_at(&self) -> Option<Timestamp> {
        self.disputed_at.map(Timestamp::from_micros)
    }

    /// Whether both report one answer of a bureau.
    pub(crate) fn is_of_same_finding(&self, other: &Self) -> bool {
        let key = |report: &Self| (report.check, report.bureau.clone(), report.finished_at);
        key(self) == key(other)
    }

    fn backs_a_name(&self, now: Timestamp) -> bool {
        self.passed && self.check.is_about_a_name() && self.expires_at() > now
    }

    /// The reason for the adverse action notice.
    pub fn reason(&self) -> Option<AdverseReason> {
        (!self.passed).then_some(match self.check {
            Check::Eviction => AdverseReason::EvictionOnFile,
            Check::Income => AdverseReason::IncomeNotVerified,
            Check::SoftCredit => AdverseReason::CreditScoreBelowThreshold,
            Check::CriminalBackground => AdverseReason::CriminalRecordOnFile,
        })
    }
}

/// Why a check was not passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdverseReason {
    EvictionOnFile,
    IncomeNotVerified,
    CreditScoreBelowThreshold,
    CriminalRecordOnFile,
}

/// Sealed; kept until the person is erased.
#[derive(Serialize, Deserialize)]
pub(crate) struct SealedOutcome {
    pub(crate) client: Option<String>,
    pub(crate) checks: Vec<CheckReport>,
    /// The commitment to the name that the checks were run on.
    pub(crate) name: Word,
    /// The person.
    pub(crate) identity: ApplicantIdentity,
}

impl SealedOutcome {
    /// The checks that back the name of a commitment: passed, still valid, and run on that name.
    pub(crate) fn checks_backing(&self, commitment: &Word, now: Timestamp) -> Vec<Check> {
        let is_same_name = verify_slices_are_equal(&self.name, commitment).is_ok();
        let backing = self.checks.iter().filter(|report| report.backs_a_name(now));
        backing.filter(|_| is_same_name).map(|report| report.check).collect()
    }
}

/// Sealed; kept while the result is valid.
#[derive(Serialize, Deserialize)]
pub(crate) struct Findings(pub(crate) Vec<Finding>);

impl Findings {
    /// 0 if it was not checked.
    pub(crate) fn income(&self) -> Income {
        let found = self.0.iter().find_map(|finding| match finding {
            Finding::Income { yearly } => Some(*yearly),
            _ => None,
        });
        found.unwrap_or(Income::from_units(0))
    }
}

pub(crate) fn sealing_context<'a>(id: &'a VerificationId, column: &'a [u8]) -> [&'a [u8]; 3] {
    [b"verifications", id.as_str().as_bytes(), column]
}

pub(crate) fn finding_context<'a>(case: &'a CaseId, reference: &'a str) -> [&'a [u8]; 3] {
    [b"checks", case.as_str().as_bytes(), reference.as_bytes()]
}

pub(crate) fn sealed(key: &PersonKey, sealing_context: &[&[u8]], value: &impl Serialize) -> Result<Vec<u8>> {
    let plain = secrecy::zeroize::Zeroizing::new(
        serde_json::to_vec(value).map_err(|error| Error::Bug(error.to_string()))?,
    );
    key.seal(sealing_context, &plain)
}

pub(crate) fn opened<T: serde::de::DeserializeOwned>(
    key: &PersonKey,
    sealing_context: &[&[u8]],
    sealed: &[u8],
) -> Result<T> {
    let plain = key.open(sealing_context, sealed)?;
    serde_json::from_slice(&plain).map_err(|_| Error::Bug("a sealed value is not valid JSON".into()))
}

pub(crate) fn outcome(key: &PersonKey, verification: &StoredVerification) -> Result<SealedOutcome> {
    opened(key, &sealing_context(&verification.id, b"outcome"), &verification.outcome)
}

pub(crate) fn findings(key: &PersonKey, verification: &StoredVerification) -> Result<Findings> {
    let sealed = verification.findings.as_ref().ok_or(NO_SUCH_VERIFICATION)?;
    opened(key, &sealing_context(&verification.id, b"findings"), sealed)
}
