//! A moment in microseconds since 1970, shown as ISO 8601 in UTC.

use serde::Serialize;

use crate::ValidationError;

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
            ValidationError::new("not_a_moment", "must be a date and time with an offset, as in ISO 8601")
        };
        moment.map(|moment| Self(moment.as_microsecond())).map_err(fault)
    }

    #[must_use]
    pub const fn minus_seconds(self, seconds: i64) -> Self {
        Self(self.0 - seconds * 1_000_000)
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

#[cfg(test)]
mod tests {
    use super::*;

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
