//! The four checks of a pipeline, and their inputs.

use portico_domain::pipelines::Pipeline;
use portico_domain::validation::parse_name;
use portico_domain::{FaultCode, ValidationError};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};
use utoipa::ToSchema;

use crate::applicant::{Applicant, ApplicantField};

/// What a bureau is asked about an applicant.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    EnumString,
    VariantNames,
    ToSchema,
)]
#[strum(serialize_all = "camelCase", const_into_str)]
#[serde(rename_all = "camelCase")]
pub enum Check {
    Eviction,
    /// Yearly.
    Income,
    /// A soft inquiry: it does not affect the score.
    SoftCredit,
    CriminalBackground,
}

impl Check {
    /// In the order of the specification.
    pub const ALL: [Self; 4] = [Self::Eviction, Self::Income, Self::SoftCredit, Self::CriminalBackground];

    pub fn parse(name: &str) -> Result<Self, ValidationError> {
        parse_name(name, FaultCode::UnknownCheck)
    }

    /// The check's name in JSON.
    pub const fn name(self) -> &'static str {
        self.into_str()
    }

    /// The required inputs.
    pub const fn required_inputs(self) -> &'static [ApplicantField] {
        match self {
            Self::Eviction | Self::CriminalBackground => {
                &[ApplicantField::FirstName, ApplicantField::LastName, ApplicantField::DateOfBirth]
            }
            Self::Income => &[ApplicantField::OpenBankingToken],
            Self::SoftCredit => &[ApplicantField::FirstName, ApplicantField::LastName, ApplicantField::Ssn],
        }
    }

    /// The optional inputs.
    pub const fn optional_inputs(self) -> &'static [ApplicantField] {
        match self {
            Self::Income => &[ApplicantField::OpenBankingSubscriptionId],
            Self::Eviction | Self::SoftCredit | Self::CriminalBackground => &[],
        }
    }

    /// All inputs that the bureau gets for this check.
    pub fn inputs(self, applicant: &Applicant) -> impl Iterator<Item = (ApplicantField, &str)> {
        let fields = self.required_inputs().iter().chain(self.optional_inputs());
        fields.filter_map(|&field| applicant.get(field).map(|value| (field, value)))
    }

    /// The required inputs that the applicant did not give.
    pub fn missing(self, applicant: &Applicant) -> Vec<ApplicantField> {
        self.required_inputs().iter().copied().filter(|&field| applicant.get(field).is_none()).collect()
    }

    /// Whether the check verifies a name. Income does not: it comes from a bank account.
    pub fn is_about_a_name(self) -> bool {
        [ApplicantField::FirstName, ApplicantField::LastName]
            .iter()
            .all(|field| self.required_inputs().contains(field))
    }

    pub fn required_by(self, pipeline: &Pipeline) -> bool {
        let asked = match self {
            Self::Eviction => pipeline.eviction,
            Self::Income => pipeline.income,
            Self::SoftCredit => pipeline.soft_credit,
            Self::CriminalBackground => pipeline.criminal_background,
        };
        asked.unwrap_or(false)
    }
}

impl std::fmt::Display for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_names_round_trip() {
        for check in Check::ALL {
            assert_eq!(Check::parse(&check.to_string()), Ok(check));
            assert_eq!(serde_json::to_value(check).unwrap(), check.name());
        }
        for unknown in ["", "Eviction", "soft_credit", "credit"] {
            assert_eq!(Check::parse(unknown).unwrap_err().code.name(), "unknown_check");
        }
    }

    #[test]
    fn every_check_but_income_is_about_a_name() {
        let named: Vec<Check> = Check::ALL.into_iter().filter(|check| check.is_about_a_name()).collect();
        assert_eq!(named, [Check::Eviction, Check::SoftCredit, Check::CriminalBackground]);
    }

    #[test]
    fn a_check_is_required_only_where_the_pipeline_says_so() {
        let pipeline = Pipeline { income: Some(true), soft_credit: Some(false), ..Pipeline::default() };
        let required: Vec<_> = Check::ALL.into_iter().filter(|check| check.required_by(&pipeline)).collect();
        assert_eq!(required, [Check::Income]);
    }
}
