//! Exact decimals: an integer number of ten-thousandths (or of another unit), never a binary float.
//!
//! Numbers are parsed from their JSON text. More decimals than the unit has are rejected, except for binary
//! floating-point noise (`0.1 + 0.2` arrives as `0.30000000000000004` and means `0.3`). Measurements such as
//! coordinates are rounded.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use crate::{FaultCode, ValidationError};

/// Precision and range of a decimal. Values have at most 15 significant digits, so that they survive a JSON client's
/// doubles.
pub trait Unit: 'static {
    const PLACES: u32;
    /// In units.
    const MIN: i64;
    const MAX: i64;
    /// Round finer values instead of rejecting them: right for measurements, wrong for money.
    const ROUNDS: bool = false;
}

pub struct Decimal<U>(i64, PhantomData<fn() -> U>);

impl<U: Unit> Decimal<U> {
    /// Units per 1.
    pub const SCALE: i64 = 10_i64.pow(U::PLACES);

    /// For values that were validated before, such as a database column.
    pub const fn from_units(units: i64) -> Self {
        Self(units, PhantomData)
    }

    pub const fn units(self) -> i64 {
        self.0
    }

    #[expect(clippy::cast_precision_loss, reason = "at most 15 significant digits, see Unit")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / Self::SCALE as f64
    }

    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let units = match exact_units(text, U::PLACES) {
            Some(Units::Exact(units)) => units,
            Some(Units::TooFine) if U::ROUNDS && !Self::in_range(text) => return Err(out_of_range::<U>()),
            Some(Units::TooFine) => nearest(text, U::PLACES, U::ROUNDS).ok_or_else(too_fine::<U>)?,
            Some(Units::TooLarge) => return Err(out_of_range::<U>()),
            None => return Err(ValidationError::new(FaultCode::NotANumber, "must be a number")),
        };
        match i64::try_from(units) {
            Ok(units) if (U::MIN..=U::MAX).contains(&units) => Ok(Self::from_units(units)),
            _ => Err(out_of_range::<U>()),
        }
    }

    /// Whether the number is in range before it is rounded.
    fn in_range(text: &str) -> bool {
        let range = Self::from_units(U::MIN).as_f64()..=Self::from_units(U::MAX).as_f64();
        text.parse().is_ok_and(|number: f64| range.contains(&number))
    }
}

fn too_fine<U: Unit>() -> ValidationError {
    match U::PLACES {
        0 => ValidationError::new(FaultCode::NotWhole, "must be a whole number"),
        places => {
            let message = format!("must have at most {places} decimal places");
            ValidationError::new(FaultCode::TooPrecise, message).at_most(places.into())
        }
    }
}

fn out_of_range<U: Unit>() -> ValidationError {
    let (min, max) = (Decimal::<U>::from_units(U::MIN), Decimal::<U>::from_units(U::MAX));
    // The bounds of every unit are whole numbers.
    let whole = |units: i64| units / 10_i64.pow(U::PLACES);
    ValidationError::new(FaultCode::OutOfRange, format!("must be between {min} and {max}"))
        .between(whole(U::MIN), whole(U::MAX))
}

enum Units {
    Exact(i128),
    TooFine,
    TooLarge,
}

