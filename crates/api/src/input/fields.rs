//! Wire formats of the common types: text, numbers, lists, places. JSON, path and query text, schemas.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use portico_domain::canonical::{INVISIBLE, INVISIBLE_IN_TEXT};
use portico_domain::decimal::{Decimal, SafeIntegerUnit, Unit};
use portico_domain::geo::{Area, Point};
use portico_domain::listing_changes::Change;
use portico_domain::text::{Text, TextFormat};
use portico_domain::{Date, Degrees, FaultCode, Kilometres, SafeInteger, ValidationError};
use utoipa::Number;
use utoipa::openapi::schema::{KnownFormat, Schema, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, OneOfBuilder, RefOr};

use super::json::Json;
use super::object::{Field, nullable};
use super::pointer::JsonPointer;
use super::reader::Param;

const MAX_ITEMS: usize = 1000;

pub(super) fn of_type(kind: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Type(kind))
}

/// The title makes it a schema of the document's components.
pub(super) fn text_schema<K: TextFormat>() -> ObjectBuilder {
    let format = std::any::type_name::<K>().rsplit("::").next().unwrap_or_default();
    let title = format!("{}Text", format.trim_end_matches("Format"));
    let text = of_type(Type::String).title(Some(title)).min_length(Some(K::MIN)).max_length(Some(K::MAX));
    let never = if K::IS_ID { &INVISIBLE[..] } else { &INVISIBLE_IN_TEXT };
    text.pattern(Some(match K::PATTERN {
        Some(pattern) => pattern.to_owned(),
        None if K::IS_CANONICAL => canonical_pattern(never),
        None if K::MIN == 0 => format!("^{}*$", none_of(never, "")),
        None => pattern_of_text(never),
    }))
}

/// Any character but control characters, these ranges and `more`. Beyond the basic plane it excludes nothing, because
/// regular expressions without Unicode mode cannot.
fn none_of(ranges: &[RangeInclusive<char>], more: &str) -> String {
    let mut class = format!(r"[^\u0000-\u001f\u007f-\u009f{more}");
    for (start, end) in ranges.iter().map(|range| (*range.start() as u32, *range.end() as u32)) {
        if end <= 0xffff {
            class.extend([escaped(start), "-".into(), escaped(end)]);
        }
    }
    class + "]"
}

fn escaped(character: u32) -> String {
    format!("\\u{character:04x}")
}

/// At least one character that is not a space.
fn pattern_of_text(never: &[RangeInclusive<char>]) -> String {
    let inner = none_of(never, "");
    format!("^{inner}*{}{inner}*$", none_of(never, r"\s"))
}

/// No space at the ends.
fn canonical_pattern(never: &[RangeInclusive<char>]) -> String {
    let (inner, outer) = (none_of(never, ""), none_of(never, r"\s"));
    format!("^{outer}({inner}*{outer})?$")
}

/// The pattern of text that must not be empty.
pub(crate) fn some_text() -> String {
    pattern_of_text(&INVISIBLE_IN_TEXT)
}

/// `0x` and two hexadecimal digits for each byte.
fn hexadecimal<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 2 * N)?;
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| !pair.starts_with('+'))?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

/// An address on the chain.
pub(crate) struct WalletAddress(pub(crate) [u8; 20]);

impl Param for WalletAddress {
    fn schema() -> RefOr<Schema> {
        of_type(Type::String).pattern(Some("^0x[0-9a-fA-F]{40}$")).into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        let fault = || ValidationError::new(FaultCode::NotAWallet, "must be 0x and 40 hexadecimal digits");
        hexadecimal(text).map(Self).ok_or_else(fault)
    }
}

/// A transaction hash.
pub(crate) struct Hash(pub(crate) [u8; 32]);

impl Param for Hash {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        text.pattern(Some("^0x[0-9a-fA-F]{64}$")).into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        let fault = || ValidationError::new(FaultCode::NotAHash, "must be 0x and 64 hexadecimal digits");
        hexadecimal(text).map(Self).ok_or_else(fault)
    }
}

impl<K: TextFormat> Field for Text<K> {
    fn schema() -> RefOr<Schema> {
        text_schema::<K>().into()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        at.take(json.text().and_then(|text| Self::parse(&text)))
    }
}
impl<K: TextFormat> Param for Text<K> {
    const IS_STRICT_IN_PATH: bool = K::IS_CANONICAL;

