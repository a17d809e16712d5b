//! Text with a length limit and without control characters, also those that change the direction of text. Each meaning
//! has its own [`TextFormat`], so that a user id cannot be passed as a listing id. What names a person or an account must
//! also be in [`canonical`] form.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::{FaultCode, ValidationError, canonical};

/// What a text means, and its length limits in characters, as JSON Schema counts them.
pub trait TextFormat: 'static {
    const MIN: usize = 1;
    const MAX: usize;
    /// For the OpenAPI schema.
    const PATTERN: Option<&'static str> = None;
    /// Whether text that is not in [`canonical`] form is rejected instead of trimmed.
    const IS_CANONICAL: bool = false;
    /// A rule beyond length and characters.
    fn check(_text: &str) -> Result<(), ValidationError> {
        Ok(())
    }
}

/// The fault of a text that is too long.
pub fn too_long(max: usize) -> ValidationError {
    let message = format!("must be at most {max} characters long");
    ValidationError::new(FaultCode::TooLong, message).at_most(i64::try_from(max).unwrap_or(i64::MAX))
}

/// Trimmed, of allowed length, without control characters. Short texts need no allocation.
pub struct Text<K>(SmolStr, PhantomData<fn() -> K>);

impl<K: TextFormat> Text<K> {
    /// Parses external input. The length is checked before outer spaces are trimmed.
    pub fn parse(raw: &str) -> Result<Self, ValidationError> {
        if raw.chars().any(is_control_character) {
            return Err(ValidationError::new(
                FaultCode::ControlCharacter,
                "must not contain control characters",
            ));
        }
        if raw.len() > K::MAX && raw.chars().count() > K::MAX {
            return Err(too_long(K::MAX));
        }
        let text = raw.trim();
        if text.is_empty() && K::MIN > 0 {
            return Err(ValidationError::new(FaultCode::Empty, "must not be empty"));
        }
        if K::IS_CANONICAL {
            canonical::check(raw)?;
        }
        K::check(text)?;
        Ok(Self::stored(text))
    }

    /// For text that [`parse`](Self::parse) accepted before, such as a database column.
    pub fn stored(text: impl Into<SmolStr>) -> Self {
        Self(text.into(), PhantomData)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<K> Clone for Text<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}
impl<K> PartialEq for Text<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K> Eq for Text<K> {}
impl<K> std::hash::Hash for Text<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<K> std::fmt::Debug for Text<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
impl<K> std::fmt::Display for Text<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl<K> From<Text<K>> for String {
    fn from(text: Text<K>) -> Self {
        text.0.into()
    }
}
impl<K> Serialize for Text<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
impl<'de, K: TextFormat> Deserialize<'de> for Text<K> {
    /// Only for values that Portico wrote; external input goes through `parse`.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::stored(SmolStr::deserialize(deserializer)?))
    }
}

