//! JSON objects, parsed member by member, or described.

use std::borrow::Cow;
use std::collections::HashSet;

use portico_domain::{FaultCode, ValidationError};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, RefOr};

use super::json::{Json, Members};
use super::pointer::JsonPointer;

/// A value in a JSON body.
pub(crate) trait Field: Sized {
    fn schema() -> RefOr<Schema>;
    /// Parses the value; errors go to `at`.
    fn from_json(json: Json<'_>, at: &mut JsonPointer<'_>) -> Option<Self>;
}

/// An object whose members are parsed or described.
pub(crate) enum Object<'o, 'b> {
    /// With the names that are given twice.
    Read(Members<'b>, JsonPointer<'o>, Vec<Cow<'b, str>>),
    /// Describes the request body.
    Describe(&'o mut Option<RefOr<Schema>>, ObjectBuilder),
    /// Describes a nested object.
    Nested(ObjectBuilder),
}

impl<'o, 'b> Object<'o, 'b> {
    pub(super) fn of(members: Members<'b>, pointer: JsonPointer<'o>) -> Self {
        let mut names = HashSet::with_capacity(members.len());
        let repeated = members.iter().filter(|(name, _)| !names.insert(name)).map(|(name, _)| name.clone());
        let repeated = repeated.collect();
        Self::Read(members, pointer, repeated)
    }

    pub(crate) fn nested(json: Json<'b>, at: &'o mut JsonPointer<'_>) -> Option<Self> {
        let members = at.take(json.members())?;
        Some(Self::of(members, at.reborrow()))
    }

    pub(crate) fn required<F: Field>(&mut self, name: &'static str, about: &str) -> Option<F> {
        self.member(name, about, true)
    }

    /// `null` is not absent: it is an invalid value.
    pub(crate) fn optional<F: Field>(&mut self, name: &'static str, about: &str) -> Option<F> {
        self.member(name, about, false)
    }

    fn member<F: Field>(&mut self, name: &'static str, about: &str, required: bool) -> Option<F> {
        match self {
            Self::Read(members, pointer, repeated) => {
                let mut pointer = pointer.child(&name);
                if repeated.iter().any(|of| of == name) {
                    repeated.retain(|of| of != name);
                    pointer.report(given_twice());
                }
                match members.iter().find(|(of, _)| of == name) {
                    Some((_, json)) => F::from_json(*json, &mut pointer),
                    None => {
                        if required {
                            pointer.report(ValidationError::new(FaultCode::Missing, "is required"));
                        }
                        None
                    }
                }
            }
            Self::Describe(_, object) | Self::Nested(object) => {
                let mut next = std::mem::take(object).property(name, described(F::schema(), about));
                if required {
                    next = next.required(name);
                }
                *object = next;
                None
            }
        }
    }

    /// Whether the member is present, valid or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        matches!(self, Self::Read(members, ..) if members.iter().any(|(of, _)| of == name))
    }

    /// Reports an error that concerns several members.
    pub(crate) fn report(&mut self, name: &'static str, error: ValidationError) {
        if let Self::Read(_, pointer, _) = self {
            pointer.child(&name).report(error);
        }
    }

    pub(crate) fn schema(mut self) -> RefOr<Schema> {
        match &mut self {
            Self::Nested(object) => std::mem::take(object).into(),
            Self::Describe(..) | Self::Read(..) => ObjectBuilder::new().into(),
        }
    }
}

impl Drop for Object<'_, '_> {
    fn drop(&mut self) {
        match self {
            Self::Describe(body, object) => **body = Some(std::mem::take(object).into()),
            // The name of an unknown member is not repeated in an error: it may be personal, as values are.
            Self::Read(_, pointer, repeated) if !repeated.is_empty() => pointer.report(given_twice()),
            Self::Read(..) | Self::Nested(_) => {}
        }
    }
}

fn given_twice() -> ValidationError {
    ValidationError::new(FaultCode::Repeated, "is given twice")
}

fn described(schema: RefOr<Schema>, about: &str) -> RefOr<Schema> {
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            object.description = Some(about.into());
            RefOr::T(Schema::Object(object))
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.description = Some(about.into());
            RefOr::T(Schema::Array(array))
        }
        RefOr::T(Schema::OneOf(mut one)) => {
            one.description = Some(about.into());
            RefOr::T(Schema::OneOf(one))
        }
        RefOr::Ref(mut reference) => {
            reference.description = about.into();
            RefOr::Ref(reference)
        }
        other => other,
    }
}
