//! The protocol's bodies. Responses are parsed strictly: anything unknown is rejected.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use portico_domain::{Credit, Income};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::bureau::{BureauError, Request};
use crate::{Applicant, Check, Finding, Score, ScoreFactor, ScoreRange};

#[derive(Serialize)]
struct RequestBody<'a> {
    reference: &'a str,
    check: Check,
    country: &'a str,
    applicant: Inputs<'a>,
}

/// Only the inputs of the check.
struct Inputs<'a>(Check, &'a Applicant);

impl Serialize for Inputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (field, value) in self.0.inputs(self.1) {
            map.serialize_entry(field.name(), value)?;
        }
        map.end()
    }
}

/// The memory is wiped after sending.
pub(super) fn request_body(request: &Request<'_>) -> Result<Bytes, BureauError> {
    let request_body = RequestBody {
        reference: request.reference.as_str(),
        check: request.check,
        country: request.country.as_str(),
        applicant: Inputs(request.check, request.applicant),
    };
    // Reserves enough space up front, so that growing leaves no copy behind: escaping at most doubles a value without
    // control characters.
    let values: usize = request.check.inputs(request.applicant).map(|(_, value)| 2 * value.len() + 40).sum();
    let mut body = Zeroizing::new(Vec::with_capacity(values + 2 * request.country.as_str().len() + 256));
    serde_json::to_writer(&mut *body, &request_body).map_err(|_| BureauError::Refused)?;
    Ok(Bytes::from_owner(body))
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Complete(Finding),
    /// Poll again after this time.
    Pending(Duration),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow)]
    reference: Cow<'a, str>,
    #[serde(borrow)]
    check: Cow<'a, str>,
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    retry_after_ms: Option<u64>,
}

#[derive(Deserialize)]
struct RecordResult {
    found: bool,
}

#[derive(Deserialize)]
struct IncomeResult<'a> {
    #[serde(borrow)]
    yearly: &'a RawValue,
}

#[derive(Deserialize)]
struct CreditResult<'a> {
    #[serde(borrow)]
    score: &'a RawValue,
    #[serde(borrow)]
    range: Option<&'a RawValue>,
    #[serde(borrow)]
    factors: Option<Vec<Cow<'a, str>>>,
}

#[derive(Deserialize)]
struct Range<'a> {
    #[serde(borrow)]
    min: &'a RawValue,
    #[serde(borrow)]
    max: &'a RawValue,
}

pub(super) fn progress(body: &[u8], request: &Request<'_>) -> Result<Progress, BureauError> {
    let text = std::str::from_utf8(body).map_err(|_| BureauError::Broken("it is not UTF-8"))?;
    let envelope: Envelope<'_> =
        object(text).ok_or(BureauError::Broken("it is not the JSON of the protocol"))?;
    if envelope.reference != request.reference.as_str() {
        return Err(BureauError::Broken("it has another reference"));
    }
    if envelope.check != request.check.name() {
        return Err(BureauError::Broken("it is about another check"));
    }
    match (&*envelope.status, envelope.result, envelope.retry_after_ms) {
        ("complete", Some(result), _) => {
            let finding = finding(request.check, result.get());
            finding.map(Progress::Complete).ok_or(BureauError::Broken("its result is not one of this check"))
        }
        ("complete", None, _) => Err(BureauError::Broken("it is complete without a result")),
        ("pending", None, Some(wait)) => Ok(Progress::Pending(Duration::from_millis(wait))),
        ("pending", _, _) => Err(BureauError::Broken("it is pending with a result, or without a time")),
        _ => Err(BureauError::Broken("its status is unknown")),
    }
}

/// Parses numbers from their text: an amount never passes through a binary float.
fn finding(check: Check, result: &str) -> Option<Finding> {
    match check {
        Check::Eviction => object(result).map(|RecordResult { found }| Finding::Eviction { found }),
        Check::CriminalBackground => {
            object(result).map(|RecordResult { found }| Finding::CriminalBackground { found })
        }
        Check::Income => {
            let IncomeResult { yearly } = object(result)?;
            Some(Finding::Income { yearly: Income::parse(yearly.get()).ok()? })
        }
        Check::SoftCredit => scored(&object(result)?),
    }
}

