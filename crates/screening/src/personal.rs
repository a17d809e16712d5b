//! Text about a person: it is wiped when dropped and never printed. One generic type, one [`Kind`] per meaning.
//!
//! A fault names the rule that was broken, never the value.

use std::marker::PhantomData;

use jiff::civil::Date;
use portico_domain::{Timestamp, ValidationError};
use secrecy::{ExposeSecret as _, SecretString};
use zeroize::Zeroizing;

/// What a piece of personal text means, and its rule.
pub trait Kind: 'static {
    /// The longest allowed, in characters.
    const MAX: usize = 255;

    /// The text in its one form, if it follows the rule. It is trimmed and free of control characters.
    fn read(text: &str) -> Result<Zeroizing<String>, ValidationError> {
        Ok(Zeroizing::new(text.to_owned()))
    }
}

/// Personal text of one kind.
pub struct Personal<K>(SecretString, PhantomData<fn() -> K>);

impl<K: Kind> Personal<K> {
    /// Reads text that came from outside. The length is counted before outer spaces are trimmed.
    fn read(raw: &str) -> Result<Self, ValidationError> {
        if raw.chars().any(char::is_control) {
            return Err(ValidationError::new("control_character", "must not contain control characters"));
        }
        if raw.len() > K::MAX && raw.chars().count() > K::MAX {
            return Err(ValidationError::new(
                "too_long",
                format!("must be at most {} characters long", K::MAX),
            ));
        }
        let text = raw.trim();
        if text.is_empty() {
            return Err(ValidationError::new("empty", "must not be empty"));
        }
        let text = K::read(text)?;
        Ok(Self(SecretString::from(text.as_str()), PhantomData))
    }

    /// The text itself. Whoever asks answers for where it goes.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl<K> Clone for Personal<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<K> std::fmt::Debug for Personal<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[personal]")
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $alias:ident = $kind:ident { $(max: $max:literal)? $(,)? $(read: $read:path)? };)+) => {
        $(
            #[doc = concat!("The kind of [`", stringify!($alias), "`].")]
            #[derive(Debug)]
            pub struct $kind;
            impl Kind for $kind {
                $(const MAX: usize = $max;)?
                $(fn read(text: &str) -> Result<Zeroizing<String>, ValidationError> { $read(text) })?
            }
            $(#[$doc])*
            pub type $alias = Personal<$kind>;
        )+
    };
}

kinds! {
    /// A first or a last name.
    Name = NameKind {};
    /// A day of birth, `YYYY-MM-DD`.
    DateOfBirth = DateOfBirthKind { read: read_date };
    /// A United States social security number, `ddd-dd-dddd`.
    Ssn = SsnKind { read: read_ssn };
    StreetAddress = StreetAddressKind {};
    CityName = CityNameKind { max: 100 };
    /// A state or province.
    StateName = StateNameKind { max: 100 };
    PostCode = PostCodeKind {};
    Email = EmailKind { read: read_email };
    /// A subscription at an open-banking provider.
    SubscriptionId = SubscriptionKind {};
    /// The token of that subscription: often a signed document, so longer than other text.
    BankingToken = BankingTokenKind { max: 4096 };
}

macro_rules! plain {
    ($($kind:ident),+) => {
        $(impl Personal<$kind> {
            /// Reads text that came from outside.
            pub fn parse(raw: &str) -> Result<Self, ValidationError> {
                Self::read(raw)
            }
        })+
    };
}

plain! {
    NameKind, SsnKind, StreetAddressKind, CityNameKind, StateNameKind, PostCodeKind, EmailKind, SubscriptionKind,
    BankingTokenKind
}

impl DateOfBirth {
    /// Reads a day that came from outside and is not after `today`.
    pub fn parse(raw: &str, today: Date) -> Result<Self, ValidationError> {
        let date = Self::read(raw)?;
        if day(date.expose()).is_some_and(|day| day > today) {
            return Err(ValidationError::new("in_the_future", "must not be in the future"));
        }
        Ok(date)
    }
}

