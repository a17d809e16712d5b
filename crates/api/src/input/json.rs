//! Parses JSON bodies strictly: valid UTF-8, no duplicate names, bounded nesting, and numbers as text so that no
//! decimal is lost.

use std::borrow::Cow;

use portico_domain::{FaultCode, ValidationError};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::problem::Problem;

/// Checked before parsing.
const MAX_DEPTH: usize = 64;

/// A JSON value whose syntax is valid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Json<'b>(&'b RawValue);

pub(crate) type Members<'b> = Vec<(Cow<'b, str>, Json<'b>)>;

impl<'b> Json<'b> {
    pub(crate) fn parse(body: &'b [u8]) -> Result<Self, Problem> {
        let text = std::str::from_utf8(body)
            .map_err(|_| Problem::body(FaultCode::NotUtf8, "must be valid UTF-8"))?;
        if text.trim_ascii().is_empty() {
            return Err(Problem::body(FaultCode::Missing, "must not be empty: a JSON object is expected"));
        }
        if depth(body) > MAX_DEPTH {
            return Err(Problem::body(FaultCode::TooDeep, "is nested too deeply"));
        }
        serde_json::from_str(text).map(Self).map_err(|error| {
            // Reports only the position: the text near it may be personal.
            Problem::body(
                FaultCode::NotJson,
                format!("is not valid JSON (line {}, column {})", error.line(), error.column()),
            )
        })
    }

    pub(crate) fn members(self) -> Result<Members<'b>, ValidationError> {
        if !self.0.get().starts_with('{') {
            return Err(ValidationError::new(FaultCode::WrongType, "must be an object"));
        }
        serde_json::Deserializer::from_str(self.0.get()).deserialize_map(MembersVisitor).map_err(unreadable)
    }

    pub(crate) fn items(self) -> Result<Vec<Self>, ValidationError> {
        if !self.0.get().starts_with('[') {
            return Err(ValidationError::new(FaultCode::WrongType, "must be an array"));
        }
        let items: Vec<&'b RawValue> = serde_json::from_str(self.0.get()).map_err(unreadable)?;
        Ok(items.into_iter().map(Self).collect())
    }

    pub(crate) fn text(self) -> Result<Cow<'b, str>, ValidationError> {
        /// A plain `Cow` never borrows when it is deserialized; this one does unless there is an escape.
        #[derive(serde::Deserialize)]
        struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

        if !self.0.get().starts_with('"') {
            return Err(ValidationError::new(FaultCode::WrongType, "must be a string"));
        }
        serde_json::from_str::<Borrowed<'b>>(self.0.get()).map(|text| text.0).map_err(unreadable)
    }

    /// The number's source text.
    pub(crate) fn number(self) -> Result<&'b str, ValidationError> {
        let text = self.0.get();
        if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            Ok(text)
        } else {
            Err(ValidationError::new(FaultCode::WrongType, "must be a number"))
        }
    }

    pub(crate) fn flag(self) -> Result<bool, ValidationError> {
        match self.0.get() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(ValidationError::new(FaultCode::WrongType, "must be true or false")),
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.get() == "null"
    }

    pub(crate) fn is_text(self) -> bool {
        self.0.get().starts_with('"')
    }
}

fn unreadable(_: serde_json::Error) -> ValidationError {
    ValidationError::new(FaultCode::NotText, "contains an escape that is no character")
}

struct MembersVisitor;

impl<'b> Visitor<'b> for MembersVisitor {
    type Value = Members<'b>;
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<Members<'b>, A::Error> {
        let mut members = Vec::with_capacity(16);
        while let Some((name, value)) = map.next_entry::<Cow<'b, str>, &'b RawValue>()? {
            members.push((name, Json(value)));
        }
        Ok(members)
    }
}

/// The nesting depth of brackets outside strings.
fn depth(body: &[u8]) -> usize {
    let (mut now, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for &byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' if !in_string => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_nest() {
        assert_eq!(depth(br#"{"a": "[[[\"[[", "b": [1, {"c": 2}]}"#), 3);
    }

    #[test]
    fn rejects_deep_nesting_before_parsing() {
        let body = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(Json::parse(body.as_bytes()).unwrap_err().errors[0].code, "too_deep");
    }

    #[test]
    fn syntax_errors_show_only_the_position() {
        let problem = Json::parse(b"{\"ssn\": 900-00-0001}").unwrap_err();
        assert_eq!(problem.errors[0].code, "not_json");
        assert!(!problem.detail.contains("900"), "{}", problem.detail);
    }

    #[test]
    fn numbers_keep_their_text() {
        let members = Json::parse(br#"{"a": 0.1000000000000000055}"#).unwrap().members().unwrap();
        assert_eq!(members[0].1.number(), Ok("0.1000000000000000055"));
    }
}
