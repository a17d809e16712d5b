//! Tells whether two verifications were about one person, without keeping who it was.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use portico_screening::{Applicant, ApplicantField};
use portico_store::chain::Word;
use serde::{Deserialize, Serialize};

use crate::people::keystore::PersonKey;

/// The person of a verification, as keyed digests. Fields that were not given are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ApplicantIdentity {
    name: Option<Word>,
    date_of_birth: Option<Word>,
    ssn: Option<Word>,
}

impl ApplicantIdentity {
    pub(crate) fn new(key: &PersonKey, applicant: &Applicant) -> Self {
        let digest = |field: ApplicantField| {
            let value: String = applicant.get(field)?.chars().filter(|c| *c != '-').collect();
            Some(key.digest(&[b"identity", field.name().as_bytes(), value.as_bytes()]))
        };
        let names = (applicant.get(ApplicantField::FirstName), applicant.get(ApplicantField::LastName));
        let name = match names {
            (Some(first), Some(last)) => Some(name_digest(key, first, last)),
            _ => None,
        };
        Self { name, date_of_birth: digest(ApplicantField::DateOfBirth), ssn: digest(ApplicantField::Ssn) }
    }

    pub(crate) fn has_name(&self, key: &PersonKey, first: &str, last: &str) -> bool {
        let asked = name_digest(key, first, last);
        self.name.is_some_and(|name| verify_slices_are_equal(&name, &asked).is_ok())
    }

    /// Whether no field that both give differs.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let same = |one: Option<Word>, two: Option<Word>| one.is_none() || two.is_none() || one == two;
        same(self.name, other.name)
            && same(self.date_of_birth, other.date_of_birth)
            && same(self.ssn, other.ssn)
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.name = self.name.or(other.name);
        self.date_of_birth = self.date_of_birth.or(other.date_of_birth);
        self.ssn = self.ssn.or(other.ssn);
    }
}

fn name_digest(key: &PersonKey, first: &str, last: &str) -> Word {
    let [first, last] = [first, last].map(portico_domain::names::folded);
    key.digest(&[b"identity", b"name", first.as_bytes(), last.as_bytes()])
}