/// What the bureau may leave out must be right if it is there: the notice to the applicant quotes it.
fn scored(result: &CreditResult<'_>) -> Option<Finding> {
    let score = Score::new(points(result.score)?).ok()?;
    let range = match result.range {
        None => None,
        Some(range) => {
            let Range { min, max } = object(range.get())?;
            let range = ScoreRange::new(points(min)?, points(max)?).ok()?;
            Some(range.contains(score).then_some(range)?)
        }
    };
    let factors = result.factors.as_deref().unwrap_or_default();
    if factors.len() > ScoreFactor::MAX_COUNT {
        return None;
    }
    let factors: Result<_, _> = factors.iter().map(|factor| ScoreFactor::parse(factor)).collect();
    Some(Finding::SoftCredit { score, range, factors: factors.ok()? })
}

/// A whole number from its text.
fn points(number: &RawValue) -> Option<u16> {
    u16::try_from(Credit::parse(number.get()).ok()?.units()).ok()
}

/// Serde alone would also accept an array for a struct.
fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    let text = text.trim_ascii();
    text.starts_with('{').then(|| serde_json::from_str(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reference;
    use portico_domain::Country;
    use proptest::prelude::*;
    use tokio::time::Instant;

    fn read(check: Check, body: &str) -> Result<Progress, BureauError> {
        read_bytes(check, body.as_bytes())
    }

    fn read_bytes(check: Check, body: &[u8]) -> Result<Progress, BureauError> {
        let (reference, country) = (Reference::parse("r").unwrap(), Country::parse("US").unwrap());
        let (applicant, deadline) = (Applicant::default(), Instant::now());
        progress(
            body,
            &Request { check, applicant: &applicant, reference: &reference, country: &country, deadline },
        )
    }

    fn complete(check: Check, result: &str) -> Result<Progress, BureauError> {
        read(
            check,
            &format!(r#"{{"reference":"r","check":"{check}","status":"complete","result":{result}}}"#),
        )
    }

    fn credit(range: Option<(u16, u16)>, factors: &[&str]) -> Finding {
        Finding::SoftCredit {
            score: Score::clamped(720),
            range: range.map(|(min, max)| ScoreRange::new(min, max).unwrap()),
            factors: factors.iter().map(|factor| ScoreFactor::parse(factor).unwrap()).collect(),
        }
    }

    #[test]
    fn each_checks_result_is_understood() {
        for (check, result, finding) in [
            (Check::Eviction, r#"{"found":true}"#, Finding::Eviction { found: true }),
            (
                Check::CriminalBackground,
                r#"{"found":false,"more":1}"#,
                Finding::CriminalBackground { found: false },
            ),
            (
                Check::Income,
                r#"{"yearly":85000.5}"#,
                Finding::Income { yearly: Income::from_units(8_500_050) },
            ),
            (Check::SoftCredit, r#"{"score":720}"#, credit(None, &[])),
            (Check::SoftCredit, r#"{"score":720,"range":null,"factors":null}"#, credit(None, &[])),
            (Check::SoftCredit, r#"{"score":720,"factors":[]}"#, credit(None, &[])),
            (
                Check::SoftCredit,
                r#"{"score":720,"range":{"min":300,"max":850},"factors":["Too many \"inquiries\"","New"]}"#,
                credit(Some((300, 850)), &["Too many \"inquiries\"", "New"]),
            ),
        ] {
            assert_eq!(complete(check, result), Ok(Progress::Complete(finding)));
        }
    }

    #[test]
    fn result_of_another_check_is_rejected() {
        for (check, result) in [
            (Check::Eviction, r#"{"found":"false"}"#),
            (Check::Eviction, r#"{"found":0}"#),
            (Check::Eviction, "[false]"),
            (Check::Eviction, "{}"),
            (Check::Eviction, r#"{"found":true,"found":false}"#),
            (Check::CriminalBackground, r#"{"score":720}"#),
            (Check::Income, r#"{"yearly":"85000"}"#),
            (Check::Income, r#"{"yearly":-1}"#),
            (Check::Income, r#"{"yearly":1.005}"#),
            (Check::Income, r#"{"yearly":1e30}"#),
            (Check::Income, r#"{"yearly":null}"#),
            (Check::SoftCredit, r#"{"score":299}"#),
            (Check::SoftCredit, r#"{"score":851}"#),
            (Check::SoftCredit, r#"{"score":720.5}"#),
            (Check::SoftCredit, r#"{"score":"720"}"#),
            (Check::SoftCredit, r#"{"score":[720]}"#),
            (Check::SoftCredit, r#"{"score":720,"range":[300,850]}"#),
            (Check::SoftCredit, r#"{"score":720,"range":{"min":300}}"#),
            (Check::SoftCredit, r#"{"score":720,"range":{"min":"300","max":850}}"#),
            (Check::SoftCredit, r#"{"score":720,"range":{"min":850,"max":300}}"#),
            (Check::SoftCredit, r#"{"score":720,"range":{"min":300,"max":1001}}"#),
            (Check::SoftCredit, r#"{"score":720,"range":{"min":300,"max":719}}"#),
            (Check::SoftCredit, r#"{"score":720,"factors":"New"}"#),
            (Check::SoftCredit, r#"{"score":720,"factors":[1]}"#),
            (Check::SoftCredit, r#"{"score":720,"factors":[""]}"#),
            (Check::SoftCredit, r#"{"score":720,"factors":["a\nb"]}"#),
            (Check::SoftCredit, r#"{"score":720,"factors":["1","2","3","4","5","6"]}"#),
        ] {
            let broken = BureauError::Broken("its result is not one of this check");
            assert_eq!(complete(check, result), Err(broken), "{result}");
        }
    }

    #[test]
    fn answer_outside_the_protocol_is_rejected() {
        for body in [
            "",
            "null",
            "[]",
            r#"["r","eviction","complete",{"found":false},null]"#,
            r#"{"reference":"r","check":"eviction","status":"complete","result":{"found":false}} x"#,
            r#"{"reference":"r","check":"eviction","status":"complete","result":null}"#,
            r#"{"reference":"r","check":"eviction","status":"complete"}"#,
            r#"{"reference":"r","check":"eviction","status":"done","result":{"found":false}}"#,
            r#"{"reference":"r","check":"income","status":"complete","result":{"found":false}}"#,
            r#"{"reference":"s","check":"eviction","status":"complete","result":{"found":false}}"#,
            r#"{"reference":"s","reference":"r","check":"eviction","status":"complete","result":{"found":false}}"#,
            r#"{"reference":"r","check":"eviction","status":"pending"}"#,
            r#"{"reference":"r","check":"eviction","status":"pending","retryAfterMs":-1}"#,
            r#"{"reference":"r","check":"eviction","status":"pending","retryAfterMs":5,"result":{"found":false}}"#,
        ] {
            assert!(matches!(read(Check::Eviction, body), Err(BureauError::Broken(_))), "{body}");
        }
    }

    proptest! {
        #[test]
        fn damaged_answer_is_rejected_or_the_same(
            at: prop::sample::Index, byte: u8, cut: bool, retry_after_ms: u64,
        ) {
            let result = r#"{"score":720,"range":{"min":300,"max":850},"factors":["New \u00e9"]}"#;
            let head = r#"{"reference":"r","check":"softCredit","status":"#;
            for (whole, valid) in [
                (
                    format!(r#"{head}"complete","result":{result}}}"#),
                    Progress::Complete(credit(Some((300, 850)), &["New é"])),
                ),
                (
                    format!(r#"{head}"pending","retryAfterMs":{retry_after_ms}}}"#),
                    Progress::Pending(Duration::from_millis(retry_after_ms)),
                ),
            ] {
                let mut body = whole.clone().into_bytes();
                prop_assert_eq!(read_bytes(Check::SoftCredit, &body), Ok(valid));
                let at = at.index(body.len());
                if cut {
                    body.truncate(at);
                    prop_assert!(read_bytes(Check::SoftCredit, &body).is_err());
                } else {
                    body[at] = byte;
                    let read = read_bytes(Check::SoftCredit, &body);
                    prop_assert!(!matches!(read, Err(BureauError::Refused)), "{:?}", read);
                }
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(body: Vec<u8>) {
            prop_assert!(matches!(read_bytes(Check::Income, &body), Err(BureauError::Broken(_))));
        }

        #[test]
        fn no_answer_panics(body in "\\PC{0,200}|[\\[\\]{}\":,a-z0-9]{0,60}") {
            for check in Check::ALL {
                let _ = read(check, &body);
                let _ = complete(check, &body);
            }
        }
    }
}
