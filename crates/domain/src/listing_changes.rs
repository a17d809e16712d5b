//! Changes of a listing: a partial change, and what it changed, for the listing's history.

use serde::Serialize;
use serde_json::json;
use strum::IntoStaticStr;
use utoipa::ToSchema;

use crate::chain::Terms;
use crate::field_changes::{self, FieldChange, Fields};
use crate::geo::Point;
use crate::listings::{Listing, ListingStatus};
use crate::{
    City, Country, Date, Link, ListingDescription, Money, PostalCode, State, Street, Timestamp, Whole,
};

/// A change of an optional field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Change<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T: Clone> Change<T> {
    fn apply(&self, to: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *to = None,
            Self::Set(value) => *to = Some(value.clone()),
        }
    }
}

/// A partial change: what is absent stays. Required fields and terms cannot be cleared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListingChange {
    pub street: Option<Street>,
    pub city: Option<City>,
    pub state: Option<State>,
    pub postal: Option<PostalCode>,
    pub country: Option<Country>,
    pub rent: Change<Money>,
    pub property_value: Change<Money>,
    pub bedrooms: Change<Whole>,
    pub bathrooms: Change<Whole>,
    pub place: Change<Point>,
    pub walkthrough: Change<Link>,
    pub description: Change<ListingDescription>,
    pub available_from: Change<Date>,
    pub status: Option<ListingStatus>,
    /// Replaces all four terms. A listing without a chain record gets its first one.
    pub terms: Option<Terms>,
}

impl ListingChange {
    /// The listing after the change. Terms are not part of it: they are on the chain.
    pub fn applied_to(&self, mut listing: Listing) -> Listing {
        fn set<T: Clone>(value: Option<&T>, to: &mut T) {
            if let Some(value) = value {
                *to = value.clone();
            }
        }
        set(self.street.as_ref(), &mut listing.street);
        set(self.city.as_ref(), &mut listing.city);
        set(self.state.as_ref(), &mut listing.state);
        set(self.postal.as_ref(), &mut listing.postal);
        set(self.country.as_ref(), &mut listing.country);
        set(self.status.as_ref(), &mut listing.status);
        self.rent.apply(&mut listing.rent);
        self.property_value.apply(&mut listing.property_value);
        self.bedrooms.apply(&mut listing.bedrooms);
        self.bathrooms.apply(&mut listing.bathrooms);
        self.place.apply(&mut listing.place);
        self.walkthrough.apply(&mut listing.walkthrough);
        self.description.apply(&mut listing.description);
        self.available_from.apply(&mut listing.available_from);
        listing
    }
}

/// Who changed a listing. The history names nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr, ToSchema)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Editor {
    /// The owner, or a key that acts for the owner.
    Owner,
    Operator,
}

/// One edit in a listing's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingEdit {
    /// The listing's version after the edit.
    pub version: i64,
    pub at: Timestamp,
    pub by: Editor,
    pub changes: Vec<FieldChange>,
}

/// The fields that differ between two states of a listing, in a fixed order.
pub fn field_changes(
    (before, terms_before): (&Listing, Option<&Terms>),
    (after, terms_after): (&Listing, Option<&Terms>),
) -> Vec<FieldChange> {
    field_changes::field_changes(fields(before, terms_before), fields(after, terms_after))
}

/// Every field that can change, by its public name.
fn fields(listing: &Listing, terms: Option<&Terms>) -> Fields {
    let Listing {
        id: _,
        user: _,
        street,
        city,
        state,
        postal,
        country,
        rent,
        property_value,
        bedrooms,
        bathrooms,
        place,
        walkthrough,
        description,
        available_from,
        status,
    } = listing;
    let terms = terms.map(|terms| {
        json!({
            "minCredit": terms.min_credit(), "prefCredit": terms.pref_credit(),
            "minIncome": terms.min_income(), "prefIncome": terms.pref_income(),
        })
    });
    vec![
        ("streetAddress", json!(street)),
        ("city", json!(city)),
        ("state", json!(state)),
        ("postalCode", json!(postal)),
        ("country", json!(country)),
        ("monthlyRent", json!(rent)),
        ("propertyValue", json!(property_value)),
        ("bedRoomCount", json!(bedrooms)),
        ("bathroomCount", json!(bathrooms)),
        ("latitude", json!(place.map(Point::latitude))),
        ("longitude", json!(place.map(Point::longitude))),
        ("walkthroughLink", json!(walkthrough)),
        ("description", json!(description)),
        ("availableFrom", json!(available_from)),
        ("status", json!(status)),
        ("terms", json!(terms)),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::listings::Address;
    use crate::{Credit, ListingId, UserId};

    fn listing() -> Listing {
        let address = Address {
            street: Street::stored("12 Oak Street"),
            city: City::stored("Austin"),
            state: State::stored("TX"),
            postal: PostalCode::stored("78701"),
        };
        let mut listing =
            Listing::new(ListingId::stored("oak"), UserId::stored("ada"), address, Country::stored("US"));
        listing.rent = Some(Money::parse("2100.25").unwrap());
        listing
    }

    #[test]
    fn an_absent_field_stays_and_an_optional_one_can_be_cleared() {
        let change = ListingChange {
            city: Some(City::stored("Boston")),
            rent: Change::Clear,
            bedrooms: Change::Set(Whole::from_units(2)),
            ..ListingChange::default()
        };
        let after = change.applied_to(listing());
        assert_eq!((after.city.as_str(), after.street.as_str()), ("Boston", "12 Oak Street"));
        assert_eq!((after.rent, after.bedrooms), (None, Some(Whole::from_units(2))));
        assert_eq!(ListingChange::default().applied_to(listing()), listing());
    }

    #[test]
    fn differences_name_public_fields_with_both_values() {
        let change = ListingChange {
            rent: Change::Set(Money::parse("2200").unwrap()),
            place: Change::Set(Point::parse("30.5,-97").unwrap()),
            status: Some(ListingStatus::Paused),
            ..ListingChange::default()
        };
        let terms = Terms::new((Some(Credit::from_units(620)), None), (None, None)).unwrap();
        let after = change.applied_to(listing());
        let changes = field_changes((&listing(), None), (&after, Some(&terms)));
        let shown: Vec<(&str, &Value, &Value)> =
            changes.iter().map(|change| (&*change.field, &change.before, &change.after)).collect();
        let terms = json!({"minCredit": 620, "prefCredit": 620, "minIncome": 0, "prefIncome": 0});
        let expected = [
            ("monthlyRent", &json!(2100.25), &json!(2200)),
            ("latitude", &json!(null), &json!(30.5)),
            ("longitude", &json!(null), &json!(-97)),
            ("status", &json!("active"), &json!("paused")),
            ("terms", &json!(null), &terms),
        ];
        assert_eq!(shown, expected);
    }
}
