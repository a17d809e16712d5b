//! Moments in microseconds since 1970, shown as ISO 8601 in UTC, and calendar days.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{FaultCode, ValidationError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Parses ISO 8601 with an offset, such as `2026-01-31T12:00:00Z`.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let moment: Result<jiff::Timestamp, _> = text.parse();
        let fault = |_| {
            ValidationError::new(
                FaultCode::NotAMoment,
                "must be a date and time with an offset, as in ISO 8601",
            )
        };
        moment.map(|moment| Self(moment.as_microsecond())).map_err(fault)
    }

    #[must_use]
    pub const fn minus_seconds(self, seconds: i64) -> Self {
        Self(self.0 - seconds * 1_000_000)
    }

    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// `self`, or the first moment after `previous` if the clock has not advanced: change times strictly increase.
    #[must_use]
    pub fn after(self, previous: Self) -> Self {
        self.max(Self(previous.0 + 1))
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(moment) => write!(f, "{moment:.6}"),
            Err(_) => f.write_str("out of range"),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A calendar day, written `2026-01-31`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(jiff::civil::Date);

impl Date {
    /// For the OpenAPI schema.
    pub const PATTERN: &'static str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";

    /// Only the form `YYYY-MM-DD`, of the years 1 to 9999.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let bytes = text.as_bytes();
        let is_formed = bytes.len() == 10
            && bytes.iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let day = is_formed.then(|| text.parse().ok()).flatten();
        day.filter(|day: &jiff::civil::Date| day.year() > 0).map(Self).ok_or_else(|| {
            ValidationError::new(FaultCode::NotADate, "must be a day of the calendar: YYYY-MM-DD")
        })
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Date {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(|fault| serde::de::Error::custom(fault.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_one_form() {
        assert_eq!(Date::parse("2024-02-29").unwrap().to_string(), "2024-02-29");
        for wrong in
            ["2023-02-29", "2024-2-9", "0000-01-01", "+002024-02-29", "2024-02-29T00:00", "20240229", ""]
        {
            assert_eq!(Date::parse(wrong).unwrap_err().code.name(), "not_a_date", "{wrong}");
        }
    }

    #[test]
    fn a_moment_is_shown_in_utc_with_microseconds() {
        assert_eq!(Timestamp::from_micros(1_700_000_000_000_000).to_string(), "2023-11-14T22:13:20.000000Z");
    }

    #[test]
    fn change_times_increase_while_the_clock_stands() {
        let t = Timestamp::from_micros(5);
        assert_eq!(t.after(t), Timestamp::from_micros(6));
        assert_eq!(t.after(Timestamp::from_micros(1)), t);
    }
}