    fn schema() -> RefOr<Schema> {
        text_schema::<K>().into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the bounds are small numbers")]
fn number_schema<U: Unit>() -> RefOr<Schema> {
    let scale = Decimal::<U>::SCALE;
    let number = match U::PLACES {
        0 => of_type(Type::Integer),
        _ => of_type(Type::Number),
    };
    let number = number
        .minimum(Some(Number::Int((U::MIN / scale) as isize)))
        .maximum(Some(Number::Int((U::MAX / scale) as isize)));
    number.into()
}

impl<U: Unit> Field for Decimal<U> {
    fn schema() -> RefOr<Schema> {
        number_schema::<U>()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        at.take(json.number().and_then(Self::parse))
    }
}
impl<U: Unit> Param for Decimal<U> {
    fn schema() -> RefOr<Schema> {
        number_schema::<U>()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
    }
}

/// Between -90 and 90 degrees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Latitude(pub(crate) Degrees);

impl Field for Latitude {
    fn schema() -> RefOr<Schema> {
        of_type(Type::Number).minimum(Some(-90)).maximum(Some(90)).into()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        let degrees = Degrees::from_json(json, at)?;
        at.take(Point::new(degrees, Degrees::from_units(0))).map(|_| Self(degrees))
    }
}

impl Field for bool {
    fn schema() -> RefOr<Schema> {
        of_type(Type::Boolean).into()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        at.take(json.flag())
    }
}

/// `null` clears the value.
impl<F: Field> Field for Change<F> {
    fn schema() -> RefOr<Schema> {
        nullable(F::schema())
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        F::from_json(json, at).map(Self::Set)
    }
    fn from_null(_: &mut JsonPointer<'_>) -> Option<Self> {
        Some(Self::Clear)
    }
}

impl Field for Date {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::Date);
        of_type(Type::String).format(Some(format)).pattern(Some(Self::PATTERN)).into()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        at.take(json.text().and_then(|text| Self::parse(&text)))
    }
}

impl<F: Field> Field for Vec<F> {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(F::schema()).max_items(Some(MAX_ITEMS)).into()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        let items = at.take(json.items())?;
        if items.len() > MAX_ITEMS {
            let message = format!("must have at most {MAX_ITEMS} items");
            let max = i64::try_from(MAX_ITEMS).unwrap_or(i64::MAX);
            at.report(ValidationError::new(FaultCode::TooMany, message).at_most(max));
            return None;
        }
        let read: Vec<Option<F>> = items
            .into_iter()
            .enumerate()
            .map(|(index, item)| F::from_json(item, &mut at.child(&index)))
            .collect();
        read.into_iter().collect()
    }
}

#[derive(Debug)]
pub(crate) struct NonEmptyVec<F>(pub(crate) Vec<F>);

impl<F: Field> Field for NonEmptyVec<F> {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(F::schema()).min_items(Some(1)).max_items(Some(MAX_ITEMS)).into()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        let items = Vec::from_json(json, at)?;
        if items.is_empty() {
            at.report(ValidationError::new(FaultCode::Empty, "must not be empty"));
            return None;
        }
        Some(Self(items))
    }
}

/// An integer, sent as a number or as a string of digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumericId(pub(crate) SafeInteger);

impl Field for NumericId {
    fn schema() -> RefOr<Schema> {
        let digits = of_type(Type::String).pattern(Some("^[0-9]{1,15}$"));
        OneOfBuilder::new().item(number_schema::<SafeIntegerUnit>()).item(digits).into()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        if json.is_text() {
            let digits = json.text().and_then(|text| match text.len() {
                1..=15 => Self::from_text(&text),
                _ => Err(ValidationError::new(
                    FaultCode::NotWhole,
                    "must be a whole number of at most 15 digits",
                )),
            });
            return at.take(digits);
        }
        SafeInteger::from_json(json, at).map(Self)
    }
}
impl Param for NumericId {
    fn schema() -> RefOr<Schema> {
        number_schema::<SafeIntegerUnit>()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ValidationError::new(FaultCode::NotWhole, "must be a whole number"));
        }
        SafeInteger::parse(text).map(Self)
    }
}

const LATITUDE: &str = r"-?(90(\.0{1,9})?|[0-8]?[0-9](\.[0-9]{1,9})?)";
const LONGITUDE: &str = r"-?(180(\.0{1,9})?|(1[0-7][0-9]|[0-9]?[0-9])(\.[0-9]{1,9})?)";

impl Param for Point {
    fn schema() -> RefOr<Schema> {
        of_type(Type::String)
            .pattern(Some(format!("^{LATITUDE},{LONGITUDE}$")))
            .examples(["30.2672,-97.7431"])
            .into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::parse(text)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundingBox(pub(crate) Area);

impl Param for BoundingBox {
    fn schema() -> RefOr<Schema> {
        of_type(Type::String)
            .pattern(Some(format!("^{LONGITUDE},{LATITUDE},{LONGITUDE},{LATITUDE}$")))
            .examples(["-98,30,-97,31"])
            .into()
    }
    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Area::parse_box(text).map(Self)
    }
}

pub(crate) fn default_radius() -> Kilometres {
    Kilometres::from_units(10 * Kilometres::SCALE)
}

/// Texts by name.
impl Field for BTreeMap<String, String> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().additional_properties(Some(of_type(Type::String))).into()
    }
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        let members = at.take(json.members())?;
        let mut texts = Self::new();
        for (name, value) in members {
            let text = at.child(&name).take(value.text())?.into_owned();
            texts.insert(name.into_owned(), text);
        }
        Some(texts)
    }
}
