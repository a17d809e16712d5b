//! Personal text: wiped when dropped and never printed. Each meaning has its own [`PersonalFormat`]. Errors name the
//! violated rule, never the value.

use std::marker::PhantomData;

use jiff::civil::Date;
use portico_domain::canonical::{INVISIBLE_IN_TEXT, check_visible};
use portico_domain::{FaultCode, Timestamp, ValidationError};
use secrecy::{ExposeSecret as _, SecretString};
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

pub trait PersonalFormat: 'static {
    /// In characters.
    const MAX: usize = 255;

    /// Normalises text that is trimmed and free of control characters, or rejects it.
    fn read(text: &str) -> Result<Zeroizing<String>, ValidationError> {
        Ok(Zeroizing::new(text.to_owned()))
    }
}

/// In Unicode normalization form C.
fn normalized(text: &str) -> Zeroizing<String> {
    // Large enough, so that no unwiped copy is left.
    let mut normal = Zeroizing::new(String::with_capacity(3 * text.len()));
    normal.extend(text.nfc());
    normal
}

pub struct Personal<K>(SecretString, PhantomData<fn() -> K>);

impl<K: PersonalFormat> Personal<K> {
    /// Parses external input. The length is checked before outer spaces are trimmed.
    fn read(raw: &str) -> Result<Self, ValidationError> {
        if raw.chars().any(portico_domain::text::is_control_character) {
            return Err(ValidationError::new(
                FaultCode::ControlCharacter,
                "must not contain control characters",
            ));
        }
        if raw.len() > K::MAX && raw.chars().count() > K::MAX {
            return Err(portico_domain::text::too_long(K::MAX));
        }
        let text = raw.trim();
        if text.is_empty() {
            return Err(ValidationError::new(FaultCode::Empty, "must not be empty"));
        }
        check_visible(raw, &INVISIBLE_IN_TEXT)?;
        let normal = normalized(text);
        if normal.len() > K::MAX && normal.chars().count() > K::MAX {
            return Err(portico_domain::text::too_long(K::MAX));
        }
        let text = K::read(&normal)?;
        Ok(Self(SecretString::from(text.as_str()), PhantomData))
    }

