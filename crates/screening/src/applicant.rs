//! The fields of an applicant, under the specification's names.

use std::str::FromStr;

use jiff::civil::Date;
use portico_domain::{FaultCode, ValidationError};

use crate::personal::{
    BankingToken, CityName, DateOfBirth, Email, Name, PostCode, Ssn, StateName, StreetAddress, SubscriptionId,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApplicantField {
    FirstName,
    LastName,
    DateOfBirth,
    Ssn,
    StreetAddress,
    City,
    State,
    Email,
    PostalCode,
    OpenBankingSubscriptionId,
    OpenBankingToken,
}

impl ApplicantField {
    /// In the order of the specification.
    pub const ALL: [Self; 11] = [
        Self::FirstName,
        Self::LastName,
        Self::DateOfBirth,
        Self::Ssn,
        Self::StreetAddress,
        Self::City,
        Self::State,
        Self::Email,
        Self::PostalCode,
        Self::OpenBankingSubscriptionId,
        Self::OpenBankingToken,
    ];

    /// The field's name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstName => "FirstName",
            Self::LastName => "LastName",
            Self::DateOfBirth => "DateOfBirth",
            Self::Ssn => "SSN",
            Self::StreetAddress => "StreetAddress",
            Self::City => "City",
            Self::State => "State",
            Self::Email => "Email",
            Self::PostalCode => "PostalCode",
            Self::OpenBankingSubscriptionId => "OpenBankingSubscriptionId",
            Self::OpenBankingToken => "OpenBankingToken",
        }
    }

    /// Whether the value is used and discarded, never stored, not even sealed.
    pub const fn is_never_stored(self) -> bool {
        matches!(self, Self::Ssn | Self::OpenBankingToken)
    }
}

impl std::fmt::Display for ApplicantField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ApplicantField {
    type Err = ValidationError;

    fn from_str(name: &str) -> Result<Self, ValidationError> {
        Self::ALL
            .into_iter()
            .find(|field| field.name() == name)
            .ok_or_else(|| ValidationError::new(FaultCode::UnknownField, "must be a field of an applicant"))
    }
}

/// Does not print, and is wiped when dropped.
#[derive(Debug, Clone, Default)]
pub struct Applicant {
    pub first_name: Option<Name>,
    pub last_name: Option<Name>,
    pub date_of_birth: Option<DateOfBirth>,
    pub ssn: Option<Ssn>,
    pub street_address: Option<StreetAddress>,
    pub city: Option<CityName>,
    pub state: Option<StateName>,
    pub email: Option<Email>,
    pub postal_code: Option<PostCode>,
    pub subscription: Option<SubscriptionId>,
    pub token: Option<BankingToken>,
}

impl Applicant {
    /// An error leaves the applicant unchanged.
    pub fn set(&mut self, field: ApplicantField, raw: &str, today: Date) -> Result<(), ValidationError> {
        match field {
            ApplicantField::FirstName => self.first_name = Some(Name::parse(raw)?),
            ApplicantField::LastName => self.last_name = Some(Name::parse(raw)?),
            ApplicantField::DateOfBirth => self.date_of_birth = Some(DateOfBirth::parse(raw, today)?),
            ApplicantField::Ssn => self.ssn = Some(Ssn::parse(raw)?),
            ApplicantField::StreetAddress => self.street_address = Some(StreetAddress::parse(raw)?),
            ApplicantField::City => self.city = Some(CityName::parse(raw)?),
            ApplicantField::State => self.state = Some(StateName::parse(raw)?),
            ApplicantField::Email => self.email = Some(Email::parse(raw)?),
            ApplicantField::PostalCode => self.postal_code = Some(PostCode::parse(raw)?),
            ApplicantField::OpenBankingSubscriptionId => {
                self.subscription = Some(SubscriptionId::parse(raw)?);
            }
            ApplicantField::OpenBankingToken => self.token = Some(BankingToken::parse(raw)?),
        }
        Ok(())
    }

