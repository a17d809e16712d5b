//! Comparing people's names.

use unicode_normalization::UnicodeNormalization as _;

/// The form in which names are compared: ignores case, outer spaces and Unicode compatibility forms.
pub fn folded(name: &str) -> String {
    let upper = name.trim().nfkc().flat_map(char::to_uppercase);
    // Via upper case, so that `ß` equals `SS` and both small sigmas are equal.
    upper.flat_map(char::to_lowercase).nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_case_spaces_and_compatibility_forms() {
        for (one, other) in [
            ("Ada", " ADA "),
            ("Zoë", "Zoe\u{308}"),
            ("Groß", "GROSS"),
            ("Οδυσσεύς", "ΟΔΥΣΣΕΎΣ"),
            ("\u{fb01}nn", "Finn"),
            ("Ａｄａ", "ada"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} and {other}");
        }
    }

    #[test]
    fn different_names_stay_different() {
        for (one, other) in [("Ada", "Adam"), ("Zoe", "Zoë"), ("a b", "ab")] {
            assert_ne!(folded(one), folded(other), "{one} and {other}");
        }
    }
}
