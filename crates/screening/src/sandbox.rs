//! The embedded bureau: deterministic, without a network, and controlled by the input.
//!
//! | sent | found |
//! |---|---|
//! | an SSN that begins `900-` | its last four digits as the score, clamped to 300–850 |
//! | an OpenBankingToken `income-85000` | that income |
//! | last name `Evicted`, `Record` | an eviction, a criminal record |
//! | last name `Timeout`, `Down` | no answer ever, a failure, whatever is checked |
//! | every score | the range 300 to 850, and two factors if it is below the best |
//! | anything else | values from a keyed hash of what was sent: the same every time, nothing on file |

use aws_lc_rs::hmac;
use portico_domain::Income;
use secrecy::{ExposeSecret as _, SecretSlice};

use crate::bureau::{Bureau, BureauError, CheckFuture, Request};
use crate::{Applicant, ApplicantField, BureauContact, Check, Finding, Score, ScoreFactor, ScoreRange};

/// The range of generated incomes, in whole units of the currency.
const INCOME_RANGE: (u64, u64) = (18_000, 180_000);

pub struct Sandbox {
    key: hmac::Key,
}

impl Sandbox {
    pub const NAME: &'static str = "sandbox";

    /// Generated values depend on the key.
    pub fn new(key: &SecretSlice<u8>) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key.expose_secret()) }
    }

    /// Made up: the telephone number is one that is reserved for fiction.
    pub fn disclosure() -> BureauContact {
        BureauContact {
            name: "Sandbox Bureau (made up)".into(),
            address: "1 Example Street, Springfield, IL 62701, USA".into(),
            telephone: "+1 800 555 0199".into(),
        }
    }

    fn find(&self, check: Check, applicant: &Applicant) -> Finding {
        match check {
            Check::Eviction => Finding::Eviction { found: is_called(applicant, "evicted") },
            Check::CriminalBackground => {
                Finding::CriminalBackground { found: is_called(applicant, "record") }
            }
            Check::Income => {
                let yearly = requested_income(applicant).unwrap_or_else(|| {
                    let (least, most) = INCOME_RANGE;
                    let [amount, _] = self.draw(check, applicant, most - least + 1);
                    Income::from_units((least + amount).cast_signed() * Income::SCALE)
                });
                Finding::Income { yearly }
            }
            Check::SoftCredit => {
                let score = requested_score(applicant).unwrap_or_else(|| {
                    // The better of two draws: most people pay their bills.
                    let span = u64::from(Score::MAX.points() - Score::MIN.points()) + 1;
                    let [one, two] = self.draw(check, applicant, span);
                    let above = u16::try_from(one.max(two)).unwrap_or(u16::MAX);
                    Score::clamped(Score::MIN.points().saturating_add(above))
                });
                explained(score)
            }
        }
    }

    /// Two numbers below `bound` that depend only on the check's inputs.
    fn draw(&self, check: Check, applicant: &Applicant, bound: u64) -> [u64; 2] {
        let mut hash = hmac::Context::with_key(&self.key);
        hash.update(check.name().as_bytes());
        for (field, value) in check.inputs(applicant) {
            // Names and parsed values contain no NUL, so different applicants have different input.
            for part in [field.name(), value] {
                hash.update(b"\0");
                hash.update(part.as_bytes());
            }
        }
        let tag = hash.sign();
        [0, 8].map(|at| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&tag.as_ref()[at..at + 8]);
            u64::from_be_bytes(bytes) % bound
        })
    }
}

impl Bureau for Sandbox {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn check<'a>(&'a self, request: Request<'a>) -> CheckFuture<'a> {
        Box::pin(async move {
            if is_called(request.applicant, "timeout") {
                std::future::pending::<()>().await;
            }
            if is_called(request.applicant, "down") {
                return Err(BureauError::Unavailable { retry_after: None });
            }
            if !request.check.missing(request.applicant).is_empty() {
                return Err(BureauError::Refused);
            }
            Ok(self.find(request.check, request.applicant))
        })
    }

    /// Failures here are requested by name and must not affect other people.
    fn uses_circuit_breaker(&self) -> bool {
        false
    }
}

fn is_called(applicant: &Applicant, name: &str) -> bool {
    applicant.get(ApplicantField::LastName).is_some_and(|last| last.eq_ignore_ascii_case(name))
}

/// A score with what a notice says about it.
fn explained(score: Score) -> Finding {
    let factors: &[&str] = if score < Score::MAX {
        &["Made up: balances are high in proportion to credit limits", "Made up: the credit history is short"]
    } else {
        &[]
    };
    Finding::SoftCredit {
        score,
        range: ScoreRange::new(Score::MIN.points(), Score::MAX.points()).ok(),
        factors: factors.iter().filter_map(|factor| ScoreFactor::parse(factor).ok()).collect(),
    }
}

fn requested_score(applicant: &Applicant) -> Option<Score> {
    let points = applicant.get(ApplicantField::Ssn)?.strip_prefix("900-")?.get(3..)?;
    points.parse().ok().map(Score::clamped)
}

