//! Searching listings: literal, case-insensitive substrings of named fields.

use crate::ValidationError;
use crate::listings::Listing;
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

/// A text attribute of a stored listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    ListingId,
    UserId,
    Street,
    City,
    State,
    PostalCode,
    Country,
    Walkthrough,
}

/// The fields that a free search term looks into.
pub const TERM_FIELDS: [Field; 5] =
    [Field::ListingId, Field::Street, Field::City, Field::State, Field::PostalCode];

/// All fields, in the order in which they stand in [`document`].
const ALL: [Field; 8] = [
    Field::ListingId,
    Field::Street,
    Field::City,
    Field::State,
    Field::PostalCode,
    Field::UserId,
    Field::Country,
    Field::Walkthrough,
];

impl Field {
    /// Every name by which a field may be called: that of the stored record, then that of the simple form.
    pub const NAMES: [&'static str; 10] = [
        "ListingId",
        "UserId",
        "StreetAddress",
        "City",
        "State",
        "PostalCode",
        "Country",
        "walkthroughLink",
        "Street",
        "id",
    ];

    /// Reads a field's name, in any case.
    pub fn parse(name: &str) -> Result<Self, ValidationError> {
        Ok(match name.trim().to_ascii_lowercase().as_str() {
            "listingid" | "id" => Self::ListingId,
            "userid" => Self::UserId,
            "streetaddress" | "street" => Self::Street,
            "city" => Self::City,
            "state" => Self::State,
            "postalcode" => Self::PostalCode,
            "country" => Self::Country,
            "walkthroughlink" => Self::Walkthrough,
            _ => {
                return Err(ValidationError::new(
                    "unknown_field",
                    format!("must be one of {}", Self::NAMES[..8].join(", ")),
                ));
            }
        })
    }

    pub fn of(self, listing: &Listing) -> &str {
        match self {
            Self::ListingId => listing.id.as_str(),
            Self::UserId => listing.user.as_str(),
            Self::Street => listing.street.as_str(),
            Self::City => listing.city.as_str(),
            Self::State => listing.state.as_str(),
            Self::PostalCode => listing.postal.as_str(),
            Self::Country => listing.country.as_str(),
            Self::Walkthrough => listing.walkthrough.as_ref().map_or("", Text::as_str),
        }
    }
}

/// All searchable text of a listing, folded, a line per field. No value holds a line feed, so that no term
/// matches across fields; two closing ones let every one- and two-character substring begin a trigram.
pub fn document(listing: &Listing) -> String {
    let mut text = String::with_capacity(192);
    for field in ALL {
        text.push_str(&fold(field.of(listing)));
        text.push('\n');
    }
    text.push('\n');
    text
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

    #[test]
    fn both_names_of_a_field_work_in_any_case() {
        for name in Field::NAMES {
            assert_eq!(Field::parse(name), Field::parse(&name.to_uppercase()));
            assert!(Field::parse(name).is_ok(), "{name}");
        }
        assert_eq!(Field::parse("rent").unwrap_err().code, "unknown_field");
    }
}
