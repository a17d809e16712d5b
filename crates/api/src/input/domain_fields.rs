//! Wire formats of the types of one area each: listings, portfolios, screening.

use portico_app::screening::Check;
use portico_domain::applications::Decision;
use portico_domain::keys::ScopeKind;
use portico_domain::listing_changes::{Change, TermsChange};
use portico_domain::listings::{self, ListingOrder, ListingStatus};
use portico_domain::portfolios::{ProtocolItem, ProtocolItems, RiskLevel};
use portico_domain::search::{self, SearchTerm};
use portico_domain::{Credit, FaultCode, Income, ValidationError};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Schema, Type};

use super::fields::{of_type, one_of, text_schema};
use super::json::Json;
use super::object::{Field, Object};
use super::pointer::JsonPointer;
use super::reader::Param;

impl Field for ListingStatus {
    fn schema() -> RefOr<Schema> {
        one_of(Self::ALL.map(Self::as_str))
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        at.take(json.text().and_then(|text| Self::parse(&text)))
    }
}

impl Field for Decision {
    fn schema() -> RefOr<Schema> {
        one_of(Self::ALL.map(Self::name))
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        at.take(json.text().and_then(|text| Self::parse(&text)))
    }
}

impl Field for Check {
    fn schema() -> RefOr<Schema> {
        one_of(Self::ALL.map(Self::name))
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        at.take(json.text().and_then(|text| text.parse()))
    }
}
impl Param for Check {
    fn schema() -> RefOr<Schema> {
        one_of(Self::ALL.map(Self::name))
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        text.parse()
    }
}

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

fn risk_schema() -> RefOr<Schema> {
    of_type(Type::String).enum_values(Some(RiskLevel::ALL.map(RiskLevel::as_str))).into()
}
impl Field for RiskLevel {
    fn schema() -> RefOr<Schema> {
        risk_schema()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        at.take(json.text().and_then(|text| Self::parse(&text)))
    }
}
impl Param for RiskLevel {
    fn schema() -> RefOr<Schema> {
        risk_schema()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
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
impl Param for ListingOrder {
    fn schema() -> RefOr<Schema> {
        one_of(Self::ALL.map(Self::as_str))
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
    }
}

impl Param for ScopeKind {
    fn schema() -> RefOr<Schema> {
        one_of(Self::ALL.map(Self::as_str))
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
    }
}

impl Param for listings::Field {
    fn schema() -> RefOr<Schema> {
        of_type(Type::String).enum_values(Some(Self::NAMES)).into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
    }
}