macro_rules! text_formats {
    ($($(#[$doc:meta])* $alias:ident = $format:ident { max: $max:literal $(, min: $min:literal)? $(, pattern: $pattern:literal)? $(, check: $check:path)? $(, canonical: $canonical:literal)? };)+) => {
        $(
            #[doc = concat!("The format of [`", stringify!($alias), "`].")]
            #[derive(Debug)]
            pub struct $format;
            impl TextFormat for $format {
                const MAX: usize = $max;
                $(const MIN: usize = $min;)?
                $(const PATTERN: Option<&'static str> = Some($pattern);)?
                $(const IS_CANONICAL: bool = $canonical;)?
                $(fn check(text: &str) -> Result<(), ValidationError> { $check(text) })?
            }
            $(#[$doc])*
            pub type $alias = Text<$format>;
        )+
    };
}

text_formats! {
    /// A user: a token's `sub`, or a reference an operator chose.
    UserId = UserFormat { max: 255, canonical: true };
    /// The owner of a pipeline and of account-bound keys.
    AccountId = AccountFormat { max: 255, canonical: true };
    ListingId = ListingFormat { max: 255 };
    ApplicationId = ApplicationFormat { max: 255 };
    PortfolioId = PortfolioFormat { max: 255 };
    TemplateId = TemplateFormat { max: 255 };
    DeviceId = DeviceFormat { max: 255 };
    /// The public part of an API key.
    KeyId = KeyFormat { max: 255 };
    /// A verification pipeline, as clients name it.
    ClientId = ClientFormat { max: 255, canonical: true };
    CaseId = CaseFormat { max: 255 };
    VerificationId = VerificationFormat { max: 255 };
    /// A wallet, as its owner names it.
    WalletId = WalletFormat { max: 255 };
    /// The nonce of a message that a wallet signs.
    ClaimNonce = ClaimNonceFormat { max: 64 };
    /// A wallet's signature: `0x` and up to 4,096 bytes in hexadecimal, because contract accounts may use any form.
    WalletSignature = WalletSignatureFormat { max: 8194, pattern: "^0x(?:[0-9a-fA-F]{2})+$", check: check_signature };
    Street = StreetFormat { max: 255 };
    City = CityFormat { max: 100 };
    /// A state or province.
    State = StateFormat { max: 100 };
    PostalCode = PostalFormat { max: 255 };
    Country = CountryFormat { max: 255 };
    Label = LabelFormat { max: 255 };
    /// May be empty.
    Description = DescriptionFormat { max: 4000, min: 0 };
    ListingDescription = ListingDescriptionFormat { max: 4000 };
    Network = NetworkFormat { max: 255 };
    /// A device's identifier on its network.
    DeviceIdentifier = DeviceIdentifierFormat { max: 255 };
    Link = LinkFormat { max: 2048, pattern: r"^https?://[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+$", check: check_link };
}

/// Also the twelve characters of Unicode's property Bidi_Control: with them a text can look like another one, such as an
/// address that reads backwards.
pub fn is_control_character(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn check_signature(text: &str) -> Result<(), ValidationError> {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    if digits.is_empty() || digits.len() % 2 == 1 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(ValidationError::new(
            FaultCode::NotASignature,
            "must be 0x and an even number of hexadecimal digits",
        ));
    }
    Ok(())
}

fn check_link(text: &str) -> Result<(), ValidationError> {
    match url::Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(()),
        _ => Err(ValidationError::new(FaultCode::NotALink, "must be an http or https URL")),
    }
}

/// Case folding for comparison and search. Works character by character, so that a substring folds as it does within
/// the whole text (a Greek sigma folds the same everywhere).
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn outer_spaces_are_trimmed_and_inner_ones_stay() {
        assert_eq!(City::parse("  New  York ").unwrap().as_str(), "New  York");
    }

    #[test]
    fn names_of_people_and_accounts_are_never_trimmed() {
        for raw in ["victim\u{a0}", " victim", "victim\u{200b}"] {
            for parsed in
                [UserId::parse(raw).is_ok(), AccountId::parse(raw).is_ok(), ClientId::parse(raw).is_ok()]
            {
                assert!(!parsed, "{raw:?}");
            }
        }
        assert_eq!(Label::parse(" phone ").unwrap().as_str(), "phone");
    }

    #[test]
    fn rejects_control_characters_and_nul() {
        for text in ["a\0b", "a\nb", "\u{7f}", "\u{85}"] {
            assert_eq!(UserId::parse(text).unwrap_err().code.name(), "control_character");
        }
    }

    #[test]
    fn rejects_characters_that_change_the_direction() {
        for c in ('\u{202a}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}')
            .chain(['\u{61c}', '\u{200e}', '\u{200f}'])
        {
            let text = format!("12 {c}teertS kaO");
            assert_eq!(Street::parse(&text).unwrap_err().code.name(), "control_character", "{c:?}");
            assert_eq!(Label::parse(&text).unwrap_err().code.name(), "control_character", "{c:?}");
            assert_eq!(
                Link::parse(&format!("https://example.com/{c}")).unwrap_err().code.name(),
                "control_character"
            );
        }
    }

    #[test]
    fn text_of_every_script_is_accepted() {
        for text in ["شارع النيل ١٢", "רחוב הרצל 5", "Straße 1", "नई दिल्ली", "可能な", "👩‍👩‍👧", "e\u{301}"]
        {
            assert_eq!(Street::parse(text).unwrap().as_str(), text);
        }
    }

    proptest! {
        #[test]
        fn ascii_folds_like_unicode(text in "[ -~]{0,40}") {
            prop_assert_eq!(format!("{}ü", fold(&text)), fold(&format!("{text}Ü")));
        }
    }

    #[test]
    fn only_spaces_is_empty() {
        assert_eq!(UserId::parse("").unwrap_err().code.name(), "empty");
        assert_eq!(UserId::parse(" \u{2003} ").unwrap_err().code.name(), "empty");
        assert_eq!(Description::parse("  ").unwrap().as_str(), "");
    }

    #[test]
    fn length_counts_characters_not_bytes() {
        assert!(City::parse(&"ü".repeat(100)).is_ok());
        assert_eq!(City::parse(&"ü".repeat(101)).unwrap_err().code.name(), "too_long");
    }

    #[test]
    fn a_link_is_http_or_https_with_a_host() {
        for good in ["https://example.com/tour?x=1", "http://localhost:80/"] {
            assert!(Link::parse(good).is_ok(), "{good}");
        }
        for bad in ["javascript:alert(1)", "ftp://example.com", "example.com", "https://", "data:text/html,x"]
        {
            assert_eq!(Link::parse(bad).unwrap_err().code.name(), "not_a_link", "{bad}");
        }
    }

    proptest! {
        #[test]
        fn accepted_text_parses_again_unchanged(raw in "\\PC{0,300}") {
            if let Ok(text) = UserId::parse(&raw) {
                prop_assert_eq!(UserId::parse(text.as_str()).unwrap(), text);
            }
        }
    }
}
