//! Wire formats of the types of one area each: listings, portfolios, screening.

use portico_app::screening::Check;
use portico_domain::applications::{Decision, DecisionBasis};
use portico_domain::keys::ScopeKind;
use portico_domain::listing_changes::{Change, TermsChange};
use portico_domain::listings::{self, ListingOrder, ListingStatus};
use portico_domain::portfolios::{ProtocolItem, ProtocolItems, RiskLevel};
use portico_domain::search::{self, SearchTerm};
use portico_domain::{Credit, FaultCode, Income, ValidationError};
use utoipa::ToSchema;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{Ref, RefOr};

use super::fields::{of_type, text_schema};
use super::json::Json;
use super::object::{Field, Object};
use super::pointer::JsonPointer;
use super::reader::Param;
use crate::reply::{Schemas, reference};

/// Enums by their names. Each has one schema, for requests and responses.
macro_rules! enums {
    ($($kind:ty),+) => {
        $(impl Field for $kind {
            fn schema() -> RefOr<Schema> {
                Ref::from_schema_name(<$kind as ToSchema>::name()).into()
            }
            fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
                at.take(json.text().and_then(|text| Self::parse(&text)))
            }
        }
        impl Param for $kind {
            fn schema() -> RefOr<Schema> {
                <Self as Field>::schema()
            }
            fn from_text(text: &str) -> Result<Self, ValidationError> {
                Self::parse(text)
            }
        })+

        /// The schemas that the fields and parameters refer to.
        pub(crate) fn enums(schemas: &mut Schemas) {
            $(reference::<$kind>(schemas);)+
        }
    };
}
enums!(Check, Decision, DecisionBasis, ListingOrder, ListingStatus, RiskLevel, ScopeKind);

fn terms_change(object: &mut Object<'_, '_>) -> TermsChange {
    let mut credit = |name, about| object.optional::<Change<Credit>>(name, about).unwrap_or_default();
    let min_credit = credit("minCredit", "Lowest credit score; null is 0");
    let pref_credit = credit("prefCredit", "Preferred credit score; null is the lowest");
    let mut income = |name, about| object.optional::<Change<Income>>(name, about).unwrap_or_default();
    let min_income = income("minIncome", "Lowest income; null is 0");
    let pref_income = income("prefIncome", "Preferred income; null is the lowest");
    TermsChange { min_credit, pref_credit, min_income, pref_income }
}

impl Field for TermsChange {
    fn schema() -> RefOr<Schema> {
        Object::patch_schema(terms_change)
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        let mut object = Object::nested_patch(json, at)?;
        let change = terms_change(&mut object);
        for (which, fault) in change.contradictions() {
            object.report(which.name(), fault);
        }
        Some(change)
    }
    fn from_null(at: &mut JsonPointer<'_>) -> Option<Self> {
        let fault = "cannot be removed: a listing on the chain keeps its terms until it is deleted";
        at.report(ValidationError::new(FaultCode::NotRemovable, fault));
        None
    }
}

fn protocol_item(object: &mut Object<'_, '_>) -> Option<ProtocolItem> {
    let protocol_name = object.required("protocolName", "The protocol's name");
    let protocol_identifier = object.required("protocolIdentifier", "The protocol's identifier");
    let allocation_percentage = object.required("allocationPercentage", "Its share in percent");
    Some(ProtocolItem {
        protocol_name: protocol_name?,
        protocol_identifier: protocol_identifier?,
        allocation_percentage: allocation_percentage?,
    })
}
impl Field for ProtocolItem {
    fn schema() -> RefOr<Schema> {
        Object::schema_of(protocol_item)
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        protocol_item(&mut Object::nested(json, at)?)
    }
}
impl Field for ProtocolItems {
    fn schema() -> RefOr<Schema> {
        Vec::<ProtocolItem>::schema()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        let items = Vec::from_json(json, at)?;
        at.take(Self::new(items))
    }
}

impl Param for SearchTerm {
    fn schema() -> RefOr<Schema> {
        text_schema::<search::TermFormat>().into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
    }
}
impl Param for listings::SearchField {
    fn schema() -> RefOr<Schema> {
        of_type(Type::String).enum_values(Some(Self::NAMES)).into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
    }
}
