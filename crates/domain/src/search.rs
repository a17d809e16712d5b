//! Search terms: literal, case-insensitive substrings.

use crate::ValidationError;
use crate::text::{Text, TextFormat, fold};

#[derive(Debug)]
pub struct TermFormat;
impl TextFormat for TermFormat {
    const MAX: usize = 255;
}

/// A literal, case-folded substring. `%`, `_`, quotes and operators have no special meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTerm(String);

impl SearchTerm {
    /// Trims outer spaces.
    pub fn parse(raw: &str) -> Result<Self, ValidationError> {
        Ok(Self(fold(Text::<TermFormat>::parse(raw)?.as_str())))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_in(&self, text: &str) -> bool {
        memchr::memmem::find(fold(text).as_bytes(), self.0.as_bytes()).is_some()
    }

    /// Windows of three characters; none if the term is shorter.
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
