//! Text with a length limit, in Unicode normalization form C, without control characters and invisible ones. Each meaning
//! has its own [`TextFormat`], so that a user id cannot be passed as a listing id. What names a person or an account must
//! be in [`canonical`] form as it is sent.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::canonical::{INVISIBLE, INVISIBLE_IN_TEXT, check_visible};
use crate::{FaultCode, ValidationError, canonical};

/// What a text means, and its length limits in characters, as JSON Schema counts them.
pub trait TextFormat: 'static {
    const MIN: usize = 1;
    const MAX: usize;
    /// For the OpenAPI schema.
    const PATTERN: Option<&'static str> = None;
    /// Whether text that is not in [`canonical`] form is rejected instead of trimmed and normalised.
    const IS_CANONICAL: bool = false;
    /// Whether it identifies something and may be part of a path.
    const IS_ID: bool = false;
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

/// Trimmed, normalised, of allowed length, without control characters. Short texts need no allocation.
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
        check_visible(raw, if K::IS_ID { &INVISIBLE } else { &INVISIBLE_IN_TEXT })?;
        if K::IS_ID && [".", ".."].contains(&text) {
            return Err(ValidationError::new(FaultCode::NotAnId, "must not be . or .."));
        }
        let text = normalized(text);
        if text.len() > K::MAX && text.chars().count() > K::MAX {
            return Err(too_long(K::MAX));
        }
        K::check(&text)?;
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

/// In Unicode normalization form C. A few scripts become longer.
fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { text.into() } else { text.nfc().collect::<String>().into() }
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
    ($($(#[$doc:meta])* $alias:ident = $format:ident { max: $max:literal $(, min: $min:literal)? $(, pattern: $pattern:literal)? $(, check: $check:path)? $(, canonical: $canonical:literal)? $(, id: $id:literal)? };)+) => {
        $(
            #[doc = concat!("The format of [`", stringify!($alias), "`].")]
            #[derive(Debug)]
            pub struct $format;
            impl TextFormat for $format {
                const MAX: usize = $max;
                $(const MIN: usize = $min;)?
                $(const PATTERN: Option<&'static str> = Some($pattern);)?
                $(const IS_CANONICAL: bool = $canonical;)?
                $(const IS_ID: bool = $id;)?
                $(fn check(text: &str) -> Result<(), ValidationError> { $check(text) })?
            }
            $(#[$doc])*
            pub type $alias = Text<$format>;
        )+
    };
}

text_formats! {
    /// A user: a token's `sub`, or a reference an operator chose.
    UserId = UserFormat { max: 255, canonical: true, id: true };
    /// The owner of a pipeline and of account-bound keys.
    AccountId = AccountFormat { max: 255, canonical: true, id: true };
    ListingId = ListingFormat { max: 255, id: true };
    ApplicationId = ApplicationFormat { max: 255, id: true };
    PortfolioId = PortfolioFormat { max: 255, id: true };
    TemplateId = TemplateFormat { max: 255, id: true };
    DeviceId = DeviceFormat { max: 255, id: true };
    /// The public part of an API key.
    KeyId = KeyFormat { max: 255, id: true };
    /// A verification pipeline, as clients name it.
    ClientId = ClientFormat { max: 255, canonical: true, id: true };
    CaseId = CaseFormat { max: 255, id: true };
    VerificationId = VerificationFormat { max: 255, id: true };
    /// A wallet, as its owner names it.
    WalletId = WalletFormat { max: 255, id: true };
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
    Link = LinkFormat { max: 2048, pattern: r"^https?://[^\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]+$", check: check_link };
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
        for raw in ["victim\u{a0}", " victim", "victim\u{200b}", "vi\u{301}ctim"] {
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
    fn rejects_invisible_characters() {
        for c in
            ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{2028}', '\u{3164}', '\u{feff}']
        {
            for text in [format!("oak{c}1"), format!("a{c}")] {
                for fault in [
                    Street::parse(&text).unwrap_err(),
                    ListingId::parse(&text).unwrap_err(),
                    UserId::parse(&text).unwrap_err(),
                    Description::parse(&text).unwrap_err(),
                    Link::parse(&format!("https://example.com/{text}")).unwrap_err(),
                ] {
                    let is_space = c == '\u{2028}' && fault.code == FaultCode::OuterSpace;
                    assert!(fault.code == FaultCode::InvisibleCharacter || is_space, "{text:?}: {fault:?}");
                }
            }
        }
        assert_eq!(CaseId::parse("oak\u{fe0f}").unwrap_err().code.name(), "invisible_character");
    }

    #[test]
    fn text_is_normalised_and_names_of_people_are_not() {
        let (composed, decomposed) = ("Zo\u{eb}", "Zoe\u{308}");
        assert_eq!(ListingId::parse(decomposed).unwrap(), ListingId::stored(composed));
        assert_eq!(City::parse(&format!(" {decomposed} ")).unwrap(), City::stored(composed));
        assert_eq!(UserId::parse(decomposed).unwrap_err().code.name(), "not_normalized");
        // U+0958 becomes two characters.
        assert_eq!(City::parse(&"\u{958}".repeat(50)).unwrap().as_str().chars().count(), 100);
        assert_eq!(City::parse(&"\u{958}".repeat(51)).unwrap_err().code.name(), "too_long");
    }

    #[test]
    fn dots_of_paths_are_no_ids() {
        for text in [".", "..", " .. "] {
            assert_eq!(ListingId::parse(text).unwrap_err().code.name(), "not_an_id", "{text}");
            assert_eq!(City::parse(text).unwrap().as_str(), text.trim());
        }
        assert_eq!(UserId::parse("..").unwrap_err().code.name(), "not_an_id");
        assert_eq!(ListingId::parse("...").unwrap().as_str(), "...");
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
        for text in ["شارع النيل ١٢", "רחוב הרצל 5", "Straße 1", "नई दिल्ली", "可能な", "☀\u{fe0f} 🏠"]
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
            if let Ok(text) = Street::parse(&raw) {
                prop_assert_eq!(Street::parse(text.as_str()).unwrap(), text);
            }
        }
    }
}