    /// Exposes personal data: the caller decides where it goes.
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

macro_rules! personal_formats {
    ($($(#[$doc:meta])* $alias:ident = $format:ident { $(max: $max:literal)? $(,)? $(read: $read:path)? };)+) => {
        $(
            #[doc = concat!("The format of [`", stringify!($alias), "`].")]
            #[derive(Debug)]
            pub struct $format;
            impl PersonalFormat for $format {
                $(const MAX: usize = $max;)?
                $(fn read(text: &str) -> Result<Zeroizing<String>, ValidationError> { $read(text) })?
            }
            $(#[$doc])*
            pub type $alias = Personal<$format>;
        )+
    };
}

personal_formats! {
    /// A first or a last name.
    Name = NameFormat {};
    /// A day of birth, `YYYY-MM-DD`.
    DateOfBirth = DateOfBirthFormat { read: read_date };
    /// A United States social security number, `ddd-dd-dddd`.
    Ssn = SsnFormat { read: read_ssn };
    StreetAddress = StreetAddressFormat {};
    CityName = CityNameFormat { max: 100 };
    /// A state or province.
    StateName = StateNameFormat { max: 100 };
    PostCode = PostCodeFormat {};
    Email = EmailFormat { read: read_email };
    /// A subscription at an open-banking provider.
    SubscriptionId = SubscriptionFormat {};
    /// Often a signed document, so longer than other text.
    BankingToken = BankingTokenFormat { max: 4096 };
}

macro_rules! plain {
    ($($format:ident),+) => {
        $(impl Personal<$format> {
            pub fn parse(raw: &str) -> Result<Self, ValidationError> {
                Self::read(raw)
            }
        })+
    };
}

plain! {
    NameFormat, SsnFormat, StreetAddressFormat, CityNameFormat, StateNameFormat, PostCodeFormat, EmailFormat, SubscriptionFormat,
    BankingTokenFormat
}

impl DateOfBirth {
    /// The day must not be after `today`.
    pub fn parse(raw: &str, today: Date) -> Result<Self, ValidationError> {
        let date = Self::read(raw)?;
        if day(date.expose()).is_some_and(|day| day > today) {
            return Err(ValidationError::new(FaultCode::InTheFuture, "must not be in the future"));
        }
        Ok(date)
    }
}

/// In UTC.
pub fn day_of(moment: Timestamp) -> Date {
    let moment = jiff::Timestamp::from_microsecond(moment.micros()).unwrap_or(jiff::Timestamp::MAX);
    moment.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// Parses `YYYY-MM-DD`.
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
        None => Err(ValidationError::new(FaultCode::NotADate, "must be a day that exists, as YYYY-MM-DD")),
    }
}

/// Only checks the form; the bureau knows which numbers exist.
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
    ValidationError::new(FaultCode::NotAnSsn, "must be ddd-dd-dddd or nine digits")
}

/// The rule of browsers (WHATWG HTML, "valid e-mail address").
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
        _ => Err(ValidationError::new(
            FaultCode::NotAnEmail,
            "must be an e-mail address, such as name@example.com",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ssn(text: &str) -> Result<String, &'static str> {
        Ssn::parse(text).map(|ssn| ssn.expose().to_owned()).map_err(|fault| fault.code.name())
    }

    fn born(text: &str) -> Result<String, &'static str> {
        let today = jiff::civil::date(2026, 2, 28);
        DateOfBirth::parse(text, today).map(|day| day.expose().to_owned()).map_err(|fault| fault.code.name())
    }

    #[test]
    fn ssn_is_normalised() {
        for written in ["900-00-0720", "900000720", " 900-00-0720 "] {
            assert_eq!(ssn(written).as_deref(), Ok("900-00-0720"));
        }
    }

    #[test]
    fn invalid_ssn_is_refused() {
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
    fn email_follows_the_rule_of_browsers() {
        for good in ["a@b", "first.last+tag@mail.example.com", "x!#$%&'*+/=?^_`{|}~-@1a.de", ".@a-b.c"] {
            assert!(Email::parse(good).is_ok(), "{good}");
        }
        let long = format!("a@{}", "b".repeat(64));
        for wrong in
            ["a", "@b", "a@", "a@b@c", "a b@c", "a@-b", "a@b-", "a@b..c", "a@b.", "ä@b", "a@ö.de", &long]
        {
            assert_eq!(Email::parse(wrong).unwrap_err().code.name(), "not_an_email", "{wrong}");
        }
    }

    #[test]
    fn names_have_no_control_characters_and_a_length() {
        assert_eq!(Name::parse(" Zoë  de la Cruz ").unwrap().expose(), "Zoë  de la Cruz");
        assert_eq!(Name::parse("a\u{0}b").unwrap_err().code.name(), "control_character");
        assert_eq!(Name::parse("a\u{200b}b").unwrap_err().code.name(), "invisible_character");
        assert_eq!(Name::parse(" Zoe\u{308} ").unwrap().expose(), "Zo\u{eb}");
        assert_eq!(Name::parse("a\u{9b}b").unwrap_err().code.name(), "control_character");
        assert!(Name::parse(&"ü".repeat(255)).is_ok());
        assert_eq!(Name::parse(&"ü".repeat(256)).unwrap_err().code.name(), "too_long");
        assert_eq!(CityName::parse(&"ü".repeat(101)).unwrap_err().code.name(), "too_long");
        assert_eq!(StateName::parse(&"ü".repeat(101)).unwrap_err().code.name(), "too_long");
    }

    #[test]
    fn the_day_of_a_moment_is_that_of_utc() {
        assert_eq!(day_of(Timestamp::from_micros(86_399_999_999)), jiff::civil::date(1970, 1, 1));
        assert_eq!(day_of(Timestamp::from_micros(86_400_000_000)), jiff::civil::date(1970, 1, 2));
    }

    proptest! {
        #[test]
        fn nine_digits_are_an_ssn_with_or_without_dashes(a in "[0-9]{3}", b in "[0-9]{2}", c in "[0-9]{4}") {
            let dashed = format!("{a}-{b}-{c}");
            prop_assert_eq!(ssn(&dashed).unwrap(), dashed.clone());
            prop_assert_eq!(ssn(&format!("{a}{b}{c}")).unwrap(), dashed);
        }

        #[test]
        fn accepted_text_parses_again_unchanged(raw in "\\PC{0,300}|[0-9-]{9,11}|[a-z@.-]{1,20}") {
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
