//! Changes of a listing: a partial change, and what it changed, for the listing's history.

use serde::Serialize;
use serde_json::json;
use strum::IntoStaticStr;
use utoipa::ToSchema;

use crate::chain::{Preferred, Terms};
use crate::field_changes::{self, FieldChange, Fields};
use crate::geo::Point;
use crate::listings::{Listing, ListingStatus};
use crate::{
    City, Country, Credit, Date, Income, Link, ListingDescription, Money, PostalCode, State, Street,
    Timestamp, ValidationError, Whole,
};

/// A change of an optional field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

    const fn set(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Clear => None,
        }
    }
}

/// A partial change of the terms. A cleared minimum is 0, a cleared preference is the minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TermsChange {
    pub min_credit: Change<Credit>,
    pub pref_credit: Change<Credit>,
    pub min_income: Change<Income>,
    pub pref_income: Change<Income>,
}

impl TermsChange {
    /// Whether a listing without terms gets its first ones.
    pub const fn sets_any(&self) -> bool {
        let Self { min_credit, pref_credit, min_income, pref_income } = self;
        min_credit.set().is_some()
            || pref_credit.set().is_some()
            || min_income.set().is_some()
            || pref_income.set().is_some()
    }

    /// Reports every contradiction, also with what stays. `None`: the listing has no terms.
    pub fn applied_to(
        &self,
        terms: Option<Terms>,
    ) -> Result<Option<Terms>, Vec<(Preferred, ValidationError)>> {
        if terms.is_none() && !self.sets_any() {
            return Ok(None);
        }
        let mut credit = (terms.map(|terms| terms.min_credit()), terms.map(|terms| terms.pref_credit()));
        let mut income = (terms.map(|terms| terms.min_income()), terms.map(|terms| terms.pref_income()));
        self.min_credit.apply(&mut credit.0);
        self.pref_credit.apply(&mut credit.1);
        self.min_income.apply(&mut income.0);
        self.pref_income.apply(&mut income.1);
        Terms::new(credit, income).map(Some)
    }

    /// The contradictions between values that are set here.
    pub fn contradictions(&self) -> Vec<(Preferred, ValidationError)> {
        fn both<T: Copy>(min: &Change<T>, pref: &Change<T>) -> (Option<T>, Option<T>) {
            min.set().zip(pref.set()).map_or((None, None), |(min, pref)| (Some(*min), Some(*pref)))
        }
        let (credit, income) =
            (both(&self.min_credit, &self.pref_credit), both(&self.min_income, &self.pref_income));
        Terms::new(credit, income).err().unwrap_or_default()
    }
}

impl From<Terms> for TermsChange {
    fn from(terms: Terms) -> Self {
        Self {
            min_credit: Change::Set(terms.min_credit()),
            pref_credit: Change::Set(terms.pref_credit()),
            min_income: Change::Set(terms.min_income()),
            pref_income: Change::Set(terms.pref_income()),
        }
    }
}

/// A partial change: what is absent stays. Required fields cannot be cleared.
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
    /// The first terms put a listing on the chain.
    pub terms: TermsChange,
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

    fn credit(points: i64) -> Change<Credit> {
        Change::Set(Credit::from_units(points))
    }

    #[test]
    fn partial_terms_keep_the_others() {
        let before = Terms::from_units([620, 700, 5_500_000, 7_000_000]).unwrap();
        let change = TermsChange { min_credit: credit(610), ..TermsChange::default() };
        let after = change.applied_to(Some(before)).unwrap().unwrap();
        assert_eq!(after.units(), [610, 700, 5_500_000, 7_000_000]);
        assert_eq!(TermsChange::default().applied_to(Some(before)), Ok(Some(before)));
        assert_eq!(TermsChange::from(before).applied_to(None), Ok(Some(before)));
    }

    #[test]
    fn cleared_terms_have_their_default() {
        let before = Terms::from_units([620, 700, 5, 7]).unwrap();
        let change =
            TermsChange { pref_credit: Change::Clear, min_income: Change::Clear, ..TermsChange::default() };
        assert_eq!(change.applied_to(Some(before)).unwrap().unwrap().units(), [620, 620, 0, 7]);
        assert_eq!(change.applied_to(None), Ok(None), "no first terms");
    }

    #[test]
    fn terms_must_not_contradict_those_that_stay() {
        let before = Terms::from_units([620, 700, 0, 0]).unwrap();
        let change = TermsChange { min_credit: credit(710), ..TermsChange::default() };
        let faults = change.applied_to(Some(before)).unwrap_err();
        assert_eq!((faults.len(), faults[0].0), (1, Preferred::Credit));
        assert_eq!(change.contradictions(), []);
        let change = TermsChange { pref_credit: credit(700), ..change };
        assert_eq!(change.contradictions(), faults);
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