    /// Exposes personal data: the caller decides where it goes.
    pub fn get(&self, field: ApplicantField) -> Option<&str> {
        match field {
            ApplicantField::FirstName => self.first_name.as_ref().map(Name::expose),
            ApplicantField::LastName => self.last_name.as_ref().map(Name::expose),
            ApplicantField::DateOfBirth => self.date_of_birth.as_ref().map(DateOfBirth::expose),
            ApplicantField::Ssn => self.ssn.as_ref().map(Ssn::expose),
            ApplicantField::StreetAddress => self.street_address.as_ref().map(StreetAddress::expose),
            ApplicantField::City => self.city.as_ref().map(CityName::expose),
            ApplicantField::State => self.state.as_ref().map(StateName::expose),
            ApplicantField::Email => self.email.as_ref().map(Email::expose),
            ApplicantField::PostalCode => self.postal_code.as_ref().map(PostCode::expose),
            ApplicantField::OpenBankingSubscriptionId => {
                self.subscription.as_ref().map(SubscriptionId::expose)
            }
            ApplicantField::OpenBankingToken => self.token.as_ref().map(BankingToken::expose),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Check;

    const TODAY: Date = jiff::civil::date(2026, 2, 28);

    fn sample(field: ApplicantField) -> &'static str {
        match field {
            ApplicantField::DateOfBirth => "1990-01-31",
            ApplicantField::Ssn => "900-00-0720",
            ApplicantField::Email => "quokka@example.com",
            _ => "Quokka",
        }
    }

    #[test]
    fn every_field_round_trips_under_its_name() {
        for field in ApplicantField::ALL {
            assert_eq!(field.name().parse(), Ok(field));
            let mut applicant = Applicant::default();
            applicant.set(field, sample(field), TODAY).unwrap();
            for other in ApplicantField::ALL {
                assert_eq!(applicant.get(other), (other == field).then(|| sample(field)));
            }
        }
    }

    #[test]
    fn a_fault_leaves_the_field_as_it_was() {
        let mut applicant = Applicant::default();
        applicant.set(ApplicantField::Ssn, "900-00-0720", TODAY).unwrap();
        assert!(applicant.set(ApplicantField::Ssn, "1", TODAY).is_err());
        assert_eq!(applicant.get(ApplicantField::Ssn), Some("900-00-0720"));
    }

    #[test]
    fn an_applicant_does_not_print() {
        let mut applicant = Applicant::default();
        for field in ApplicantField::ALL {
            applicant.set(field, sample(field), TODAY).unwrap();
        }
        let printed = format!("{applicant:?} {applicant:#?}");
        for field in ApplicantField::ALL {
            assert!(!printed.contains(sample(field)), "{field}");
        }
    }

    #[test]
    fn missing_inputs_have_the_specifications_names() {
        let mut applicant = Applicant::default();
        let missing = |check: Check, applicant: &Applicant| -> Vec<&str> {
            check.missing(applicant).into_iter().map(ApplicantField::name).collect()
        };
        assert_eq!(missing(Check::Eviction, &applicant), ["FirstName", "LastName", "DateOfBirth"]);
        assert_eq!(missing(Check::Income, &applicant), ["OpenBankingToken"]);
        assert_eq!(missing(Check::SoftCredit, &applicant), ["FirstName", "LastName", "SSN"]);
        assert_eq!(missing(Check::CriminalBackground, &applicant), ["FirstName", "LastName", "DateOfBirth"]);
        applicant.set(ApplicantField::LastName, "Quokka", TODAY).unwrap();
        applicant.set(ApplicantField::Ssn, "900000720", TODAY).unwrap();
        assert_eq!(missing(Check::SoftCredit, &applicant), ["FirstName"]);
    }

    #[test]
    fn bureau_gets_only_inputs_of_its_check() {
        let mut applicant = Applicant::default();
        for field in ApplicantField::ALL {
            applicant.set(field, sample(field), TODAY).unwrap();
        }
        let sent = |check: Check| -> Vec<ApplicantField> {
            check.inputs(&applicant).map(|(field, _)| field).collect()
        };
        assert_eq!(
            sent(Check::Income),
            [ApplicantField::OpenBankingToken, ApplicantField::OpenBankingSubscriptionId]
        );
        assert_eq!(
            sent(Check::SoftCredit),
            [ApplicantField::FirstName, ApplicantField::LastName, ApplicantField::Ssn]
        );
        assert_eq!(
            sent(Check::Eviction),
            [ApplicantField::FirstName, ApplicantField::LastName, ApplicantField::DateOfBirth]
        );
        assert_eq!(sent(Check::CriminalBackground), sent(Check::Eviction));
    }
}