fn requested_income(applicant: &Applicant) -> Option<Income> {
    Income::parse(applicant.get(ApplicantField::OpenBankingToken)?.strip_prefix("income-")?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reference;
    use portico_domain::Country;
    use proptest::prelude::*;
    use std::time::Duration;
    use tokio::time::{Instant, timeout};

    const TODAY: jiff::civil::Date = jiff::civil::date(2026, 2, 28);

    fn sandbox(key: u8) -> Sandbox {
        Sandbox::new(&vec![key; 32].into())
    }

    fn person(fields: &[(ApplicantField, &str)]) -> Applicant {
        let mut applicant = Applicant::default();
        let usual = [
            (ApplicantField::FirstName, "Ada"),
            (ApplicantField::LastName, "Lovelace"),
            (ApplicantField::DateOfBirth, "1990-12-10"),
            (ApplicantField::Ssn, "123-45-6789"),
            (ApplicantField::OpenBankingToken, "token"),
        ];
        for (field, value) in usual.iter().chain(fields) {
            applicant.set(*field, value, TODAY).unwrap();
        }
        applicant
    }

    async fn ask(bureau: &Sandbox, check: Check, applicant: &Applicant) -> Result<Finding, BureauError> {
        let (reference, country) = (Reference::parse("r").unwrap(), Country::parse("US").unwrap());
        let deadline = Instant::now() + Duration::from_secs(10);
        bureau.check(Request { check, applicant, reference: &reference, country: &country, deadline }).await
    }

    fn score(ssn: &str) -> u16 {
        match sandbox(1).find(Check::SoftCredit, &person(&[(ApplicantField::Ssn, ssn)])) {
            Finding::SoftCredit { score, .. } => score.points(),
            _ => 0,
        }
    }

    fn income(token: &str) -> String {
        match sandbox(1).find(Check::Income, &person(&[(ApplicantField::OpenBankingToken, token)])) {
            Finding::Income { yearly } => yearly.to_string(),
            _ => String::new(),
        }
    }

    #[test]
    fn an_ssn_that_begins_900_names_its_score() {
        for (ssn, points) in [
            ("900-00-0720", 720),
            ("900000720", 720),
            ("900-99-0000", 300),
            ("900-12-9999", 850),
            ("900-00-0299", 300),
        ] {
            assert_eq!(score(ssn), points, "{ssn}");
        }
    }

    #[test]
    fn token_may_name_its_income() {
        assert_eq!(income("income-85000"), "85000");
        assert_eq!(income("income-85000.5"), "85000.5");
        assert_eq!(income("income-0"), "0");
        for strange in ["income-", "income--5", "income-1e30", "income-x", "Income-85000"] {
            let made_up: u64 = income(strange).parse().unwrap();
            assert!((INCOME_RANGE.0..=INCOME_RANGE.1).contains(&made_up), "{strange}");
        }
    }

    #[tokio::test]
    async fn last_names_put_records_on_file_ignoring_case() {
        for (name, eviction, record) in [
            ("Evicted", true, false),
            ("eVICTED", true, false),
            ("Record", false, true),
            ("Lovelace", false, false),
        ] {
            let applicant = person(&[(ApplicantField::LastName, name)]);
            let bureau = sandbox(1);
            let found = ask(&bureau, Check::Eviction, &applicant).await;
            assert_eq!(found, Ok(Finding::Eviction { found: eviction }), "{name}");
            let found = ask(&bureau, Check::CriminalBackground, &applicant).await;
            assert_eq!(found, Ok(Finding::CriminalBackground { found: record }), "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn timeout_never_answers_and_down_fails_in_every_check() {
        let bureau = sandbox(1);
        for check in Check::ALL {
            let never = person(&[(ApplicantField::LastName, "TimeOut")]);
            assert!(timeout(Duration::from_hours(24), ask(&bureau, check, &never)).await.is_err());
            let fails = ask(&bureau, check, &person(&[(ApplicantField::LastName, "down")])).await;
            assert_eq!(fails, Err(BureauError::Unavailable { retry_after: None }));
        }
    }

    #[tokio::test]
    async fn a_check_without_its_inputs_is_refused() {
        for check in Check::ALL {
            assert_eq!(ask(&sandbox(1), check, &Applicant::default()).await, Err(BureauError::Refused));
        }
    }

    #[test]
    fn another_key_makes_up_other_values() {
        let people: Vec<_> =
            (0..20).map(|n| person(&[(ApplicantField::FirstName, &format!("Ada {n}"))])).collect();
        let all = |key| -> Vec<Finding> {
            people.iter().map(|person| sandbox(key).find(Check::SoftCredit, person)).collect()
        };
        assert!(all(1) == all(1));
        assert!(all(1) != all(2));
    }

    proptest! {
        #[test]
        fn made_up_values_are_plausible_and_the_same_every_time(
            first in "[a-zA-Z]{1,20}", last in "x[a-z]{1,20}", ssn in "[0-8][0-9]{8}", token in "[a-h]{1,40}", city in "[a-z]{1,9}",
        ) {
            let fields =
                [(ApplicantField::FirstName, &*first), (ApplicantField::LastName, &*last), (ApplicantField::Ssn, &*ssn), (ApplicantField::OpenBankingToken, &*token)];
            let one = person(&fields);
            let mut two = person(&fields);
            two.set(ApplicantField::City, &city, TODAY).unwrap();
            for check in Check::ALL {
                let found = sandbox(7).find(check, &one);
                prop_assert!(found == sandbox(7).find(check, &two));
                match found {
                    Finding::Eviction { found } | Finding::CriminalBackground { found } => prop_assert!(!found),
                    Finding::SoftCredit { score, range, factors } => {
                        prop_assert!(range.unwrap().contains(score));
                        prop_assert_eq!(factors.len(), if score < Score::MAX { 2 } else { 0 });
                    }
                    Finding::Income { yearly } => {
                        prop_assert!((1_800_000..=18_000_000).contains(&yearly.units()));
                    }
                }
            }
        }
    }
}
