//! Search terms: literal, case-insensitive substrings.

use crate::ValidationError;
use crate::text::{Kind, Text, fold};

/// The kind of text a search term is.
#[derive(Debug)]
pub struct TermKind;
impl Kind for TermKind {
    const MAX: usize = 255;
}

/// A literal, case-folded substring to look for. `%`, `_`, quotes and operators have no power.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTerm(String);

impl SearchTerm {
    /// Reads a term; outer spaces are trimmed.
    pub fn parse(raw: &str) -> Result<Self, ValidationError> {
        Ok(Self(fold(Text::<TermKind>::parse(raw)?.as_str())))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the term occurs in the text.
    pub fn is_in(&self, text: &str) -> bool {
        memchr::memmem::find(fold(text).as_bytes(), self.0.as_bytes()).is_some()
    }

    /// The term's windows of three characters; none if it is shorter.
    pub fn trigrams(&self) -> Vec<&str> {
        let starts: Vec<usize> = self.0.char_indices().map(|(at, _)| at).chain([self.0.len()]).collect();
        starts.windows(4).map(|w| &self.0[w[0]..w[3]]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_literal_and_ignores_case() {
        let term = SearchTerm::parse(" 100%_O'Ne ").unwrap();
        assert!(term.is_in("at 100%_o'neil street"));
        assert!(!term.is_in("at 100x o'neil street"));
    }

    #[test]
    fn trigrams_are_windows_of_characters() {
        assert_eq!(SearchTerm::parse("ÄbçD").unwrap().trigrams(), ["äbç", "bçd"]);
        assert!(SearchTerm::parse("ab").unwrap().trigrams().is_empty());
    }
}
