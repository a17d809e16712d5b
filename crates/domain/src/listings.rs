//! Listings and listing filters.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};
use utoipa::ToSchema;

use crate::geo::{Area, Point};
use crate::search::SearchTerm;
use crate::text::{Text, fold};
use crate::{
    City, Country, Date, FaultCode, Link, ListingDescription, ListingId, Money, PostalCode, State, Street,
    UserId, ValidationError, Whole, validation,
};

/// A rental listing. The store keeps it as the JSON document that serde writes, so a renamed field
/// needs a migration, and a new optional one needs none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    pub id: ListingId,
    pub user: UserId,
    pub street: Street,
    pub city: City,
    pub state: State,
    pub postal: PostalCode,
    pub country: Country,
    /// Monthly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rent: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property_value: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bedrooms: Option<Whole>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bathrooms: Option<Whole>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Point>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walkthrough: Option<Link>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<ListingDescription>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_from: Option<Date>,
    #[serde(default, skip_serializing_if = "ListingStatus::is_available")]
    pub status: ListingStatus,
}

/// The address of a listing without its country.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub street: Street,
    pub city: City,
    pub state: State,
    pub postal: PostalCode,
}

impl Listing {
    /// An active listing with its required fields only.
    pub fn new(id: ListingId, user: UserId, address: Address, country: Country) -> Self {
        let Address { street, city, state, postal } = address;
        Self {
            id,
            user,
            street,
            city,
            state,
            postal,
            country,
            rent: None,
            property_value: None,
            bedrooms: None,
            bathrooms: None,
            place: None,
            walkthrough: None,
            description: None,
            available_from: None,
            status: ListingStatus::Active,
        }
    }
}

/// Whether a listing can be rented now.
/// Whether a listing can be rented now.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Serialize,
    Deserialize,
    IntoStaticStr,
    EnumString,
    VariantNames,
    ToSchema,
)]
#[strum(serialize_all = "lowercase", const_into_str)]
#[serde(rename_all = "lowercase")]
pub enum ListingStatus {
    #[default]
    Active,
    /// Withdrawn for a time.
    Paused,
    Rented,
}

impl ListingStatus {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    pub fn parse(name: &str) -> Result<Self, ValidationError> {
        validation::parse_name(name, FaultCode::UnknownStatus)
    }

    /// Open for applications.
    pub fn is_available(&self) -> bool {
        matches!(self, Self::Active)
    }
}

/// An order that a search asks for. Listings with equal keys come in order of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, VariantArray, VariantNames, ToSchema)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum ListingOrder {
    Newest,
    /// The lowest first, listings without a rent last.
    Rent,
    /// The most bedrooms first, listings without a number last.
    Size,
}

impl ListingOrder {
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    pub fn parse(name: &str) -> Result<Self, ValidationError> {
        validation::parse_name(name, FaultCode::UnknownOrder)
    }

    /// Ascending in this order.
    pub fn key(self, listing: &Listing, seq: i64) -> i64 {
        match self {
            Self::Newest => -seq,
            Self::Rent => listing.rent.map_or(i64::MAX, Money::units),
            Self::Size => listing.bedrooms.map_or(1, |rooms| -rooms.units()),
        }
    }
}

/// All given conditions must hold; an empty filter matches every listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListingFilter {
    pub id: Option<ListingId>,
    pub user: Option<UserId>,
    /// The whole name, ignoring case.
    pub city: Option<City>,
    pub postal: Option<PostalCode>,
    /// In id, street, city, state or postal code.
    pub term: Option<SearchTerm>,
    /// In one named field.
    pub field: Option<(SearchField, SearchTerm)>,
    pub min_rent: Option<Money>,
    pub max_rent: Option<Money>,
    pub bedrooms: Option<Whole>,
    pub min_bedrooms: Option<Whole>,
    pub bathrooms: Option<Whole>,
    /// Inside all of these.
    pub areas: Vec<Area>,
    /// `None`: the order in which it is found.
    pub order: Option<ListingOrder>,
}

impl ListingFilter {
    /// Whether there is no other condition than the owner, or none at all.
    pub fn is_by_user_only(&self) -> bool {
        let Self { id, user: _, city, postal, term, field, min_rent, max_rent, .. } = self;
        let Self { bedrooms, min_bedrooms, bathrooms, areas, order: _, .. } = self;
        (id.is_none() && city.is_none() && postal.is_none() && term.is_none() && field.is_none())
            && (min_rent.is_none() && max_rent.is_none() && areas.is_empty())
            && (bedrooms.is_none() && min_bedrooms.is_none() && bathrooms.is_none())
    }