/// `text` × 10^`places`, if that is an integer. `None`: the text is not a number.
fn exact_units(text: &str, places: u32) -> Option<Units> {
    let (negative, body) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = body.split_once(['e', 'E']).unwrap_or((body, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || mantissa.ends_with('.') {
        return None;
    }
    let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if exponent_digits.is_empty() || !all_digits(exponent_digits) {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(Units::Exact(0));
    }
    let shift = i64::try_from(digits.len() - significant.len()).ok()? - i64::try_from(fraction.len()).ok()?
        + i64::from(places);
    let Some(shift) = exponent.parse::<i64>().ok().and_then(|e| e.checked_add(shift)) else {
        return Some(if exponent.starts_with('-') { Units::TooFine } else { Units::TooLarge });
    };
    if shift < 0 {
        return Some(Units::TooFine);
    }
    if i64::try_from(significant.len()).ok()? + shift > 30 {
        return Some(Units::TooLarge);
    }
    let value = significant.parse::<i128>().ok()? * 10_i128.pow(u32::try_from(shift).ok()?);
    Some(Units::Exact(if negative { -value } else { value }))
}

/// The nearest decimal with `places`. Unless `any_distance`, only if the difference is floating-point noise.
fn nearest(text: &str, places: u32, any_distance: bool) -> Option<i128> {
    let sent: f64 = text.parse().ok()?;
    let near = format!("{sent:.*}", places as usize);
    let meant: f64 = near.parse().ok()?;
    // Noise is a few ULPs, and tiny compared with the unit.
    let (noise, unit) = ((sent - meant).abs(), 0.1_f64.powi(places.cast_signed()));
    let only_noise = meant != 0.0 && noise <= 4.0 * f64::EPSILON * meant.abs() && noise < unit / 1000.0;
    if !only_noise && !any_distance {
        return None;
    }
    match exact_units(&near, places)? {
        Units::Exact(units) => Some(units),
        Units::TooFine | Units::TooLarge => None,
    }
}

impl<U: Unit> std::fmt::Display for Decimal<U> {
    /// The shortest exact form: `2100.25`, `450000`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, rest) = (self.0 / Self::SCALE, (self.0 % Self::SCALE).unsigned_abs());
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let sign = if self.0 < 0 && whole == 0 { "-" } else { "" };
        let fraction = format!("{rest:0width$}", width = U::PLACES as usize);
        write!(f, "{sign}{whole}.{}", fraction.trim_end_matches('0'))
    }
}

impl<U: Unit> Serialize for Decimal<U> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % Self::SCALE == 0 {
            serializer.serialize_i64(self.0 / Self::SCALE)
        } else {
            serializer.serialize_f64(self.as_f64())
        }
    }
}
impl<'de, U: Unit> Deserialize<'de> for Decimal<U> {
    /// Only for values that Portico wrote; external input goes through `parse`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "at most 15 significant digits"
    )]
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        let units = (number * Self::SCALE as f64).round();
        if (U::MIN as f64..=U::MAX as f64).contains(&units) {
            Ok(Self::from_units(units as i64))
        } else {
            Err(serde::de::Error::custom("a stored number is out of range"))
        }
    }
}

impl<U> Clone for Decimal<U> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<U> Copy for Decimal<U> {}
impl<U> PartialEq for Decimal<U> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<U> Eq for Decimal<U> {}
impl<U> PartialOrd for Decimal<U> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<U> Ord for Decimal<U> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<U: Unit> std::fmt::Debug for Decimal<U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

