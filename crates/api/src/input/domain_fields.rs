//! Wire formats of the types of one area each: listings, portfolios, screening.

use portico_app::screening::Check;
use portico_domain::applications::Decision;
use portico_domain::chain::Terms;
use portico_domain::keys::ScopeKind;
use portico_domain::listings::{self, ListingOrder, ListingStatus};
use portico_domain::portfolios::{ProtocolItem, ProtocolItems, RiskLevel};
use portico_domain::search::{self, SearchTerm};
use portico_domain::{FaultCode, ValidationError};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Schema, Type};
use utoipa::openapi::{ObjectBuilder, Ref, RefOr};

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
enums!(Check, Decision, ListingOrder, ListingStatus, RiskLevel, ScopeKind);

fn terms(object: &mut Object<'_, '_>) -> Option<Terms> {
    let credit = (
        object.optional("minCredit", "Lowest credit score; 0 if absent"),
        object.optional("prefCredit", "Preferred credit score; the lowest if absent"),
    );
    let income = (
        object.optional("minIncome", "Lowest income; 0 if absent"),
        object.optional("prefIncome", "Preferred income; the lowest if absent"),
    );
    let terms = Terms::new(credit, income);
    terms
        .map_err(|faults| faults.into_iter().for_each(|(which, fault)| object.report(which.name(), fault)))
        .ok()
}

impl Field for Terms {
    fn schema() -> RefOr<Schema> {
        let mut object = Object::Nested(ObjectBuilder::new());
        terms(&mut object);
        object.schema()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        if json.is_null() {
            let fault = "cannot be removed: a listing on the chain keeps its terms until it is deleted";
            at.report(ValidationError::new(FaultCode::NotRemovable, fault));
            return None;
        }
        terms(&mut Object::nested(json, at)?)
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
        let mut object = Object::Nested(ObjectBuilder::new());
        protocol_item(&mut object);
        object.schema()
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
impl Param for listings::Field {
    fn schema() -> RefOr<Schema> {
        of_type(Type::String).enum_values(Some(Self::NAMES)).into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
    }
}