    /// Defines the filter's meaning; every index must agree with it.
    pub fn matches(&self, listing: &Listing) -> bool {
        fn is<T>(wanted: Option<&T>, holds: impl FnOnce(&T) -> bool) -> bool {
            wanted.is_none_or(holds)
        }
        is(self.id.as_ref(), |id| *id == listing.id)
            && is(self.user.as_ref(), |user| *user == listing.user)
            && is(self.city.as_ref(), |city| fold(city.as_str()) == fold(listing.city.as_str()))
            && is(self.postal.as_ref(), |postal| *postal == listing.postal)
            && is(self.min_rent.as_ref(), |min| listing.rent.is_some_and(|rent| rent >= *min))
            && is(self.max_rent.as_ref(), |max| listing.rent.is_some_and(|rent| rent <= *max))
            && is(self.bedrooms.as_ref(), |n| listing.bedrooms == Some(*n))
            && is(self.min_bedrooms.as_ref(), |min| listing.bedrooms.is_some_and(|rooms| rooms >= *min))
            && is(self.bathrooms.as_ref(), |n| listing.bathrooms == Some(*n))
            && self.areas.iter().all(|area| listing.place.is_some_and(|place| area.contains(place)))
            && is(self.term.as_ref(), |term| TERM_FIELDS.iter().any(|field| term.is_in(field.of(listing))))
            && is(self.field.as_ref(), |(field, term)| term.is_in(field.of(listing)))
    }
}

/// A point needs both coordinates.
pub fn place(latitude: Option<crate::Degrees>, longitude: Option<crate::Degrees>) -> Option<Point> {
    Point::new(latitude?, longitude?).ok()
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListingStatistics {
    pub total: i64,
    /// Listings with a record on the chain.
    pub on_chain: i64,
    pub applications: i64,
    pub by_state: Vec<(String, i64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchField {
    ListingId,
    UserId,
    Street,
    City,
    State,
    PostalCode,
    Country,
    Walkthrough,
}

/// Fields that a free search term covers.
pub const TERM_FIELDS: [SearchField; 5] = [
    SearchField::ListingId,
    SearchField::Street,
    SearchField::City,
    SearchField::State,
    SearchField::PostalCode,
];

/// In the order in which [`searchable_text`] joins them.
const ALL: [SearchField; 8] = [
    SearchField::ListingId,
    SearchField::Street,
    SearchField::City,
    SearchField::State,
    SearchField::PostalCode,
    SearchField::UserId,
    SearchField::Country,
    SearchField::Walkthrough,
];

impl SearchField {
    /// Every accepted field name, in one case: those of the stored record, then others of the simple form and of the
    /// creation body.
    pub const NAMES: [&'static str; 14] = [
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
        "addressStreet",
        "addressCity",
        "addressState",
        "addressPostal",
    ];

    /// Ignores case.
    pub fn parse(name: &str) -> Result<Self, ValidationError> {
        Ok(match name.trim().to_ascii_lowercase().as_str() {
            "listingid" | "id" => Self::ListingId,
            "userid" => Self::UserId,
            "streetaddress" | "street" | "addressstreet" => Self::Street,
            "city" | "addresscity" => Self::City,
            "state" | "addressstate" => Self::State,
            "postalcode" | "addresspostal" => Self::PostalCode,
            "country" => Self::Country,
            "walkthroughlink" => Self::Walkthrough,
            _ => {
                return Err(ValidationError::new(
                    FaultCode::UnknownField,
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

/// All searchable text, case-folded, one line per field. Values contain no line feed, so no term matches across
/// fields. The two trailing line feeds let every substring of one or two characters begin a trigram.
pub fn searchable_text(listing: &Listing) -> String {
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
    fn document_without_optional_fields_is_available() {
        let document =
            r#"{"id":"a","user":"u","street":"s","city":"c","state":"t","postal":"p","country":"US"}"#;
        let listing: Listing = serde_json::from_str(document).unwrap();
        assert!(listing.status.is_available());
        assert_eq!((listing.description.as_ref(), listing.available_from), (None, None));
        assert_eq!(serde_json::to_string(&listing).unwrap(), document, "no member for what is absent");
    }

    #[test]
    fn both_names_of_a_field_work_in_any_case() {
        for name in SearchField::NAMES {
            assert_eq!(SearchField::parse(name), SearchField::parse(&name.to_uppercase()));
            assert!(SearchField::parse(name).is_ok(), "{name}");
        }
        for name in ["city", "CITY", "addressCity", "ADDRESSCITY"] {
            assert_eq!(SearchField::parse(name), Ok(SearchField::City), "{name}");
        }
        assert_eq!(SearchField::parse("addressPostal"), Ok(SearchField::PostalCode));
        assert_eq!(SearchField::parse("rent").unwrap_err().code.name(), "unknown_field");
    }
}