/// The day of a moment, in UTC.
pub fn day_of(moment: Timestamp) -> Date {
    let moment = jiff::Timestamp::from_microsecond(moment.micros()).unwrap_or(jiff::Timestamp::MAX);
    moment.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// The day that `YYYY-MM-DD` names, if there is one.
fn day(text: &str) -> Option<Date> {
    let shaped = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !shaped {
        return None;
    }
    let year = text[..4].parse().ok().filter(|&year: &i16| year > 0)?;
    Date::new(year, text[5..7].parse().ok()?, text[8..].parse().ok()?).ok()
}

fn read_date(text: &str) -> Result<Zeroizing<String>, ValidationError> {
    match day(text) {
        Some(_) => Ok(Zeroizing::new(text.to_owned())),
        None => Err(ValidationError::new("not_a_date", "must be a day that exists, as YYYY-MM-DD")),
    }
}

/// Which numbers were ever given out is the bureau's to know: only the form is checked.
fn read_ssn(text: &str) -> Result<Zeroizing<String>, ValidationError> {
    let dashed = text.len() == 11 && text.as_bytes()[3] == b'-' && text.as_bytes()[6] == b'-';
    let mut digits = Zeroizing::new(String::with_capacity(11));
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => digits.push(char::from(byte)),
            b'-' if dashed && matches!(at, 3 | 6) => {}
            _ => return Err(not_an_ssn()),
        }
    }
    if digits.len() != 9 {
        return Err(not_an_ssn());
    }
    digits.insert(3, '-');
    digits.insert(6, '-');
    Ok(digits)
}

fn not_an_ssn() -> ValidationError {
    ValidationError::new("not_an_ssn", "must be ddd-dd-dddd or nine digits")
}

