//! Applicants with values that are recognisable wherever they leak.

use portico_domain::Country;
use portico_screening::{Applicant, Field, Reference};

const TODAY: jiff::civil::Date = jiff::civil::date(2026, 2, 28);

pub(crate) const VALUES: [(Field, &str); 11] = [
    (Field::FirstName, "Quintessa \"Q\""),
    (Field::LastName, "Zaubermann"),
    (Field::DateOfBirth, "1987-06-05"),
    (Field::Ssn, "912-34-5678"),
    (Field::StreetAddress, "77 Obsidian Row"),
    (Field::City, "Xanthopolis"),
    (Field::State, "Kvetchland"),
    (Field::Email, "quintessa@zaubermann.example"),
    (Field::PostalCode, "K9X-4242"),
    (Field::OpenBankingSubscriptionId, "subscription-canary-31337"),
    (Field::OpenBankingToken, "token-canary-271828"),
];

/// The default applicant with some fields replaced.
pub(crate) fn applicant(otherwise: &[(Field, &str)]) -> Applicant {
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
