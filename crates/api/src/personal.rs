//! Wire formats of an applicant's values. Errors name the rule, never the value.

use portico_app::clock::{Clock as _, SystemClock};
use portico_app::screening::personal::{
    BankingToken, CityName, DateOfBirth, Email, Name, PostCode, Ssn, StateName, StreetAddress,
    SubscriptionId, day_of,
};
use portico_domain::{Timestamp, ValidationError};
use utoipa::openapi::schema::{KnownFormat, Schema, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};

use crate::input::{Field, Json, JsonPointer, Param, some_text};

const SSN: &str = "^([0-9]{3}-[0-9]{2}-[0-9]{4}|[0-9]{9})$";
/// The e-mail pattern of browsers.
const EMAIL: &str = r"^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$";

fn text(max_chars: usize) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).max_length(Some(max_chars))
}

/// One schema per length, which the document names.
fn named_text(max_chars: usize) -> ObjectBuilder {
    text(max_chars).title(Some(format!("Text{max_chars}"))).min_length(Some(1)).pattern(Some(some_text()))
}

macro_rules! personal {
    ($($kind:ty => $schema:expr;)+) => {
        $(impl Field for $kind {
            fn schema() -> RefOr<Schema> {
                $schema.into()
            }
            fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
                at.take(json.text().and_then(|text| Self::parse(&text)))
            }
        })+
    };
}

personal! {
    Name => named_text(255);
    StreetAddress => named_text(255);
    CityName => named_text(100);
    StateName => named_text(100);
    PostCode => named_text(255);
    SubscriptionId => named_text(255);
    BankingToken => named_text(4096);
    Ssn => text(11).pattern(Some(SSN));
    Email => text(255).format(Some(SchemaFormat::KnownFormat(KnownFormat::Email))).pattern(Some(EMAIL));
}

impl Param for Name {
    fn schema() -> RefOr<Schema> {
        <Self as Field>::schema()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
    }
}

impl Field for DateOfBirth {
    fn schema() -> RefOr<Schema> {
        text(10).format(Some(SchemaFormat::KnownFormat(KnownFormat::Date))).into()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        let today = day_of(SystemClock.now());
        at.take(json.text().and_then(|text| Self::parse(&text, today)))
    }
}

impl Field for Timestamp {
    fn schema() -> RefOr<Schema> {
        text(64).format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))).into()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        at.take(json.text().and_then(|text| Self::parse(&text)))
    }
}