/// The rule by which browsers accept an e-mail address (WHATWG HTML, "valid e-mail address").
fn read_email(text: &str) -> Result<Zeroizing<String>, ValidationError> {
    let local = |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte);
    let label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    match text.split_once('@') {
        Some((name, domain))
            if !name.is_empty() && name.bytes().all(local) && domain.split('.').all(label) =>
        {
            Ok(Zeroizing::new(text.to_owned()))
        }
        _ => Err(ValidationError::new("not_an_email", "must be an e-mail address, such as name@example.com")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ssn(text: &str) -> Result<String, &'static str> {
        Ssn::parse(text).map(|ssn| ssn.expose().to_owned()).map_err(|fault| fault.code)
    }

    fn born(text: &str) -> Result<String, &'static str> {
        let today = jiff::civil::date(2026, 2, 28);
        DateOfBirth::parse(text, today).map(|day| day.expose().to_owned()).map_err(|fault| fault.code)
    }

    #[test]
    fn an_ssn_has_one_form_whichever_way_it_was_written() {
        for written in ["900-00-0720", "900000720", " 900-00-0720 "] {
            assert_eq!(ssn(written).as_deref(), Ok("900-00-0720"));
        }
    }

    #[test]
    fn what_is_no_ssn_is_refused() {
        for wrong in [
            "900-000720",
            "90000-0720",
            "9000-0-0720",
            "900 00 0720",
            "90000072",
            "9000007200",
            "٩٠٠٠٠٠٧٢٠",
            "a",
        ] {
            assert_eq!(ssn(wrong), Err("not_an_ssn"), "{wrong}");
        }
        assert_eq!(ssn(" "), Err("empty"));
        assert_eq!(ssn("900-00-0720\n"), Err("control_character"));
    }

    #[test]
    fn a_day_of_birth_exists_and_is_not_in_the_future() {
        for day in ["1990-01-31", "2024-02-29", "2026-02-28", "0001-01-01"] {
            assert_eq!(born(day).as_deref(), Ok(day));
        }
        for wrong in [
            "2023-02-29",
            "1990-13-01",
            "1990-00-10",
            "0000-01-01",
            "1990-1-1",
            "19900131",
            "31-01-1990",
            "+990-01-01",
            "-001-01-01",
            "1990-01-31T00:00",
            "1990/01/31",
            "tomorrow",
        ] {
            assert_eq!(born(wrong), Err("not_a_date"), "{wrong}");
        }
        assert_eq!(born("2026-03-01"), Err("in_the_future"));
        assert_eq!(born("9999-12-31"), Err("in_the_future"));
    }

    #[test]
    fn an_email_address_is_what_a_browser_takes_for_one() {
        for good in ["a@b", "first.last+tag@mail.example.com", "x!#$%&'*+/=?^_`{|}~-@1a.de", ".@a-b.c"] {
            assert!(Email::parse(good).is_ok(), "{good}");
        }
        let long = format!("a@{}", "b".repeat(64));
        for wrong in
            ["a", "@b", "a@", "a@b@c", "a b@c", "a@-b", "a@b-", "a@b..c", "a@b.", "ä@b", "a@ö.de", &long]
        {
            assert_eq!(Email::parse(wrong).unwrap_err().code, "not_an_email", "{wrong}");
        }
    }

    #[test]
    fn names_have_no_control_characters_and_a_length() {
        assert_eq!(Name::parse(" Zoë  de la Cruz ").unwrap().expose(), "Zoë  de la Cruz");
        assert_eq!(Name::parse("a\u{0}b").unwrap_err().code, "control_character");
        assert_eq!(Name::parse("a\u{9b}b").unwrap_err().code, "control_character");
        assert!(Name::parse(&"ü".repeat(255)).is_ok());
        assert_eq!(Name::parse(&"ü".repeat(256)).unwrap_err().code, "too_long");
        assert_eq!(CityName::parse(&"ü".repeat(101)).unwrap_err().code, "too_long");
        assert_eq!(StateName::parse(&"ü".repeat(101)).unwrap_err().code, "too_long");
    }

    #[test]
    fn the_day_of_a_moment_is_that_of_utc() {
        assert_eq!(day_of(Timestamp::from_micros(86_399_999_999)), jiff::civil::date(1970, 1, 1));
        assert_eq!(day_of(Timestamp::from_micros(86_400_000_000)), jiff::civil::date(1970, 1, 2));
    }

    proptest! {
        #[test]
        fn every_nine_digits_are_an_ssn_with_or_without_dashes(a in "[0-9]{3}", b in "[0-9]{2}", c in "[0-9]{4}") {
            let dashed = format!("{a}-{b}-{c}");
            prop_assert_eq!(ssn(&dashed).unwrap(), dashed.clone());
            prop_assert_eq!(ssn(&format!("{a}{b}{c}")).unwrap(), dashed);
        }

        #[test]
        fn what_was_accepted_is_accepted_again_unchanged(raw in "\\PC{0,300}|[0-9-]{9,11}|[a-z@.-]{1,20}") {
            if let Ok(name) = Name::parse(&raw) {
                let again = Name::parse(name.expose()).unwrap();
                prop_assert_eq!(again.expose(), name.expose());
            }
            if let Ok(first) = ssn(&raw) {
                prop_assert_eq!(ssn(&first).unwrap(), first);
            }
            if let Ok(email) = Email::parse(&raw) {
                let again = Email::parse(email.expose()).unwrap();
                prop_assert_eq!(again.expose(), email.expose());
            }
        }

        #[test]
        fn a_day_is_accepted_exactly_when_the_calendar_has_it(y in 1_i16..2026, m in 0_i8..20, d in 0_i8..40) {
            let text = format!("{y:04}-{m:02}-{d:02}");
            prop_assert_eq!(born(&text).is_ok(), Date::new(y, m, d).is_ok());
        }

        #[test]
        fn no_fault_and_no_debug_shows_the_value(raw in "[a-zA-Z0-9@-]{12,300}") {
            let today = jiff::civil::date(2026, 2, 28);
            for fault in [Ssn::parse(&raw).err(), Email::parse(&raw).err(), DateOfBirth::parse(&raw, today).err()] {
                let shown = format!("{fault:?}");
                prop_assert!(!shown.contains(&raw));
            }
            if let Ok(token) = BankingToken::parse(&raw) {
                prop_assert_eq!(format!("{token:?}"), "[personal]");
            }
        }
    }
}
