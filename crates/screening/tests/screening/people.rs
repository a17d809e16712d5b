//! Applicants with values that are recognisable wherever they leak.

use portico_domain::Country;
use portico_screening::{Applicant, ApplicantField, Reference};

const TODAY: jiff::civil::Date = jiff::civil::date(2026, 2, 28);

pub(crate) const VALUES: [(ApplicantField, &str); 11] = [
    (ApplicantField::FirstName, "Quintessa \"Q\""),
    (ApplicantField::LastName, "Zaubermann"),
    (ApplicantField::DateOfBirth, "1987-06-05"),
    (ApplicantField::Ssn, "912-34-5678"),
    (ApplicantField::StreetAddress, "77 Obsidian Row"),
    (ApplicantField::City, "Xanthopolis"),
    (ApplicantField::State, "Kvetchland"),
    (ApplicantField::Email, "quintessa@zaubermann.example"),
    (ApplicantField::PostalCode, "K9X-4242"),
    (ApplicantField::OpenBankingSubscriptionId, "subscription-canary-31337"),
    (ApplicantField::OpenBankingToken, "token-canary-271828"),
];

/// The default applicant with some fields replaced.
pub(crate) fn applicant(otherwise: &[(ApplicantField, &str)]) -> Applicant {
    let mut applicant = Applicant::default();
    for (field, value) in VALUES.iter().chain(otherwise) {
        applicant.set(*field, value, TODAY).unwrap();
    }
    applicant
}

pub(crate) fn country() -> Country {
    Country::parse("US").unwrap()
}

pub(crate) fn reference(text: &str) -> Reference {
    Reference::parse(text).unwrap()
}

/// Asserts that no value of the default applicant occurs.
pub(crate) fn assert_shows_nothing(shown: &str) {
    for (field, value) in VALUES {
        assert!(!shown.contains(value), "{field} shows in {shown}");
    }
}