macro_rules! units {
    ($($(#[$doc:meta])* $alias:ident = $unit:ident { places: $places:literal, from: $min:expr, to: $max:expr $(, rounds: $rounds:literal)? };)+) => {
        $(
            #[doc = concat!("The unit of [`", stringify!($alias), "`].")]
            #[derive(Debug)]
            pub struct $unit;
            impl Unit for $unit {
                const PLACES: u32 = $places;
                const MIN: i64 = $min * 10_i64.pow($places);
                const MAX: i64 = $max * 10_i64.pow($places);
                $(const ROUNDS: bool = $rounds;)?
            }
            $(#[$doc])*
            pub type $alias = Decimal<$unit>;
        )+
    };
}

units! {
    /// An amount of money: 0 to 99,999,999,999 in ten-thousandths.
    Money = MoneyUnit { places: 4, from: 0, to: 99_999_999_999 };
    /// A share of a portfolio in percent: 0 to 100 in ten-thousandths.
    Allocation = AllocationUnit { places: 4, from: 0, to: 100 };
    /// A latitude or longitude: -180 to 180 degrees in billionths (latitudes are checked further).
    Degrees = DegreesUnit { places: 9, from: -180, to: 180, rounds: true };
    /// A distance: 0 to 20,038 km (half the equator) in metres.
    Kilometres = KilometreUnit { places: 3, from: 0, to: 20_038, rounds: true };
    /// A small count, such as bedrooms: 0 to 1,000.
    Whole = WholeUnit { places: 0, from: 0, to: 1_000 };
    /// A credit score in whole points, within the range of the listing contract.
    Credit = CreditUnit { places: 0, from: 0, to: 1000 };
    /// A yearly income in cents, within the range of the listing contract.
    Income = IncomeUnit { places: 2, from: 0, to: 99_999_999_999 };
    /// An integer that every JSON client represents exactly: 0 to 2^53 - 1.
    SafeInteger = SafeIntegerUnit { places: 0, from: 0, to: 9_007_199_254_740_991 };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn money(text: &str) -> Result<String, &'static str> {
        Money::parse(text).map(|m| m.to_string()).map_err(|fault| fault.code.name())
    }

    #[test]
    fn money_is_exact_and_shown_shortest() {
        for (text, shown) in [
            ("2100.25", "2100.25"),
            ("450000", "450000"),
            ("450000.000", "450000"),
            ("4.5e5", "450000"),
            ("1E-4", "0.0001"),
            ("0.0", "0"),
            ("-0", "0"),
            ("99999999999", "99999999999"),
            ("0.1000000000000000000000000000000000000000", "0.1"),
        ] {
            assert_eq!(money(text).as_deref(), Ok(shown), "{text}");
        }
    }

    #[test]
    fn rejects_amounts_that_money_cannot_hold() {
        for (text, code) in [
            ("0.00001", "too_precise"),
            ("1e-400", "too_precise"),
            ("1e-99999999999999999999", "too_precise"),
            ("100000000000", "out_of_range"),
            ("1e400", "out_of_range"),
            ("1e99999999999999999999", "out_of_range"),
            ("-1", "out_of_range"),
            ("NaN", "not_a_number"),
            ("Infinity", "not_a_number"),
            ("1.", "not_a_number"),
            (".5", "not_a_number"),
            ("1e", "not_a_number"),
            ("--1", "not_a_number"),
            ("", "not_a_number"),
        ] {
            assert_eq!(money(text), Err(code), "{text}");
        }
    }

    #[test]
    fn accepts_only_floating_point_noise() {
        assert_eq!(money("0.30000000000000004").as_deref(), Ok("0.3"));
        assert_eq!(money("0.00030000000000000003").as_deref(), Ok("0.0003"));
        assert_eq!(money("33.333333333333336"), Err("too_precise"));
        assert_eq!(money("45600615037.73831"), Err("too_precise"));
        assert_eq!(money("1e-17"), Err("too_precise"));
    }

    #[test]
    fn coordinates_are_rounded_to_a_tenth_of_a_millimetre() {
        assert_eq!(Degrees::parse("-97.743061234567891").unwrap().to_string(), "-97.743061235");
        assert_eq!(Degrees::parse("180.0000000001").unwrap_err().code.name(), "out_of_range");
    }

    #[test]
    fn whole_number_may_have_zero_decimals() {
        assert_eq!(Whole::parse("5.0").unwrap().units(), 5);
        assert_eq!(Whole::parse("5.5").unwrap_err().code.name(), "not_whole");
    }

    proptest! {
        #[test]
        fn amount_round_trips_through_text(units in 0..=MoneyUnit::MAX) {
            let amount = Money::from_units(units);
            prop_assert_eq!(Money::parse(&amount.to_string()).unwrap(), amount);
        }

        #[test]
        fn amount_round_trips_through_a_double(units in 0..=MoneyUnit::MAX) {
            let amount = Money::from_units(units);
            prop_assert_eq!(Money::parse(&amount.as_f64().to_string()).unwrap(), amount);
        }

        #[test]
        fn amount_round_trips_through_a_stored_document(units in 0..=MoneyUnit::MAX) {
            let document = serde_json::to_string(&Money::from_units(units)).unwrap();
            prop_assert_eq!(serde_json::from_str::<Money>(&document).unwrap().units(), units);
        }

        #[test]
        fn degrees_round_trip_through_text(units in DegreesUnit::MIN..=DegreesUnit::MAX) {
            let degrees = Degrees::from_units(units);
            prop_assert_eq!(Degrees::parse(&degrees.to_string()).unwrap(), degrees);
        }

        #[test]
        fn no_text_panics(text in "[-+0-9.eE]{0,40}") {
            let _ = Money::parse(&text);
        }
    }
}
