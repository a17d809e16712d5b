//! Invisible characters, and the canonical form of identifiers. What names a person or an account is compared byte by
//! byte and shown to people, so nothing is trimmed or normalised on the way in: text that is not in this form is rejected.

use std::ops::RangeInclusive;

use unicode_normalization::is_nfc;

use crate::{FaultCode, ValidationError};

/// Characters that are not drawn or change the direction of others: the format characters (Cf) and default ignorables of
/// Unicode 16, line and paragraph separators, and the empty Braille pattern. The OpenAPI patterns are made of them too.
pub const INVISIBLE: [RangeInclusive<char>; 26] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{600}'..='\u{605}',
    '\u{61c}'..='\u{61c}',
    '\u{6dd}'..='\u{6dd}',
    '\u{70f}'..='\u{70f}',
    '\u{890}'..='\u{891}',
    '\u{8e2}'..='\u{8e2}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{110bd}'..='\u{110bd}',
    '\u{110cd}'..='\u{110cd}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Of these, what ordinary text must not contain: it allows those that are part of writing, such as the variation
/// selectors of emoji.
pub const INVISIBLE_IN_TEXT: [RangeInclusive<char>; 10] = [
    '\u{ad}'..='\u{ad}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
];

/// Rejects invisible characters of `ranges`.
pub fn check_visible(text: &str, ranges: &[RangeInclusive<char>]) -> Result<(), ValidationError> {
    if text.is_ascii() || !text.chars().any(|c| ranges.iter().any(|range| range.contains(&c))) {
        return Ok(());
    }
    Err(ValidationError::new(
        FaultCode::InvisibleCharacter,
        "must not contain characters that are invisible or change the direction of text",
    ))
}

/// For text without control characters.
pub(crate) fn check(text: &str) -> Result<(), ValidationError> {
    // The usual case.
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    if text.trim().len() != text.len() {
        return Err(ValidationError::new(FaultCode::OuterSpace, "must not begin or end with white space"));
    }
    check_visible(text, &INVISIBLE)?;
    if !is_nfc(text) {
        return Err(ValidationError::new(
            FaultCode::NotNormalized,
            "must be in Unicode normalization form C",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_identifiers_are_accepted() {
        for text in [
            "ada",
            "auth0|5f7c8ec7",
            "ada@example.com",
            "Ada Lovelace",
            "Zo\u{eb}",
            "\u{674e}\u{56db}",
            "\u{1f980}",
        ] {
            assert_eq!(check(text), Ok(()), "{text:?}");
        }
    }

    #[test]
    fn each_fault_has_its_code() {
        let faults = [
            (" ada", "outer_space"),
            ("ada\u{a0}", "outer_space"),
            ("\u{3000}ada", "outer_space"),
            ("ada\u{2009}", "outer_space"),
            ("ada\u{200b}", "invisible_character"),
            ("a\u{ad}da", "invisible_character"),
            ("\u{feff}ada", "invisible_character"),
            ("\u{202e}ada", "invisible_character"),
            ("ada\u{2069}", "invisible_character"),
            ("ada\u{2800}", "invisible_character"),
            ("ada\u{fe0f}", "invisible_character"),
            ("ada\u{e0041}", "invisible_character"),
            ("Zoe\u{308}", "not_normalized"),
            ("\u{212b}da", "not_normalized"),
        ];
        for (text, code) in faults {
            assert_eq!(check(text).unwrap_err().code.name(), code, "{text:?}");
        }
    }

    #[test]
    fn ranges_are_sorted() {
        assert!(INVISIBLE.is_sorted_by(|one, next| one.end() < next.start()));
        assert!(INVISIBLE_IN_TEXT.is_sorted_by(|one, next| one.end() < next.start()));
    }

    #[test]
    fn text_forbids_nothing_that_identifiers_allow() {
        for range in INVISIBLE_IN_TEXT {
            let is_within =
                |of: &RangeInclusive<char>| of.contains(range.start()) && of.contains(range.end());
            assert!(INVISIBLE.iter().any(is_within), "{range:?}");
        }
    }
}
