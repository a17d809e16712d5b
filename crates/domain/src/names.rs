//! Names of people, as they are compared.

use unicode_normalization::UnicodeNormalization as _;

/// The form in which two names are the same: compatibility forms, case and outer spaces do not count.
pub fn folded(name: &str) -> String {
    let upper = name.trim().nfkc().flat_map(char::to_uppercase);
    // By way of the capitals, so that `ß` and `SS` or the two small sigmas meet.
    upper.flat_map(char::to_lowercase).nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_spaces_and_ways_of_writing_do_not_count() {
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
    fn other_names_stay_others() {
        for (one, other) in [("Ada", "Adam"), ("Zoe", "Zoë"), ("a b", "ab")] {
            assert_ne!(folded(one), folded(other), "{one} and {other}");
        }
    }
}
